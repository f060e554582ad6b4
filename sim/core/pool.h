/*
 * pool.h - receive buffers: one pool for all links of a partition, which grows when more is under
 * way than ever before.
 *
 * A buffer exists only while its chunk is under way or held by a router. There are two sizes: short
 * ones hold one control frame, long ones LINK_CHUNK_MAX bytes. Both have the headroom of link.h. A
 * short chunk may be held more than once: it stays until all have given it back.
 *
 * Errors   pool_take returns NULL when there is no memory
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/link/link.h"

enum {
    CHUNK_SHORT_MAX = 1152, /* a control frame: header, FRAME_CONTROL_MAX, check */
    CHUNK_LINE = 64,
    SLABS_KNOWN = 256 /* a power of two */
};

enum chunk_kind { CHUNK_SHORT, CHUNK_LONG, CHUNK_KINDS };

/* What the simulator keeps of it fills one cache line; the bytes behind the headroom begin another.
 */
struct chunk {
    _Alignas(CHUNK_LINE) struct chunk *next;
    struct chunk *last; /* of a frame in an outbox; in the first of its chunks */
    uint8_t *data;
    uint64_t wall_due_ns;  /* not there before this wall time */
    uint64_t model_due_ns; /* not shown before this model time */
    uint32_t bytes;
    uint32_t seen; /* of these, up to the last that was copied; behind it is what nobody looks at */
    uint32_t holds;
    uint16_t number; /* while a router has it */
    bool listed;     /* it is among sim_end.held */
    bool middle;     /* it does not begin with its frame's header; a short one always does */
    uint8_t kind;    /* enum chunk_kind */
    _Alignas(CHUNK_LINE) uint8_t memory[];
};

struct slab;

struct pool {
    struct chunk *free[CHUNK_KINDS];
    struct slab *slabs[CHUNK_KINDS]; /* the first of each kind has room left */
    struct slab *known[SLABS_KNOWN]; /* slabs of short chunks, by their address */
    size_t bytes;
    bool scrub; /* overwrite what is given back, so that a late reader sees it */
    bool busy;  /* so many nodes use it that large pages are filled */
};

/* Has another one to be taken; false when there is no memory. */
bool pool_grow(struct pool *pool, enum chunk_kind kind);

static inline struct chunk *pool_take(struct pool *pool, enum chunk_kind kind)
{
    if (!pool->free[kind] && !pool_grow(pool, kind)) {
        return NULL;
    }
    struct chunk *chunk = pool->free[kind];
    pool->free[kind] = chunk->next;
    if (chunk->next) { /* the one that will be taken next */
        __builtin_prefetch(chunk->next, 1);
        __builtin_prefetch(chunk->next->memory + LINK_HEADROOM, 1);
    }
    chunk->next = NULL;
    chunk->data = chunk->memory + LINK_HEADROOM;
    chunk->holds = 1;
    chunk->bytes = chunk->seen = 0;
    return chunk;
}

/* Nobody holds it any more. */
void pool_put(struct pool *pool, struct chunk *chunk);

/* Drops one hold. */
static inline void pool_give(struct pool *pool, struct chunk *chunk)
{
    if (--chunk->holds == 0) {
        pool_put(pool, chunk);
    }
}

void pool_free(struct pool *pool);

/* The short chunk whose memory an address lies in; NULL when there is none, or it is not known. */
struct chunk *pool_chunk(const struct pool *pool, const void *address);
