/* odd_plans.h - complete exchanges of a cube that no algorithm of the planner makes; proved. */
#pragma once

#include "planner/planner.h"

/* All circuits go ahead; in step i node 0 sends to masks[i], for each of the other nodes. */
struct plan *ahead_plan(const struct network *cube, const uint32_t *masks);

/* By dimensions: in step k a node sends to its neighbour in dimension k, in one circuit, the half
 * of its blocks that must cross that dimension. They do not lie together, nor do their places. */
struct plan *dimensions_plan(const struct network *cube);
