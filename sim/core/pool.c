#include "sim/core/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLAB_SHIFT = 21, SLAB_BYTES = 1 << SLAB_SHIFT, SCRUB = 0xdb };

/* A large page, which begins with this. */
struct slab {
    _Alignas(CHUNK_LINE) struct slab *next;
    uint32_t used; /* bytes */
};

static const uint32_t rooms[CHUNK_KINDS] = {LINK_HEADROOM + CHUNK_SHORT_MAX,
                                            LINK_HEADROOM + LINK_CHUNK_MAX};

enum { SHORT_BYTES = (int)sizeof(struct chunk) + LINK_HEADROOM + CHUNK_SHORT_MAX };

_Static_assert(sizeof(struct chunk) == CHUNK_LINE, "a chunk's head is one line");
_Static_assert(LINK_HEADROOM % CHUNK_LINE == 0 && SHORT_BYTES % CHUNK_LINE == 0, "whole lines");

static struct slab **place_of(const struct pool *pool, uintptr_t address)
{
    return (struct slab **)(uintptr_t)&pool->known[address >> SLAB_SHIFT & (SLABS_KNOWN - 1)];
}

/* False: there is no memory. */
static bool add_slab(struct pool *pool, enum chunk_kind kind)
{
    struct slab *slab = aligned_alloc(SLAB_BYTES, SLAB_BYTES);

    if (!slab) {
        return false;
    }
    /* a first one may stay almost empty */
    if (pool->slabs[kind] || (pool->busy && kind == CHUNK_SHORT)) {
        madvise(slab, SLAB_BYTES, MADV_HUGEPAGE);
    }
    *slab = (struct slab){.next = pool->slabs[kind], .used = sizeof *slab};
    pool->slabs[kind] = slab;
    if (kind == CHUNK_SHORT) {
        *place_of(pool, (uintptr_t)slab) = slab;
    }
    return true;
}

bool pool_grow(struct pool *pool, enum chunk_kind kind)
{
    uint32_t bytes = (uint32_t)sizeof(struct chunk) + rooms[kind];
    bool full = !pool->slabs[kind] || pool->slabs[kind]->used + bytes > SLAB_BYTES;

    if (full && !add_slab(pool, kind)) {
        return false;
    }
    struct slab *slab = pool->slabs[kind];
    struct chunk *chunk = (struct chunk *)((uint8_t *)slab + slab->used);
    slab->used += bytes;
    pool->bytes += bytes;
    *chunk = (struct chunk){.next = pool->free[kind], .kind = (uint8_t)kind};
    pool->free[kind] = chunk;
    return true;
}

void pool_put(struct pool *pool, struct chunk *chunk)
{
    if (pool->scrub) {
        memset(chunk->memory, SCRUB, rooms[chunk->kind]);
    }
    chunk->next = pool->free[chunk->kind];
    pool->free[chunk->kind] = chunk;
}

struct chunk *pool_chunk(const struct pool *pool, const void *address)
{
    uintptr_t base = (uintptr_t)address & ~(uintptr_t)(SLAB_BYTES - 1);
    struct slab *slab = *place_of(pool, base);

    if ((uintptr_t)slab != base || !slab) {
        return NULL;
    }
    uint32_t number = (uint32_t)((uintptr_t)address - base - sizeof *slab) / SHORT_BYTES;
    return (struct chunk *)((uint8_t *)(slab + 1) + (size_t)number * SHORT_BYTES);
}

void pool_free(struct pool *pool)
{
    for (unsigned kind = 0; kind < CHUNK_KINDS; kind++) {
        while (pool->slabs[kind]) {
            struct slab *slab = pool->slabs[kind];
            pool->slabs[kind] = slab->next;
            free(slab);
        }
    }
    *pool = (struct pool){0};
}
