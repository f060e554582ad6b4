/*
 * scenario.h - what a scenario is: a collective, the download, or a pattern of messages.
 *
 * A scenario with a number below SIM_LOAD is the collective of that number; what it moves, and what
 * must come of it, stands in the table of operations. A reduction adds int32.
 *
 * Units    bytes
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/operation.h"
#include "reduction/reduction.h"
#include "sim/options.h"

enum { SCENARIO_TYPE = ECUBE_INT32, SCENARIO_OPERATOR = ECUBE_SUM };

static inline bool scenario_is_collective(enum sim_scenario scenario)
{
    return scenario < SIM_LOAD;
}

/* Of the elements of a reduction; 0: nothing is reduced. */
static inline uint32_t scenario_type(enum sim_scenario scenario)
{
    const struct operation *operation = operation_of((uint32_t)scenario);

    return operation && operation->reduces ? SCENARIO_TYPE : 0;
}

static inline uint32_t scenario_element_bytes(enum sim_scenario scenario)
{
    uint32_t type = scenario_type(scenario);

    return type ? reduction_element_bytes(type) : 1;
}

/* Root, or what stands in its place. */
static inline uint32_t scenario_root(const struct sim_options *options)
{
    return options->asked
               ? options->root
               : operation_root_usual(operation_of((uint32_t)options->scenario), &options->network);
}

/* Where the spaces of a collective lie in a program's memory, for a size by its index. Behind them,
 * where an operation wants to be told where each block lies, a table of that: every node's blocks
 * are alike, those sent and those received. */
struct spaces {
    uint64_t at[SPACES], bytes[SPACES], table, end;
};

/* contents.c; the options have plans. */
struct spaces scenario_spaces(const struct sim_options *options, unsigned size, uint32_t rank);
