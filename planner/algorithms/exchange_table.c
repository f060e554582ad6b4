/*
 * exchange_table.c - the complete exchange over all links of every node, by one table that is moved
 * to every node: which of its blocks go over which link in which phase, from neighbour to
 * neighbour.
 *
 * A block that goes to the node with other coordinates has hops in these dimensions, in any order,
 * for a sum of coordinates has no order; on a ring it goes the shorter way. When all nodes move
 * node 0's blocks as node 0 does, every node sends over a port as often as the table says, and what
 * the blocks of one table must take over a port, all together, is the load of every such link. In a
 * phase a block has one hop at most, and what goes over a port is one circuit, of as many blocks as
 * the phase is long. exchange_phases.c gives the hops of each block phases.
 *
 *     torus:3x3    phase 0, 2 blocks a port    4>1 ...    node 0's block for 4 goes over +1 to 1
 *
 * Round an even ring the opposite node is as far both ways. One half of such blocks goes one way,
 * the other half the other way. Where their number is odd (a ring of even size, in a network whose
 * other sides are odd), two tables are needed: nodes with an even coordinate there send the one
 * that is left over + and those with an odd one over -. Then loads are those of ports of even and
 * odd nodes, and hops along that ring come to them by turns. Two tables are laid down at every
 * node, so large networks have one all the same; on a ring of n nodes its load is 1 + 2 / n times
 * as much.
 *
 *     ring:4    even: + 2, - 3 | + 1    odd: + 1, - 2 | - 3    and in phase 1 those for 2 go on
 *
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.5 (multinode scatter) and 2.3 (one table, moved);
 *           order of hops: D. Koenig, Math. Annalen 77, 1916, 453-465 (bipartite graphs)
 * Names     the paper's packet is a block; a step of its is a phase of one block
 */
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/exchange_phases.h"
#include "planner/build.h"

enum { NODES_MAX = 512 };

/* The hops of a phase over a port, of blocks that are at a class of nodes: places in the table. */
struct load {
    uint32_t *hops, count;
};

/* Adds the slot that a block is in before or behind a hop, at the node to which the table is moved
 * by `by`. */
static void add_slot(const struct tables *t, struct plan *plan, struct slots *slots,
                     const struct hop *hop, uint32_t by, bool behind)
{
    const struct packet *packet = &t->first[hop->packet];
    uint32_t number = hop->number + behind;

    if (number == 0) {
        slots_add_apart(plan, slots, SPACE_SEND, network_translate(t->network, packet->to, by));
    } else if (number == packet->left) {
        slots_add_apart(plan, slots, SPACE_RECEIVE,
                        network_translate(t->network, packet->source, by));
    } else {
        slots_add_apart(plan, slots, SPACE_SCRATCH, packet->scratch + (number - 1) % 2);
    }
}

/* A node's circuit of a phase over a port. */
static void lay_circuit(const struct tables *t, struct plan *plan, uint32_t step, uint32_t node,
                        unsigned port, const struct load *load)
{
    uint8_t flags = step ? ROW_AFTER_RECEIVED | ROW_AFTER_SENT : 0, path = (uint8_t)port;
    struct slots sides[2];

    for (unsigned behind = 0; behind < 2; behind++) {
        sides[behind] = slots_begin(plan);
        for (uint32_t i = 0; i < load->count; i++) {
            const struct hop *hop = &t->table[load->hops[i]];
            uint32_t by = network_difference(t->network, node, hop->from);
            add_slot(t, plan, &sides[behind], hop, by, behind);
        }
    }
    build_routed(plan, step, node, network_neighbour(t->network, node, port), sides[0], sides[1],
                 flags, &path, 1);
}

/* A phase: as many steps as its ports are times those that a node has. Returns the step behind. */
static uint32_t lay_phase(const struct tables *t, struct plan *plan, uint32_t step, uint32_t *at,
                          unsigned ports)
{
    struct load loads[PHASES_MACHINES_MAX] = {{0}};
    uint32_t phase = t->table[*at].phase, nodes = plan->invariant ? 1 : t->network->nodes;
    unsigned used = 0;

    for (; *at < t->table_count && t->table[*at].phase == phase; (*at)++) {
        const struct hop *hop = &t->table[*at];
        struct load *load = &loads[phases_machine(t, phases_class(t, hop->from), hop->port)];
        load->hops = planner_grow(load->hops, load->count, sizeof *load->hops);
        load->hops[load->count++] = *at;
    }
    for (unsigned port = 0; port < t->network->ports; port++) {
        bool is_used = false;
        plan->port = (uint8_t)(used % ports);
        for (uint32_t node = 0; node < nodes; node++) {
            struct load *load = &loads[phases_machine(t, phases_class(t, node), port)];
            if (load->count > 0) {
                lay_circuit(t, plan, step + used / ports, node, port, load);
                is_used = true;
            }
        }
        used += is_used;
    }
    for (unsigned m = 0; m < t->machines; m++) {
        free(loads[m].hops);
    }
    return step + (used + ports - 1) / ports;
}

bool possible_by_exchange_table(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX && network_is_symmetric(network);
}

struct plan *plan_exchange_by_table(const struct network *network,
                                    const struct plan_request *request)
{
    struct tables tables;
    unsigned ports = request->ports ? request->ports : 1;
    uint32_t step = 0, at = 0;

    phases_find(&tables, network);
    struct plan *plan = build_begin(network, request, tables.classes == 1);
    ports = ports < network->ports ? ports : network->ports;
    for (uint32_t node = 0; node < (plan->invariant ? 1 : network->nodes); node++) {
        plan->scratch[node] = tables.scratch;
        build_copy(plan, 0, node, slots_of(plan, SPACE_SEND, node, 1),
                   slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    while (at < tables.table_count && !plan->refused) {
        step = lay_phase(&tables, plan, step, &at, ports);
    }
    phases_free(&tables);
    return plan;
}
