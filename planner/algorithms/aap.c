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
 * With set-up ahead each set is followed by its complement, whose links it leaves free. The way on
 * from there shares a dimension with it, and its set-up waits in part: the paper's closed form
 * T_aap' is not reached.
 *
 *     cube:3    012 | 01 2 | 02 1 | 12 0
 *
 * With two ports a set and its complement are one step, each by a port of its own: N / 2 steps.
 *
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), 3.1 to 3.3
 * Names    the paper's phase i has subcubes of `size` = n - i dimensions
 */
#include <stdlib.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"

struct set {
    uint32_t dims[NETWORK_DIMS_MAX], size;
};

static uint32_t set_mask(const struct set *set)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < set->size; i++) {
        mask |= UINT32_C(1) << set->dims[i];
    }
    return mask;
}

/* The next set of the same size out of n dimensions; false behind the last. Two of four: 01 02 03
 * 12 13 23. */
static bool set_next(struct set *set, uint32_t n)
{
    uint32_t place = set->size;

    while (place > 0 && set->dims[place - 1] == n - set->size + place - 1) {
        place--;
    }
    if (place == 0) {
        return false;
    }
    set->dims[place - 1]++;
    for (; place < set->size; place++) {
        set->dims[place] = set->dims[place - 1] + 1;
    }
    return true;
}

/* The sets of all steps in order; returns how many. */
static uint32_t all_masks(uint32_t n, uint32_t *masks)
{
    uint32_t count = 0;

    for (uint32_t size = n; size > 0; size--) {
        struct set set = {.size = size};
        for (uint32_t i = 0; i < size; i++) {
            set.dims[i] = i;
        }
        do {
            masks[count++] = set_mask(&set);
        } while (set_next(&set, n));
    }
    return count;
}

/* Every step of node 0, its block to the node that differs in a set of dimensions. */
static struct plan *laid_down(const struct network *network, const struct plan_request *request,
                              const uint32_t *masks, uint8_t flags)
{
    struct plan *plan = build_begin(network, request, true);
    struct slots from_zero = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots for_zero = slots_of(plan, SPACE_SEND, 0, 1);

    build_copy(plan, 0, 0, for_zero, from_zero, 0);
    for (uint32_t step = 0; step + 1 < network->nodes; step++) {
        struct slots block = slots_of(plan, SPACE_SEND, masks[step], 1);
        build_circuit(plan, step, 0, masks[step], block, from_zero, flags);
    }
    return plan;
}

struct plan *plan_aap(const struct network *network, const struct plan_request *request)
{
    uint32_t *masks = planner_memory(network->nodes, sizeof *masks);

    all_masks(network->dims, masks);
    struct plan *plan = laid_down(network, request, masks, 0);
    free(masks);
    return plan;
}

/* Every set is followed by the others' dimensions: from both ends of AAP's order, in which the
 * complement of the set at place j of those of a size is at place j from behind of its own. A set
 * of n / 2 dimensions is in the middle, with its complement. The caller's to free. */
static uint32_t *dual_masks(const struct network *network)
{
    uint32_t *masks = planner_memory(network->nodes, sizeof *masks);
    uint32_t *duals = planner_memory(network->nodes, sizeof *duals);
    uint32_t count = all_masks(network->dims, masks);

    for (uint32_t at = 0; at < count; at++) {
        duals[at] = at == 0 ? masks[0] : masks[at % 2 ? (at + 1) / 2 : count - at / 2];
    }
    free(masks);
    return duals;
}

struct plan *plan_aap_ahead(const struct network *network, const struct plan_request *request)
{
    uint32_t *duals = dual_masks(network);
    struct plan *plan = laid_down(network, request, duals, ROW_AHEAD);

    free(duals);
    return plan;
}

/* The sets at 2 j - 1 and 2 j are each other's complements. */
struct plan *plan_aap_pairs(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, true);
    struct slots from_zero = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots for_zero = slots_of(plan, SPACE_SEND, 0, 1);
    unsigned ports = request->ports > 1 ? 2 : 1;
    uint32_t *duals = dual_masks(network);

    build_copy(plan, 0, 0, for_zero, from_zero, 0);
    for (uint32_t i = 0; i + 1 < network->nodes; i++) {
        struct slots block = slots_of(plan, SPACE_SEND, duals[i], 1);
        plan->port = (uint8_t)(i > 0 ? (i - 1) % ports : 0);
        build_circuit(plan, (i + ports - 1) / ports, 0, duals[i], block, from_zero, ROW_AHEAD);
    }
    free(duals);
    return plan;
}
