/*
 * paths.c - the part of the proof that follows every circuit over its links.
 *
 * Links serve circuits in the order of the list. So the turn of a hop is the number of circuits
 * before it in the list that use the link; nothing is left to claim, it is counted here.
 */
#include <stdlib.h>

#include "planner/build.h"
#include "planner/proof/prove.h"
#include "wire/circuit.h"

static bool path_fits(const struct plan *plan, const struct plan_circuit *circuit,
                      struct plan_fault *fault)
{
    uint32_t none = UINT32_MAX;
    bool ordered = circuit->ports_at == PLAN_DIMENSION_ORDER;
    uint32_t hops =
        ordered ? network_distance(&plan->network, circuit->from, circuit->to) : circuit->hops;

    if (hops > OPEN_HOPS_MAX) {
        return plan_fails(fault, circuit, none, "its path has more hops than a circuit can list");
    }
    if (circuit->hops != hops || hops == 0) {
        return plan_fails(fault, circuit, none, "its path has %u hops, not %u", hops,
                          circuit->hops);
    }
    if (!ordered && (uint64_t)circuit->ports_at + hops > plan->port_count) {
        return plan_fails(fault, circuit, none, "its path lies outside the plan");
    }
    return true;
}

/* The circuit comes over a link; false when the turn cannot be counted. */
static bool takes_turn(struct plan *plan, uint64_t link)
{
    if (plan->carries[link] == UINT16_MAX) {
        return false;
    }
    plan->turns = planner_grow(plan->turns, plan->turn_count, sizeof *plan->turns);
    plan->turns[plan->turn_count++] = plan->carries[link]++;
    return true;
}

/* Follows a circuit to its receiver. Nodes end it where it first comes there (router/circuit.c),
 * whatever its path says, so none comes to a node twice: `visitors` has for each node the last
 * circuit that came to it, counted from 1. */
static bool follow(struct plan *plan, uint32_t index, uint32_t *visitors, struct plan_fault *fault)
{
    struct plan_circuit *circuit = &plan->circuits[index];
    uint32_t at = circuit->from, used = 0, none = UINT32_MAX;

    circuit->turns_at = plan->turn_count;
    visitors[at] = index + 1;
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(plan, circuit, at, hop);
        uint32_t next = network_neighbour(&plan->network, at, port);
        if (next == NETWORK_NO_NODE) {
            return plan_fails(fault, circuit, none, "node %u has no link at port %u", at, port);
        }
        if (plan->invariant && used >> port & 1) {
            return plan_fails(fault, circuit, none, "every link at port %u is used twice", port);
        }
        used |= UINT32_C(1) << port;
        if (visitors[next] == index + 1) {
            return plan_fails(fault, circuit, none, "its path comes to node %u twice", next);
        }
        visitors[next] = index + 1;
        if (!takes_turn(plan, plan->invariant ? port : at * (uint64_t)plan->network.ports + port)) {
            return plan_fails(fault, circuit, none,
                              "the link at port %u of node %u carries more circuits than a turn "
                              "counts",
                              port, at);
        }
        at = next;
    }
    if (at != circuit->to) {
        return plan_fails(fault, circuit, none, "its path leads to node %u", at);
    }
    return true;
}

/* Whether a circuit has a path, and a copy none. */
static bool prove_path(struct plan *plan, uint32_t index, uint32_t *visitors,
                       struct plan_fault *fault)
{
    const struct plan_circuit *circuit = &plan->circuits[index];

    if (is_copy(circuit)) {
        return !circuit->hops || plan_fails(fault, circuit, UINT32_MAX, "a copy has no path");
    }
    return path_fits(plan, circuit, fault) && follow(plan, index, visitors, fault);
}

bool prove_paths(struct plan *plan, struct plan_fault *fault)
{
    uint64_t links = (plan->invariant ? 1 : plan->network.nodes) * (uint64_t)plan->network.ports;
    uint32_t *visitors = planner_memory(plan->network.nodes, sizeof *visitors);
    bool holds = true;

    free(plan->carries);
    plan->carries = planner_memory(links, sizeof *plan->carries);
    plan->turn_count = 0;
    for (uint32_t i = 0; i < plan->circuit_count && holds; i++) {
        holds = prove_path(plan, i, visitors, fault);
    }
    free(visitors);
    return holds;
}
