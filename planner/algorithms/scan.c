/*
 * scan.c - the inclusive prefix: node r gets the combination of ranks 0 to r.
 *
 * What is combined is always that of ranks that follow each other, so operands stand in the order
 * of ranks, but for pairs that are swapped, which changes no bit (reduction/reduction.h). The
 * brackets are the plan's.
 *
 * Recursive doubling, on cubes. After step k a node has the prefix and the total of its subcube of
 * 2^(k+1) ranks; it sends the total over dimension k + 1. In the last step only the lower half
 * sends.
 *
 *     cube:2    0 <-> 1, 2 <-> 3: 1 has 0 1, 3 has 2 3    |    0 -> 2, 1 -> 3
 *
 * Halving tree, anywhere. From node 0, with rings cut open before it, the nodes below a node v are
 * the ranks from v on: v, then those below its last child, ..., those below its first. Upwards v
 * keeps what it had before each child's total came; downwards it gets the prefix of all ranks below
 * its own, combines it with what it has kept, and passes that on to the children. Nobody needs the
 * total of what ends with the last rank.
 *
 *     mesh:1x4    0 -> 2 | 0 -> 1, 2 -> 3    up   1 to 0: it keeps 0, has 0 1
 *                                            down 0 to 2: 0 1 | 0 to 1: 0; 2 to 3: 0 1 2
 *
 * Chain, anywhere: every node combines what comes from the rank before it, segment by segment, and
 * sends it on in the next step.
 *
 * Source   Hillis & Steele, Data parallel algorithms, CACM 29(12), 1986, 1170-1183; Ladner &
 *          Fischer, Parallel prefix computation, JACM 27(4), 1980, 831-838, 2; Sanders & Traeff,
 *          Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006, LNCS 4192, 49-57, 2
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/halving.h"
#include "reduction/reduction.h"
#include "wire/circuit.h"

enum { TOTAL, ARRIVED, CUBE_SCRATCH }; /* slots of scratch on cubes */

/* Whether a node of a cube sends the total of its subcube in a step. */
static bool passes_total(const struct network *network, uint32_t node, unsigned step)
{
    return step + 1 < network->dims || (step < network->dims && !(node >> step & 1));
}

static void exchange_totals(struct plan *plan, unsigned step)
{
    const struct network *network = &plan->network;
    bool last = step + 1 == network->dims;
    struct slots result = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots total = slots_of(plan, step ? SPACE_SCRATCH : SPACE_SEND, TOTAL, 1);
    struct slots arrived = slots_of(plan, SPACE_SCRATCH, ARRIVED, 1);

    for (uint32_t node = 0; node < network->nodes; node++) {
        if (passes_total(network, node, step)) {
            build_circuit(plan, step, node, node ^ UINT32_C(1) << step, total,
                          last ? result : arrived,
                          (uint8_t)((last ? ROW_COMBINES : 0) | (step ? ROW_AFTER_RECEIVED : 0)));
        }
    }
}

static void combine_totals(struct plan *plan, unsigned step)
{
    const struct network *network = &plan->network;
    const uint8_t flags = ROW_COMBINES | ROW_AFTER_RECEIVED;
    struct slots result = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots total = slots_of(plan, SPACE_SCRATCH, TOTAL, 1);
    struct slots arrived = slots_of(plan, SPACE_SCRATCH, ARRIVED, 1);

    for (uint32_t node = 0; node < network->nodes; node++) {
        if (node >> step & 1) {
            build_copy(plan, step, node, arrived, result, flags);
        }
        if (passes_total(network, node, step + 1)) {
            build_copy(plan, step, node, arrived, total, flags | ROW_AFTER_SENT);
        }
    }
}

struct plan *plan_cube_scan(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    struct slots result = slots_of(plan, SPACE_RECEIVE, 0, 1);
    struct slots total = slots_of(plan, SPACE_SCRATCH, TOTAL, 1);

    for (uint32_t node = 0; node < network->nodes; node++) {
        plan->scratch[node] = network->dims > 1 ? CUBE_SCRATCH : 0;
        build_copy(plan, 0, node, own, result, 0);
        if (network->dims > 1 && passes_total(network, node, 1)) {
            build_copy(plan, 0, node, own, total, 0);
        }
    }
    for (unsigned step = 0; step < network->dims; step++) {
        exchange_totals(plan, step);
        if (step + 1 < network->dims) {
            combine_totals(plan, step);
        }
    }
    return plan;
}

/* A tree over which a scan goes up and down, and what a node has of it. */
struct branch {
    uint32_t children, added; /* added: contributions of so many of them, the last first */
    bool total_wanted;        /* by its parent */
};

struct scan_tree {
    struct plan *plan;
    struct tree tree;
    struct branch *branches; /* of each node */
};

/* Where a node has the combination of itself and of what is below its last `count` children. */
static struct slots kept(struct scan_tree *t, uint32_t count)
{
    return count ? slots_of(t->plan, SPACE_SCRATCH, count - 1, 1)
                 : slots_of(t->plan, SPACE_RECEIVE, 0, 1);
}

/* Where what comes from above is put by a node that has to pass it on: over the total, which has
 * been sent. */
static struct slots from_above(struct scan_tree *t, uint32_t node)
{
    return kept(t, t->branches[node].children);
}

/* The children's totals come up; each is combined with a copy of what the parent has. */
static void up(struct scan_tree *t, uint32_t first, uint32_t end)
{
    uint32_t step = t->tree.steps - 1 - t->tree.edges[first].step;
    struct slots own = slots_of(t->plan, SPACE_SEND, 0, 1);

    for (uint32_t i = first; i < end; i++) {
        const struct edge *edge = &t->tree.edges[i];
        uint32_t added = t->branches[edge->from].added;
        if (t->branches[edge->to].total_wanted) {
            struct slots before = added ? kept(t, added) : own;
            build_copy(t->plan, step, edge->from, before, kept(t, added + 1),
                       added ? ROW_AFTER_RECEIVED : 0);
        }
    }
    for (uint32_t i = first; i < end; i++) {
        const struct edge *edge = &t->tree.edges[i];
        const struct branch *child = &t->branches[edge->to];
        uint32_t added = ++t->branches[edge->from].added;
        if (child->total_wanted) {
            struct slots total = child->children ? kept(t, child->children) : own;
            build_circuit(t->plan, step, edge->to, edge->from, total, kept(t, added),
                          ROW_COMBINES | ROW_AFTER_RECEIVED);
        }
    }
}

/* What comes from above is combined with all that has been kept for the children. */
static void spread_inside(struct scan_tree *t, uint32_t step, uint32_t node)
{
    for (uint32_t i = 0; i < t->branches[node].children; i++) {
        struct slots above = from_above(t, node);
        build_copy(t->plan, step, node, above, kept(t, i), ROW_COMBINES | ROW_AFTER_RECEIVED);
    }
}

/* The first child, whose ranks are the last ones, gets what comes from before it first. */
static void down(struct scan_tree *t, uint32_t first, uint32_t end)
{
    uint32_t step = t->tree.steps - 1 + t->tree.edges[first].step;

    for (uint32_t i = first; i < end; i++) {
        const struct edge *edge = &t->tree.edges[i];
        bool leaf = t->branches[edge->to].children == 0;
        struct slots before = kept(t, --t->branches[edge->from].added);
        struct slots place = leaf ? kept(t, 0) : from_above(t, edge->to);
        build_circuit(t->plan, step, edge->from, edge->to, before, place,
                      (uint8_t)((leaf ? ROW_COMBINES : 0) | ROW_AFTER_RECEIVED | ROW_AFTER_SENT));
    }
    for (uint32_t i = first; i < end; i++) {
        spread_inside(t, step, t->tree.edges[i].to);
    }
}

/* The edges of a step: those from `first` on. */
static uint32_t step_end(const struct tree *tree, uint32_t first)
{
    uint32_t end = first;

    while (end < tree->count && tree->edges[end].step == tree->edges[first].step) {
        end++;
    }
    return end;
}

static uint32_t step_begin(const struct tree *tree, uint32_t end)
{
    uint32_t first = end;

    while (first > 0 && tree->edges[first - 1].step == tree->edges[end - 1].step) {
        first--;
    }
    return first;
}

/* A node's first child has the last ranks, so its total is a part of nothing but the node's. */
static void count_children(struct scan_tree *t)
{
    for (uint32_t i = 0; i < t->tree.count; i++) {
        struct branch *parent = &t->branches[t->tree.edges[i].from];
        struct branch *child = &t->branches[t->tree.edges[i].to];
        child->total_wanted = parent->children > 0 || parent->total_wanted;
        parent->children++;
    }
}

struct plan *plan_tree_scan(const struct network *network, const struct plan_request *request)
{
    struct network open = *network;

    for (unsigned k = 0; k < open.dims; k++) {
        open.dim[k].wraps = false;
    }
    struct scan_tree t = {.plan = build_begin(network, request, false),
                          .tree = tree_make(&open, 0)};
    t.branches = planner_memory(network->nodes, sizeof *t.branches);
    count_children(&t);
    struct slots own = slots_of(t.plan, SPACE_SEND, 0, 1), result = kept(&t, 0);
    for (uint32_t node = 0; node < network->nodes; node++) {
        uint32_t children = t.branches[node].children;
        t.plan->scratch[node] = node == 0 && children ? children - 1 : children;
        build_copy(t.plan, 0, node, own, result, 0);
    }
    for (uint32_t end = t.tree.count; end > 0; end = step_begin(&t.tree, end)) {
        up(&t, step_begin(&t.tree, end), end);
    }
    for (uint32_t first = 0; first < t.tree.count; first = step_end(&t.tree, first)) {
        down(&t, first, step_end(&t.tree, first));
    }
    free(t.branches);
    tree_free(&t.tree);
    return t.plan;
}

/* Chain -------------------------------------------------------------------------------------- */

/* So that no variant takes long to look at. */
enum { CHAIN_CIRCUITS_MAX = 1 << 18, CHAIN_VARIANTS_MAX = 13 };

bool possible_in_chain(const struct network *network)
{
    for (uint32_t node = 0; node + 1 < network->nodes; node++) {
        if (network_distance(network, network_node(network, node),
                             network_node(network, node + 1)) > OPEN_HOPS_MAX) {
            return false;
        }
    }
    return true;
}

/* Segments of 1, 2, 4, ... up to one for each element. */
unsigned chain_variants(const struct network *network, const struct plan_request *request)
{
    uint32_t element_bytes = reduction_element_bytes(request->type);
    uint32_t elements = request->bytes / (element_bytes ? element_bytes : 1);
    unsigned count = 1;

    while (count < CHAIN_VARIANTS_MAX && UINT32_C(1) << count <= elements &&
           (uint64_t)network->nodes << count <= CHAIN_CIRCUITS_MAX) {
        count++;
    }
    return count;
}

void chain_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%u segment%s", 1u << variant, variant ? "s" : "");
}

struct plan *plan_chain_scan(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    uint32_t segments = UINT32_C(1) << request->variant, nodes = network->nodes;

    plan->segments = segments;
    struct slots own = slots_of(plan, SPACE_SEND, 0, segments);
    struct slots result = slots_of(plan, SPACE_RECEIVE, 0, segments);
    for (uint32_t node = 0; node < nodes; node++) {
        build_copy(plan, 0, node, own, result, 0);
    }
    for (uint32_t step = 0; step + 2 < nodes + segments && nodes > 1; step++) {
        for (uint32_t rank = 0; rank <= step && rank + 1 < nodes; rank++) {
            uint32_t segment = step - rank;
            if (segment >= segments) {
                continue;
            }
            struct slots send = slots_of(plan, rank ? SPACE_RECEIVE : SPACE_SEND, segment, 1);
            struct slots place = slots_of(plan, SPACE_RECEIVE, segment, 1);
            build_circuit(plan, step, network_node(network, rank), network_node(network, rank + 1),
                          send, place, (uint8_t)(ROW_COMBINES | (rank ? ROW_AFTER_RECEIVED : 0)));
        }
    }
    return plan;
}
