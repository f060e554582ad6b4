/*
 * spread.h - the scatter over a halving tree, of the network's dimensions or of the cycle through
 * all nodes, as a flow; spread.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

struct flow spread_flow(const struct network *network, uint32_t root, bool on_cycle, bool uneven);
