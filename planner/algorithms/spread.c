/*
 * spread.c - broadcast, scatter and their reverses over uneven trees set up ahead.
 *
 * A node that has heard sends to one node after the other. Behind the first each set-up is issued
 * while the one before it flows, so a node that is heard by many at short intervals should reach
 * more of them itself than in a binomial tree: the part of its line that it gives away each time
 * is less than half. How much is best lies between 1/2 and 1 / golden ratio^2 = 0.38, and depends
 * on how long data flow and circuits are set up (Fibonacci trees); so it is a variant.
 *
 *     ring:8 from 0, 1/2    0 -> 4 | 0 -> 2, 4 -> 6 ...  (by distance and side: halving.h)
 *
 * The line is each dimension, slowest first, or the Hamiltonian cycle through all nodes (cycle.h).
 *
 * Upwards set-ups are side by side: short blocks of a few nodes are with the root soonest if all
 * send to it at once, one node given away at a time.
 *
 * Variants  share 8, 7, 6, 5, 4, 0 sixteenths by dimensions; then the same along the cycle
 * Source    Bar-Noy & Kipnis, Designing broadcasting algorithms in the postal model, SPAA 1992;
 *           set-up ahead: Boppana & Raghavendra, CENG 90-20 (1990), 3.3
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/cycle.h"
#include "planner/algorithms/halving.h"
#include "planner/algorithms/spread.h"
#include "drivers/check.h"

enum { SHARES = 6, UNEVEN = 3 /* 5/16 */, BLOCKS_NODES_MAX = 1024, CYCLE_NODES_MAX = 4096 };

static bool has_one_line(const struct network *network)
{
    unsigned lines = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        lines += network->dim[k].size > 1;
    }
    return lines <= 1;
}

bool possible_in_blocks(const struct network *network)
{
    return network->nodes <= BLOCKS_NODES_MAX;
}

unsigned spread_variants(const struct network *network, const struct plan_request *request)
{
    (void)request;
    return has_one_line(network) || network->nodes > CYCLE_NODES_MAX ? SHARES : 2 * SHARES;
}

/* The last gives away one node at a time. */
static uint32_t share_of(unsigned variant)
{
    static const uint8_t shares[SHARES] = {8, 7, 6, 5, 4, 0};

    return shares[variant % SHARES];
}

void spread_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%u/16%s", share_of(variant),
             variant < SHARES ? "" : " on a cycle");
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The blocks of those below an edge; names: what ranks stand for, NULL: themselves. */
static void add_below(struct flow *flow, const struct ranks *below, const uint32_t *names)
{
    uint32_t count = 0, *all = planner_memory(below->count[0] + below->count[1], sizeof *all);

    for (unsigned part = 0; part < 2; part++) {
        for (uint32_t i = 0; i < below->count[part]; i++) {
            uint32_t rank = below->first[part] + i;
            all[count++] = names ? names[rank] : rank;
        }
    }
    qsort(all, count, sizeof *all, by_number);
    for (uint32_t i = 0; i < count; i++) {
        flow_add(flow, all[i], 1);
    }
    free(all);
}

static struct flow over_tree(const struct tree *tree, const uint32_t *names, bool vector)
{
    struct flow flow = {0};

    for (uint32_t i = 0; i < tree->count; i++) {
        const struct edge *edge = &tree->edges[i];
        flow_move(&flow, edge->step, names ? names[edge->from] : edge->from,
                  names ? names[edge->to] : edge->to, FLOW_DIRECT);
        if (vector) {
            flow_add(&flow, 0, 1);
        } else {
            add_below(&flow, &edge->below, names);
        }
    }
    return flow;
}

/* The place of a node on the cycle. */
static uint32_t place_of(const struct cycle *cycle, uint32_t node)
{
    uint32_t place = 0;

    while (cycle->at[place] != node) {
        place++;
    }
    return place;
}

/* The flow from a root over a variant's tree. */
static struct flow flow_of(const struct network *network, uint32_t root, unsigned variant,
                           bool vector)
{
    uint32_t share = share_of(variant), nodes = network->nodes;
    struct network round = *network;
    struct cycle cycle = {0};

    if (variant >= SHARES) {
        cycle = cycle_make(network);
        root = place_of(&cycle, root);
        CHECK(network_make(&round, NETWORK_RING, &nodes, 1));
    }
    struct tree tree = tree_make_uneven(&round, root, share);
    struct flow flow = over_tree(&tree, cycle.at, vector);
    tree_free(&tree);
    cycle_free(&cycle);
    return flow;
}

struct flow spread_flow(const struct network *network, uint32_t root, bool on_cycle, bool uneven)
{
    unsigned first = on_cycle && !has_one_line(network) ? SHARES : 0;

    return flow_of(network, root, first + (uneven ? UNEVEN : 0), false);
}

struct plan *plan_spread(const struct network *network, const struct plan_request *request)
{
    const struct operation *operation = operation_of(request->operation);
    uint32_t root = operation->rooted ? request->root : tree_middle(network);
    struct flow flow = flow_of(network, root, request->variant, operation->vector);

    return flow_plan(network, request, &flow, operation->vector ? 1 : network->nodes);
}
