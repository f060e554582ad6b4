#include "sim/queue.h"

#include <stdlib.h>

#include "drivers/check.h"

enum { CHILDREN = 4, ROOM_FIRST = 256 };

static bool before(const struct event *a, const struct event *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->order < b->order);
}

void queue_free(struct queue *queue)
{
    free(queue->events);
    *queue = (struct queue){0};
}

/* False: there is no memory. */
static bool grow(struct queue *queue)
{
    uint32_t room = queue->room ? queue->room * 2 : ROOM_FIRST;
    struct event *events = realloc(queue->events, room * sizeof *events);

    if (!events)
        return false;
    queue->events = events;
    queue->room = room;
    return true;
}

bool queue_add(struct queue *queue, struct event event)
{
    if (queue->count == queue->room && !grow(queue))
        return false;
    uint32_t at = queue->count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / CHILDREN;
        if (!before(&event, &queue->events[parent]))
            break;
        queue->events[at] = queue->events[parent];
        at = parent;
    }
    queue->events[at] = event;
    return true;
}

/* The first of the children of an entry; `count` when it has none. */
static uint32_t first_child(const struct queue *queue, uint32_t at)
{
    uint32_t child = at * CHILDREN + 1, end = child + CHILDREN;
    uint32_t best = child;

    if (end > queue->count)
        end = queue->count;
    while (++child < end)
        if (before(&queue->events[child], &queue->events[best]))
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
        if (child >= queue->count || !before(&queue->events[child], &last))
            break;
        queue->events[at] = queue->events[child];
        at = child;
    }
    if (queue->count)
        queue->events[at] = last;
    return taken;
}
