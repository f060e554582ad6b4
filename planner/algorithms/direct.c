/*
 * direct.c - the complete exchange in as many steps as there are other nodes: in each, every node
 * sends to the node that lies a shift away, one coordinate at a time modulo its size.
 *
 *     mesh:2x3, shift (1, 1)    0 -> 4, 1 -> 5, 2 -> 3, 3 -> 1, 4 -> 2, 5 -> 0
 *
 * Paths are those of the dimension order; on lines and long shifts they share links, and turns say
 * who goes first. In a dimension, circuits of d hops that begin d apart do not meet, so those are
 * served together: the order of a step is that of the sum over the dimensions of coordinate modulo
 * hops.
 *
 * Where no shift is longer than a hop in any dimension, no link is shared and one node's plan
 * serves all.
 *
 * Source   Thakur, Choudhary & Fox, complete exchange on meshes: algorithm GEN, with a shift for
 *          each dimension in place of one of ranks
 */
#include <stdlib.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "wire/circuit.h"

enum { NODES_MAX = 1024, UNIT_SIZE_MAX = 3 };

bool possible_directly(const struct network *network)
{
    return network_diameter(network) <= OPEN_HOPS_MAX && network->nodes <= NODES_MAX;
}

/* Whether each node is at most one hop away in each dimension, and all nodes are alike. */
static bool is_translated(const struct network *network)
{
    bool units = network_is_symmetric(network);

    for (unsigned k = 0; k < network->dims; k++) {
        units = units && network->dim[k].size <= UNIT_SIZE_MAX;
    }
    return units;
}

/* Hops in one dimension. */
static uint32_t hops_in(const struct network_dimension *dim, uint32_t from, uint32_t to)
{
    uint32_t a = from / dim->stride % dim->size, b = to / dim->stride % dim->size;
    uint32_t apart = a > b ? a - b : b - a;

    return dim->wraps && apart > dim->size - apart ? dim->size - apart : apart;
}

/* In which round of a step a node's circuit is served, if all rounds take as long. */
static uint32_t round_of(const struct network *network, uint32_t node, uint32_t to, uint32_t rounds)
{
    uint32_t sum = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t hops = hops_in(dim, node, to);
        sum += hops ? node / dim->stride % dim->size % hops : 0;
    }
    return sum % rounds;
}

/* As many rounds as the longest way in one dimension has hops. */
static uint32_t rounds_of(const struct network *network, uint32_t shift)
{
    uint32_t most = 1;

    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned k = 0; k < network->dims; k++) {
            uint32_t hops =
                hops_in(&network->dim[k], node, network_translate(network, node, shift));
            most = hops > most ? hops : most;
        }
    }
    return most;
}

static void send_block(struct plan *plan, uint32_t step, uint32_t from, uint32_t to)
{
    struct slots block = slots_of(plan, SPACE_SEND, to, 1);

    build_circuit(plan, step, from, to, block, slots_of(plan, SPACE_RECEIVE, from, 1), 0);
}

/* One step: nodes by round, then by rank. */
static void add_step(struct plan *plan, uint32_t shift, uint32_t *round)
{
    const struct network *network = &plan->network;
    uint32_t rounds = rounds_of(network, shift);

    for (uint32_t node = 0; node < network->nodes; node++) {
        round[node] = round_of(network, node, network_translate(network, node, shift), rounds);
    }
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t node = 0; node < network->nodes; node++) {
            if (round[node] == r) {
                send_block(plan, shift - 1, node, network_translate(network, node, shift));
            }
        }
    }
}

struct plan *plan_direct_exchange(const struct network *network, const struct plan_request *request)
{
    bool invariant = is_translated(network);
    struct plan *plan = build_begin(network, request, invariant);
    uint32_t *round = planner_memory(network->nodes, sizeof *round);

    for (uint32_t node = 0; node < (invariant ? 1 : network->nodes); node++) {
        struct slots own = slots_of(plan, SPACE_SEND, node, 1);
        build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    for (uint32_t shift = 1; shift < network->nodes; shift++) {
        if (invariant) {
            send_block(plan, shift - 1, 0, shift);
        } else {
            add_step(plan, shift, round);
        }
    }
    free(round);
    return plan;
}

/* A node has N - 1 circuits, which begin a set-up apart at least, even ahead, and through one port
 * flow one after the other. */
struct candidate_least direct_least(const struct network *network,
                                    const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    uint64_t others = network->nodes - UINT64_C(1);
    uint64_t set_up = ((uint64_t)profile->xi_ns + profile->tau_ns) * clock_element_bytes(profile);
    uint64_t flow = others ? set_up + others * request->bytes * profile->element_ns : 0;

    return (struct candidate_least){
        clock_all_ports(profile) ? others * set_up : clock_max(others * set_up, flow), 1};
}
