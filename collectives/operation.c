#include "collectives/operation.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"

/* Indexed by enum ecube_operation. */
static const struct operation operations[OPERATIONS] = {
    [ECUBE_BARRIER] = {"barrier", "barrier", {SPAN_NONE, SPAN_NONE}, .planned = true},
    [ECUBE_BROADCAST] = {"broadcast",
                         "broadcast",
                         {SPAN_NONE, SPAN_ONE},
                         .rooted = true,
                         .vector = true,
                         .planned = true},
    [ECUBE_SCATTER] =
        {"scatter", "scatter", {SPAN_NODES_ROOT, SPAN_ONE}, .rooted = true, .planned = true},
    [ECUBE_GATHER] =
        {"gather", "gather", {SPAN_ONE, SPAN_NODES_ROOT}, .rooted = true, .planned = true},
    [ECUBE_EXCHANGE] = {"exchange", "alltoall", {SPAN_NODES, SPAN_NODES}, .planned = true},
    [ECUBE_ALLGATHER] = {"allgather", "allgather", {SPAN_ONE, SPAN_NODES}, .planned = true},
    [ECUBE_REDUCE] = {"reduce",
                      "reduce",
                      {SPAN_ONE, SPAN_ONE_ROOT},
                      .rooted = true,
                      .reduces = true,
                      .vector = true,
                      .planned = true},
    [ECUBE_ALLREDUCE] = {"allreduce",
                         "allreduce",
                         {SPAN_ONE, SPAN_ONE},
                         .reduces = true,
                         .vector = true,
                         .planned = true},
    [ECUBE_REDUCE_SCATTER] = {"reduce_scatter",
                              "reduce_scatter",
                              {SPAN_NODES, SPAN_ONE},
                              .reduces = true,
                              .planned = true},
    [ECUBE_SCAN] = {"scan",
                    "scan",
                    {SPAN_ONE, SPAN_ONE},
                    .reduces = true,
                    .prefix = true,
                    .vector = true,
                    .planned = true},
    [ECUBE_SHIFT] =
        {"shift", "shift", {SPAN_ONE, SPAN_ONE}, .parameter = PARAMETER_DISTANCE, .planned = true},
    [ECUBE_REVERSE] = {"reverse",
                       "reverse",
                       {SPAN_ONE, SPAN_ONE},
                       .parameter = PARAMETER_DIMENSIONS,
                       .planned = true},
    [ECUBE_EXCHANGEV] =
        {"exchangev", "alltoallv", {SPAN_NODES, SPAN_NODES}, .sized = true, .planned = true},
    [ECUBE_ALIGN] = {"align", "align", {SPAN_NONE, SPAN_NONE}, .planned = false},
};

const struct operation *operation_of(uint32_t operation)
{
    return operation < OPERATIONS && operations[operation].name ? &operations[operation] : NULL;
}

uint32_t operation_named(const char *name)
{
    uint32_t i = 0;

    while (i < OPERATIONS && (!operation_of(i) || (strcmp(name, operations[i].name) != 0 &&
                                                   strcmp(name, operations[i].standard) != 0))) {
        i++;
    }
    return i;
}

const char *operation_name(uint32_t operation)
{
    return operation_of(operation) ? operations[operation].name : "collective";
}

uint32_t operation_roots(const struct operation *operation, const struct network *network)
{
    switch ((enum parameter)operation->parameter) {
    case PARAMETER_DISTANCE: return network->nodes;
    case PARAMETER_DIMENSIONS: return UINT32_C(1) << network->dims;
    default: return operation->rooted ? network->nodes : 1;
    }
}

const char *operation_root_name(const struct operation *operation)
{
    static const char *const names[] = {
        [PARAMETER_DISTANCE] = "distance", [PARAMETER_DIMENSIONS] = "dimensions"};

    return operation->rooted ? "root" : names[operation->parameter];
}

uint32_t operation_root_usual(const struct operation *operation, const struct network *network)
{
    return operation->parameter == PARAMETER_DISTANCE && network->nodes > 1 ? 1 : 0;
}

static uint32_t mirrored(const struct network *network, uint32_t dimensions, uint32_t node)
{
    uint32_t to = node;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t at = node / dim->stride % dim->size;
        if (dimensions == 0 || dimensions >> k & 1) {
            to = to + (dim->size - 1 - at) * dim->stride - at * dim->stride;
        }
    }
    return to;
}

uint32_t operation_target(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node)
{
    CHECK(operation->parameter && root < operation_roots(operation, network));
    return operation->parameter == PARAMETER_DISTANCE ? (node + root) % network->nodes
                                                      : mirrored(network, root, node);
}

uint32_t operation_source(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node)
{
    CHECK(operation->parameter && root < operation_roots(operation, network));
    return operation->parameter == PARAMETER_DISTANCE
               ? (node + network->nodes - root) % network->nodes
               : mirrored(network, root, node);
}

uint32_t operation_slots(const struct operation *operation, enum space space, uint32_t nodes,
                         uint32_t rank, uint32_t root, uint32_t segments)
{
    uint32_t one = operation->vector ? segments : 1;

    CHECK(space < SPACE_SCRATCH);
    switch ((enum span)operation->span[space]) {
    case SPAN_ONE: return one;
    case SPAN_NODES: return nodes;
    case SPAN_ONE_ROOT: return rank == root ? one : 0;
    case SPAN_NODES_ROOT: return rank == root ? nodes : 0;
    default: return 0;
    }
}

/* Behind the last segment a space goes on with the next vector. */
uint64_t operation_slot_at(const struct operation *operation, uint64_t slot, uint32_t bytes,
                           uint32_t element_bytes, uint32_t segments)
{
    if (!operation->vector) {
        return slot * bytes;
    }
    uint32_t size = element_bytes ? element_bytes : 1;

    return slot * (bytes / size) / segments * size;
}
