/*
 * aap.c - algorithm AAP: the complete exchange on a cube by vector reversals.
 *
 * In a step every node exchanges its block with the node that differs from it in a set of
 * dimensions: the vector reversal of all subcubes of these dimensions. Their paths in dimension
 * order use every directed link of these dimensions once. Phases take the largest subcubes first;
 * in a phase the sets are in lexicographic order of their ascending dimensions.
 *
 *     cube:3    012 | 01 02 12 | 0 1 2
 *
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), 3.1 and 3.2
 * Names    the paper's phase i has subcubes of `size` = n - i dimensions
 */
#include "collectives/planner/build.h"
#include "collectives/planner/candidates.h"

struct set {
    uint32_t dims[NETWORK_DIMS_MAX], size;
};

static uint32_t set_mask(const struct set *set)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < set->size; i++)
        mask |= UINT32_C(1) << set->dims[i];
    return mask;
}

/* The next set of the same size out of n dimensions; false behind the last. Two of four: 01 02 03
 * 12 13 23. */
static bool set_next(struct set *set, uint32_t n)
{
    uint32_t place = set->size;

    while (place > 0 && set->dims[place - 1] == n - set->size + place - 1)
        place--;
    if (place == 0)
        return false;
    set->dims[place - 1]++;
    for (; place < set->size; place++)
        set->dims[place] = set->dims[place - 1] + 1;
    return true;
}

struct plan *plan_aap(const struct network *network, const struct plan_wish *wish)
{
    struct plan *plan = build_begin(network, wish, true);
    struct slots from_zero = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots for_zero = slots_of(plan, SPACE_SEND, 0, 1);
    uint32_t step = 0;

    build_copy(plan, 0, 0, for_zero, from_zero, 0);
    for (uint32_t size = network->dims; size > 0; size--) {
        struct set set = {.size = size};
        for (uint32_t i = 0; i < size; i++)
            set.dims[i] = i;
        do {
            uint32_t to = set_mask(&set);
            build_circuit(plan, step++, 0, to, slots_of(plan, SPACE_SEND, to, 1), from_zero, 0);
        } while (set_next(&set, network->dims));
    }
    return plan;
}
