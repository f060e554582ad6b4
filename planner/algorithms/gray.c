/*
 * gray.c - the exchange in phases on networks that are cubes under other names: products of rings
 * of four and of pairs.
 *
 * A ring of four is a square: coordinate c has the name c ^ c / 2 as two bits, and the next node's
 * name differs in one. So names of all coordinates, one behind the other, are those of a cube, and
 * every plan of a cube is one of the network: nodes, slots and ports get the network's numbers.
 *
 *     ring:4, nodes 0 1 2 3    names 00 01 11 10
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.1 (embeddings by Gray codes); phases: multiphase.c
 */
#include "planner/algorithms/alike.h"
#include "planner/algorithms/candidates.h"
#include "planner/build.h"

enum { NODES_MAX = 256, SQUARE = 4, PATH_MAX = 8 };

bool possible_by_gray_code(const struct network *network)
{
    return network->kind != NETWORK_CUBE && alike_to_cube(network) && network->nodes > 1 &&
           network->nodes <= NODES_MAX;
}

static struct network cube_of(const struct network *network)
{
    struct network cube;

    network_make(&cube, NETWORK_CUBE, NULL, (unsigned)__builtin_ctz(network->nodes));
    return cube;
}

/* The node that has a name. Strides are the same as those of the names' bits. */
static uint32_t node_of(const struct network *network, uint32_t name)
{
    uint32_t node = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t bits = name / dim->stride % dim->size;
        node += (bits ^ bits / 2) * dim->stride;
    }
    return node;
}

static struct slots renamed(struct plan *plan, const struct plan *cube, struct slots slots)
{
    struct slots result = slots_begin(plan);
    struct slot_ranges ranges = ranges_of(cube, slots, 0);
    struct slot_range range;

    while (ranges_next(&ranges, &range)) {
        for (uint32_t i = 0; i < range.count; i++) {
            uint32_t slot = range.first + i;
            if (range.space != SPACE_SCRATCH) {
                slot = node_of(&plan->network, slot);
            }
            slots_add(plan, &result, (enum space)range.space, slot, 1);
        }
    }
    return result;
}

static void add_renamed(struct plan *plan, const struct plan *cube,
                        const struct plan_circuit *circuit)
{
    uint32_t from = node_of(&plan->network, circuit->from), at = from, name = circuit->from;
    struct slots send = renamed(plan, cube, sent_slots(circuit));
    struct slots receive = renamed(plan, cube, received_slots(circuit));
    uint8_t ports[PATH_MAX];

    if (is_copy(circuit)) {
        build_copy(plan, circuit->step, from, send, receive, circuit->flags);
        return;
    }
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        name ^= UINT32_C(1) << circuit_port(cube, circuit, name, hop);
        uint32_t next = node_of(&plan->network, name);
        ports[hop] = (uint8_t)network_port_to(&plan->network, at, next);
        at = next;
    }
    build_routed(plan, circuit->step, from, at, send, receive, circuit->flags, ports,
                 circuit->hops);
}

struct plan *plan_gray_multiphase(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct network cube = cube_of(network);
    struct plan *one = plan_multiphase(&cube, request), *all = plan_expand(one);

    for (uint32_t node = 0; node < network->nodes; node++) {
        plan->scratch[node] = one->scratch[0];
    }
    for (uint32_t i = 0; i < all->circuit_count; i++) {
        add_renamed(plan, all, &all->circuits[i]);
    }
    plan_free(all);
    plan_free(one);
    return plan;
}

unsigned gray_variants(const struct network *network, const struct plan_request *request)
{
    struct network cube = cube_of(network);

    return multiphase_variants(&cube, request);
}

void gray_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    struct network cube = cube_of(network);

    multiphase_words(&cube, variant, words);
}
