/*
 * pairs.c - recursive halving and doubling: in each step nodes exchange in pairs, and after log2 N
 * steps all have heard of all. On networks whose sides are powers of two.
 *
 * In step s of a dimension a node's partner is 2^s away where the dimension is a line, or of two
 * nodes, as on cubes; on a ring (1 - (-2)^(s + 1)) / 3 away, forth from even places and back from
 * odd ones (Swing): 1, -1, 3, -5, ... so that two steps are between neighbours. Near steps come
 * first in every dimension. Pairs further apart lie across each other; in a step those are served
 * together that do not, so that ring:8 has two rounds in its third step, not a queue of four.
 *
 *     ring:8    0-1 2-3 4-5 6-7 | 1-2 3-4 5-6 7-0 | 0-3 4-7, then 2-5 6-1
 *
 * Halving (reduce_scatter): near steps have the most blocks. Doubling (allgather) is the same
 * backwards. In halves: what came in the last step is sent apart from what was there before and
 * behind it, so all set-ups but the first can be issued ahead.
 *
 * Allreduce: halving and doubling; or all pairs exchange the whole vector. On cubes also a mixture:
 * halving over the highest dimensions, whole exchanges of what is left over the others, doubling.
 *
 * Variants  0 whole, 1 in halves. Allreduce: 2 j whole, 2 j + 1 in halves, with j steps of halving
 *           (but on cubes: none, or all)
 * Source    Rabenseifner, Optimization of collective reduction operations, ICCS 2004, LNCS 3036;
 *           Thakur, Rabenseifner & Gropp, Int. J. High Perf. Comput. Appl. 19(1), 2005, 49-66;
 *           De Sensi et al., Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "planner/algorithms/pairs.h"

enum { NODES_MAX = 512, PAIR_VARIANTS = 2 };

static bool is_power(uint32_t size)
{
    return (size & (size - 1)) == 0;
}

bool pairs_everywhere(const struct network *network)
{
    for (unsigned k = 0; k < network->dims; k++) {
        if (!is_power(network->dim[k].size)) {
            return false;
        }
    }
    return true;
}

bool possible_in_pairs(const struct network *network)
{
    return network->nodes <= NODES_MAX && pairs_everywhere(network);
}

/* A step: in which dimension, and how near its pairs are. */
struct pairing {
    const struct network_dimension *dim;
    unsigned near;
};

static struct pairing pairing_of(const struct network *network, unsigned step)
{
    for (unsigned near = 0;; near++) {
        for (unsigned k = network->dims; k-- > 0;) {
            if (UINT32_C(2) << near <= network->dim[k].size && step-- == 0) {
                return (struct pairing){&network->dim[k], near};
            }
        }
    }
}

static bool swings(const struct pairing *pairing)
{
    return pairing->dim->wraps && pairing->dim->size > 2;
}

/* Of Swing: whether a node's partner lies in the direction in which coordinates grow. */
static bool is_forth(const struct pairing *pairing, uint32_t at)
{
    return (at % 2 == 0) == (pairing->near % 2 == 0);
}

static uint32_t partner_in(const struct pairing *pairing, uint32_t at)
{
    uint32_t power = UINT32_C(2) << pairing->near, size = pairing->dim->size;
    uint32_t away = (power + (pairing->near % 2 ? -UINT32_C(1) : 1)) / 3;

    if (!swings(pairing)) {
        return at ^ UINT32_C(1) << pairing->near;
    }
    return (is_forth(pairing, at) ? at + away : at + size - away) % size;
}

uint32_t pairs_partner(const struct network *network, unsigned step, uint32_t node)
{
    struct pairing pairing = pairing_of(network, step);
    uint32_t stride = pairing.dim->stride, at = node / stride % pairing.dim->size;

    return node - at * stride + partner_in(&pairing, at) * stride;
}

unsigned pairs_steps(const struct network *network)
{
    return (unsigned)__builtin_ctz(network->nodes);
}

/* Pairs of Swing that begin 2^near apart, but next to each other in its first two steps, do not
 * meet. */
void pairs_order(const struct network *network, unsigned step, uint32_t *nodes)
{
    struct pairing pairing = pairing_of(network, step);
    uint32_t rounds = swings(&pairing) && pairing.near > 1 ? UINT32_C(1) << pairing.near : 1;
    uint32_t count = 0;

    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t node = 0; node < network->nodes; node++) {
            uint32_t at = node / pairing.dim->stride % pairing.dim->size;
            uint32_t begin = is_forth(&pairing, at) ? at : partner_in(&pairing, at);
            if (begin % rounds == round) {
                nodes[count++] = node;
            }
        }
    }
}

/* The blocks that each node has got, in the order in which they came. */
struct arrivals {
    uint32_t *blocks; /* [node * count_max + i] */
    uint32_t room, count;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* A move of the blocks [first, end) that a node has got. */
static void give(struct flow *flow, const struct arrivals *got, uint32_t step, uint32_t node,
                 uint32_t to, uint32_t first, uint32_t end)
{
    const uint32_t *blocks = got->blocks + (uint64_t)node * got->room;
    uint32_t count = end - first, *sorted = planner_memory(count, sizeof *sorted);

    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = blocks[first + i];
    }
    qsort(sorted, count, sizeof *sorted, by_number);
    flow_move(flow, step, node, to, FLOW_DIRECT);
    for (uint32_t i = 0; i < count; i++) {
        flow_add(flow, sorted[i], 1);
    }
    free(sorted);
}

/* Doubles what all nodes have over a step's pairs. */
static void give_all(struct flow *flow, struct arrivals *got, const struct network *network,
                     unsigned step, bool halves)
{
    uint32_t count = got->count, begin = flow->steps;
    uint32_t cuts[] = {0, halves && count > 1 ? count / 2 : count, count};
    uint32_t *nodes = planner_memory(network->nodes, sizeof *nodes);

    pairs_order(network, step, nodes);
    for (unsigned part = 0; part < 2 && cuts[part] < count; part++) {
        for (uint32_t i = 0; i < network->nodes; i++) {
            give(flow, got, begin + part, nodes[i], pairs_partner(network, step, nodes[i]),
                 cuts[part], cuts[part + 1]);
        }
    }
    free(nodes);
    for (uint32_t node = 0; node < network->nodes; node++) {
        uint32_t from = pairs_partner(network, step, node);
        for (uint32_t i = 0; i < count; i++) {
            got->blocks[(uint64_t)node * got->room + count + i] =
                got->blocks[(uint64_t)from * got->room + i];
        }
    }
    got->count *= 2;
}

/* The flow over the steps [0, count), the farthest first. At first node v has block v >> shift. */
static struct flow doubling(const struct network *network, unsigned count, unsigned shift,
                            bool halves)
{
    struct flow flow = {0};
    struct arrivals got = {.room = UINT32_C(1) << count, .count = 1};

    got.blocks = planner_memory((uint64_t)network->nodes * got.room, sizeof *got.blocks);
    for (uint32_t node = 0; node < network->nodes; node++) {
        got.blocks[(uint64_t)node * got.room] = node >> shift;
    }
    for (unsigned step = count; step-- > 0;) {
        give_all(&flow, &got, network, step, halves);
    }
    free(got.blocks);
    return flow;
}

unsigned pair_variants(const struct network *network, const struct plan_request *request)
{
    (void)network;
    (void)request;
    return PAIR_VARIANTS;
}

void pair_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", variant ? "in halves" : "whole");
}

struct flow pairs_flow(const struct network *network, bool halves)
{
    return doubling(network, pairs_steps(network), 0, halves);
}

struct plan *plan_pairs(const struct network *network, const struct plan_request *request)
{
    struct flow flow = pairs_flow(network, request->variant);

    return flow_plan(network, request, &flow, network->nodes);
}

/* Steps of halving of a variant of allreduce. */
static unsigned halvings_of(const struct network *network, unsigned variant)
{
    return network->kind == NETWORK_CUBE || variant < 2 ? variant / 2 : pairs_steps(network);
}

unsigned halving_variants(const struct network *network, const struct plan_request *request)
{
    (void)request;
    if (network->nodes == 1) {
        return 1;
    }
    return network->kind == NETWORK_CUBE ? 2 * pairs_steps(network) + 2 : 4;
}

void halving_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    snprintf(words, VARIANT_WORDS_MAX, "%u halved%s", halvings_of(network, variant),
             variant % 2 ? " in halves" : "");
}

/* Exchanges of what each node has added up of the vector. */
static void exchange_pairs(struct layer *layer, const struct network *network, unsigned first,
                           unsigned shift)
{
    uint32_t nodes = network->nodes, *order = planner_memory(nodes, sizeof *order);
    struct flow_pair *pairs = planner_memory(nodes, sizeof *pairs);

    for (unsigned step = first; step < pairs_steps(network); step++) {
        pairs_order(network, step, order);
        for (uint32_t i = 0; i < nodes; i++) {
            pairs[i] = (struct flow_pair){order[i],
                                          pairs_partner(network, step, order[i]),
                                          {shift < 32 ? order[i] >> shift : 0, 1}};
        }
        layer_pairs(layer, pairs, nodes);
    }
    free(order);
    free(pairs);
}

struct plan *plan_halving(const struct network *network, const struct plan_request *request)
{
    unsigned halvings = halvings_of(network, request->variant);
    unsigned shift = pairs_steps(network) - halvings;
    struct flow flow = doubling(network, halvings, shift, request->variant % 2);
    struct plan *plan = build_begin(network, request, false);

    plan->segments = UINT32_C(1) << halvings;
    flow_reverse(&flow);
    struct layer layer = layer_begin(plan, plan->segments, &flow);
    layer_flow(&layer, &flow, true);
    exchange_pairs(&layer, network, halvings, shift);
    flow_reverse(&flow);
    layer_flow(&layer, &flow, false);
    layer_end(&layer);
    flow_free(&flow);
    return plan;
}
