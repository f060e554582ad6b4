/*
 * bruck.h - Bruck's allgather, of any number of nodes, as a flow in which each node begins with its
 * own block; bruck.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

struct flow bruck_flow(const struct network *network);
