/*
 * bruck.c - complete exchange, allgather and reduce_scatter in about log N steps, of any number of
 * nodes, one dimension after the other.
 *
 * Exchange (superblocks.h): a superblock that has o places to go round the ring of its dimension
 * goes 2^i places for every bit i of o. So a step shifts all superblocks with that bit at once,
 * half of them. A superblock of one bit goes from where it was straight to where it is wanted;
 * others lie between their steps in two places by turns, so that no step writes over what it sends.
 *
 *     ring:5, one way, node 0    1: superblocks for 1 3 | 2: for 2, and on for 3 | 4: for 4
 *
 * Allgather: in steps of ..., 4, 2, 1 places every node gives the one so far ahead all blocks
 * that it has and that one has not. The longest steps come first, while there is little to give.
 * Backwards it is a reduce_scatter.
 *
 * Both ways: superblocks take the shorter way, so there are shifts up and down by turns, which are
 * set up ahead of each other, and none is longer than half the ring.
 *
 * A shift by s places lays s circuits over each link. Those that begin s apart do not meet and are
 * served together.
 *
 * Variants  of the exchange: one way, both ways
 * Source    Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997,
 *           1143-1156
 */
#include "planner/algorithms/bruck.h"

#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/superblocks.h"

enum { NODES_MAX = 2048, WAYS = 2 };

struct phase {
    struct superblocks superblocks;
    uint32_t most[WAYS]; /* places that superblocks go at most, up and down */
    uint32_t between;    /* where in scratch superblocks lie between their steps */
};

bool possible_by_bruck(const struct network *network)
{
    uint32_t longest = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        longest = network->dim[k].size > longest ? network->dim[k].size : longest;
    }
    return longest > 2 && network->nodes <= NODES_MAX;
}

/* The nodes in the order in which they send in a shift. */
static void order_shift(const struct superblocks *superblocks, uint32_t nodes, uint32_t shift,
                        uint32_t *order)
{
    uint32_t size = superblocks->dim->size, rounds = shift < size - shift ? shift : size - shift;
    uint32_t count = 0;

    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t node = 0; node < nodes; node++) {
            if (superblocks_place(superblocks, node) % rounds == round) {
                order[count++] = node;
            }
        }
    }
}

/* The exchange -------------------------------------------------------------------------------- */

unsigned bruck_variants(const struct network *network, const struct plan_request *request)
{
    (void)network;
    (void)request;
    return WAYS;
}

void bruck_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", variant ? "both ways" : "one way");
}

/* Where a superblock lies that has gone so many of its steps, and goes `off` places up in all. */
static void add_between(struct phase *phase, struct slots *slots, uint32_t gone, uint32_t off)
{
    uint32_t nodes = phase->superblocks.plan->network.nodes,
             blocks = superblocks_blocks(&phase->superblocks);

    slots_add(phase->superblocks.plan, slots, SPACE_SCRATCH,
              phase->between + gone % 2 * nodes + off * blocks, blocks);
}

/* So many places on, the way that is meant. */
static uint32_t turned(const struct phase *phase, unsigned way, uint32_t places)
{
    return way == 0 ? places : phase->superblocks.dim->size - places;
}

/* What a node sends in the step of a power of two, or what comes to it: superblocks with that
 * bit. */
static struct slots shifted(struct phase *phase, uint32_t node, unsigned way, uint32_t power,
                            bool sends)
{
    const struct superblocks *superblocks = &phase->superblocks;
    struct slots slots = slots_begin(superblocks->plan);

    for (uint32_t off = power; off <= phase->most[way]; off++) {
        uint32_t gone = (uint32_t)__builtin_popcount(off % power), up = turned(phase, way, off);
        if (!(off & power)) {
            continue;
        }
        if (sends && gone == 0) {
            superblocks_before(superblocks, &slots, superblocks_further(superblocks, node, up));
        } else if (sends) {
            add_between(phase, &slots, gone, up);
        } else if (off < 2 * power) {
            superblocks_behind(superblocks, &slots,
                               superblocks_further(superblocks, node, superblocks->dim->size - up));
        } else {
            add_between(phase, &slots, gone + 1, up);
        }
    }
    return slots;
}

static void add_shift(struct phase *phase, uint32_t step, unsigned way, uint32_t power,
                      uint32_t *order)
{
    uint32_t places = turned(phase, way, power);
    struct plan *plan = phase->superblocks.plan;
    bool begins = phase->superblocks.first && step == 0;

    order_shift(&phase->superblocks, plan->network.nodes, places, order);
    for (uint32_t i = 0; i < plan->network.nodes; i++) {
        uint32_t to = superblocks_further(&phase->superblocks, order[i], places);
        struct slots send = shifted(phase, order[i], way, power, true);
        build_circuit(plan, step, order[i], to, send, shifted(phase, to, way, power, false),
                      begins ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
}

/* All steps of a phase from a step on; returns the step behind it. */
static uint32_t add_phase(struct phase *phase, uint32_t step)
{
    uint32_t nodes = phase->superblocks.plan->network.nodes;
    uint32_t *order = planner_memory(nodes, sizeof *order);

    superblocks_stay(&phase->superblocks, step);
    for (uint32_t power = 1; power <= phase->most[0]; power *= 2) {
        for (unsigned way = 0; way < WAYS; way++) {
            if (power <= phase->most[way]) {
                add_shift(phase, step++, way, power, order);
            }
        }
    }
    free(order);
    return step;
}

struct plan *plan_bruck(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    unsigned dims[NETWORK_DIMS_MAX], count = superblocks_dimensions(network, dims);
    bool both = request->variant;
    uint32_t step = 0;

    for (unsigned i = 0; i < count; i++) {
        struct phase phase = {.superblocks = superblocks_of(plan, dims, count, i),
                              .between = superblocks_buffers(plan, count)};
        uint32_t size = phase.superblocks.dim->size;
        phase.most[0] = both ? size / 2 : size - 1;
        phase.most[1] = both ? (size - 1) / 2 : 0;
        step = add_phase(&phase, step);
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        plan->scratch[node] = superblocks_buffers(plan, count) + 2 * network->nodes;
    }
    build_ahead(plan);
    return plan;
}

/* The allgather ------------------------------------------------------------------------------- */

struct flow bruck_flow(const struct network *network)
{
    struct plan plan = {.network = *network};
    unsigned dims[NETWORK_DIMS_MAX], count = superblocks_dimensions(network, dims);
    uint32_t nodes = network->nodes, *order = planner_memory(nodes, sizeof *order);
    struct block_sets known = block_sets_make(nodes), before = block_sets_make(nodes);
    struct flow flow = {0};

    for (unsigned i = 0; i < count; i++) {
        struct superblocks line = superblocks_of(&plan, dims, count, i);
        uint32_t shift = 1;
        while (2 * shift < line.dim->size) {
            shift *= 2;
        }
        for (; shift > 0; shift /= 2) {
            uint32_t step = flow.steps;
            block_sets_copy(&before, &known);
            order_shift(&line, nodes, shift, order);
            for (uint32_t k = 0; k < nodes; k++) {
                block_sets_give(&before, &known, &flow, step, order[k],
                                superblocks_further(&line, order[k], shift));
            }
        }
    }
    block_sets_free(&known);
    block_sets_free(&before);
    free(order);
    return flow;
}

struct plan *plan_bruck_allgather(const struct network *network, const struct plan_request *request)
{
    struct flow flow = bruck_flow(network);

    return flow_plan(network, request, &flow, network->nodes);
}
