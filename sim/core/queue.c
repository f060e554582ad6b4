#include "sim/core/queue.h"

#include <stdlib.h>

#include "drivers/check.h"

enum {
    ROOM_FIRST = 256,
    SAMPLES = 8,    /* of a queue, to guess how much of it is due */
    SAMPLES_DUE = 2 /* so many of them: it is looked through as a whole */
};

void queue_free(struct queue *queue)
{
    free(queue->events);
    *queue = (struct queue){0};
}

bool queue_grow(struct queue *queue)
{
    uint32_t room = queue->room ? queue->room * 2 : ROOM_FIRST;
    struct event *events = realloc(queue->events, room * sizeof *events);

    if (!events) {
        return false;
    }
    queue->events = events;
    queue->room = room;
    return true;
}

void batch_free(struct batch *batch)
{
    free(batch->events);
    *batch = (struct batch){0};
}

/* Room for so many more. */
static bool make_room(struct batch *batch, uint32_t more)
{
    uint32_t room = batch->room ? batch->room : (uint32_t)ROOM_FIRST;

    if (batch->count + more <= batch->room) {
        return true;
    }
    while (room < batch->count + more) {
        room *= 2;
    }
    struct event *events = realloc(batch->events, room * sizeof *events);
    if (!events) {
        return false;
    }
    batch->events = events;
    batch->room = room;
    return true;
}

/* The first of the children of an entry; `count` when it has none. */
static uint32_t first_child(const struct queue *queue, uint32_t at)
{
    uint32_t child = at * QUEUE_CHILDREN + 1, end = child + QUEUE_CHILDREN;
    uint32_t best = child;

    if (end > queue->count) {
        end = queue->count;
    }
    while (++child < end) {
        if (event_before(&queue->events[child], &queue->events[best])) {
            best = child;
        }
    }
    return best;
}

/* Puts an event where the entry `at` was, or below it. */
static void sift_down(struct queue *queue, uint32_t at, struct event event)
{
    for (;;) {
        uint32_t child = first_child(queue, at);
        if (child >= queue->count || !event_before(&queue->events[child], &event)) {
            break;
        }
        queue->events[at] = queue->events[child];
        at = child;
    }
    queue->events[at] = event;
}

struct event queue_take(struct queue *queue)
{
    CHECK(queue->count > 0);
    struct event taken = queue->events[0];
    struct event last = queue->events[--queue->count];

    if (queue->count) {
        sift_down(queue, 0, last);
    }
    return taken;
}

bool batch_add(struct batch *batch, struct event event)
{
    if (!make_room(batch, 1)) {
        return false;
    }
    batch->events[batch->count++] = event;
    return true;
}

/* A guess from a few entries of every part of it. */
static bool is_mostly_due(const struct queue *queue, uint64_t time_ns)
{
    unsigned due = 0;

    for (uint32_t i = 0; i < SAMPLES && queue->count >= SAMPLES; i++) {
        due += queue->events[(uint64_t)queue->count * i / SAMPLES].time_ns <= time_ns;
    }
    return due >= SAMPLES_DUE;
}

/* Sorts the queue anew, from its last parent on. */
static void restore(struct queue *queue)
{
    for (uint32_t at = (queue->count + QUEUE_CHILDREN - 2) / QUEUE_CHILDREN; at-- > 0;) {
        sift_down(queue, at, queue->events[at]);
    }
}

bool queue_take_due(struct queue *queue, uint64_t time_ns, struct batch *batch)
{
    if (queue_time(queue) > time_ns) {
        return true;
    }
    if (!is_mostly_due(queue, time_ns)) {
        while (queue_time(queue) <= time_ns) {
            if (!make_room(batch, 1)) {
                return false;
            }
            batch->events[batch->count++] = queue_take(queue);
        }
        return true;
    }
    if (!make_room(batch, queue->count)) {
        return false;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < queue->count; i++) {
        struct event *place = queue->events[i].time_ns <= time_ns ? &batch->events[batch->count++]
                                                                  : &queue->events[kept++];
        *place = queue->events[i];
    }
    queue->count = kept;
    restore(queue);
    return true;
}
