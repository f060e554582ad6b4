/*
 * neighbours.c - the complete exchange round a ring of all nodes, where paths are too long for
 * circuits: store and forward between neighbours.
 *
 * The ring is the network's own if it is one. Otherwise it is a snake through all nodes, folded
 * (lines.h): the next node is two hops on along the snake at most, and every directed link of the
 * snake is used by one circuit. The snake goes along the longest dimension first.
 *
 *     mesh:2x3    0 1 2        snake 0 1 2 5 4 3, folded 0 2 4 3 5 1
 *                 3 4 5
 *
 * A node first lays the blocks for all others into scratch, in the order of the ring. In step t it
 * sends N - 1 - t blocks to the next node; the first of them is for that node, the others go into
 * its other half of scratch, and on in the step after.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.5 (multinode scatter on a ring)
 */
#include <stdlib.h>

#include "collectives/planner/build.h"
#include "collectives/planner/candidates.h"
#include "collectives/planner/lines.h"

enum { NODES_MAX = 512, HOPS_MAX = 2 };

/* The ring: which node is at a place. */
struct round {
    struct plan *plan;
    uint32_t *at; /* rank by place */
    uint32_t nodes;
    bool folded;
};

bool possible_with_neighbours(const struct network *network)
{
    return network->nodes <= NODES_MAX;
}

/* The dimensions that have more than one node, the longest first; returns how many. */
static unsigned by_length(const struct network *network, unsigned order[NETWORK_DIMS_MAX])
{
    unsigned count = 0, longest = 0;

    for (unsigned k = 0; k < network->dims; k++)
        if (network->dim[k].size > network->dim[longest].size)
            longest = k;
    if (network->nodes > 1)
        order[count++] = longest;
    for (unsigned k = 0; k < network->dims; k++)
        if (network->dim[k].size > 1 && k != longest)
            order[count++] = k;
    return count;
}

/* The node at a place of the snake: each dimension goes there and back by turns. */
static uint32_t snake_at(const struct network *network, uint32_t place)
{
    unsigned order[NETWORK_DIMS_MAX], count = by_length(network, order);
    uint32_t node = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct network_dimension *dim = &network->dim[order[i]];
        uint32_t digit = place % dim->size;
        place /= dim->size;
        node += (place % 2 ? dim->size - 1 - digit : digit) * dim->stride;
    }
    return node;
}

static bool is_one_ring(const struct network *network)
{
    unsigned order[NETWORK_DIMS_MAX];

    return by_length(network, order) == 1 && network->dim[order[0]].wraps;
}

/* The node `more` places on. */
static uint32_t further(const struct round *round, uint32_t place, uint32_t more)
{
    return round->at[(place + more) % round->nodes];
}

/* The ports from a place to the next one; returns the hops. */
static uint32_t way_on(const struct round *round, uint32_t place, uint8_t ports[HOPS_MAX])
{
    const struct network *network = &round->plan->network;
    uint32_t node = round->at[place], hops = 0;
    uint32_t at = fold_at(round->nodes, place),
             to = fold_at(round->nodes, (place + 1) % round->nodes);

    if (!round->folded) {
        ports[0] = (uint8_t)network_port_to(network, node, further(round, place, 1));
        return 1;
    }
    while (at != to) {
        at = to > at ? at + 1 : at - 1;
        uint32_t next = snake_at(network, at);
        ports[hops++] = (uint8_t)network_port_to(network, node, next);
        node = next;
    }
    return hops;
}

/* The node at a place copies its own block, and lays the others out, a row's pieces at a time. */
static void lay_out(struct round *round, uint32_t place)
{
    struct plan *plan = round->plan;
    uint32_t node = round->at[place], laid = 0;
    struct slots own = slots_of(plan, SPACE_SEND, node, 1);

    build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    while (laid + 1 < round->nodes) {
        struct slots some = slots_begin(plan);
        uint32_t before = laid;
        while (laid + 1 < round->nodes && some.count < PLAN_EXTENTS_MAX)
            slots_add(plan, &some, SPACE_SEND, further(round, place, ++laid), 1);
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
    build_routed(plan, step, round->at[place], further(round, place, 1), send, receive,
                 step ? ROW_AFTER_RECEIVED | ROW_AFTER_SENT : 0, ports, hops);
}

struct plan *plan_neighbour_exchange(const struct network *network, const struct plan_wish *wish)
{
    struct plan *plan = build_begin(network, wish, false);
    struct round round = {.plan = plan, .nodes = network->nodes, .folded = !is_one_ring(network)};

    round.at = planner_memory(network->nodes, sizeof *round.at);
    for (uint32_t place = 0; place < network->nodes; place++)
        round.at[place] = snake_at(network, round.folded ? fold_at(network->nodes, place) : place);
    for (uint32_t place = 0; place < network->nodes; place++) {
        plan->scratch[place] = 2 * (network->nodes - 1);
        lay_out(&round, place);
    }
    for (uint32_t step = 0; step + 1 < network->nodes; step++)
        for (uint32_t place = 0; place < network->nodes; place++)
            pass_on(&round, step, place);
    free(round.at);
    return plan;
}
