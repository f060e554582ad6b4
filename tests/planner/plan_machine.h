/*
 * plan_machine.h - all nodes of a machine that execute the parts of a plan, as bytes, and nothing
 * else of it: what the planner says of a plan can be compared with what becomes of it.
 *
 * A node executes its rows in order. A circuit is accepted when both its ends are at its row and it
 * is its turn on every link. Its blocks are moved as early as possible, at once, or as late as
 * possible: when the flags of a later row of either end demand it. A right plan ends right in both
 * ways. The rows are read here, by the words of wire/plan.h; what is right, the judge says
 * (tests/judge/).
 */
#pragma once

#include "planner/planner.h"
#include "tests/judge/course.h"

struct machine_run {
    uint32_t bytes;
    struct rule rule;
    bool late;
    /* what came of it */
    uint64_t model_ns, hops;
    char fault[COURSE_WORDS_MAX]; /* empty: every node ends with what the operation promises */
};

/* The parts of a plan, one for each node; of an invariant plan all are the same. */
uint8_t **machine_parts(const struct plan *plan);
void machine_parts_free(const struct plan *plan, uint8_t **parts);

/* Executes parts that nodes accept on a network, by its name; false: with a fault. */
bool machine_run(const char *network, uint8_t *const *parts, struct machine_run *run);

/* The same for a plan: its parts are written, accepted by the nodes' own check (plan_check), run
 * early and late, with both kinds of ports; time and hops must be those that the planner says. NULL
 * when all is right, else what is not, until the next call. */
const char *machine_tries(const struct plan *plan, uint32_t bytes);
