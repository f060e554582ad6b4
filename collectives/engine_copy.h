/*
 * engine_copy.h - bytes that move inside the node: copied, or combined with what is there; and the
 * slices in which they are put together.
 *
 * Units    bytes
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/engine.h"

enum { REFERENCE_BYTES = 512 /* a block of so many bytes is sent, or received, where it is */ };

static inline uint32_t engine_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint8_t *engine_slice(const struct engine *e, unsigned number)
{
    return e->memory + number * (unsigned)SLICE_BYTES;
}

/* Whether a circuit, known by its token, is the one that goes in these portions. */
static inline bool engine_in_portions(const struct engine_portions *portions, uint32_t token)
{
    return portions->active && portions->token == token;
}

/* Whole elements, where they are combined. */
void engine_move(const struct engine *e, bool combines, uint8_t *into, const uint8_t *from,
                 uint32_t bytes);

/* Does some of the present row, which copies: a bounded number of bytes. True: it is through. */
bool engine_copy_some(struct engine *e, const struct router *router);
