#include "planner/algorithms/parcels.h"

#include "planner/algorithms/lines.h"

unsigned parcels_dimensions(const struct network *network, unsigned dims[NETWORK_DIMS_MAX])
{
    unsigned count = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 1) {
            dims[count++] = k;
        }
    }
    return count;
}

struct parcels parcels_of(struct plan *plan, const unsigned dims[NETWORK_DIMS_MAX], unsigned count,
                          unsigned number)
{
    return (struct parcels){.plan = plan,
                            .dim = &plan->network.dim[dims[number]],
                            .first = number == 0,
                            .last = number + 1 == count,
                            .buffer = number % 2};
}

uint32_t parcels_buffers(const struct plan *plan, unsigned count)
{
    return (count < 3 ? count - 1 : 2) * plan->network.nodes;
}

uint32_t parcels_blocks(const struct parcels *parcels)
{
    return parcels->plan->network.nodes / parcels->dim->size;
}

static uint32_t coordinate_of(const struct parcels *parcels, uint32_t node)
{
    return node / parcels->dim->stride % parcels->dim->size;
}

uint32_t parcels_place(const struct parcels *parcels, uint32_t node)
{
    uint32_t at = coordinate_of(parcels, node);

    return parcels->dim->wraps ? at : fold_place(parcels->dim->size, at);
}

uint32_t parcels_further(const struct parcels *parcels, uint32_t node, uint32_t places)
{
    uint32_t size = parcels->dim->size, at = coordinate_of(parcels, node);
    uint32_t place = (parcels_place(parcels, node) + places) % size;
    uint32_t to = parcels->dim->wraps ? place : fold_at(size, place);

    return node - at * parcels->dim->stride + to * parcels->dim->stride;
}

static void add_parcel(const struct parcels *parcels, struct slots *slots, enum space space,
                       uint32_t base, uint32_t node)
{
    uint32_t run = parcels->dim->stride, all = run * parcels->dim->size;

    for (uint32_t high = 0; high < parcels->plan->network.nodes; high += all) {
        slots_add(parcels->plan, slots, space, base + high + coordinate_of(parcels, node) * run,
                  run);
    }
}

void parcels_before(const struct parcels *parcels, struct slots *slots, uint32_t node)
{
    uint32_t base = (1 - parcels->buffer) * parcels->plan->network.nodes;

    add_parcel(parcels, slots, parcels->first ? SPACE_SEND : SPACE_SCRATCH,
               parcels->first ? 0 : base, node);
}

void parcels_behind(const struct parcels *parcels, struct slots *slots, uint32_t node)
{
    uint32_t base = parcels->buffer * parcels->plan->network.nodes;

    add_parcel(parcels, slots, parcels->last ? SPACE_RECEIVE : SPACE_SCRATCH,
               parcels->last ? 0 : base, node);
}

void parcels_stay(const struct parcels *parcels, uint32_t step)
{
    struct plan *plan = parcels->plan;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        struct slots stay = slots_begin(plan), kept;
        parcels_before(parcels, &stay, node);
        kept = slots_begin(plan);
        parcels_behind(parcels, &kept, node);
        build_copy(plan, step, node, stay, kept,
                   parcels->first ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
}
