/*
 * knowledge.c - the part of the proof for an operation that moves nothing: nobody leaves before all
 * have entered.
 *
 * A node knows that it has entered itself. A circuit tells its receiver all that its sender knew
 * before the step. At the end every node must know of all. Of an invariant plan node 0 is followed:
 * the sender knows what node 0 knows, moved to the sender. Otherwise all nodes are, some sources at
 * a time.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/proof/prove.h"

enum { WORD_BITS = 64, WORDS = 8, SOURCES = WORD_BITS * WORDS };

static bool all_enter_first(const struct plan *plan, struct plan_fault *fault)
{
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        if (plan->circuits[i].flags & (ROW_AHEAD | ROW_COPIES)) {
            return plan_fails(fault, &plan->circuits[i], UINT32_MAX,
                              "only whole steps tell who has entered");
        }
    }
    return true;
}

static bool spread(const struct plan *plan, bool *known, bool *after)
{
    uint32_t nodes = plan->network.nodes, count = 0;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        uint32_t sender = sender_to_zero(plan, circuit);
        if (i == 0 || circuit->step != circuit[-1].step) {
            memcpy(known, after, nodes * sizeof *known);
        }
        for (uint32_t node = 0; node < nodes; node++) {
            if (known[node]) {
                after[network_translate(&plan->network, node, sender)] = true;
            }
        }
    }
    memcpy(known, after, nodes * sizeof *known);
    for (uint32_t node = 0; node < nodes; node++) {
        count += known[node];
    }
    return count == nodes;
}

static bool prove_of_one(const struct plan *plan, struct plan_fault *fault)
{
    bool *known = planner_memory(2 * (uint64_t)plan->network.nodes, sizeof *known);

    known[0] = known[plan->network.nodes] = true;
    bool holds = spread(plan, known, known + plan->network.nodes);
    free(known);
    return holds || plan_fails(fault, NULL, UINT32_MAX, "not all nodes hear of all others");
}

/* What each node knows of some sources, and what it will at the end of the step. */
struct spreading {
    uint64_t (*known)[WORDS], (*next)[WORDS];
};

/* One step: circuits [first, end). */
static void step(const struct plan *plan, struct spreading *h, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t to = plan->circuits[i].to;
        memcpy(h->next[to], h->known[to], sizeof h->next[0]);
    }
    for (uint32_t i = first; i < end; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        for (unsigned w = 0; w < WORDS; w++) {
            h->next[circuit->to][w] |= h->known[circuit->from][w];
        }
    }
    for (uint32_t i = first; i < end; i++) {
        memcpy(h->known[plan->circuits[i].to], h->next[plan->circuits[i].to], sizeof h->next[0]);
    }
}

/* Whether all nodes hear of sources [first, first + SOURCES). */
static bool is_known_to_all(const struct plan *plan, struct spreading *h, uint32_t first,
                            uint32_t *deaf)
{
    uint32_t nodes = plan->network.nodes;
    uint64_t all[WORDS] = {0};

    memset(h->known, 0, nodes * sizeof h->known[0]);
    for (uint32_t i = 0; i < SOURCES && first + i < nodes; i++) {
        all[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
        h->known[first + i][i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    }
    for (uint32_t i = 0, end = 0; i < plan->circuit_count; i = end) {
        while (end < plan->circuit_count && plan->circuits[end].step == plan->circuits[i].step) {
            end++;
        }
        step(plan, h, i, end);
    }
    for (*deaf = 0; *deaf < nodes; ++*deaf) {
        if (memcmp(h->known[*deaf], all, sizeof all) != 0) {
            return false;
        }
    }
    return true;
}

static bool prove_of_all(const struct plan *plan, struct plan_fault *fault)
{
    uint32_t nodes = plan->network.nodes, deaf = 0;
    struct spreading h = {.known = planner_memory(nodes, sizeof *h.known),
                          .next = planner_memory(nodes, sizeof *h.next)};
    bool holds = true;

    for (uint32_t first = 0; first < nodes && holds; first += SOURCES) {
        holds = is_known_to_all(plan, &h, first, &deaf);
    }
    free(h.known);
    free(h.next);
    return holds ||
           plan_fails(fault, NULL, UINT32_MAX, "node %u does not hear of all others", deaf);
}

bool prove_knowledge(const struct plan *plan, struct plan_fault *fault)
{
    return all_enter_first(plan, fault) &&
           (plan->invariant ? prove_of_one(plan, fault) : prove_of_all(plan, fault));
}
