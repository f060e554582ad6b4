/*
 * scenario.h - what a scenario is: a collective, the download, or a pattern of messages.
 *
 * A scenario with a number below SIM_LOAD is the collective of that number; what it moves, and what
 * must come of it, stands in the table of operations.
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

static inline bool scenario_is_collective(enum sim_scenario scenario)
{
    return scenario < SIM_LOAD;
}

static inline bool scenario_sends(enum sim_scenario scenario)
{
    return scenario >= SIM_RANDOM && scenario != SIM_NATIVE;
}

static inline uint32_t scenario_nodes(const struct sim_options *options)
{
    return options->network.nodes;
}

static inline bool scenario_reduces(enum sim_scenario scenario)
{
    const struct operation *operation = operation_of((uint32_t)scenario);

    return operation && operation->reduces;
}

/* Of the elements of a reduction, int32 when none is said; 0: nothing is reduced. */
static inline uint32_t scenario_type(const struct sim_options *options)
{
    if (!scenario_reduces(options->scenario)) {
        return 0;
    }
    return options->type ? options->type : (uint32_t)ECUBE_INT32;
}

/* What combines them, sum when none is said; 0: nothing does. */
static inline uint32_t scenario_operator(const struct sim_options *options)
{
    if (!scenario_reduces(options->scenario)) {
        return 0;
    }
    return options->operator_ ? options->operator_ : (uint32_t)ECUBE_SUM;
}

static inline uint32_t scenario_element_bytes(const struct sim_options *options)
{
    uint32_t type = scenario_type(options);

    return type ? reduction_element_bytes(type) : 1;
}

/* Programs know ranks, which a map lays elsewhere than at the nodes of their numbers. */
static inline uint32_t scenario_rank(const struct sim_options *options, uint32_t node)
{
    return network_rank(&options->network, node);
}

/* Root, or what stands in its place: a rank, a distance, ... */
static inline uint32_t scenario_root(const struct sim_options *options)
{
    return options->asked
               ? options->root
               : operation_root_usual(operation_of((uint32_t)options->scenario), &options->network);
}

/* The same as plans have it: the node of a root. */
static inline uint32_t scenario_plan_root(const struct sim_options *options)
{
    const struct operation *operation = operation_of((uint32_t)options->scenario);
    uint32_t root = scenario_root(options);

    return operation && operation->rooted ? network_node(&options->network, root) : root;
}

/* Bytes of the table that an operation wants which is told where each block lies: the blocks are
 * alike, those sent and those received. It is no contents, and every node has its own. */
static inline uint64_t scenario_table_bytes(const struct sim_options *options)
{
    const struct operation *operation = operation_of((uint32_t)options->scenario);

    return operation && operation->sized ? options->network.nodes * sizeof(struct ecube_block) : 0;
}

/* Where the spaces of a collective lie in a program's memory, for a size by its index. */
struct spaces {
    uint64_t at[SPACES], bytes[SPACES], end;
};

/* contents.c; the options have plans. */
struct spaces scenario_spaces(const struct sim_options *options, unsigned size, uint32_t node);
