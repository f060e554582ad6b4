/*
 * cycle.h - all nodes on a cycle: a Hamiltonian one where there is one (network/hamilton.h), else
 * the path there and back, every other node on each way, in two hops.
 *
 *     mesh:2x3  0 1 2     0 1 2 5 4 3        mesh:3x3  0 1 2     0 2 4 6 8 7 3 5 1
 *               3 4 5                                  3 4 5     (the path: 0 1 2 5 4 3 6 7 8)
 *                                                      6 7 8
 *
 * Context  host
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
