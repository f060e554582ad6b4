#include <stdlib.h>
#include <string.h>

#include "planner/build.h"

static struct slots translated(struct plan *all, const struct plan *plan, struct slots slots,
                               uint32_t by)
{
    struct slots result = slots_begin(all);
    struct slot_ranges ranges = ranges_of(plan, slots, by);
    struct slot_range range;

    while (ranges_next(&ranges, &range)) {
        slots_add(all, &result, (enum space)range.space, range.first, range.count);
    }
    return result;
}

/* The circuit or copy of node 0, as it is at node `by`. */
static void add_translated(struct plan *all, const struct plan *plan,
                           const struct plan_circuit *circuit, uint32_t by)
{
    uint32_t to = network_translate(&plan->network, circuit->to, by);
    struct slots send = translated(all, plan, sent_slots(circuit), by);
    struct slots receive = translated(all, plan, received_slots(circuit), by);

    all->port = circuit->port;
    if (is_copy(circuit)) {
        build_copy(all, circuit->step, by, send, receive, circuit->flags);
    } else if (circuit->ports_at == PLAN_DIMENSION_ORDER) {
        build_circuit(all, circuit->step, by, to, send, receive, circuit->flags);
    } else {
        build_routed(all, circuit->step, by, to, send, receive, circuit->flags,
                     plan->ports + circuit->ports_at, circuit->hops);
    }
}

struct plan *plan_expand(const struct plan *plan)
{
    const struct plan_request request = {.operation = plan->operation, .root = plan->root};
    struct plan *all = build_begin(&plan->network, &request, false);
    uint32_t nodes = plan->network.nodes;

    all->algorithm = plan->algorithm;
    all->segments = plan->segments;
    all->sums_apart = plan->sums_apart;
    all->type = plan->type;
    all->choice = plan->choice;
    all->bytes_min = plan->bytes_min;
    all->bytes_max = plan->bytes_max;
    for (uint32_t node = 0; node < nodes; node++) {
        all->scratch[node] = plan->scratch[plan->invariant ? 0 : node];
    }
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        for (uint32_t node = 0; node < (plan->invariant ? nodes : 1); node++) {
            add_translated(all, plan, &plan->circuits[i],
                           plan->invariant ? node : plan->circuits[i].from);
        }
    }
    return all;
}
