/*
 * execution.h - a plan that is proved, executed by simulated nodes: they must get the bytes that
 * its operation promises, in the time that is predicted.
 *
 * Units    bytes
 * Context  host
 */
#pragma once

#include <stdbool.h>

#include "planner/planner.h"
#include "sim/simulation.h"

/* Whether they do on a machine of this profile, with blocks, or a vector, of `bytes` in elements of
 * `type`; else `why` says in what respect not. A run that does not end counts as one that is wrong.
 */
bool execution_is_right(struct plan *plan, const struct profile *profile, uint32_t bytes,
                        uint32_t type, char why[SIM_TEXT_MAX]);
