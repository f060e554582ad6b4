/*
 * disjoint.c - spanning trees that share no directed link, packed.
 *
 * All trees grow together, the nodes nearest to the root first. A link from a node in a tree to one
 * that is not is given to it if the trees can still be finished: if every set of nodes has at least
 * as many links that lead into it and are free as there are trees that have no node in it. Only
 * sets with the link's end matter, so it is one flow to that node: from each tree one unit, out of
 * any of its nodes, over free links.
 *
 *     ring:4 from 0    0>1 1>2 2>3 and 0>3 3>2 2>1
 *
 * On cubes tree j is known: from the root over dimension j, then doubling over j + 1, j + 2, ... j,
 * with the root left out; no node is more than d + 1 hops deep.
 *
 * Source    Edmonds, Edge-disjoint branchings, Combinatorial Algorithms, 1973; cubes: Johnsson &
 *           Ho, IEEE Trans. Computers 38(9), 1989, 1249-1268
 */
#include "planner/algorithms/disjoint.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "drivers/check.h"

static const uint32_t NONE = UINT32_MAX;

/* Cubes --------------------------------------------------------------------------------------- */

/* The node before x, seen from the root, in a tree. */
static uint32_t parent_in(unsigned dims, unsigned tree, uint32_t x)
{
    uint32_t y = x ^ UINT32_C(1) << tree;

    for (unsigned back = 0; back < dims; back++) {
        unsigned dim = (tree + dims - back) % dims;
        if (y >> dim & 1) {
            return x ^ UINT32_C(1) << dim;
        }
    }
    return 0;
}

static void add_cube_trees(struct disjoint *d, const struct network *network, uint32_t root)
{
    for (uint32_t tree = 0; tree < d->trees; tree++) {
        for (uint32_t x = 1; x < d->nodes; x++) {
            uint64_t at = (uint64_t)tree * d->nodes + (x ^ root);
            d->parent[at] = parent_in(network->dims, tree, x) ^ root;
            for (uint32_t up = x; up; up = parent_in(network->dims, tree, up)) {
                d->depth[at]++;
            }
            d->deepest = d->depth[at] > d->deepest ? d->depth[at] : d->deepest;
        }
    }
}

/* Packing ------------------------------------------------------------------------------------- */

/* The places of a flow are nodes, and behind them trees, which lead to each of their nodes. */
struct packing {
    const struct network *network;
    struct disjoint *trees;
    bool *given;      /* of each link, node * ports + port: some tree has it */
    uint32_t *flows;  /* of each link: the number of the flow that uses it last */
    uint32_t *enters; /* of each tree: where its unit leaves it; NONE: it is not used yet */
    uint32_t *next;   /* of each place: 1 + the one behind it on the way that is looked for */
    uint32_t *queue, count, flow;
};

static bool is_in(const struct packing *p, uint32_t tree, uint32_t node)
{
    const struct disjoint *d = p->trees;
    uint64_t at = (uint64_t)tree * d->nodes + node;

    return d->parent[at] != NONE || d->depth[at] == 0;
}

static uint32_t link_between(const struct packing *p, uint32_t from, uint32_t to)
{
    return from * p->network->ports + network_port_to(p->network, from, to);
}

/* Takes over the way that was found, from a tree on: a link against which it goes is free again. */
static void take_way(struct packing *p, uint32_t place, uint32_t end)
{
    uint32_t nodes = p->network->nodes;

    while (place != end) {
        uint32_t behind = p->next[place] - 1;
        if (place >= nodes) {
            p->enters[place - nodes] = behind;
        } else if (behind < nodes) {
            uint32_t back = link_between(p, behind, place);
            if (p->flows[back] == p->flow) {
                p->flows[back] = 0;
            } else {
                p->flows[link_between(p, place, behind)] = p->flow;
            }
        }
        place = behind;
    }
}

static void reach(struct packing *p, uint32_t place, uint32_t behind)
{
    if (p->next[place] == 0) {
        p->next[place] = 1 + behind;
        p->queue[p->count++] = place;
    }
}

/* The places before a node: its trees, and neighbours over links that are free. */
static void look_before(struct packing *p, uint32_t node)
{
    const struct network *network = p->network;

    for (uint32_t tree = 0; tree < p->trees->trees; tree++) {
        if (is_in(p, tree, node)) {
            reach(p, network->nodes + tree, node);
        }
    }
    for (unsigned port = 0; port < network->ports; port++) {
        uint32_t other = network_neighbour(network, node, port);
        if (other != NETWORK_NO_NODE) {
            uint32_t in = link_between(p, other, node), out = node * network->ports + port;
            if ((!p->given[in] && p->flows[in] != p->flow) || p->flows[out] == p->flow) {
                reach(p, other, node);
            }
        }
    }
}

/* One more unit to a node, searched backwards; false: there is no way. */
static bool augment(struct packing *p, uint32_t end)
{
    uint32_t nodes = p->network->nodes;

    memset(p->next, 0, (nodes + p->trees->trees) * sizeof *p->next);
    p->count = 0;
    reach(p, end, end);
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t place = p->queue[i];
        if (place < nodes) {
            look_before(p, place);
        } else if (p->enters[place - nodes] == NONE) {
            take_way(p, place, end);
            return true;
        } else {
            reach(p, p->enters[place - nodes], place);
        }
    }
    return false;
}

/* Whether all trees can still be finished, as far as sets with a node tell. */
static bool can_finish(struct packing *p, uint32_t node)
{
    uint32_t units = 0;

    p->flow++;
    memset(p->enters, 0xff, p->trees->trees * sizeof *p->enters);
    while (units < p->trees->trees && augment(p, node)) {
        units++;
    }
    return units == p->trees->trees;
}

/* Gives a link to a tree, if the others can do without it. */
static bool grow(struct packing *p, uint32_t tree, uint32_t node, uint32_t to)
{
    struct disjoint *d = p->trees;
    uint64_t at = (uint64_t)tree * d->nodes;
    uint32_t link = link_between(p, node, to);

    p->given[link] = true;
    d->parent[at + to] = node;
    d->depth[at + to] = d->depth[at + node] + 1;
    if (can_finish(p, to)) {
        d->deepest = d->depth[at + to] > d->deepest ? d->depth[at + to] : d->deepest;
        return true;
    }
    p->given[link] = false;
    d->parent[at + to] = NONE;
    d->depth[at + to] = NONE;
    return false;
}

/* What grows from the nodes of a depth; returns how many links. */
static uint32_t grow_from(struct packing *p, uint32_t depth)
{
    struct disjoint *d = p->trees;
    uint32_t grown = 0;

    for (uint32_t tree = 0; tree < d->trees; tree++) {
        for (uint32_t node = 0; node < d->nodes; node++) {
            for (unsigned port = 0; port < p->network->ports; port++) {
                uint32_t to = network_neighbour(p->network, node, port);
                if (d->depth[(uint64_t)tree * d->nodes + node] == depth && to != NETWORK_NO_NODE &&
                    !p->given[node * p->network->ports + port] && !is_in(p, tree, to)) {
                    grown += grow(p, tree, node, to);
                }
            }
        }
    }
    return grown;
}

static bool pack(struct disjoint *d, const struct network *network, uint32_t root)
{
    uint32_t links = network->nodes * network->ports, left = d->trees * (d->nodes - 1);
    struct packing p = {.network = network, .trees = d};
    bool more = true;

    p.given = planner_memory(links, sizeof *p.given);
    p.flows = planner_memory(links, sizeof *p.flows);
    p.enters = planner_memory(d->trees, sizeof *p.enters);
    p.next = planner_memory(network->nodes + (uint64_t)d->trees, sizeof *p.next);
    p.queue = planner_memory(network->nodes + (uint64_t)d->trees, sizeof *p.queue);
    for (uint32_t tree = 0; tree < d->trees; tree++) {
        d->depth[(uint64_t)tree * d->nodes + root] = 0;
    }
    while (left > 0 && more) {
        more = false;
        for (uint32_t depth = 0; depth <= d->deepest && left > 0; depth++) {
            uint32_t grown = grow_from(&p, depth);
            left -= grown;
            more = more || grown;
        }
    }
    free(p.given);
    free(p.flows);
    free(p.enters);
    free(p.next);
    free(p.queue);
    return left == 0;
}

/* Links of the node that has the fewest. */
static uint32_t fewest_links(const struct network *network)
{
    uint32_t fewest = network->ports;

    for (uint32_t node = 0; node < network->nodes; node++) {
        uint32_t links = 0;
        for (unsigned port = 0; port < network->ports; port++) {
            links += network_neighbour(network, node, port) != NETWORK_NO_NODE;
        }
        fewest = links < fewest ? links : fewest;
    }
    return fewest;
}

static void begin(struct disjoint *d)
{
    uint64_t places = (uint64_t)d->trees * d->nodes;

    d->parent = planner_memory(places, sizeof *d->parent);
    d->depth = planner_memory(places, sizeof *d->depth);
    d->deepest = 0;
}

struct disjoint disjoint_make(const struct network *network, uint32_t root)
{
    struct disjoint d = {.trees = fewest_links(network), .nodes = network->nodes};
    uint64_t places = (uint64_t)d.trees * d.nodes;

    begin(&d);
    memset(d.parent, 0xff, places * sizeof *d.parent);
    if (network->kind == NETWORK_CUBE) {
        add_cube_trees(&d, network, root);
        return d;
    }
    memset(d.depth, 0xff, places * sizeof *d.depth);
    bool packed = pack(&d, network, root);
    CHECK(packed); /* no set of nodes of a mesh or torus has fewer links than one node */
    return d;
}

void disjoint_free(struct disjoint *disjoint)
{
    free(disjoint->parent);
    free(disjoint->depth);
}
