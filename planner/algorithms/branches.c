/*
 * branches.c - scatter, and backwards gather, that keep all links of the root busy: the other nodes
 * are cut into as many connected branches as the root has links, of about as many nodes, and in
 * every step the root gives a block to a node of each.
 *
 * A branch is a tree; no two have a node in common, so circuits to different branches share no
 * link. Each block goes straight to its node, the farthest first, over the links of its branch. All
 * is there from the beginning, so every set-up but the first is issued ahead. With p ports p of the
 * branches have a circuit in a step.
 *
 *     ring:5 from 0    0>2 (over 1) 0>3 (over 4) | 0>1 0>4
 *
 * Branches grow by one node at a time, the smallest first, by the node nearest to the root. Then
 * small ones take leaves of larger ones beside them. Of equally near nodes the first is taken, from
 * another node on in each of some tries; the tries end when the largest branch is as small as can
 * be.
 *
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.4 (n over the links of a node); balanced spanning
 *           trees: Johnsson & Ho, IEEE Trans. Computers 38(9), 1989, 1249-1268
 */
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "wire/circuit.h"

enum { NODES_MAX = 1024, TRIES = 16 };

static const uint32_t NONE = UINT32_MAX;

struct branches {
    const struct network *network;
    uint32_t root, turn;                          /* turn: the node that is looked at first */
    uint32_t *branch, *parent, *depth, *children; /* of each node */
    uint32_t size[NETWORK_PORTS_MAX];
};

static void join(struct branches *b, uint32_t node, uint32_t parent, uint32_t branch)
{
    b->branch[node] = branch;
    b->parent[node] = parent;
    b->depth[node] = parent == b->root ? 1 : b->depth[parent] + 1;
    b->children[parent]++;
    b->size[branch]++;
}

static void leave(struct branches *b, uint32_t node)
{
    b->children[b->parent[node]]--;
    b->size[b->branch[node]]--;
}

/* The best node that a branch can take: none's, or, to even out, a leaf of one that is larger by
 * two at least; the nearest. NONE: there is none. */
static uint32_t best_for(const struct branches *b, uint32_t branch, bool leaves, uint32_t *parent)
{
    uint32_t best = NONE, least = UINT32_MAX;

    for (uint32_t i = 0; i < b->network->nodes; i++) {
        uint32_t node = (i + b->turn) % b->network->nodes;
        for (unsigned port = 0; b->branch[node] == branch && port < b->network->ports; port++) {
            uint32_t to = network_neighbour(b->network, node, port);
            if (to == NETWORK_NO_NODE || to == b->root || b->depth[node] + 1 >= least ||
                b->depth[node] >= OPEN_HOPS_MAX) {
                continue;
            }
            uint32_t other = b->branch[to];
            bool takes = leaves ? other != NONE && other != branch && b->children[to] == 0 &&
                                      b->size[other] > b->size[branch] + 1 && b->depth[to] > 1
                                : other == NONE;
            if (takes) {
                least = b->depth[node] + 1;
                best = to;
                *parent = node;
            }
        }
    }
    return best;
}

/* The smallest branch gets a node; the next smallest if it cannot. False: none can. */
static bool grow(struct branches *b, bool leaves)
{
    bool tried[NETWORK_PORTS_MAX] = {false};

    for (unsigned i = 0; i < b->network->ports; i++) {
        uint32_t branch = NONE, parent = NONE;
        for (uint32_t one = 0; one < b->network->ports; one++) {
            bool is = !tried[one] && b->size[one] > 0;
            branch = is && (branch == NONE || b->size[one] < b->size[branch]) ? one : branch;
        }
        if (branch == NONE) {
            return false;
        }
        uint32_t node = best_for(b, branch, leaves, &parent);
        if (node != NONE) {
            if (leaves) {
                leave(b, node);
            }
            join(b, node, parent, branch);
            return true;
        }
        tried[branch] = true;
    }
    return false;
}

static struct branches try_branches(const struct network *network, uint32_t root, uint32_t turn)
{
    uint32_t nodes = network->nodes;
    struct branches b = {.network = network, .root = root, .turn = turn};

    b.branch = planner_memory(nodes, sizeof *b.branch);
    b.parent = planner_memory(nodes, sizeof *b.parent);
    b.depth = planner_memory(nodes, sizeof *b.depth);
    b.children = planner_memory(nodes, sizeof *b.children);
    for (uint32_t node = 0; node < nodes; node++) {
        b.branch[node] = NONE;
    }
    for (unsigned port = 0; port < network->ports; port++) {
        uint32_t first = network_neighbour(network, root, port);
        if (first != NETWORK_NO_NODE) {
            join(&b, first, root, port);
        }
    }
    while (grow(&b, false)) {
    }
    for (uint32_t moves = 0; moves < nodes && grow(&b, true); moves++) {
    }
    return b;
}

static void branches_free(struct branches *b)
{
    free(b->branch);
    free(b->parent);
    free(b->depth);
    free(b->children);
}

static uint32_t largest_of(const struct branches *b)
{
    uint32_t largest = 0;

    for (unsigned port = 0; port < b->network->ports; port++) {
        largest = b->size[port] > largest ? b->size[port] : largest;
    }
    return largest;
}

/* Those of the tries whose largest branch is smallest. */
static struct branches branches_of(const struct network *network, uint32_t root)
{
    struct branches best = try_branches(network, root, 0);
    uint32_t links = 0, least;

    for (unsigned port = 0; port < network->ports; port++) {
        links += best.size[port] > 0;
    }
    least = (network->nodes - 2 + links) / links;
    for (uint32_t i = 1; i < TRIES && largest_of(&best) > least; i++) {
        struct branches one = try_branches(network, root, network->nodes * i / TRIES);
        bool better = largest_of(&one) < largest_of(&best);
        branches_free(better ? &best : &one);
        best = better ? one : best;
    }
    return best;
}

/* The deepest node of a branch that has not been served; NONE. */
static uint32_t next_in(const struct branches *b, uint32_t branch, const bool *served)
{
    uint32_t next = NONE;

    for (uint32_t node = 0; node < b->network->nodes; node++) {
        if (b->branch[node] == branch && node != b->root && !served[node] &&
            (next == NONE || b->depth[node] > b->depth[next])) {
            next = node;
        }
    }
    return next;
}

/* A circuit between the root and a node of a branch, by the links of the branch. */
static void lay_circuit(const struct branches *b, struct plan *plan, uint32_t step, uint32_t node)
{
    uint8_t ports[OPEN_HOPS_MAX];
    uint32_t hops = b->depth[node], at = node;
    bool gathers = plan->operation == ECUBE_GATHER;

    for (uint32_t i = 0; i < hops; i++) {
        uint32_t up = b->parent[at];
        if (gathers) {
            ports[i] = (uint8_t)network_port_to(b->network, at, up);
        } else {
            ports[hops - 1 - i] = (uint8_t)network_port_to(b->network, up, at);
        }
        at = up;
    }
    struct slots send = slots_of(plan, SPACE_SEND, gathers ? 0 : node, 1);
    struct slots receive = slots_of(plan, SPACE_RECEIVE, gathers ? node : 0, 1);
    build_routed(plan, step, gathers ? node : b->root, gathers ? b->root : node, send, receive,
                 ROW_AHEAD, ports, hops);
}

bool possible_in_branches(const struct network *network)
{
    uint32_t depth = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        depth += network->dim[k].size - 1;
    }
    return network->nodes > 1 && network->nodes <= NODES_MAX && depth <= OPEN_HOPS_MAX;
}

struct plan *plan_in_branches(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct branches b = branches_of(network, request->root);
    bool *served = planner_memory(network->nodes, sizeof *served);
    bool gathers = request->operation == ECUBE_GATHER;
    unsigned ports = request->ports ? request->ports : 1, port = 0;
    uint32_t step = 0, left = network->nodes - 1;

    build_copy(plan, 0, request->root, slots_of(plan, SPACE_SEND, gathers ? 0 : request->root, 1),
               slots_of(plan, SPACE_RECEIVE, gathers ? request->root : 0, 1), 0);
    while (left > 0) {
        for (uint32_t i = 0; i < network->ports; i++) {
            uint32_t node = next_in(&b, i, served);
            if (node == NONE) {
                continue;
            }
            if (port == ports) {
                port = 0;
                step++;
            }
            plan->port = (uint8_t)port++;
            lay_circuit(&b, plan, step, node);
            served[node] = true;
            left--;
        }
        if (ports >= network->ports) {
            port = 0;
            step++;
        }
    }
    free(served);
    branches_free(&b);
    return plan;
}
