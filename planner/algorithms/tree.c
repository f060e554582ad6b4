/*
 * tree.c - operations with a root, along the halving tree: down it, or up it in the opposite order.
 *
 *     broadcast     the whole vector goes over every edge
 *     scatter       over an edge go the blocks of all nodes below it, in rank order
 *     gather        the same upwards
 *     reduce        every node adds what comes to what it has, and passes the sum on
 *     allreduce     a reduce and a broadcast
 *     reduce_scatter a reduce of all blocks, and a scatter
 *     allgather     a gather and a broadcast, of all blocks, in one plan
 *     barrier       a reduce and a broadcast of nothing
 *
 * A node between root and leaves keeps the blocks of others in scratch, in rank order, and its own
 * block where the operation wants it.
 *
 *     cube:2 scatter from 0    0 -> 2  send 2 3     into receive 0, scratch 0
 *                              0 -> 1  send 1       into receive 0
 *                              2 -> 3  scratch 0    into receive 0
 */
#include <stdlib.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/halving.h"

/* A tree and what each node has below it. */
struct tree_plan {
    struct tree tree;
    struct plan *plan;
    struct ranks *below; /* of each node, itself included */
    enum space rooted;   /* where the root has the blocks of all */
};

static uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks->count[0] + ranks->count[1];
}

static struct tree_plan begin(const struct network *network, const struct plan_request *request,
                              uint32_t root)
{
    struct tree_plan t = {.tree = tree_make(network, root),
                          .plan = build_begin(network, request, false),
                          .below = planner_memory(network->nodes, sizeof *t.below)};

    t.below[root] = (struct ranks){{0, 0}, {network->nodes, 0}};
    for (uint32_t i = 0; i < t.tree.count; i++) {
        t.below[t.tree.edges[i].to] = t.tree.edges[i].below;
    }
    return t;
}

static struct plan *end(struct tree_plan *t)
{
    tree_free(&t->tree);
    free(t->below);
    return t->plan;
}

static bool is_leaf(const struct tree_plan *t, uint32_t node)
{
    return ranks_count(&t->below[node]) == 1;
}

/* What a node that is not the root passes on has come to it before. */
static uint8_t passes_on(const struct tree_plan *t, uint32_t node)
{
    return node == t->plan->root ? 0 : ROW_AFTER_RECEIVED;
}

struct plan *plan_tree_broadcast(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);
    struct slots whole = slots_of(t.plan, SPACE_RECEIVE, 0, 1);

    for (uint32_t i = 0; i < t.tree.count; i++) {
        const struct edge *edge = &t.tree.edges[i];
        build_circuit(t.plan, edge->step, edge->from, edge->to, whole, whole,
                      passes_on(&t, edge->from));
    }
    return end(&t);
}

/* The place of another's block in a node's scratch: in rank order, the own one left out. */
static uint32_t scratch_place(const struct tree_plan *t, uint32_t node, uint32_t rank)
{
    const struct ranks *below = &t->below[node];
    uint32_t place = rank >= below->first[1] && below->count[1]
                         ? below->count[0] + rank - below->first[1]
                         : rank - below->first[0];
    bool behind = rank > node && node >= below->first[0];

    return place - behind;
}

/* Adds the places at a node of the blocks of ranks [first, first + count), none of which is the
 * node's own. */
static void add_others(struct tree_plan *t, struct slots *slots, uint32_t node, uint32_t first,
                       uint32_t count)
{
    if (node == t->plan->root) {
        slots_add(t->plan, slots, t->rooted, first, count);
    } else if (count) {
        slots_add(t->plan, slots, SPACE_SCRATCH, scratch_place(t, node, first), count);
    }
}

/* Where a node has the blocks of ranks; its own in slot 0 of the other space. */
static struct slots places(struct tree_plan *t, uint32_t node, const struct ranks *ranks)
{
    struct slots slots = slots_begin(t->plan);
    enum space own = t->rooted == SPACE_SEND ? SPACE_RECEIVE : SPACE_SEND;

    for (unsigned i = 0; i < 2; i++) {
        uint32_t first = ranks->first[i], count = ranks->count[i];
        if (node != t->plan->root && node - first < count) {
            add_others(t, &slots, node, first, node - first);
            slots_add(t->plan, &slots, own, 0, 1);
            add_others(t, &slots, node, node + 1, first + count - node - 1);
        } else {
            add_others(t, &slots, node, first, count);
        }
    }
    return slots;
}

static void set_scratch(struct tree_plan *t)
{
    for (uint32_t node = 0; node < t->plan->network.nodes; node++) {
        if (node != t->plan->root) {
            t->plan->scratch[node] = ranks_count(&t->below[node]) - 1;
        }
    }
}

struct plan *plan_tree_scatter(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);

    t.rooted = SPACE_SEND;
    set_scratch(&t);
    struct slots own = slots_of(t.plan, SPACE_SEND, request->root, 1);
    build_copy(t.plan, 0, request->root, own, slots_of(t.plan, SPACE_RECEIVE, 0, 1), 0);
    for (uint32_t i = 0; i < t.tree.count; i++) {
        const struct edge *edge = &t.tree.edges[i];
        struct slots send = places(&t, edge->from, &edge->below);
        build_circuit(t.plan, edge->step, edge->from, edge->to, send,
                      places(&t, edge->to, &edge->below), passes_on(&t, edge->from));
    }
    return end(&t);
}

/* The step of an edge when the tree is gone through upwards. */
static uint32_t step_upwards(const struct tree_plan *t, const struct edge *edge)
{
    return t->tree.steps - 1 - edge->step;
}

struct plan *plan_tree_gather(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);

    t.rooted = SPACE_RECEIVE;
    set_scratch(&t);
    struct slots own = slots_of(t.plan, SPACE_SEND, 0, 1);
    build_copy(t.plan, 0, request->root, own, slots_of(t.plan, SPACE_RECEIVE, request->root, 1), 0);
    for (uint32_t i = t.tree.count; i-- > 0;) {
        const struct edge *edge = &t.tree.edges[i];
        struct slots send = places(&t, edge->to, &edge->below);
        build_circuit(t.plan, step_upwards(&t, edge), edge->to, edge->from, send,
                      places(&t, edge->from, &edge->below),
                      is_leaf(&t, edge->to) ? 0 : ROW_AFTER_RECEIVED);
    }
    return end(&t);
}

/* The way up of a reduction: inner nodes add up in `sum`, the root in `result`; leaves send what
 * they have. */
static void add_up(struct tree_plan *t, struct slots own, struct slots sum, struct slots result)
{
    uint32_t nodes = t->plan->network.nodes, root = t->plan->root;
    bool *received = planner_memory(nodes, sizeof *received);

    for (uint32_t node = 0; node < nodes; node++) {
        if (node == root || !is_leaf(t, node)) {
            build_copy(t->plan, 0, node, own, node == root ? result : sum, 0);
        }
    }
    for (uint32_t i = t->tree.count; i-- > 0;) {
        const struct edge *edge = &t->tree.edges[i];
        bool leaf = is_leaf(t, edge->to), more = received[edge->from];
        build_circuit(t->plan, step_upwards(t, edge), edge->to, edge->from, leaf ? own : sum,
                      edge->from == root ? result : sum,
                      ROW_COMBINES | (leaf && !more ? 0 : ROW_AFTER_RECEIVED));
        received[edge->from] = true;
    }
    free(received);
}

struct plan *plan_tree_reduce(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);
    struct slots result = slots_of(t.plan, SPACE_RECEIVE, 0, 1);
    struct slots own = slots_of(t.plan, SPACE_SEND, 0, 1);

    for (uint32_t node = 0; node < network->nodes; node++) {
        t.plan->scratch[node] = node != request->root && !is_leaf(&t, node);
    }
    add_up(&t, own, slots_of(t.plan, SPACE_SCRATCH, 0, 1), result);
    return end(&t);
}

/* The way down after a way up that ended in the same slots. */
static void pass_down(struct tree_plan *t, struct slots slots)
{
    for (uint32_t i = 0; i < t->tree.count; i++) {
        const struct edge *edge = &t->tree.edges[i];
        build_circuit(t->plan, t->tree.steps + edge->step, edge->from, edge->to, slots, slots,
                      ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
}

/* Sums grow where the result is wanted, so no scratch is needed. */
struct plan *plan_tree_allreduce(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);
    struct slots result = slots_of(t.plan, SPACE_RECEIVE, 0, 1);

    add_up(&t, slots_of(t.plan, SPACE_SEND, 0, 1), result, result);
    pass_down(&t, result);
    return end(&t);
}

/* The slots of a space that ranks have. */
static struct slots ranks_slots(struct plan *plan, enum space space, const struct ranks *ranks)
{
    struct slots slots = slots_begin(plan);

    for (unsigned i = 0; i < 2; i++) {
        slots_add(plan, &slots, space, ranks->first[i], ranks->count[i]);
    }
    return slots;
}

/* Every block has its slot at every node, so no scratch is needed on the way. */
struct plan *plan_tree_allgather(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);
    struct slots own = slots_of(t.plan, SPACE_SEND, 0, 1);

    for (uint32_t node = 0; node < network->nodes; node++) {
        build_copy(t.plan, 0, node, own, slots_of(t.plan, SPACE_RECEIVE, node, 1), 0);
    }
    for (uint32_t i = t.tree.count; i-- > 0;) {
        const struct edge *edge = &t.tree.edges[i];
        struct slots blocks = ranks_slots(t.plan, SPACE_RECEIVE, &edge->below);
        build_circuit(t.plan, step_upwards(&t, edge), edge->to, edge->from, blocks, blocks,
                      is_leaf(&t, edge->to) ? 0 : ROW_AFTER_RECEIVED);
    }
    pass_down(&t, slots_of(t.plan, SPACE_RECEIVE, 0, network->nodes));
    return end(&t);
}

/* All blocks are added up on the way to the root, in scratch, and scattered from there. */
struct plan *plan_tree_reduce_scatter(const struct network *network,
                                      const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, request->root);
    uint32_t nodes = network->nodes, last = 2 * t.tree.steps - (t.tree.steps > 0);
    struct slots sums = slots_of(t.plan, SPACE_SCRATCH, 0, nodes);
    struct slots result = slots_of(t.plan, SPACE_RECEIVE, 0, 1);

    for (uint32_t node = 0; node < nodes; node++) {
        t.plan->scratch[node] = node == request->root || !is_leaf(&t, node) ? nodes : 0;
    }
    add_up(&t, slots_of(t.plan, SPACE_SEND, 0, nodes), sums, sums);
    for (uint32_t i = 0; i < t.tree.count; i++) {
        const struct edge *edge = &t.tree.edges[i];
        struct slots below = ranks_slots(t.plan, SPACE_SCRATCH, &edge->below);
        build_circuit(t.plan, t.tree.steps + edge->step, edge->from, edge->to, below,
                      is_leaf(&t, edge->to) ? result : below, ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        if (t.plan->scratch[node]) {
            build_copy(t.plan, last, node, slots_of(t.plan, SPACE_SCRATCH, node, 1), result,
                       ROW_AFTER_RECEIVED);
        }
    }
    return end(&t);
}

struct plan *plan_tree_barrier(const struct network *network, const struct plan_request *request)
{
    struct tree_plan t = begin(network, request, tree_middle(network));

    for (uint32_t i = t.tree.count; i-- > 0;) {
        const struct edge *edge = &t.tree.edges[i];
        build_circuit(t.plan, step_upwards(&t, edge), edge->to, edge->from, NO_SLOTS, NO_SLOTS, 0);
    }
    for (uint32_t i = 0; i < t.tree.count; i++) {
        const struct edge *edge = &t.tree.edges[i];
        build_circuit(t.plan, t.tree.steps + edge->step, edge->from, edge->to, NO_SLOTS, NO_SLOTS,
                      0);
    }
    return end(&t);
}
