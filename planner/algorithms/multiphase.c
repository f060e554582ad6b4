/*
 * multiphase.c - the complete exchange on a cube in phases: each is a complete exchange in the
 * subcubes of some dimensions, of all blocks that go that way. Few large phases start few long
 * ways, many small ones send few messages.
 *
 *     cube:3, 2+1    phase 1 over dimensions 0 and 1: two blocks at a time to 1, 2, 3
 *                    phase 2 over dimension 2: four blocks to 4
 *
 * One phase is the exchange of AAP, in another order; n phases of one dimension are the standard
 * exchange. Dimensions are dealt out from the lowest, larger phases first.
 *
 * Where blocks are: slot v of a space, seen from node 0, holds the block whose source differs from
 * this node in v's dimensions of the phases done, and whose destination differs in those of the
 * others. The phase that exchanges with m moves the slots whose dimensions of the phase are m, each
 * to the same slot of the other node. Between phases they are in two halves of scratch by turns.
 *
 * Set-up ahead: inside a phase all blocks are there from its beginning, so all steps but its first
 * go ahead. After the step m comes the one that shares fewest dimensions with m, of those the one
 * with most dimensions, of those the least; its path takes dimensions that m leaves free first, so
 * that only the set-up over the shared ones waits for m's end. The first is a single dimension, as
 * nothing hides its set-up.
 *
 *     three dimensions    0 | 12 | 02 | 1 | 01 | 2 | 012: two hops wait, 01 for 1 and 012 for 2
 *
 * Source   Bokhari, Multiphase complete exchange on a circuit switched hypercube, ICPP 1991, I:525;
 *          Johnsson & Ho, IEEE Trans. Computers 38(9), 1989, 1249-1268 (standard exchange);
 *          set-up ahead: Boppana & Raghavendra, CENG 90-20 (1990), 3.3, in another order
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"

/* Above ALL_PARTS_DIMS dimensions phases are as equal as possible. */
enum { MULTIPHASE_DIMS_MAX = 12, ALL_PARTS_DIMS = 8 };

/* How many dimensions each phase has, largest first. */
struct parts {
    uint32_t size[MULTIPHASE_DIMS_MAX], count;
};

struct phase {
    uint32_t from_dim, dims;
    bool first, last;
    uint32_t half; /* of scratch, into which it puts what comes, if it is not the last */
};

bool possible_in_phases(const struct network *network)
{
    return possible_on_cubes(network) && network->dims > 0 && network->dims <= MULTIPHASE_DIMS_MAX;
}

/* Partitions ---------------------------------------------------------------------------------- */

/* The next partition of the same number: 4, 3+1, 2+2, 2+1+1, 1+1+1+1; false behind the last. */
static bool parts_next(struct parts *parts)
{
    uint32_t at = parts->count, left = 0;

    while (at > 0 && parts->size[at - 1] == 1) {
        at--;
        left++;
    }
    if (at == 0) {
        return false;
    }
    uint32_t most = --parts->size[at - 1];
    for (left++; left > 0; left -= parts->size[at - 1]) {
        parts->size[at++] = left < most ? left : most;
    }
    parts->count = at;
    return true;
}

static struct parts equal_parts(uint32_t dims, uint32_t count)
{
    struct parts parts = {.count = count};

    for (uint32_t i = 0; i < count; i++) {
        parts.size[i] = dims / count + (i < dims % count);
    }
    return parts;
}

/* Partition number `variant`, the one of all dimensions first; false behind the last. That of
 * single dimensions, which is last, is another candidate's. */
static bool parts_of(uint32_t dims, unsigned variant, struct parts *parts)
{
    *parts = equal_parts(dims, dims > ALL_PARTS_DIMS ? variant + 1 : 1);
    for (unsigned i = 0; dims <= ALL_PARTS_DIMS && i < variant; i++) {
        if (!parts_next(parts)) {
            return false;
        }
    }
    return dims == 1 ? variant == 0 : parts->count < dims;
}

unsigned multiphase_variants(const struct network *network, const struct plan_request *request)
{
    struct parts parts;
    unsigned count = 0;

    (void)request;
    while (parts_of(network->dims, count, &parts)) {
        count++;
    }
    return count;
}

void multiphase_words(const struct network *network, unsigned variant,
                      char words[VARIANT_WORDS_MAX])
{
    struct parts parts;
    int used = 0;

    (void)parts_of(network->dims, variant, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        used += snprintf(words + used, (size_t)(VARIANT_WORDS_MAX - used), "%s%u", i ? "+" : "",
                         parts.size[i]);
    }
}

/* The order of steps -------------------------------------------------------------------------- */

/* What is worst about a step after another: dimensions shared, then how few it has. */
static uint32_t hindrance(uint32_t before, uint32_t mask)
{
    return (uint32_t)__builtin_popcount(before & mask) * (MULTIPHASE_DIMS_MAX + 1) +
           MULTIPHASE_DIMS_MAX - (uint32_t)__builtin_popcount(mask);
}

/* The sets of a phase of `dims` dimensions, in order. */
static void order_steps(uint32_t dims, uint32_t *masks)
{
    uint32_t count = (UINT32_C(1) << dims) - 1;

    for (uint32_t i = 0; i < count; i++) {
        masks[i] = i + 1;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t best = i;
        for (uint32_t j = i + 1; j < count; j++) {
            uint32_t new = hindrance(masks[i - 1], masks[j]);
            uint32_t old = hindrance(masks[i - 1], masks[best]);
            if (new < old || (new == old &&masks[j] < masks[best])) {
                best = j;
            }
        }
        uint32_t mask = masks[best];
        masks[best] = masks[i];
        masks[i] = mask;
    }
}

/* The ports of a set, those first that the step before leaves free; returns the hops. */
static uint32_t way_of(uint32_t before, uint32_t mask, uint8_t ports[MULTIPHASE_DIMS_MAX])
{
    uint32_t hops = 0;

    for (uint32_t left = mask & ~before; left; left &= left - 1) {
        ports[hops++] = (uint8_t)__builtin_ctz(left);
    }
    for (uint32_t left = mask & before; left; left &= left - 1) {
        ports[hops++] = (uint8_t)__builtin_ctz(left);
    }
    return hops;
}

/* Slots --------------------------------------------------------------------------------------- */

/* The slots of a space, from `base` on, whose dimensions of the phase are m. In spaces of slots for
 * ranks each is moved by itself; of the two sides of a circuit both are taken so. */
static struct slots slots_with(struct plan *plan, const struct phase *phase, enum space space,
                               uint32_t base, uint32_t m)
{
    uint32_t low = UINT32_C(1) << phase->from_dim, size = low << phase->dims;
    uint32_t nodes = plan->network.nodes;

    if (low == 1) {
        return slots_apart(plan, space, base + m, size, nodes / size);
    }
    if (phase->last) {
        return slots_apart(plan, space, base + m * low, 1, low);
    }
    struct slots slots = slots_begin(plan);
    for (uint32_t high = 0; high < nodes; high += size) {
        slots_add(plan, &slots, space, base + high + m * low, low);
    }
    return slots;
}

static struct slots slots_before(struct plan *plan, const struct phase *phase, uint32_t m)
{
    if (phase->first) {
        return slots_with(plan, phase, SPACE_SEND, 0, m);
    }
    return slots_with(plan, phase, SPACE_SCRATCH, (1 - phase->half) * plan->network.nodes, m);
}

/* Slots for ranks are given as they are seen from the sender, whose own dimensions are 0. */
static struct slots slots_behind(struct plan *plan, const struct phase *phase, uint32_t m)
{
    if (phase->last) {
        return slots_with(plan, phase, SPACE_RECEIVE, 0, 0);
    }
    return slots_with(plan, phase, SPACE_SCRATCH, phase->half * plan->network.nodes, m);
}

/* A phase from a step on; returns the step behind it. */
static uint32_t add_phase(struct plan *plan, const struct phase *phase, uint32_t step,
                          uint32_t *masks)
{
    uint8_t flags = phase->first ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    uint32_t count = (UINT32_C(1) << phase->dims) - 1, before = 0;
    uint8_t ports[MULTIPHASE_DIMS_MAX];

    struct slots stay = slots_before(plan, phase, 0);
    build_copy(plan, step, 0, stay, slots_behind(plan, phase, 0), flags);
    order_steps(phase->dims, masks);
    for (uint32_t i = 0; i < count; i++, step++) {
        struct slots blocks = slots_before(plan, phase, masks[i]);
        uint32_t mask = masks[i] << phase->from_dim, hops = way_of(before, mask, ports);
        build_routed(plan, step, 0, mask, blocks, slots_behind(plan, phase, masks[i]),
                     flags | (i ? ROW_AHEAD : 0), ports, hops);
        before = mask;
    }
    return step;
}

static struct plan *laid_down(const struct network *network, const struct plan_request *request,
                              const struct parts *parts)
{
    struct plan *plan = build_begin(network, request, true);
    uint32_t *masks = planner_memory(network->nodes, sizeof *masks);
    uint32_t step = 0;
    struct phase phase = {0};

    for (uint32_t i = 0; i < parts->count; i++) {
        phase.dims = parts->size[i];
        phase.first = i == 0;
        phase.last = i + 1 == parts->count;
        phase.half = i % 2;
        step = add_phase(plan, &phase, step, masks);
        phase.from_dim += phase.dims;
    }
    plan->scratch[0] = parts->count == 1 ? 0 : network->nodes * (parts->count == 2 ? 1 : 2);
    free(masks);
    return plan;
}

struct plan *plan_multiphase(const struct network *network, const struct plan_request *request)
{
    struct parts parts;

    (void)parts_of(network->dims, request->variant, &parts);
    return laid_down(network, request, &parts);
}

struct plan *plan_standard_exchange(const struct network *network,
                                    const struct plan_request *request)
{
    struct parts parts = equal_parts(network->dims, network->dims);

    return laid_down(network, request, &parts);
}
