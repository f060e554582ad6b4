/*
 * networks.c - what formulae ask about networks: distances, paths that share no link, loads.
 */
#include <math.h>
#include <stdlib.h>

#include "network/paths.h"
#include "papers/functions.h"

static uint32_t node_of(const struct network *network, const struct formula_value *argument)
{
    if (!(argument->number >= 0 && argument->number < network->nodes)) {
        papers_refuse("there is no such node", "");
    }
    return (uint32_t)argument->number;
}

static double call_nodes(const struct formula_value *a, unsigned count)
{
    (void)count;
    return papers_network(a)->nodes;
}

static double call_diameter(const struct formula_value *a, unsigned count)
{
    (void)count;
    return network_diameter(papers_network(a));
}

/* Between two nodes; without them of the farthest pair, found by looking at all. */
static double call_hops(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    unsigned most = 0;

    if (count == 3) {
        return network_distance(network, node_of(network, a + 1), node_of(network, a + 2));
    }
    for (uint32_t from = 0; from < network->nodes; from++) {
        for (uint32_t to = 0; to < network->nodes; to++) {
            unsigned hops = network_distance(network, from, to);
            most = hops > most ? hops : most;
        }
    }
    return most;
}

/* The hops from a node to all others. */
static double call_hops_of_all(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    uint64_t sum = 0;

    (void)count;
    for (uint32_t to = 0; to < network->nodes; to++) {
        sum += network_distance(network, node_of(network, a + 1), to);
    }
    return (double)sum;
}

/* Paths of a pair that share no link; with a last argument the longest of that many. */
static double call_paths(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    uint32_t from = node_of(network, a + 1), to = node_of(network, a + 2);
    struct network_path paths[NETWORK_PATHS_MAX];
    double longest = INFINITY;

    if (from == to) {
        return 0;
    }
    unsigned found =
        network_paths(network, from, to, NETWORK_PATHS_SHORT, NETWORK_PATHS_MAX, paths);
    for (int even = 0; count == 4 && even < 2; even++) {
        unsigned made =
            network_paths(network, from, to, even ? NETWORK_PATHS_EVEN : NETWORK_PATHS_SHORT,
                          (unsigned)a[3].number, paths);
        longest = made ? fmin(longest, paths[made - 1].hops) : 0;
    }
    return count == 4 ? longest : found;
}

/* The fewest paths of any pair: how many links must break to part two nodes. */
static double call_connectivity(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    struct network_path paths[NETWORK_PATHS_MAX];
    unsigned least = NETWORK_PATHS_MAX;

    (void)count;
    for (uint32_t to = 1; to < network->nodes; to++) {
        unsigned found =
            network_paths(network, 0, to, NETWORK_PATHS_SHORT, NETWORK_PATHS_MAX, paths);
        least = found < least ? found : least;
    }
    return least;
}

/* The most messages on a link when every node sends to every other in dimension order. */
static double call_load_of_all(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    uint32_t *load = calloc((size_t)network->nodes * network->ports + 1, sizeof *load), most = 0;

    (void)count;
    for (uint32_t from = 0; load && from < network->nodes; from++) {
        for (uint32_t to = 0; to < network->nodes; to++) {
            for (uint32_t at = from; at != to;) {
                unsigned port = network_next_hop(network, at, to);
                uint32_t *link = &load[at * network->ports + port];
                most = ++*link > most ? *link : most;
                at = network_neighbour(network, at, port);
            }
        }
    }
    free(load);
    return most;
}

/* Whether two nodes differ in one dimension alone. */
static double call_aligned(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a);
    uint32_t from = node_of(network, a + 1), to = node_of(network, a + 2);
    unsigned wrong = 0;

    (void)count;
    for (unsigned k = 0; k < network->dims; k++) {
        wrong += network_port_toward(network, from, to, k) != NETWORK_NO_PORT;
    }
    return wrong == 1;
}

const struct formula_function network_functions[] = {{"nodes", 1, 1, call_nodes},
                                                     {"diameter", 1, 1, call_diameter},
                                                     {"hops", 1, 3, call_hops},
                                                     {"hops_of_all", 2, 2, call_hops_of_all},
                                                     {"paths", 3, 4, call_paths},
                                                     {"connectivity", 1, 1, call_connectivity},
                                                     {"load_of_all", 1, 1, call_load_of_all},
                                                     {"aligned", 3, 3, call_aligned},
                                                     {0}};
