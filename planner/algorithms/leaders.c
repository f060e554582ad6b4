/*
 * leaders.c - short vectors: groups of neighbours gather, their leaders exchange in pairs, and the
 * groups hear of it. On rings and lines pairs that are far apart lie across each other and wait; a
 * few leaders do not, and the others are near them.
 *
 *     ring:8, 4 leaders    0>1 2>3 4>5 6>7 | 1-3 5-7 | 3-5 7-1 | 1>0 3>2 5>4 7>6
 *
 * Each dimension is cut into a power of two of parts, as many as are asked for or fit; a group is a
 * part of each. Its tree is uneven like those of spread.c; the leaders are a network of their own,
 * the grid, on which they exchange like pairs.c, Swing on rings.
 *
 *     allreduce         sums to the leaders, whole exchanges in pairs, results from the leaders
 *     barrier           the same with nothing
 *     allgather         line by line: blocks to its leaders, doubling, to each what it has not
 *                       given itself
 *     reduce_scatter    the allgather backwards
 *
 * An allreduce of all nodes as leaders is that of pairs.c; of one it is an uneven tree's.
 *
 * Variants  2, 4, ... leaders in each dimension, by shares of 8, 6, 4 sixteenths
 * Source    Barnett, Littlefield, Payne & van de Geijn, Global combine algorithms for 2-D meshes
 *           with wormhole routing, J. Parallel Distrib. Comput. 24(2), 1995, 191-201; Thakur,
 *           Rabenseifner & Gropp, Int. J. High Perf. Comput. Appl. 19(1), 2005, 49-66 (others hand
 *           over to a power of two of nodes)
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/halving.h"
#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/pairs.h"
#include "drivers/check.h"

enum { VECTOR_NODES_MAX = 4096, BLOCK_NODES_MAX = 512, SHARES = 3, SHARE_STEP = 2 };

/* The groups of a variant, and the network that their leaders are. */
struct leaders {
    const struct network *network;
    struct groups groups;
    struct network grid;
    uint32_t share;
};

static uint32_t longest(const struct network *network)
{
    uint32_t size = 1;

    for (unsigned k = 0; k < network->dims; k++) {
        size = network->dim[k].size > size ? network->dim[k].size : size;
    }
    return size;
}

static uint32_t power_within(uint32_t size)
{
    return UINT32_C(1) << (31 - __builtin_clz(size));
}

/* The groups of 2^level leaders in each dimension, or as many as fit. */
static struct groups groups_of(const struct network *network, unsigned level)
{
    struct groups groups = {{0}};

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t fit = power_within(network->dim[k].size), parts = UINT32_C(1) << level;
        groups.of[k] = parts < fit ? parts : fit;
    }
    return groups;
}

/* The nodes of the longest part of a dimension. */
static uint32_t longest_part(const struct network *network, const struct groups *groups)
{
    uint32_t most = 1;

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t part = (network->dim[k].size + groups->of[k] - 1) / groups->of[k];
        most = part > most ? part : most;
    }
    return most;
}

/* Shares that lead to different trees. */
static unsigned shares_of(const struct network *network, unsigned level)
{
    struct groups groups = groups_of(network, level);

    return longest_part(network, &groups) > 2 ? SHARES : 1;
}

/* How often leaders are doubled: to two, to four, ... */
static unsigned levels_of(const struct network *network)
{
    return (unsigned)__builtin_ctz(power_within(longest(network)));
}

/* The same without that of all nodes as leaders, which is the plan of pairs.c. */
static unsigned levels_of_groups(const struct network *network)
{
    return levels_of(network) - possible_in_pairs(network);
}

bool possible_with_leaders(const struct network *network)
{
    return network->kind != NETWORK_CUBE && network->nodes > 1 &&
           network->nodes <= VECTOR_NODES_MAX;
}

bool possible_in_groups(const struct network *network)
{
    return possible_with_leaders(network) && levels_of_groups(network) > 0;
}

bool possible_in_groups_of_blocks(const struct network *network)
{
    return possible_in_groups(network) && network->nodes <= BLOCK_NODES_MAX;
}

unsigned leaders_variants(const struct network *network, const struct plan_request *request)
{
    bool all = request && request->operation == ECUBE_BARRIER;
    unsigned levels = all ? levels_of(network) : levels_of_groups(network), variants = 0;

    for (unsigned level = 1; level <= levels; level++) {
        variants += shares_of(network, level);
    }
    return variants;
}

static struct leaders leaders_of(const struct network *network, unsigned variant)
{
    struct leaders leaders = {.network = network};
    unsigned level = 1;

    for (; variant >= shares_of(network, level); level++) {
        variant -= shares_of(network, level);
    }
    leaders.groups = groups_of(network, level);
    leaders.share = TREE_HALF - variant * SHARE_STEP;
    CHECK(network_make(&leaders.grid, (enum network_kind)network->kind, leaders.groups.of,
                       network->dims));
    return leaders;
}

void leaders_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    struct leaders leaders = leaders_of(network, variant);

    snprintf(words, VARIANT_WORDS_MAX, "%u a line %u/16", longest(&leaders.grid), leaders.share);
}

/* The leader that is a node of the grid. */
static uint32_t leader_at(const struct leaders *leaders, uint32_t node)
{
    uint32_t leader = 0;

    for (unsigned k = 0; k < leaders->grid.dims; k++) {
        const struct network_dimension *dim = &leaders->grid.dim[k];
        leader +=
            groups_leader(leaders->network, k, &leaders->groups, node / dim->stride % dim->size) *
            leaders->network->dim[k].stride;
    }
    return leader;
}

/* The pairs of a step, in the order in which they are served. */
static void pair_up(const struct leaders *leaders, unsigned step, struct flow_pair *pairs)
{
    uint32_t count = leaders->grid.nodes, *order = planner_memory(count, sizeof *order);

    pairs_order(&leaders->grid, step, order);
    for (uint32_t i = 0; i < count; i++) {
        pairs[i] =
            (struct flow_pair){leader_at(leaders, order[i]),
                               leader_at(leaders, pairs_partner(&leaders->grid, step, order[i])),
                               {0, 1}};
    }
    free(order);
}

/* Whole vectors ------------------------------------------------------------------------------- */

struct plan *plan_leaders(const struct network *network, const struct plan_request *request)
{
    struct leaders leaders = leaders_of(network, request->variant);
    struct tree tree = tree_make_groups(network, &leaders.groups, leaders.share);
    struct flow_pair *pairs = planner_memory(leaders.grid.nodes, sizeof *pairs);
    struct plan *plan = build_begin(network, request, false);
    struct flow flow = {0};

    for (uint32_t i = 0; i < tree.count; i++) {
        const struct edge *edge = &tree.edges[i];
        flow_move(&flow, edge->step, edge->from, edge->to, FLOW_DIRECT);
        flow_add(&flow, 0, 1);
    }
    flow_reverse(&flow);
    struct layer layer = layer_begin(plan, 1, &flow);
    layer_flow(&layer, &flow, true);
    for (unsigned step = 0; step < pairs_steps(&leaders.grid); step++) {
        pair_up(&leaders, step, pairs);
        layer_pairs(&layer, pairs, leaders.grid.nodes);
    }
    flow_reverse(&flow);
    layer_flow(&layer, &flow, false);
    layer_end(&layer);
    flow_free(&flow);
    tree_free(&tree);
    free(pairs);
    return plan;
}

struct plan *plan_leaders_barrier(const struct network *network, const struct plan_request *request)
{
    struct leaders leaders = leaders_of(network, request->variant);
    struct tree tree = tree_make_groups(network, &leaders.groups, leaders.share);
    struct flow_pair *pairs = planner_memory(leaders.grid.nodes, sizeof *pairs);
    struct plan *plan = build_begin(network, request, false);
    unsigned steps = pairs_steps(&leaders.grid);

    for (uint32_t i = tree.count; i-- > 0;) {
        const struct edge *edge = &tree.edges[i];
        build_circuit(plan, tree.steps - 1 - edge->step, edge->to, edge->from, NO_SLOTS, NO_SLOTS,
                      0);
    }
    for (unsigned step = 0; step < steps; step++) {
        pair_up(&leaders, step, pairs);
        for (uint32_t i = 0; i < leaders.grid.nodes; i++) {
            build_circuit(plan, tree.steps + step, pairs[i].node, pairs[i].partner, NO_SLOTS,
                          NO_SLOTS, 0);
        }
    }
    for (uint32_t i = 0; i < tree.count; i++) {
        const struct edge *edge = &tree.edges[i];
        build_circuit(plan, tree.steps + steps + edge->step, edge->from, edge->to, NO_SLOTS,
                      NO_SLOTS, 0);
    }
    tree_free(&tree);
    free(pairs);
    return plan;
}

/* Blocks -------------------------------------------------------------------------------------- */

/* The groups of one dimension: a network of that line alone. */
static struct leaders of_line(const struct leaders *leaders, unsigned k, struct network *line)
{
    const struct network_dimension *dim = &leaders->network->dim[k];
    enum network_kind kind = dim->wraps ? NETWORK_RING : NETWORK_MESH;
    struct leaders alone = {.network = line, .groups = {{leaders->groups.of[k]}}};

    CHECK(network_make(line, kind, &dim->size, 1));
    CHECK(network_make(&alone.grid, kind, &leaders->groups.of[k], 1));
    return alone;
}

/* In a step one place of every line of a dimension tells another one the blocks that it has. */
static void give(struct flow *flow, struct block_sets *known, const struct network_dimension *dim,
                 uint32_t step, uint32_t from, uint32_t to)
{
    uint32_t all = dim->stride * dim->size;

    for (uint32_t high = 0; high < known->nodes; high += all) {
        for (uint32_t low = 0; low < dim->stride; low++) {
            block_sets_give(known, known, flow, step, high + low + from * dim->stride,
                            high + low + to * dim->stride);
        }
    }
}

/* A dimension: up to the leaders, between them the farthest first, and down. */
static void gather_lines(struct flow *flow, struct block_sets *known, const struct leaders *line,
                         const struct network_dimension *dim, uint32_t share)
{
    struct tree tree = tree_make_groups(line->network, &line->groups, share);
    uint32_t step = flow->steps + tree.steps - 1, count = line->grid.nodes;
    struct flow_pair *pairs = planner_memory(count, sizeof *pairs);

    for (uint32_t i = tree.count; i-- > 0;) {
        give(flow, known, dim, step - tree.edges[i].step, tree.edges[i].to, tree.edges[i].from);
    }
    for (unsigned near = pairs_steps(&line->grid); near-- > 0;) {
        step++;
        pair_up(line, near, pairs);
        for (uint32_t i = 0; i < count; i++) {
            give(flow, known, dim, step, pairs[i].node, pairs[i].partner);
        }
    }
    for (uint32_t i = 0; i < tree.count; i++) {
        give(flow, known, dim, step + 1 + tree.edges[i].step, tree.edges[i].from, tree.edges[i].to);
    }
    tree_free(&tree);
    free(pairs);
}

struct plan *plan_leaders_of_blocks(const struct network *network,
                                    const struct plan_request *request)
{
    struct leaders leaders = leaders_of(network, request->variant);
    struct block_sets known = block_sets_make(network->nodes);
    struct flow flow = {0};

    for (unsigned k = 0; k < network->dims; k++) {
        struct network alone;
        struct leaders line = of_line(&leaders, k, &alone);
        gather_lines(&flow, &known, &line, &network->dim[k], leaders.share);
    }
    block_sets_free(&known);
    return flow_plan(network, request, &flow, network->nodes);
}
