#include "planner/proof/digest.h"

#include <stdlib.h>

#include "planner/build.h"
#include "planner/proof/prove.h"
#include "wire/crc.h"

void plan_index(struct plan *plan)
{
    uint32_t nodes = plan->network.nodes, total = 0;

    if (plan->invariant) {
        return;
    }
    free(plan->node_at);
    free(plan->node_circuits);
    plan->node_at = planner_memory((uint64_t)nodes + 2, sizeof *plan->node_at);
    plan->node_circuits =
        planner_memory(2 * (uint64_t)plan->circuit_count, sizeof *plan->node_circuits);
    uint32_t *at = plan->node_at + 1; /* where the next circuit of a node goes */
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        at[circuit->from]++;
        if (circuit->to != circuit->from) {
            at[circuit->to]++;
        }
    }
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t count = at[node];
        at[node] = total;
        total += count;
    }
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        plan->node_circuits[at[circuit->from]++] = i;
        if (circuit->to != circuit->from) {
            plan->node_circuits[at[circuit->to]++] = i;
        }
    }
}

static uint32_t add_slots(const struct plan *plan, struct slots slots, uint32_t digest)
{
    for (uint32_t i = 0; i < slots.count; i++) {
        const struct plan_extent *e = &plan->extents[slots.at + i];
        const uint32_t words[] = {e->space, e->first, e->length, e->stride, e->times};
        digest = crc32_add(digest, words, sizeof words);
    }
    return digest;
}

static uint32_t add_circuit(const struct plan *plan, const struct plan_circuit *circuit,
                            uint32_t digest)
{
    const uint32_t words[] = {circuit->step,         circuit->from,
                              circuit->to,           circuit->flags | (uint32_t)circuit->port << 8,
                              circuit->hops,         circuit->send_count,
                              circuit->receive_count};

    digest = crc32_add(digest, words, sizeof words);
    digest = add_slots(plan, sent_slots(circuit), digest);
    digest = add_slots(plan, received_slots(circuit), digest);
    if (circuit->hops == 0) {
        return digest;
    }
    if (circuit->ports_at != PLAN_DIMENSION_ORDER) {
        digest = crc32_add(digest, plan->ports + circuit->ports_at, circuit->hops);
    }
    return crc32_add(digest, plan->turns + circuit->turns_at,
                     circuit->hops * (uint32_t)sizeof *plan->turns);
}

uint32_t plan_digest_of(const struct plan *plan)
{
    const uint32_t words[] = {network_digest(&plan->network),
                              plan->operation,
                              plan->root,
                              plan->invariant | (uint32_t)plan->node_ports << 8,
                              plan->segments,
                              plan->circuit_count};
    uint32_t digest = crc32_add(0, words, sizeof words);

    digest =
        crc32_add(digest, plan->scratch,
                  (plan->invariant ? 1 : plan->network.nodes) * (uint32_t)sizeof *plan->scratch);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        digest = add_circuit(plan, &plan->circuits[i], digest);
    }
    return digest ? digest : 1; /* 0 says that there is no plan */
}
