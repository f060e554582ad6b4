/*
 * rings.h - the allgather round rings: each node begins with its own block; rings.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

/* Round one cycle of all nodes, and round one ring in each line; one way, or both by turns. */
struct flow cycle_flow(const struct network *network, bool by_turns);
struct flow lines_flow(const struct network *network, bool by_turns);
