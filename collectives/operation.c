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
    [ECUBE_ALL_TO_SOME] = {"all_to_some",
                           "all_to_some",
                           {SPAN_MOVEMENTS, SPAN_MOVEMENTS},
                           .parameter = PARAMETER_MOVEMENTS,
                           .planned = true},
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
    case PARAMETER_DIMENSIONS: return UINT32_C(1) << network_guest(network)->dims;
    case PARAMETER_MOVEMENTS: return ECUBE_MOVEMENT_ALONE + ecube_movements(network->nodes);
    default: return operation->rooted ? network->nodes : 1;
    }
}

const char *operation_root_name(const struct operation *operation)
{
    static const char *const names[] = {[PARAMETER_DISTANCE] = "distance",
                                        [PARAMETER_DIMENSIONS] = "dimensions",
                                        [PARAMETER_MOVEMENTS] = "movements"};

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

/* The rank to which the block of another goes, or (back) whose block it gets. */
static uint32_t moved(const struct operation *operation, const struct network *network,
                      uint32_t root, uint32_t rank, uint32_t slot, bool back)
{
    uint32_t nodes = network->nodes;

    switch ((enum parameter)operation->parameter) {
    case PARAMETER_DISTANCE: return (rank + (back ? nodes - root : root)) % nodes;
    case PARAMETER_MOVEMENTS:
        return movement_rank(network_guest(network), movement_of(nodes, root, slot), rank, back);
    default: return mirrored(network_guest(network), root, rank);
    }
}

uint32_t operation_target(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node, uint32_t slot)
{
    CHECK(operation->parameter && root < operation_roots(operation, network));
    return network_node(network,
                        moved(operation, network, root, network_rank(network, node), slot, false));
}

uint32_t operation_source(const struct operation *operation, const struct network *network,
                          uint32_t root, uint32_t node, uint32_t slot)
{
    CHECK(operation->parameter && root < operation_roots(operation, network));
    return network_node(network,
                        moved(operation, network, root, network_rank(network, node), slot, true));
}

bool operation_has_pairs(const struct operation *operation)
{
    return operation_has_movements(operation) || (operation->span[SPACE_SEND] == SPAN_NODES &&
                                                  operation->span[SPACE_RECEIVE] == SPAN_NODES);
}

uint32_t operation_pair_width(const struct operation *operation, uint32_t nodes)
{
    return operation_has_movements(operation) ? MOVEMENTS_MAX : nodes;
}

bool operation_has_segments(const struct operation *operation)
{
    return !operation->sized && !operation_has_pairs(operation) &&
           operation->span[SPACE_RECEIVE] != SPAN_NONE;
}

uint32_t operation_slots(const struct operation *operation, enum space space, uint32_t nodes,
                         uint32_t rank, uint32_t root, uint32_t segments)
{
    CHECK(space < SPACE_SCRATCH);
    switch ((enum span)operation->span[space]) {
    case SPAN_ONE: return segments;
    case SPAN_NODES: return nodes * segments;
    case SPAN_ONE_ROOT: return rank == root ? segments : 0;
    case SPAN_NODES_ROOT: return rank == root ? nodes * segments : 0;
    case SPAN_MOVEMENTS: return movement_slots(nodes, root);
    default: return 0;
    }
}

/* Behind the last segment a space goes on with the next block. */
uint64_t operation_slot_at(const struct operation *operation, uint64_t slot, uint32_t bytes,
                           uint32_t element_bytes, uint32_t segments)
{
    if (!operation->vector && segments == 1) {
        return slot * bytes;
    }
    uint32_t size = element_bytes ? element_bytes : 1;

    return slot * (bytes / size) / segments * size;
}
