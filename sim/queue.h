/*
 * queue.h - events in the order of their time; those of one time in the order of their number.
 *
 * A heap in which every entry has four children: half as deep as a binary one, and the children of
 * an entry share a cache line or two. Adding an event allocates only when there have never been so
 * many.
 *
 * Units    ns
 * Errors   queue_add returns false when there is no memory, and adds nothing
 * Source   Johnson, Priority queues with update and finding minimum spanning trees, Information
 *          Processing Letters 4(3), 1975: d-heaps
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

void queue_free(struct queue *queue);
bool queue_add(struct queue *queue, struct event event);

/* Takes the first event off; the queue is not empty. */
struct event queue_take(struct queue *queue);

/* The time of the first event; UINT64_MAX when there is none. */
static inline uint64_t queue_time(const struct queue *queue)
{
    return queue->count ? queue->events[0].time_ns : UINT64_MAX;
}
