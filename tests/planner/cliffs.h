/*
 * cliffs.h - where one node more, one column, or one byte, makes a collective much dearer than it
 * must be.
 *
 * T(N + 1) / T(N) is held against 1.5 bound(N + 1) / bound(N), where T is the time of the cheapest
 * plan, from ring:N to ring:N+1, from mesh:1xN to mesh:1xN+1, and from RxC to RxC+1 of meshes and
 * tori, up to 64 nodes. Of rings and of the squarest meshes and tori it is also up to 128 nodes and
 * at 256, 257, 272 and 1,000, for some of the sizes. T(k + 1) / T(k) is held against the bounds of
 * k and k + 1 bytes, where both are among the sizes. What is steeper is a cliff. All to some is
 * left out: its movements are others on N + 1 nodes than on N.
 *
 * Units    bytes; ratios in thousandths
 */
#pragma once

#include "network/network.h"
#include "network/text.h"

enum { CLIFF_SIZES_MAX = 64, CLIFF_ALLOWED_PERMILLE = 1500 };

/* The steepest place from one network to the next, or to a byte more on the same, of an
 * operation. */
struct cliff {
    uint32_t operation;
    char from[NETWORK_NAME_MAX], to[NETWORK_NAME_MAX];
    uint32_t bytes;             /* at the end */
    uint32_t permille;          /* of the two ratios to each other; above 1500 a cliff */
    const char *before, *after; /* the algorithms there */
};

/* Which of the pairs of networks are looked at, every so many of them, and for which sizes. */
struct cliff_sweep {
    unsigned stride;
    uint32_t nodes_max;
    const uint32_t *sizes;
    unsigned size_count;
};

/* Calls `found` with the steepest place of each pair and operation, and of the first of the pair by
 * itself, cliff or not. */
void cliffs_sweep(const struct cliff_sweep *sweep,
                  void (*found)(const struct cliff *cliff, void *context), void *context);

/* The sizes of the whole sweep: powers of two up to 64 KiB, their neighbours, and some between. */
unsigned cliffs_sizes(uint32_t sizes[CLIFF_SIZES_MAX]);
