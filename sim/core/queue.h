/*
 * queue.h - events in the order of their time; those of one time in the order of their number.
 *
 * A heap in which every entry has four children: half as deep as a binary one, and the children of
 * an entry share a cache line or two. Adding an event allocates only when there have never been so
 * many.
 *
 * Units    ns
 * Errors   queue_add and queue_take_due return false when there is no memory
 * Source   Johnson, Priority queues with update and finding minimum spanning trees, Information
 *          Processing Letters 4(3), 1975: d-heaps
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_CHILDREN = 4 };

struct event {
    uint64_t time_ns;
    uint64_t order;
    uint32_t kind; /* the owner's */
    uint32_t index;
};

struct queue {
    struct event *events;
    uint32_t count, room;
};

/* Events that have been taken off queues. */
struct batch {
    struct event *events;
    uint32_t count, room;
};

void queue_free(struct queue *queue);
void batch_free(struct batch *batch);
/* False: there is no memory. */
bool queue_grow(struct queue *queue);

static inline bool event_before(const struct event *a, const struct event *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->order < b->order);
}

/* Here, so that the event stays in registers: it is written field by field and would be read back
 * as a whole, which waits for the writes. */
static inline bool queue_add(struct queue *queue, struct event event)
{
    if (queue->count == queue->room && !queue_grow(queue)) {
        return false;
    }
    uint32_t at = queue->count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / QUEUE_CHILDREN;
        if (!event_before(&event, &queue->events[parent])) {
            break;
        }
        queue->events[at] = queue->events[parent];
        at = parent;
    }
    struct event *place = &queue->events[at];
    place->time_ns = event.time_ns;
    place->order = event.order;
    place->kind = event.kind;
    place->index = event.index;
    return true;
}

/* Takes the first event off; the queue is not empty. */
struct event queue_take(struct queue *queue);

/* False: there is no memory, and the event is lost. */
bool batch_add(struct batch *batch, struct event event);

/* Takes all events up to a time off the queue, and adds them to the batch: in an order of its own,
 * which depends on nothing but what the queue has seen. False: there is no memory, and the rest
 * stay. */
bool queue_take_due(struct queue *queue, uint64_t time_ns, struct batch *batch);

/* The time of the first event; UINT64_MAX when there is none. */
static inline uint64_t queue_time(const struct queue *queue)
{
    return queue->count ? queue->events[0].time_ns : UINT64_MAX;
}
