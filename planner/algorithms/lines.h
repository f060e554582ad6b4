/*
 * lines.h - the nodes of one dimension as a ring: its own where it wraps, else folded, so that
 * neighbours on the ring are two hops apart at most.
 *
 *     folded, 5 nodes    0 2 4 3 1
 *
 * Context  host; pure
 */
#pragma once

#include <stdint.h>

/* The place on the folded ring of what is at a place on the line, and the other way round. */
static inline uint32_t fold_place(uint32_t size, uint32_t at)
{
    return at % 2 ? size - 1 - at / 2 : at / 2;
}

static inline uint32_t fold_at(uint32_t size, uint32_t place)
{
    return place < (size + 1) / 2 ? 2 * place : 2 * (size - 1 - place) + 1;
}
