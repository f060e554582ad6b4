#include "drivers/link/shared_ring.h"

#include <string.h>

#include "drivers/link/shared_word.h"

_Static_assert((SHARED_RING_BYTES & (SHARED_RING_BYTES - 1)) == 0, "positions wrap by a mask");

enum { WANTS = SHARED_SLEEP_ONE - 1 };

/* Believes the neighbour's count of what it took from our ring, if it can be. */
static void see_taken(struct shared_end *end)
{
    uint32_t taken = shared_load(&end->theirs->taken);

    if (taken - end->their_taken > end->put_published - end->their_taken) {
        end->broken = true;
    } else {
        end->their_taken = taken;
    }
}

/* Believes the neighbour's count of what it put into its ring, if it can be. */
static void see_put(struct shared_end *end)
{
    uint32_t put = shared_load(&end->theirs->put);

    if (put - end->taken > SHARED_RING_BYTES || put - end->taken < end->their_put - end->taken) {
        end->broken = true;
    } else {
        end->their_put = put;
    }
}

void shared_end_init(struct shared_end *end, struct shared_memory *memory, unsigned side)
{
    struct shared_side *ours = &memory->side[side].words;

    *end = (struct shared_end){.ours = ours,
                               .theirs = &memory->side[1 - side].words,
                               .ring = memory->ring[side],
                               .their_ring = memory->ring[1 - side]};
    end->put = end->put_published = shared_load(&ours->put);
    end->taken = end->taken_published = end->their_put = shared_load(&ours->taken);
    end->published = ours->published;
    end->sleep = (shared_load(&ours->sleep) & ~(uint32_t)WANTS) + SHARED_SLEEP_ONE;
    /* whom we rang before we do not know any more: ring once too often */
    end->rung = shared_load(&end->theirs->sleep) - SHARED_SLEEP_ONE;
    end->their_taken = end->put - SHARED_RING_BYTES;
    see_taken(end);
    see_put(end);
    shared_end_wake(end);
}

uint32_t shared_end_put(struct shared_end *end, const uint8_t *data, uint32_t bytes)
{
    uint32_t room, at = end->put & (SHARED_RING_BYTES - 1), first;

    if (SHARED_RING_BYTES - (end->put - end->their_taken) < bytes && !end->broken) {
        see_taken(end);
    }
    room = SHARED_RING_BYTES - (end->put - end->their_taken);
    bytes = end->broken ? 0 : bytes < room ? bytes : room;
    first = bytes < SHARED_RING_BYTES - at ? bytes : SHARED_RING_BYTES - at;
    memcpy(end->ring + at, data, first);
    if (bytes > first) {
        memcpy(end->ring, data + first, bytes - first);
    }
    end->put += bytes;
    return bytes;
}

uint32_t shared_end_take(struct shared_end *end, uint8_t *buffer, uint32_t bytes_max)
{
    uint32_t bytes, at = end->taken & (SHARED_RING_BYTES - 1), first;

    if (end->their_put - end->taken < bytes_max && !end->broken) {
        see_put(end);
        shared_barrier(); /* the count first, then the bytes */
    }
    bytes = end->their_put - end->taken;
    bytes = end->broken ? 0 : bytes < bytes_max ? bytes : bytes_max;
    first = bytes < SHARED_RING_BYTES - at ? bytes : SHARED_RING_BYTES - at;
    memcpy(buffer, end->their_ring + at, first);
    if (bytes > first) {
        memcpy(buffer + first, end->their_ring, bytes - first);
    }
    end->taken += bytes;
    return bytes;
}

/* Whether the neighbour sleeps and waits for what we have published. Its wants may be those of a
 * later sleep than the number: before that it looks again, and what is rung for nothing does no
 * harm. */
static bool rings(struct shared_end *end)
{
    uint32_t sleep = shared_load(&end->theirs->sleep), number = sleep & ~(uint32_t)WANTS;
    bool wanted = false;

    if (number == end->rung || (sleep & WANTS) == 0) {
        return false;
    }
    if ((sleep & SHARED_WANTS_BYTES) != 0) {
        wanted = (int32_t)(end->put_published - shared_load(&end->theirs->put_from)) >= 0;
    }
    if ((sleep & SHARED_WANTS_ROOM) != 0) {
        wanted |= (int32_t)(end->taken_published - shared_load(&end->theirs->taken_from)) >= 0;
    }
    if (wanted) {
        end->rung = number;
    }
    return wanted;
}

bool shared_end_publish(struct shared_end *end)
{
    if (end->broken || !shared_end_moved(end)) {
        return false;
    }
    end->told = true;
    shared_barrier(); /* the bytes first, then the counts: put in, and copied out */
    if (end->put != end->put_published) {
        end->put_published = end->put;
        shared_store(&end->ours->put, end->put);
        end->ours->published = ++end->published;
    }
    if (end->taken != end->taken_published) {
        end->taken_published = end->taken;
        shared_store(&end->ours->taken, end->taken);
    }
    shared_barrier(); /* the counts first, then the look */
    return rings(end);
}

void shared_end_sleep(struct shared_end *end, uint32_t bytes, uint32_t room)
{
    uint32_t wants = (bytes > 0 ? (uint32_t)SHARED_WANTS_BYTES : 0) |
                     (room > 0 ? (uint32_t)SHARED_WANTS_ROOM : 0);

    end->sleep += SHARED_SLEEP_ONE;
    shared_store(&end->ours->put_from, end->taken + bytes);
    shared_store(&end->ours->taken_from, end->put + room - SHARED_RING_BYTES);
    shared_store(&end->ours->sleep, end->sleep | wants);
}

bool shared_end_missed(struct shared_end *end, uint32_t bytes, uint32_t room)
{
    if (end->broken) {
        return false;
    }
    if (bytes > 0) {
        see_put(end);
    }
    if (room > 0) {
        see_taken(end);
    }
    return !end->broken &&
           ((bytes > 0 && end->their_put - end->taken >= bytes) ||
            (room > 0 && SHARED_RING_BYTES - (end->put - end->their_taken) >= room));
}

void shared_end_wake(struct shared_end *end)
{
    shared_store(&end->ours->sleep, end->sleep);
}
