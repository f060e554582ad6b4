/*
 * paths.c - the part of the proof that follows every circuit over its links.
 *
 * Links serve circuits in the order of the list. So the turn of a hop is the number of circuits
 * before it in the list that use the link; nothing is left to claim, it is counted here.
 */
#include <stdlib.h>

#include "collectives/planner/build.h"
#include "collectives/planner/prove.h"
#include "wire/circuit.h"

static bool path_fits(const struct plan *plan, const struct plan_circuit *circuit,
                      struct plan_fault *fault)
{
    uint32_t none = UINT32_MAX;
    bool ordered = circuit->ports_at == PLAN_DIMENSION_ORDER;
    uint32_t hops =
        ordered ? network_distance(&plan->network, circuit->from, circuit->to) : circuit->hops;

    if (hops > OPEN_HOPS_MAX)
        return plan_fails(fault, circuit, none, "its path has more hops than a circuit can list");
    if (circuit->hops != hops || hops == 0)
        return plan_fails(fault, circuit, none, "its path has %u hops, not %u", hops,
                          circuit->hops);
    if (!ordered && (uint64_t)circuit->ports_at + hops > plan->port_count)
        return plan_fails(fault, circuit, none, "its path lies outside the plan");
    return true;
}

/* The circuit comes over a link; false when the turn cannot be counted. */
static bool takes_turn(struct plan *plan, uint64_t link)
{
    if (plan->carries[link] == UINT16_MAX)
        return false;
    plan->turns = planner_grow(plan->turns, plan->turn_count, sizeof *plan->turns);
    plan->turns[plan->turn_count++] = plan->carries[link]++;
    return true;
}

/* Whether a path has come over the port of a node before, within its first hops: then it waits for
 * itself. The network's own way never does. */
static bool comes_back(const struct plan *plan, const struct plan_circuit *circuit, unsigned hops,
                       uint32_t node, unsigned port)
{
    uint32_t at = circuit->from;

    if (circuit->ports_at == PLAN_DIMENSION_ORDER)
        return false;
    for (unsigned hop = 0; hop < hops; hop++) {
        unsigned over = circuit_port(plan, circuit, at, hop);
        if (at == node && over == port)
            return true;
        at = network_neighbour(&plan->network, at, over);
    }
    return false;
}

static bool follow(struct plan *plan, struct plan_circuit *circuit, struct plan_fault *fault)
{
    uint32_t at = circuit->from, used = 0, none = UINT32_MAX;

    circuit->turns_at = plan->turn_count;
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(plan, circuit, at, hop);
        uint32_t next = network_neighbour(&plan->network, at, port);
        if (next == NETWORK_NO_NODE)
            return plan_fails(fault, circuit, none, "node %u has no link at port %u", at, port);
        if (plan->invariant && used >> port & 1)
            return plan_fails(fault, circuit, none, "every link at port %u is used twice", port);
        used |= UINT32_C(1) << port;
        if (comes_back(plan, circuit, hop, at, port))
            return plan_fails(fault, circuit, none, "its path comes over a link twice");
        if (!takes_turn(plan, plan->invariant ? port : at * (uint64_t)plan->network.ports + port))
            return plan_fails(fault, circuit, none,
                              "the link at port %u of node %u carries more circuits than a turn "
                              "counts",
                              port, at);
        at = next;
    }
    if (at != circuit->to)
        return plan_fails(fault, circuit, none, "its path leads to node %u", at);
    return true;
}

bool prove_paths(struct plan *plan, struct plan_fault *fault)
{
    uint64_t links = (plan->invariant ? 1 : plan->network.nodes) * (uint64_t)plan->network.ports;

    free(plan->carries);
    plan->carries = planner_memory(links, sizeof *plan->carries);
    plan->turn_count = 0;
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            if (circuit->hops)
                return plan_fails(fault, circuit, UINT32_MAX, "a copy has no path");
            continue;
        }
        if (!path_fits(plan, circuit, fault) || !follow(plan, circuit, fault))
            return false;
    }
    return true;
}
