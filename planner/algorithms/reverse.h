/*
 * reverse.h - which dimensions a vector reversal reverses, and the lines that it does so in.
 *
 * Context  host; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

/* Whether a mask has a dimension; 0 has all. */
static inline bool is_reversed(uint32_t mask, unsigned k)
{
    return mask == 0 || mask >> k & 1;
}

/* A part of a line that is reversed in itself: where it begins, and how long it is. */
struct stretch {
    uint32_t begin, count;
};

/* The one that a coordinate is in: a ring has two, on either side of the link that closes it and
 * the rest. */
static inline struct stretch stretch_of(const struct network_dimension *dim, uint32_t at)
{
    enum { RING_LEAST = 4 };
    uint32_t half = (dim->size + 2) / 4;

    if (!dim->wraps || dim->size < RING_LEAST) {
        return (struct stretch){0, dim->size};
    }
    if (at < half || at >= dim->size - half) {
        return (struct stretch){dim->size - half, 2 * half};
    }
    return (struct stretch){half, dim->size - 2 * half};
}
