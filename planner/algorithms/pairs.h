/*
 * pairs.h - who exchanges with whom in recursive halving and doubling, on a network whose sides are
 * powers of two; pairs.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

/* Whether all sides are powers of two. */
bool pairs_everywhere(const struct network *network);

/* Steps are counted from the nearest pairs. */
unsigned pairs_steps(const struct network *network);
uint32_t pairs_partner(const struct network *network, unsigned step, uint32_t node);

/* All nodes in the order in which their circuits of a step are to be served. */
void pairs_order(const struct network *network, unsigned step, uint32_t *nodes);

/* The allgather: each block by the farthest pairs first. */
struct flow pairs_flow(const struct network *network, bool halves);
