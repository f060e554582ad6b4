#include "sim/pool.h"

#include <stdlib.h>
#include <string.h>

enum { SLAB_CHUNKS = 64, SCRUB = 0xdb };

struct slab {
    struct slab *next;
};

static uint32_t room_of(bool is_long)
{
    return LINK_HEADROOM + (is_long ? (uint32_t)LINK_CHUNK_MAX : (uint32_t)CHUNK_SHORT_MAX);
}

/* False: there is no memory. */
static bool grow(struct pool *pool, bool is_long)
{
    size_t each = sizeof(struct chunk) + room_of(is_long);
    size_t bytes = sizeof(struct slab) + SLAB_CHUNKS * each;
    struct slab *slab = malloc(bytes);

    if (!slab)
        return false;
    slab->next = pool->slabs;
    pool->slabs = slab;
    pool->bytes += bytes;
    for (unsigned i = 0; i < SLAB_CHUNKS; i++) {
        struct chunk *chunk = (struct chunk *)((uint8_t *)(slab + 1) + i * each);
        chunk->is_long = is_long;
        chunk->next = pool->free[is_long];
        pool->free[is_long] = chunk;
    }
    return true;
}

struct chunk *pool_take(struct pool *pool, bool is_long)
{
    if (!pool->free[is_long] && !grow(pool, is_long))
        return NULL;
    struct chunk *chunk = pool->free[is_long];
    pool->free[is_long] = chunk->next;
    chunk->next = NULL;
    chunk->wall_due_ns = 0;
    chunk->model_due_ns = 0;
    chunk->bytes = 0;
    chunk->frame_ends = false;
    return chunk;
}

void pool_give(struct pool *pool, struct chunk *chunk)
{
    if (pool->scrub)
        memset(chunk->memory, SCRUB, room_of(chunk->is_long));
    chunk->next = pool->free[chunk->is_long];
    pool->free[chunk->is_long] = chunk;
}

void pool_free(struct pool *pool)
{
    while (pool->slabs) {
        struct slab *slab = pool->slabs;
        pool->slabs = slab->next;
        free(slab);
    }
    *pool = (struct pool){0};
}
