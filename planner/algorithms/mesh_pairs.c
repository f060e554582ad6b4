/*
 * mesh_pairs.c - the complete exchanges of Thakur, Choudhary & Fox for meshes, by ranks: a message
 * to one other node in each step, however the mesh is shaped.
 *
 *     PEX             step i: with node x xor i; p a power of two
 *     PEX-GEN         the same for any p, in q - 1 steps, q the next power of two; who has no
 *                     partner rests
 *     PEX-GEN-SHIFT   the same of numbers that begin at (q - p) / 2, so that those who rest are
 *                     spread over the steps
 *     GEN             step i: to x + i, from x - i, modulo p
 *
 *     mesh:2x3, PEX-GEN-SHIFT: nodes 0 to 5 are 1 to 6 of 8; step 3: 1-2, 4-7, 5-6, that is
 *     0-1, 4-5, and node 3 rests
 *
 * Paths go along the row first. Those that share a link take turns by rank; the papers' machine
 * lets them share its bandwidth.
 *
 * Source   Thakur, Choudhary & Fox, "Complete exchange on a wormhole routed mesh" (1993), figures
 *          1, 2, 4, 5; in the third line of figure 4 the modulus must be q, else pairs do not match
 */
#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "wire/circuit.h"

enum { NODES_MAX = 512 };

static bool is_power(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

bool possible_on_meshes(const struct network *network)
{
    return network->kind == NETWORK_MESH && network->nodes > 1 && network->nodes <= NODES_MAX &&
           network_diameter(network) <= OPEN_HOPS_MAX;
}

bool possible_on_power_meshes(const struct network *network)
{
    return possible_on_meshes(network) && is_power(network->nodes);
}

/* With as many nodes as a power of two these would be PEX. */
bool possible_on_other_meshes(const struct network *network)
{
    return possible_on_meshes(network) && !is_power(network->nodes);
}

static void send_block(struct plan *plan, uint32_t step, uint32_t from, uint32_t to)
{
    struct slots block = slots_of(plan, SPACE_SEND, to, 1);

    build_circuit(plan, step, from, to, block, slots_of(plan, SPACE_RECEIVE, from, 1), 0);
}

static struct plan *begin(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);

    for (uint32_t node = 0; node < network->nodes; node++) {
        struct slots own = slots_of(plan, SPACE_SEND, node, 1);
        build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    return plan;
}

static uint32_t power_from(uint32_t nodes)
{
    uint32_t power = 1;

    while (power < nodes) {
        power *= 2;
    }
    return power;
}

/* Pairs of numbers that begin at `shift`. */
static struct plan *plan_pairs_from(const struct network *network,
                                    const struct plan_request *request, uint32_t shift)
{
    struct plan *plan = begin(network, request);
    uint32_t power = power_from(network->nodes);

    for (uint32_t i = 1; i < power; i++) {
        for (uint32_t node = 0; node < network->nodes; node++) {
            uint32_t other = ((node + shift) ^ i) - shift; /* below: a large number */
            if (other < network->nodes) {
                send_block(plan, i - 1, node, other);
            }
        }
    }
    return plan;
}

struct plan *plan_mesh_pairs(const struct network *network, const struct plan_request *request)
{
    return plan_pairs_from(network, request, 0);
}

struct plan *plan_shifted_mesh_pairs(const struct network *network,
                                     const struct plan_request *request)
{
    return plan_pairs_from(network, request, (power_from(network->nodes) - network->nodes) / 2);
}

struct plan *plan_mesh_shifts(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = begin(network, request);
    uint32_t nodes = network->nodes;

    for (uint32_t i = 1; i < nodes; i++) {
        for (uint32_t node = 0; node < nodes; node++) {
            send_block(plan, i - 1, node, (node + i) % nodes);
        }
    }
    return plan;
}

/* The way of node 0, a corner: its circuits to all others, none of which is issued before the last
 * has ended. In a dimension of n nodes they are (n - 1) / 2 hops away on average. */
struct candidate_least mesh_pairs_least(const struct network *network,
                                        const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    uint64_t others = network->nodes - UINT64_C(1), hops = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        hops += network->nodes * (network->dim[k].size - UINT64_C(1)) / 2;
    }
    uint64_t fixed =
        others * profile->xi_ns + hops * profile->tau_ns + (hops - others) * profile->element_ns;
    return (struct candidate_least){
        fixed * clock_element_bytes(profile) + others * request->bytes * profile->element_ns, 1};
}
