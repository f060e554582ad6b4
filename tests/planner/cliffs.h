/*
 * cliffs.h - where one node more, or one column, makes a collective much dearer than it must be.
 *
 * T(N + 1) / T(N) is held against 1.5 bound(N + 1) / bound(N), where T is the time of the cheapest
 * plan, from ring:N to ring:N+1, from mesh:1xN to mesh:1xN+1, and from RxC to RxC+1 of meshes and
 * tori, up to 64 nodes. What is steeper is a cliff.
 *
 * Units    bytes; ratios in thousandths
 */
#pragma once

#include "network/network.h"
#include "network/text.h"

enum { CLIFF_NODES_MAX = 64, CLIFF_SIZES_MAX = 64, CLIFF_ALLOWED_PERMILLE = 1500 };

/* The steepest place from one network to the next, of an operation. */
struct cliff {
    uint32_t operation;
    char from[NETWORK_NAME_MAX], to[NETWORK_NAME_MAX];
    uint32_t bytes;
    uint32_t permille;          /* of the two ratios to each other; above 1500 a cliff */
    const char *before, *after; /* the algorithms there */
};

/* Which of the pairs of networks, and of their sizes, are looked at: every so many of them. */
struct cliff_sweep {
    unsigned stride;
    const uint32_t *sizes;
    unsigned size_count;
};

/* Calls `found` with the steepest place of each pair and operation, cliff or not. */
void cliffs_sweep(const struct cliff_sweep *sweep,
                  void (*found)(const struct cliff *cliff, void *context), void *context);

/* The sizes of the whole sweep: powers of two up to 64 KiB, their neighbours, and some between. */
unsigned cliffs_sizes(uint32_t sizes[CLIFF_SIZES_MAX]);
