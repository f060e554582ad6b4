/*
 * cycle.h - all nodes in an order in which each is next to the one before, and the last to the
 * first: a Hamiltonian cycle where there is one.
 *
 *     one dimension that wraps      the ring itself
 *     a dimension of even size      along all others and back: one column is kept for the way back
 *     all odd, and wrapping         row by row, each begun where the one before ended; rows go
 *                                   forth or back so that the last one ends where the first began
 *     else there is none            a path there and back, every other node on each way: two hops
 *
 *     mesh:2x3  0 1 2     0 1 2 5 4 3        mesh:3x3  0 1 2     0 2 4 6 8 7 3 5 1
 *               3 4 5                                  3 4 5     (the path: 0 1 2 5 4 3 6 7 8)
 *                                                      6 7 8
 *
 * Context  host
 * Source   even: Ozveren, LIDS-P-1721 (1987), 2.1 (rings inside meshes); cubes: Gray codes. Odd
 *          tori: rows that shift by one, as counted in cycle.c
 */
#pragma once

#include "planner/algorithms/flow.h"

struct cycle {
    uint32_t *at;  /* rank by place */
    uint32_t *via; /* the node between a place and the next; FLOW_DIRECT: they are neighbours */
    uint32_t nodes;
};

struct cycle cycle_make(const struct network *network);
void cycle_free(struct cycle *cycle);
