#include "planner/algorithms/superblocks.h"

#include "planner/algorithms/lines.h"

unsigned superblocks_dimensions(const struct network *network, unsigned dims[NETWORK_DIMS_MAX])
{
    unsigned count = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 1) {
            dims[count++] = k;
        }
    }
    return count;
}

struct superblocks superblocks_of(struct plan *plan, const unsigned dims[NETWORK_DIMS_MAX],
                                  unsigned count, unsigned number)
{
    return (struct superblocks){.plan = plan,
                                .dim = &plan->network.dim[dims[number]],
                                .first = number == 0,
                                .last = number + 1 == count,
                                .buffer = number % 2};
}

uint32_t superblocks_buffers(const struct plan *plan, unsigned count)
{
    return (count < 3 ? count - 1 : 2) * plan->network.nodes;
}

uint32_t superblocks_blocks(const struct superblocks *superblocks)
{
    return superblocks->plan->network.nodes / superblocks->dim->size;
}

static uint32_t coordinate_of(const struct superblocks *superblocks, uint32_t node)
{
    return node / superblocks->dim->stride % superblocks->dim->size;
}

uint32_t superblocks_place(const struct superblocks *superblocks, uint32_t node)
{
    uint32_t at = coordinate_of(superblocks, node);

    return superblocks->dim->wraps ? at : fold_place(superblocks->dim->size, at);
}

uint32_t superblocks_further(const struct superblocks *superblocks, uint32_t node, uint32_t places)
{
    uint32_t size = superblocks->dim->size, at = coordinate_of(superblocks, node);
    uint32_t place = (superblocks_place(superblocks, node) + places) % size;
    uint32_t to = superblocks->dim->wraps ? place : fold_at(size, place);

    return node - at * superblocks->dim->stride + to * superblocks->dim->stride;
}

static void add_superblock(const struct superblocks *superblocks, struct slots *slots,
                           enum space space, uint32_t base, uint32_t node)
{
    uint32_t length = superblocks->dim->stride, all = length * superblocks->dim->size;

    for (uint32_t high = 0; high < superblocks->plan->network.nodes; high += all) {
        slots_add(superblocks->plan, slots, space,
                  base + high + coordinate_of(superblocks, node) * length, length);
    }
}

void superblocks_before(const struct superblocks *superblocks, struct slots *slots, uint32_t node)
{
    uint32_t base = (1 - superblocks->buffer) * superblocks->plan->network.nodes;

    add_superblock(superblocks, slots, superblocks->first ? SPACE_SEND : SPACE_SCRATCH,
                   superblocks->first ? 0 : base, node);
}

void superblocks_behind(const struct superblocks *superblocks, struct slots *slots, uint32_t node)
{
    uint32_t base = superblocks->buffer * superblocks->plan->network.nodes;

    add_superblock(superblocks, slots, superblocks->last ? SPACE_RECEIVE : SPACE_SCRATCH,
                   superblocks->last ? 0 : base, node);
}

void superblocks_stay(const struct superblocks *superblocks, uint32_t step)
{
    struct plan *plan = superblocks->plan;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        struct slots stay = slots_begin(plan), kept;
        superblocks_before(superblocks, &stay, node);
        kept = slots_begin(plan);
        superblocks_behind(superblocks, &kept, node);
        build_copy(plan, step, node, stay, kept,
                   superblocks->first ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
}
