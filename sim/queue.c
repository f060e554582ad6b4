#include "sim/queue.h"

#include <stdlib.h>

#include "drivers/check.h"

enum { ROOM_FIRST = 256 };

void queue_free(struct queue *queue)
{
    free(queue->events);
    *queue = (struct queue){0};
}

bool queue_grow(struct queue *queue)
{
    uint32_t room = queue->room ? queue->room * 2 : ROOM_FIRST;
    struct event *events = realloc(queue->events, room * sizeof *events);

    if (!events)
        return false;
    queue->events = events;
    queue->room = room;
    return true;
}

/* The first of the children of an entry; `count` when it has none. */
static uint32_t first_child(const struct queue *queue, uint32_t at)
{
    uint32_t child = at * QUEUE_CHILDREN + 1, end = child + QUEUE_CHILDREN;
    uint32_t best = child;

    if (end > queue->count)
        end = queue->count;
    while (++child < end)
        if (event_before(&queue->events[child], &queue->events[best]))
            best = child;
    return best;
}

struct event queue_take(struct queue *queue)
{
    CHECK(queue->count > 0);
    struct event taken = queue->events[0];
    struct event last = queue->events[--queue->count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = first_child(queue, at);
        if (child >= queue->count || !event_before(&queue->events[child], &last))
            break;
        queue->events[at] = queue->events[child];
        at = child;
    }
    if (queue->count)
        queue->events[at] = last;
    return taken;
}
