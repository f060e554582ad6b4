/*
 * pool.h - receive buffers: one pool for all links, which grows when more is under way than ever
 * before.
 *
 * A buffer exists only while its chunk is under way or held by a router. There are two sizes: short
 * ones hold one control frame, long ones LINK_CHUNK_MAX bytes. Both have the headroom of link.h.
 *
 * Errors   pool_take returns NULL when there is no memory
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/link.h"

enum {
    CHUNK_SHORT_MAX = 1152, /* a control frame: header, FRAME_CONTROL_MAX, check */
};

struct chunk {
    struct chunk *next;
    uint64_t wall_due_ns;  /* not there before this wall time */
    uint64_t model_due_ns; /* not shown before this model time */
    uint32_t bytes;
    uint16_t number; /* while a router has it */
    bool is_long;
    bool frame_ends; /* the last chunk of its frame */
    uint8_t memory[];
};

struct slab;

struct pool {
    struct chunk *free[2]; /* short, long */
    struct slab *slabs;
    size_t bytes;
    bool scrub; /* overwrite what is given back, so that a late reader sees it */
};

struct chunk *pool_take(struct pool *pool, bool is_long);
void pool_give(struct pool *pool, struct chunk *chunk);
void pool_free(struct pool *pool);

static inline uint8_t *chunk_data(struct chunk *chunk)
{
    return chunk->memory + LINK_HEADROOM;
}
