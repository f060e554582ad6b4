/*
 * table.c - allgather, and backwards reduce_scatter, by one table that is moved to every node: the
 * tree by which the block of node 0 spreads, with a step for each of its links.
 *
 * When all nodes do what node 0's block shows, moved to themselves, a node sends over a port in a
 * step as often as the table has links of this port in that step. So with p ports a table may have
 * p links of different ports in a step, and then no two circuits share a link. At least
 * (N - 1) / p steps are needed, and as many as the farthest node is away.
 *
 *     ring:5    0>1 0>4 | 1>2 4>3      node 0 sends its own block both ways, then what came
 *
 * The table is searched, step by step: to each new node leads a port that is free in the step, the
 * scarcest ports first, and nodes that more unreached ones hang on before others; of equals one is
 * drawn. The shortest of some tries is kept.
 *
 * On a cube nodes whose bits are each other's, turned round, are a necklace. One with a one in bit
 * 0 is reached over port 0; its turns by 1, 2, ... are reached over ports 1, 2, ... in the same
 * step. So by the necklace tree each necklace takes a step, those with fewer ones before. Where a
 * necklace has fewer nodes than there are ports, some have nothing to do in its step. The table
 * that is searched has such gaps filled: on cubes of up to nine dimensions it is as short as the
 * necklace tree is when all its gaps are filled that can be.
 *
 *     cube:4    0001 0010 0100 1000 | 0011 0110 1100 1001 | 0101 1010 | 0111 1110 1101 1011 | 1111
 *     filled    0001 0010 0100 1000 | 0011 0110 1100 1001 | 0101 1010 0111 1110 | 1101 1011 1111
 *
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.3, 2.3 and figure 11 (multinode broadcast by a
 *           translated tree); on cubes 2.3, appendix B and figures 10 and 19 (necklaces, filled)
 * Names     a necklace is the paper's equivalence class, its step a minor step
 */
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"

enum { NODES_MAX = 512, SITES_MAX = 1 << 18, TRIES = 64, TRIED_NODES = 1 << 13 };

static const uint32_t NOT_YET = UINT32_MAX;

/* How node 0's block comes to a node. */
struct entry {
    uint32_t step, port;
};

struct table {
    const struct network *network;
    unsigned ports; /* that a node may use in a step */
    struct entry *entries;
    uint32_t steps, draw;
};

static uint32_t drawn(struct table *table)
{
    table->draw ^= table->draw << 13;
    table->draw ^= table->draw >> 17;
    table->draw ^= table->draw << 5;
    return table->draw;
}

static uint32_t before_of(const struct network *network, uint32_t node, uint32_t port)
{
    return network_neighbour(network, node, network_far_port(network, port));
}

/* Whether a node can be reached over a port in a step, from one that was reached before. */
static bool can_reach(const struct table *table, uint32_t node, unsigned port, uint32_t step)
{
    uint32_t before = before_of(table->network, node, port);

    return table->entries[node].step == NOT_YET && table->entries[before].step != NOT_YET &&
           (before == 0 || table->entries[before].step < step);
}

/* Neighbours of a node that are not reached yet. */
static uint32_t hanging(const struct table *table, uint32_t node)
{
    uint32_t count = 0;

    for (unsigned port = 0; port < table->network->ports; port++) {
        count += table->entries[network_neighbour(table->network, node, port)].step == NOT_YET;
    }
    return count;
}

/* The port, of those that are free in a step, over which the fewest nodes can be reached; ports:
 * none can. */
static unsigned scarcest(struct table *table, uint32_t step, const bool *used)
{
    const struct network *network = table->network;
    uint32_t least = UINT32_MAX;
    unsigned best = network->ports;

    for (unsigned port = 0; port < network->ports; port++) {
        uint32_t count = 0;
        for (uint32_t node = 1; !used[port] && node < network->nodes; node++) {
            count += can_reach(table, node, port, step);
        }
        if (count > 0 && (count < least || (count == least && drawn(table) % 2))) {
            least = count;
            best = port;
        }
    }
    return best;
}

/* Of the nodes that a port reaches one that leads on the most. */
static uint32_t best_node(struct table *table, uint32_t step, unsigned port)
{
    uint32_t best = 0, most = 0;

    for (uint32_t node = 1; node < table->network->nodes; node++) {
        if (can_reach(table, node, port, step)) {
            uint32_t worth = (1 + hanging(table, node)) << 16 | (drawn(table) & 0xffff);
            if (worth > most) {
                most = worth;
                best = node;
            }
        }
    }
    return best;
}

static void try_table(struct table *table)
{
    uint32_t left = table->network->nodes - 1;

    memset(table->entries, 0xff, table->network->nodes * sizeof *table->entries);
    table->entries[0].step = 0;
    for (table->steps = 0; left > 0; table->steps++) {
        bool used[NETWORK_PORTS_MAX] = {false};
        for (unsigned i = 0; i < table->ports && left > 0; i++) {
            unsigned port = scarcest(table, table->steps, used);
            if (port == table->network->ports) {
                break;
            }
            uint32_t node = best_node(table, table->steps, port);
            table->entries[node] = (struct entry){table->steps, port};
            used[port] = true;
            left--;
        }
    }
}

/* The shortest that is found. */
static struct table table_of(const struct network *network, unsigned ports)
{
    struct table table = {.network = network, .ports = ports, .draw = 2463534242u}, best;
    uint32_t tries = network->nodes * TRIES > TRIED_NODES ? TRIED_NODES / network->nodes : TRIES;
    uint32_t bound = (network->nodes - 2 + ports) / ports;

    best = table;
    best.steps = UINT32_MAX;
    bound = network_diameter(network) > bound ? network_diameter(network) : bound;
    for (uint32_t i = 0; i < tries && best.steps > bound; i++) {
        table.entries = planner_memory(network->nodes, sizeof *table.entries);
        try_table(&table);
        if (table.steps < best.steps) {
            free(best.entries);
            best = table;
        } else {
            free(table.entries);
        }
    }
    return best;
}

/* Necklaces ------------------------------------------------------------------------------------
 */

/* A node's bits turned round by some places. */
static uint32_t turned(const struct network *network, uint32_t node, unsigned by)
{
    unsigned d = network->dims;

    return (node << by | node >> (d - by)) & (network->nodes - 1);
}

/* The number of a node that its necklace is known by: the least of its turns. */
static uint32_t necklace_of(const struct network *network, uint32_t node)
{
    uint32_t least = node;

    for (unsigned by = 1; by < network->dims; by++) {
        uint32_t other = turned(network, node, by);
        least = other < least ? other : least;
    }
    return least;
}

/* The turn of a node with a one in bit 0 that is reached from a node that has been so longest. */
static uint32_t clasp_of(const struct table *table, uint32_t node)
{
    uint32_t best = NOT_YET;

    for (unsigned by = 0; by < table->network->dims; by++) {
        uint32_t other = turned(table->network, node, by);
        if ((other & 1) &&
            (best == NOT_YET || table->entries[other ^ 1].step < table->entries[best ^ 1].step)) {
            best = other;
        }
    }
    return best;
}

/* Reaches a necklace in the next step. */
static void add_necklace(struct table *table, uint32_t node)
{
    uint32_t clasp = clasp_of(table, node);

    for (unsigned port = 0; port < table->network->dims; port++) {
        struct entry *entry = &table->entries[turned(table->network, clasp, port)];
        if (entry->step == NOT_YET) {
            *entry = (struct entry){table->steps, port};
        }
    }
    table->steps++;
}

static struct table necklace_table(const struct network *network, unsigned ports)
{
    struct table table = {.network = network, .ports = ports};

    table.entries = planner_memory(network->nodes, sizeof *table.entries);
    memset(table.entries, 0xff, network->nodes * sizeof *table.entries);
    table.entries[0].step = 0;
    for (unsigned ones = 1; ones <= network->dims; ones++) {
        for (uint32_t node = 1; node < network->nodes; node++) {
            if ((unsigned)__builtin_popcount(node) == ones && necklace_of(network, node) == node) {
                add_necklace(&table, node);
            }
        }
    }
    return table;
}

/* Plans ----------------------------------------------------------------------------------------
 */

bool possible_by_table(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX && network_is_symmetric(network) &&
           (uint64_t)network->nodes * network->nodes <= SITES_MAX;
}

bool possible_by_necklaces(const struct network *network)
{
    return network->kind == NETWORK_CUBE && possible_by_table(network);
}

static unsigned ports_of(const struct network *network, const struct plan_request *request)
{
    unsigned ports = request->ports ? request->ports : 1;

    return ports < network->ports ? ports : network->ports;
}

/* The plan of a table, moved to every node; frees it. */
static struct plan *plan_of(struct table *table, const struct plan_request *request)
{
    const struct network *network = table->network;
    struct flow flow = {0};

    for (uint32_t step = 0; step < table->steps; step++) {
        for (uint32_t node = 1; node < network->nodes; node++) {
            const struct entry *entry = &table->entries[node];
            for (uint32_t by = 0; entry->step == step && by < network->nodes; by++) {
                uint32_t from = before_of(network, node, entry->port);
                flow_move(&flow, step, network_translate(network, from, by),
                          network_translate(network, node, by), FLOW_DIRECT);
                flow_add(&flow, by, 1);
            }
        }
    }
    free(table->entries);
    flow_ports(&flow, network->nodes, table->ports);
    return flow_plan(network, request, &flow, network->nodes);
}

struct plan *plan_by_table(const struct network *network, const struct plan_request *request)
{
    struct table table = table_of(network, ports_of(network, request));

    return plan_of(&table, request);
}

struct plan *plan_by_necklaces(const struct network *network, const struct plan_request *request)
{
    struct table table = necklace_table(network, ports_of(network, request));

    return plan_of(&table, request);
}
