/*
 * neighbours.c - the complete exchange round a ring of all nodes, where paths are too long for
 * circuits: store and forward between neighbours, on the cycle of cycle.h.
 *
 *     mesh:2x3    0 1 2        0 1 2 5 4 3
 *                 3 4 5
 *
 * A node first lays the blocks for all others into scratch, in the order of the ring. In step t it
 * sends N - 1 - t blocks to the next node; the first of them is for that node, the others go into
 * its other half of scratch, and on in the step after.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.5 (multinode scatter on a ring)
 */
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/cycle.h"
#include "wire/circuit.h"

/* Where paths are too long for circuits there is no other. */
enum { NODES_MAX = 512, LONG_NODES_MAX = 1024, HOPS_MAX = 2 };

struct round {
    struct plan *plan;
    struct cycle cycle;
    uint32_t nodes;
};

bool possible_with_neighbours(const struct network *network)
{
    bool is_long = network_diameter(network) > OPEN_HOPS_MAX;

    return network->nodes <= (is_long ? LONG_NODES_MAX : NODES_MAX);
}

/* The node `more` places on. */
static uint32_t further(const struct round *round, uint32_t place, uint32_t more)
{
    return round->cycle.at[(place + more) % round->nodes];
}

/* The ports from a place to the next one; returns the hops. */
static uint32_t way_on(const struct round *round, uint32_t place, uint8_t ports[HOPS_MAX])
{
    const struct network *network = &round->plan->network;
    uint32_t node = round->cycle.at[place], via = round->cycle.via[place], hops = 0;

    if (via != FLOW_DIRECT) {
        ports[hops++] = (uint8_t)network_port_to(network, node, via);
        node = via;
    }
    ports[hops++] = (uint8_t)network_port_to(network, node, further(round, place, 1));
    return hops;
}

/* The node at a place copies its own block, and lays the others out, a row's pieces at a time. */
static void lay_out(struct round *round, uint32_t place)
{
    struct plan *plan = round->plan;
    uint32_t node = round->cycle.at[place], laid = 0;
    struct slots own = slots_of(plan, SPACE_SEND, node, 1);

    build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    while (laid + 1 < round->nodes) {
        struct slots some = slots_begin(plan);
        uint32_t before = laid;
        while (laid + 1 < round->nodes && some.count < PLAN_EXTENTS_MAX) {
            slots_add(plan, &some, SPACE_SEND, further(round, place, ++laid), 1);
        }
        build_copy(plan, 0, node, some, slots_of(plan, SPACE_SCRATCH, before, laid - before), 0);
    }
}

/* The half of scratch that is sent from in a step. */
static uint32_t half_of(const struct round *round, uint32_t step)
{
    return step % 2 ? round->nodes - 1 : 0;
}

static void pass_on(struct round *round, uint32_t step, uint32_t place)
{
    struct plan *plan = round->plan;
    uint32_t count = round->nodes - 1 - step;
    uint32_t source = further(round, place, round->nodes - step);
    uint8_t ports[HOPS_MAX];

    struct slots send = slots_of(plan, SPACE_SCRATCH, half_of(round, step), count);
    struct slots receive = slots_of(plan, SPACE_RECEIVE, source, 1);
    slots_add(plan, &receive, SPACE_SCRATCH, half_of(round, step + 1), count - 1);
    uint32_t hops = way_on(round, place, ports);
    build_routed(plan, step, round->cycle.at[place], further(round, place, 1), send, receive,
                 step ? ROW_AFTER_RECEIVED | ROW_AFTER_SENT : 0, ports, hops);
}

struct plan *plan_neighbour_exchange(const struct network *network,
                                     const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct round round = {.plan = plan, .cycle = cycle_make(network), .nodes = network->nodes};

    for (uint32_t place = 0; place < network->nodes; place++) {
        plan->scratch[place] = 2 * (network->nodes - 1);
        lay_out(&round, place);
    }
    for (uint32_t step = 0; step + 1 < network->nodes; step++) {
        for (uint32_t place = 0; place < network->nodes; place++) {
            pass_on(&round, step, place);
        }
    }
    cycle_free(&round.cycle);
    return plan;
}
