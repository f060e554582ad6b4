/*
 * shared_ring.h - one end of a link in shared memory: bytes into our ring, bytes out of the
 * neighbour's, and when an end must be woken.
 *
 * A word that the neighbour writes is read once and checked. An impossible count breaks the end for
 * good, and nothing is read or written through it any more. Bytes are copied out before anybody
 * looks at them.
 *
 * Sleep. An end that is about to sleep publishes a number that it has not used before, and what it
 * waits for; then comes a barrier; then it looks once more. An end that has put or taken bytes
 * publishes that; then comes a barrier; then it looks whether the other sleeps and waits for this,
 * and rings once for each number. So either the sleeper sees the bytes or the other end sees the
 * sleeper, and no timer is needed. models/shared_ring.pml finds the lost wake-up when a barrier or
 * the second look is left out.
 *
 * Every word has one writer. A bell that comes before the device is on is lost, but nobody sleeps
 * then.
 *
 * Carrier: the launcher writes LOST and rings both ends. A QEMU that dies tells its neighbours
 * nothing by itself.
 *
 * Units    bytes; counts run freely modulo 2^32
 * Errors   none; see `broken`
 * Context  one thread at each end; any memory
 * Source   L. Lamport, Proving the Correctness of Multiprocess Programs (1977): one producer, one
 *          consumer; E. W. Dijkstra, EWD 123 (1965): flag, then look
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/shared_memory_layout.h"

struct shared_end {
    struct shared_side *ours;
    const struct shared_side *theirs;
    uint8_t *ring; /* ours */
    const uint8_t *their_ring;
    uint32_t put, put_published;     /* into our ring */
    uint32_t their_taken;            /* of it, as last believed */
    uint32_t taken, taken_published; /* out of the neighbour's ring */
    uint32_t their_put;              /* into it, as last believed */
    uint16_t published;
    uint32_t sleep; /* our newest number; its low bits are zero */
    uint32_t rung;  /* the neighbour's newest number that we have rung for */
    bool told;      /* what lay in the rings at the start has been published, too */
    bool broken;
};

/* Takes up a link where its memory stands: after a reset a node goes on where it was. */
void shared_end_init(struct shared_end *end, struct shared_memory *memory, unsigned side);

/* Copies as many of the bytes as there is room for, and returns their number. The neighbour sees
 * them after publish. */
uint32_t shared_end_put(struct shared_end *end, const uint8_t *data, uint32_t bytes);

/* Copies at most so many bytes out, and returns their number. */
uint32_t shared_end_take(struct shared_end *end, uint8_t *buffer, uint32_t bytes_max);

/* Whether publish has anything to do. It is asked at each piece, and mostly has not. */
static inline bool shared_end_moved(const struct shared_end *end)
{
    return end->put != end->put_published || end->taken != end->taken_published || !end->told;
}

/* Lets the neighbour see what was put and taken; true: it sleeps and waits for that, ring. */
bool shared_end_publish(struct shared_end *end);

/* Publishes that we sleep from now on. `bytes` must have come before we want to be woken, 0: none;
 * `room` must be free, 0: none. After a barrier, shared_end_missed tells whether that has happened
 * meanwhile. Not more than the ring holds. */
void shared_end_sleep(struct shared_end *end, uint32_t bytes, uint32_t room);
bool shared_end_missed(struct shared_end *end, uint32_t bytes, uint32_t room);

/* Publishes that we are awake: nobody need ring. */
void shared_end_wake(struct shared_end *end);
