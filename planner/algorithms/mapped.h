/*
 * mapped.h - a plan of one network as a plan of another, by a map of nodes.
 *
 * Units    ranks
 * Errors   none: a map that is none of links gives a plan that the prover refuses
 * Context  host
 */
#pragma once

#include "planner/planner.h"

/* The plan of `network` whose circuits go where those of `from` go when each of its nodes becomes
 * the one that `map` says. What is asked of it stands in the request. A plan of one node for all
 * stays one, for which map[0] is 0. */
struct plan *map_plan(const struct plan *from, const struct network *network, const uint32_t *map,
                      const struct plan_request *request);

/* The same plan, of all nodes, but for the slots of blocks that are nodes': they get other numbers.
 * It is not proved. */
struct plan *rename_slots(const struct plan *from, const uint32_t *names);
