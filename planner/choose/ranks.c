#include "planner/choose/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/mapped.h"
#include "planner/build.h"
#include "planner/proof/digest.h"
#include "planner/proof/prove.h"

enum { CIRCUITS_MAX = 1 << 21 };

static bool spans_nodes(const struct plan *plan)
{
    const struct operation *operation = operation_of(plan->operation);
    bool spans = false;

    for (unsigned space = 0; space < SPACE_SCRATCH; space++) {
        spans |= operation->span[space] == SPAN_NODES || operation->span[space] == SPAN_NODES_ROOT;
    }
    return spans;
}

/* What a plan with slots by rank makes of blocks, as one of the guest in which each node has the
 * number of its rank. Paths are not looked at. */
static bool prove_as_guest(struct plan *plan, struct plan_fault *fault)
{
    const struct network *network = &plan->network;
    struct plan guest = *plan;
    uint32_t nodes = network->nodes;

    guest.network = *network_guest(network);
    guest.root =
        operation_of(plan->operation)->rooted ? network_rank(network, plan->root) : plan->root;
    guest.circuits = planner_memory(plan->circuit_count, sizeof *guest.circuits);
    guest.scratch = planner_memory(nodes, sizeof *guest.scratch);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        guest.circuits[i] = plan->circuits[i];
        guest.circuits[i].from = network_rank(network, plan->circuits[i].from);
        guest.circuits[i].to = network_rank(network, plan->circuits[i].to);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        guest.scratch[network_rank(network, node)] = plan->scratch[node];
    }
    bool holds = prove_blocks(&guest, fault);
    plan->one_port = guest.one_port;
    free(guest.circuits);
    free(guest.scratch);
    return holds;
}

/* A plan of all nodes, whose slots are by rank where they are anybody's. */
static bool prove(struct plan *plan, struct plan_fault *fault)
{
    if (plan->refused) {
        return plan_fails(fault, NULL, UINT32_MAX, "%s", plan->refused);
    }
    if (!prove_form(plan, fault) || !prove_paths(plan, fault) || !prove_meetings(plan, fault) ||
        !prove_as_guest(plan, fault)) {
        return false;
    }
    return prove_end(plan, fault);
}

bool ranks_prove(struct plan *plan, struct plan_fault *fault)
{
    return plan->network.map && operation_of(plan->operation)->prefix ? prove(plan, fault)
                                                                      : plan_prove(plan, fault);
}

void ranks_follow(struct plan *plan)
{
    if (plan->ranks) {
        plan->ranks->bytes_min = plan->bytes_min;
        plan->ranks->bytes_max = plan->bytes_max;
        plan->ranks->type = plan->type;
        plan->ranks->choice = plan->choice;
        plan->ranks->node_ports = plan->node_ports;
        plan->ranks->digest = plan_digest_of(plan->ranks);
    }
}

struct plan *ranks_plan(const struct plan *plan, bool *same, struct plan_fault *fault)
{
    uint64_t circuits = (uint64_t)plan->circuit_count * (plan->invariant ? plan->network.nodes : 1);

    *same = !plan->network.map || !plan->network.map->rank_of || !spans_nodes(plan);
    if (*same) {
        return NULL;
    }
    if (circuits > CIRCUITS_MAX) {
        plan_fails(fault, NULL, UINT32_MAX,
                   "with ranks elsewhere than at the nodes of their numbers it has more than %d "
                   "circuits",
                   CIRCUITS_MAX);
        return NULL;
    }
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct plan *ranks = rename_slots(all ? all : plan, plan->network.map->rank_of);
    plan_free(all);
    if (!prove(ranks, fault)) {
        plan_free(ranks);
        return NULL;
    }
    return ranks;
}

bool ranks_take(struct plan *plan, const struct network_map *map, struct plan_fault *fault)
{
    bool same;

    plan->network.map = map;
    if ((operation_of(plan->operation)->prefix || operation_of(plan->operation)->parameter) &&
        !ranks_prove(plan, fault)) {
        return false;
    }
    plan->ranks = ranks_plan(plan, &same, fault);
    return plan->ranks || same;
}
