/*
 * ahead.c - lets every circuit go ahead for which the prover allows it, step by step: its set-up
 * hides behind what its two nodes do in the step before.
 *
 * A circuit may go ahead when what it reads was there, and what it writes over had been sent,
 * before the last steps of its ends that waited: of a chain of steps that go ahead none may need
 * another's data. Both circuits of a node in a step go ahead, or none.
 *
 *     ring, both ways    + waits, - goes ahead, + waits for what came by the + before, ...
 */
#include <stdlib.h>

#include "planner/build.h"

/* When each slot of a node was last written and sent: 1 + the step. */
struct uses {
    uint32_t *written, *sent;
};

struct ahead {
    struct plan *plan;
    struct uses *uses;  /* [node * SPACES + space] */
    uint32_t *solid;    /* of each node: 1 + the last step that waited */
    uint32_t *waits_in; /* of each node: 1 + the last step in which it cannot go ahead */
};

static bool is_used(const struct ahead *a, uint32_t node, struct slots slots, bool writes)
{
    struct slot_ranges ranges = ranges_of(a->plan, slots, 0);
    struct slot_range range;
    uint32_t solid = a->solid[node] ? a->solid[node] : 1;

    while (ranges_next(&ranges, &range)) {
        const struct uses *uses = &a->uses[(uint64_t)node * SPACES + range.space];
        for (uint32_t i = range.first; i < range.first + range.count; i++) {
            if (uses->written[i] >= solid || (writes && uses->sent[i] >= solid)) {
                return true;
            }
        }
    }
    return false;
}

static void note(uint32_t *steps[], const struct plan *plan, struct slots slots, uint32_t step)
{
    struct slot_ranges ranges = ranges_of(plan, slots, 0);
    struct slot_range range;

    while (ranges_next(&ranges, &range)) {
        for (uint32_t i = range.first; i < range.first + range.count; i++) {
            steps[range.space][i] = step;
        }
    }
}

/* What a circuit or copy does to the slots of its ends. */
static void note_uses(struct ahead *a, const struct plan_circuit *circuit)
{
    uint32_t *sent[SPACES], *written[SPACES];

    for (unsigned space = 0; space < SPACES; space++) {
        sent[space] = a->uses[(uint64_t)circuit->from * SPACES + space].sent;
        written[space] = a->uses[(uint64_t)circuit->to * SPACES + space].written;
    }
    if (!is_copy(circuit)) {
        note(sent, a->plan, sent_slots(circuit), circuit->step + 1);
    }
    note(written, a->plan, received_slots(circuit), circuit->step + 1);
}

/* The circuits [from, to) of a step: who must wait makes its partners wait. */
static void let_go(struct ahead *a, uint32_t from, uint32_t to)
{
    struct plan_circuit *circuits = a->plan->circuits;
    uint32_t step = circuits[from].step + 1;
    bool more = true;

    for (uint32_t i = from; i < to; i++) {
        if (!is_copy(&circuits[i]) &&
            (is_used(a, circuits[i].from, sent_slots(&circuits[i]), false) ||
             is_used(a, circuits[i].to, received_slots(&circuits[i]), true))) {
            a->waits_in[circuits[i].from] = a->waits_in[circuits[i].to] = step;
        }
    }
    while (more) {
        more = false;
        for (uint32_t i = from; i < to; i++) {
            uint32_t *ends[] = {&a->waits_in[circuits[i].from], &a->waits_in[circuits[i].to]};
            if (!is_copy(&circuits[i]) && (*ends[0] == step) != (*ends[1] == step)) {
                *ends[0] = *ends[1] = step;
                more = true;
            }
        }
    }
    for (uint32_t i = from; i < to; i++) {
        if (is_copy(&circuits[i])) {
            continue;
        }
        if (a->waits_in[circuits[i].from] == step) {
            a->solid[circuits[i].from] = a->solid[circuits[i].to] = step;
        } else {
            circuits[i].flags |= ROW_AHEAD;
        }
    }
}

static void begin(struct ahead *a)
{
    uint32_t nodes = a->plan->network.nodes;

    a->uses = planner_memory((uint64_t)nodes * SPACES, sizeof *a->uses);
    a->solid = planner_memory(nodes, sizeof *a->solid);
    a->waits_in = planner_memory(nodes, sizeof *a->waits_in);
    for (uint32_t node = 0; node < nodes; node++) {
        for (unsigned space = 0; space < SPACES; space++) {
            struct uses *uses = &a->uses[(uint64_t)node * SPACES + space];
            uint32_t slots = plan_slots_at(a->plan, space, node);
            uses->written = planner_memory(slots, sizeof *uses->written);
            uses->sent = planner_memory(slots, sizeof *uses->sent);
        }
    }
}

static void end(struct ahead *a)
{
    for (uint64_t i = 0; i < (uint64_t)a->plan->network.nodes * SPACES; i++) {
        free(a->uses[i].written);
        free(a->uses[i].sent);
    }
    free(a->uses);
    free(a->solid);
    free(a->waits_in);
}

void build_ahead(struct plan *plan)
{
    struct ahead a = {.plan = plan};
    uint32_t to;

    if (plan->refused) {
        return;
    }
    begin(&a);
    for (uint32_t from = 0; from < plan->circuit_count; from = to) {
        to = from;
        while (to < plan->circuit_count && plan->circuits[to].step == plan->circuits[from].step) {
            to++;
        }
        let_go(&a, from, to);
        for (uint32_t i = from; i < to; i++) {
            note_uses(&a, &plan->circuits[i]);
        }
    }
    end(&a);
}
