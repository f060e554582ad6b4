/*
 * plan_machine.h - all nodes of a machine that execute the parts of a plan, as bytes, and nothing
 * else of it: what the planner says of a plan can be compared with what becomes of it.
 *
 * A node executes its rows in order. A circuit is accepted when both its ends are at its row and it
 * is its turn on every link. Its blocks are moved as early as possible, at once, or as late as
 * possible: when the flags of a later row of either end demand it. A right plan ends right in both
 * ways.
 */
#pragma once

#include "planner/planner.h"
#include "router/clock.h"

struct machine_run {
    uint32_t bytes, element_bytes;
    const struct profile *profile;
    bool late;
    /* what came of it */
    uint64_t model_ns, circuits, hops;
};

/* Executes parts[node] of part_bytes[node] (invariant: one part for all); NULL when every node ends
 * with what the operation promises, else in what respect not. */
const char *machine_run(const struct network *network, uint8_t *const *parts,
                        const uint32_t *part_bytes, struct machine_run *run);

/* The same for a plan: its parts are written, run early and late, with both kinds of ports; the
 * times must be those of plan_time, and circuits and hops those that the plan says. */
const char *machine_tries(const struct plan *plan, uint32_t bytes);
