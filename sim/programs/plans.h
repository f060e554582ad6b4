/*
 * plans.h - the plans of a simulated machine: made before it starts, for each size of its scenario,
 * and read in place by all of its nodes.
 *
 * Whoever makes many simulations of one network and one scenario makes plans once and gives them to
 * all (options.plans); else sim_make makes them.
 *
 * Units    bytes, ns of model time
 * Context  nothing of it changes while nodes run, so all partitions may read it
 */
#pragma once

#include <stdint.h>

#include "planner/planner.h"
#include "collectives/store.h"
#include "sim/options.h"

_Static_assert((int)SIM_SIZES_MAX <= (int)PRELOAD_MAX, "each size may have a plan of its own");

struct sim_plans {
    struct plan_preload preload;
    struct plan_summary summaries[PRELOAD_MAX]; /* of each on it */
    unsigned of_size[SIM_SIZES_MAX];            /* its place in the preload */
    struct plan_time times[SIM_SIZES_MAX];
    uint64_t hops[SIM_SIZES_MAX], blocks[SIM_SIZES_MAX]; /* of all circuits, added up */
    uint64_t bytes;                                      /* of all parts */
};

/* The plans for the collective that is simulated, none for other scenarios. NULL: there is none,
 * `why` says in what respect. */
struct sim_plans *sim_plans_make(const struct sim_options *options, char why[SIM_WHY_MAX]);
void sim_plans_free(struct sim_plans *plans);

/* Working memory that a node needs for a size, by its index. */
uint64_t sim_plans_scratch(const struct sim_options *options, const struct sim_plans *plans,
                           unsigned size, uint32_t rank);
