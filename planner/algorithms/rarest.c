/*
 * rarest.c - allgather, and backwards reduce_scatter, on meshes: in each step every link brings a
 * block that its end has not got, of several that which the fewest nodes have.
 *
 * The nodes that have most to get for each of their links choose first, and of a node's links the
 * one that has the fewest blocks to choose from. So a corner, which has two links, has always
 * something to get over both, and on mesh:3x2, 3x3, 3x4 and 4x4 nobody needs more steps than that
 * takes, (N - 1) / 2 rounded up (tests/planner/steps_test.c). Longer meshes may take a step more.
 * Parts by dimensions (rotated.c) leave links of corners idle.
 *
 *     mesh:3x2, node 0    1 and 2 from themselves | 3 from 1, 4 from 2 | 5 from one of them
 *
 * Source    Cohen, Incentives build robustness in BitTorrent, P2P Econ 2003, 2.4.2 (rarest first)
 */
#include <stdlib.h>

#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"

enum { NODES_MAX = 128 };

struct rarest {
    const struct network *network;
    struct block_sets before, known; /* at the begin of a step, and in it */
    uint32_t *copies;                /* of each block */
    uint32_t *missing;               /* blocks of each node, at the begin of a step */
    uint32_t *order;                 /* nodes */
    uint64_t left;                   /* blocks that all nodes are without */
    struct flow flow;
};

static uint32_t links_of(const struct network *network, uint32_t node)
{
    uint32_t links = 0;

    for (unsigned port = 0; port < network->ports; port++) {
        links += network_neighbour(network, node, port) != NETWORK_NO_NODE;
    }
    return links;
}

/* Whether one has more to get for each of its links than another. */
static bool is_needier(const struct rarest *r, uint32_t one, uint32_t other)
{
    uint32_t a = r->missing[one] * links_of(r->network, other);
    uint32_t b = r->missing[other] * links_of(r->network, one);

    return a != b ? a > b : one < other;
}

static void sort_nodes(struct rarest *r)
{
    for (uint32_t node = 0; node < r->network->nodes; node++) {
        uint32_t at = node;
        for (; at > 0 && is_needier(r, node, r->order[at - 1]); at--) {
            r->order[at] = r->order[at - 1];
        }
        r->order[at] = node;
    }
}

/* Blocks that a node can get from another; the rarest of them. */
static uint32_t choice_of(const struct rarest *r, uint32_t from, uint32_t to, uint32_t *block)
{
    uint32_t count = 0;

    for (uint32_t b = 0; b < r->network->nodes; b++) {
        if (block_sets_has(&r->before, from, b) && !block_sets_has(&r->known, to, b)) {
            *block = count == 0 || r->copies[b] < r->copies[*block] ? b : *block;
            count++;
        }
    }
    return count;
}

/* Over each of a node's links one, over the links first that have the fewest to choose from. */
static void get_blocks(struct rarest *r, uint32_t step, uint32_t node)
{
    uint32_t done = 0;

    for (;;) {
        uint32_t least = UINT32_MAX, best = 0, giver = 0;
        unsigned over = 0;
        for (unsigned port = 0; port < r->network->ports; port++) {
            uint32_t from = network_neighbour(r->network, node, port), block = 0, count;
            if (from == NETWORK_NO_NODE || done >> port & 1) {
                continue;
            }
            count = choice_of(r, from, node, &block);
            if (count > 0 && count < least) {
                least = count;
                best = block;
                giver = from;
                over = port;
            }
        }
        if (least == UINT32_MAX) {
            return;
        }
        done |= UINT32_C(1) << over;
        (void)block_sets_take(&r->known, node, best);
        r->copies[best]++;
        r->left--;
        flow_move(&r->flow, step, giver, node, FLOW_DIRECT);
        flow_add(&r->flow, best, 1);
    }
}

static struct flow flow_of(const struct network *network)
{
    uint32_t nodes = network->nodes;
    struct rarest r = {.network = network, .left = (uint64_t)nodes * (nodes - 1)};

    r.before = block_sets_make(nodes);
    r.known = block_sets_make(nodes);
    r.copies = planner_memory(nodes, sizeof *r.copies);
    r.missing = planner_memory(nodes, sizeof *r.missing);
    r.order = planner_memory(nodes, sizeof *r.order);
    for (uint32_t node = 0; node < nodes; node++) {
        r.copies[node] = 1;
    }
    for (uint32_t step = 0; r.left > 0; step++) {
        block_sets_copy(&r.before, &r.known);
        for (uint32_t node = 0; node < nodes; node++) {
            r.missing[node] = 0;
            for (uint32_t block = 0; block < nodes; block++) {
                r.missing[node] += !block_sets_has(&r.known, node, block);
            }
        }
        sort_nodes(&r);
        for (uint32_t i = 0; i < nodes; i++) {
            get_blocks(&r, step, r.order[i]);
        }
    }
    block_sets_free(&r.before);
    block_sets_free(&r.known);
    free(r.copies);
    free(r.missing);
    free(r.order);
    return r.flow;
}

bool possible_rarest_first(const struct network *network)
{
    unsigned lines = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        lines += network->dim[k].size > 1;
    }
    return lines > 1 && network->nodes <= NODES_MAX && !network_is_symmetric(network);
}

struct plan *plan_rarest_first(const struct network *network, const struct plan_request *request)
{
    struct flow flow = flow_of(network);

    flow_ports(&flow, network->nodes, request->ports);
    return flow_plan(network, request, &flow, network->nodes);
}
