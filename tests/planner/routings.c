#include "tests/planner/routings.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum { PORTS = NETWORK_PORTS_MAX, SLOWNESS = 8 };

/* Weights beyond which all are made lighter. */
static const double WEIGHT_MAX = 1e100;

struct routings {
    const struct network *network;
    const uint32_t *amounts;
    uint32_t neighbour[ROUTINGS_NODES_MAX][PORTS]; /* NETWORK_NO_NODE: none */
    double weight[ROUTINGS_NODES_MAX][PORTS];
    uint64_t load[ROUTINGS_NODES_MAX][PORTS];
    double loads[ROUTINGS_NODES_MAX][PORTS],
        rounds; /* of several rounds, by 1 / its busiest each */
    /* the lightest ways from a node to all: in the order in which they were found */
    uint32_t order[ROUTINGS_NODES_MAX], before[ROUTINGS_NODES_MAX], port[ROUTINGS_NODES_MAX];
    double distance[ROUTINGS_NODES_MAX];
};

/* Finds the lightest ways from a node. */
static void find_ways(struct routings *r, uint32_t from)
{
    uint32_t nodes = r->network->nodes;
    bool done[ROUTINGS_NODES_MAX] = {false};

    for (uint32_t node = 0; node < nodes; node++) {
        r->distance[node] = node == from ? 0 : DBL_MAX;
    }
    for (uint32_t found = 0; found < nodes; found++) {
        uint32_t at = NETWORK_NO_NODE;
        for (uint32_t node = 0; node < nodes; node++) {
            if (!done[node] && (at == NETWORK_NO_NODE || r->distance[node] < r->distance[at])) {
                at = node;
            }
        }
        done[at] = true;
        r->order[found] = at;
        for (unsigned port = 0; port < r->network->ports; port++) {
            uint32_t next = r->neighbour[at][port];
            if (next != NETWORK_NO_NODE &&
                r->distance[at] + r->weight[at][port] < r->distance[next]) {
                r->distance[next] = r->distance[at] + r->weight[at][port];
                r->before[next] = at;
                r->port[next] = port;
            }
        }
    }
}

/* Sends a node's blocks over them; returns what they weigh. */
static double send_from(struct routings *r, uint32_t from)
{
    const uint32_t *amounts = &r->amounts[(size_t)from * r->network->nodes];
    uint64_t through[ROUTINGS_NODES_MAX];
    double weight = 0;

    for (uint32_t node = 0; node < r->network->nodes; node++) {
        through[node] = node == from ? 0 : amounts[node];
        weight += (double)through[node] * r->distance[node];
    }
    for (uint32_t i = r->network->nodes - 1; i > 0; i--) {
        uint32_t node = r->order[i];
        r->load[r->before[node]][r->port[node]] += through[node];
        through[r->before[node]] += through[node];
    }
    return weight;
}

static void start(struct routings *r)
{
    for (uint32_t node = 0; node < r->network->nodes; node++) {
        for (unsigned port = 0; port < r->network->ports; port++) {
            r->neighbour[node][port] = network_neighbour(r->network, node, port);
            r->weight[node][port] = 1;
        }
    }
}

/* One round; returns what its weights prove. */
static double send_all(struct routings *r)
{
    double amount = 0, weights = 0;

    for (uint32_t node = 0; node < r->network->nodes; node++) {
        for (unsigned port = 0; port < r->network->ports; port++) {
            weights += r->neighbour[node][port] != NETWORK_NO_NODE ? r->weight[node][port] : 0;
            r->load[node][port] = 0;
        }
    }
    for (uint32_t node = 0; node < r->network->nodes; node++) {
        find_ways(r, node);
        amount += send_from(r, node);
    }
    return amount / weights;
}

/* Adds the round to those since `rounds` was 0, and makes links heavier by what they carry. Returns
 * what the busiest link carries in the mean of these rounds. */
static double weigh(struct routings *r, double slowness)
{
    uint64_t busiest = 1;
    double most = 0, heaviest = 0;

    for (uint32_t node = 0; node < r->network->nodes; node++) {
        for (unsigned port = 0; port < r->network->ports; port++) {
            busiest = r->load[node][port] > busiest ? r->load[node][port] : busiest;
        }
    }
    r->rounds += 1.0 / (double)busiest;
    for (uint32_t node = 0; node < r->network->nodes; node++) {
        for (unsigned port = 0; port < r->network->ports; port++) {
            double share = (double)r->load[node][port] / (double)busiest;
            r->loads[node][port] += share;
            r->weight[node][port] *= 1 + share / slowness;
            most = r->loads[node][port] > most ? r->loads[node][port] : most;
            heaviest = r->weight[node][port] > heaviest ? r->weight[node][port] : heaviest;
        }
    }
    for (uint32_t node = 0; node < r->network->nodes && heaviest > WEIGHT_MAX; node++) {
        for (unsigned port = 0; port < r->network->ports; port++) {
            r->weight[node][port] /= heaviest;
        }
    }
    return most / r->rounds;
}

/* The least whole number that is not less, but for what is lost in sums. */
static double whole_above(double blocks)
{
    return (double)(uint64_t)(blocks + 1 - 1e-9);
}

struct routings_ends routings_find(const struct network *network, const uint32_t *amounts,
                                   unsigned parts, unsigned rounds)
{
    struct routings *r = calloc(1, sizeof *r);
    struct routings_ends ends = {0, DBL_MAX};

    CHECK(r && network->nodes <= ROUTINGS_NODES_MAX);
    r->network = network;
    r->amounts = amounts;
    start(r);
    for (unsigned round = 1; round <= rounds; round++) {
        if ((round & (round - 1)) == 0) { /* the mean of later rounds is better than that of all */
            memset(r->loads, 0, sizeof r->loads);
            r->rounds = 0;
        }
        double least = send_all(r);
        double most = weigh(r, SLOWNESS + round / 64.0);
        ends.least = least > ends.least ? least : ends.least;
        ends.most = most < ends.most ? most : ends.most;
        if (ends.most - whole_above(ends.least) <= 1.0 / parts) {
            break;
        }
    }
    free(r);
    return ends;
}
