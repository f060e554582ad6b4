/*
 * bruck.c - complete exchange, allgather and reduce_scatter in about log N steps, of any number of
 * nodes, one dimension after the other.
 *
 * Exchange (parcels.h): a parcel that has o places to go round the ring of its dimension goes j r^i
 * places for every digit j of o at place i in radix r. So step (i, j) shifts all parcels with that
 * digit at once, n / r of them. A parcel of one digit goes from where it was straight to where it
 * is wanted; others lie between their steps in two places by turns, so that no step writes over
 * what it sends.
 *
 *     ring:5, radix 2, node 0    1: parcels for 1 3 | 2: for 2, and on for 3 | 4: for 4
 *
 * Allgather: in steps of ..., 4, 2, 1 places every node tells the one so far ahead all that it has
 * heard and that one has not. The longest come first, while there is little to tell. Backwards it
 * is a reduce_scatter.
 *
 * A shift by s places lays s circuits over each link. Those that begin s apart do not meet and are
 * served together.
 *
 * Variants  of the exchange: radix 2, 3, 4
 * Source    Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997,
 *           1143-1156
 */
#include "collectives/planner/bruck.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/planner/candidates.h"
#include "collectives/planner/heard.h"
#include "collectives/planner/parcels.h"

enum { NODES_MAX = 512, RADIX_LEAST = 2, RADICES = 3 };

struct phase {
    struct parcels parcels;
    uint32_t radix;
    uint32_t between; /* where in scratch parcels lie between their steps */
};

bool possible_by_bruck(const struct network *network)
{
    uint32_t longest = 0;

    for (unsigned k = 0; k < network->dims; k++)
        longest = network->dim[k].size > longest ? network->dim[k].size : longest;
    return longest > 2 && network->nodes <= NODES_MAX;
}

/* The nodes in the order in which they send in a shift. */
static void order_shift(const struct parcels *parcels, uint32_t nodes, uint32_t shift,
                        uint32_t *order)
{
    uint32_t size = parcels->dim->size, rounds = shift < size - shift ? shift : size - shift;
    uint32_t count = 0;

    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t node = 0; node < nodes; node++)
            if (parcels_place(parcels, node) % rounds == round)
                order[count++] = node;
}

/* The exchange -------------------------------------------------------------------------------- */

unsigned bruck_variants(const struct network *network, const struct plan_wish *wish)
{
    (void)network;
    (void)wish;
    return RADICES;
}

void bruck_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "radix %u", RADIX_LEAST + variant);
}

static uint32_t digits_of(const struct phase *phase, uint32_t number)
{
    uint32_t digits = 0;

    for (; number; number /= phase->radix)
        digits += number % phase->radix > 0;
    return digits;
}

/* Where a parcel lies that has gone so many of its steps, and has `off` places to go in all. */
static void add_between(struct phase *phase, struct slots *slots, uint32_t gone, uint32_t off)
{
    uint32_t nodes = phase->parcels.plan->network.nodes, blocks = parcels_blocks(&phase->parcels);

    slots_add(phase->parcels.plan, slots, SPACE_SCRATCH,
              phase->between + gone % 2 * nodes + off * blocks, blocks);
}

/* What a node sends in the step of digit j at r^i, or what comes to it. */
static struct slots shifted(struct phase *phase, uint32_t node, uint32_t power, uint32_t digit,
                            bool sends)
{
    uint32_t size = phase->parcels.dim->size;
    struct slots slots = slots_begin(phase->parcels.plan);

    for (uint32_t off = digit * power; off < size; off++) {
        uint32_t gone = digits_of(phase, off % power), all = digits_of(phase, off);
        if (off / power % phase->radix != digit)
            continue;
        if (sends && gone == 0)
            parcels_before(&phase->parcels, &slots, parcels_further(&phase->parcels, node, off));
        else if (sends)
            add_between(phase, &slots, gone, off);
        else if (gone + 1 == all)
            parcels_behind(&phase->parcels, &slots,
                           parcels_further(&phase->parcels, node, size - off));
        else
            add_between(phase, &slots, gone + 1, off);
    }
    return slots;
}

static void add_shift(struct phase *phase, uint32_t step, uint32_t power, uint32_t digit,
                      const uint32_t *order)
{
    struct plan *plan = phase->parcels.plan;
    bool begins = phase->parcels.first && step == 0;

    for (uint32_t i = 0; i < plan->network.nodes; i++) {
        uint32_t to = parcels_further(&phase->parcels, order[i], digit * power);
        struct slots send = shifted(phase, order[i], power, digit, true);
        build_circuit(plan, step, order[i], to, send, shifted(phase, to, power, digit, false),
                      begins ? 0 : ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
}

/* All steps of a phase from a step on; returns the step behind it. */
static uint32_t add_phase(struct phase *phase, uint32_t step)
{
    uint32_t size = phase->parcels.dim->size, nodes = phase->parcels.plan->network.nodes;
    uint32_t *order = planner_memory(nodes, sizeof *order);

    parcels_stay(&phase->parcels, step);
    for (uint32_t power = 1; power < size; power *= phase->radix)
        for (uint32_t digit = 1; digit < phase->radix && digit * power < size; digit++, step++) {
            order_shift(&phase->parcels, nodes, digit * power, order);
            add_shift(phase, step, power, digit, order);
        }
    free(order);
    return step;
}

struct plan *plan_bruck(const struct network *network, const struct plan_wish *wish)
{
    struct plan *plan = build_begin(network, wish, false);
    unsigned dims[NETWORK_DIMS_MAX], count = parcels_dimensions(network, dims);
    uint32_t step = 0;

    for (unsigned i = 0; i < count; i++) {
        struct phase phase = {.parcels = parcels_of(plan, dims, count, i),
                              .radix = RADIX_LEAST + wish->variant,
                              .between = parcels_buffers(plan, count)};
        step = add_phase(&phase, step);
    }
    for (uint32_t node = 0; node < network->nodes; node++)
        plan->scratch[node] = parcels_buffers(plan, count) + 2 * network->nodes;
    build_ahead(plan);
    return plan;
}

/* The allgather ------------------------------------------------------------------------------- */

struct flow bruck_flow(const struct network *network)
{
    struct plan plan = {.network = *network};
    unsigned dims[NETWORK_DIMS_MAX], count = parcels_dimensions(network, dims);
    uint32_t nodes = network->nodes, *order = planner_memory(nodes, sizeof *order);
    struct heard heard = heard_make(nodes), told = heard_make(nodes);
    struct flow flow = {0};

    for (unsigned i = 0; i < count; i++) {
        struct parcels line = parcels_of(&plan, dims, count, i);
        uint32_t shift = 1;
        while (2 * shift < line.dim->size)
            shift *= 2;
        for (; shift > 0; shift /= 2) {
            uint32_t step = flow.steps;
            heard_copy(&told, &heard);
            order_shift(&line, nodes, shift, order);
            for (uint32_t k = 0; k < nodes; k++)
                heard_tell(&told, &heard, &flow, step, order[k],
                           parcels_further(&line, order[k], shift));
        }
    }
    heard_free(&heard);
    heard_free(&told);
    free(order);
    return flow;
}

struct plan *plan_bruck_allgather(const struct network *network, const struct plan_wish *wish)
{
    struct flow flow = bruck_flow(network);

    return flow_plan(network, wish, &flow, network->nodes);
}
