/*
 * ahead.c - lets every circuit go ahead for which the prover allows it, step by step: its set-up
 * hides behind what its two nodes do in the step before.
 *
 * A circuit may go ahead when what it reads was there, and what it writes over had been sent,
 * before the last steps of its ends that waited: of a chain of steps that go ahead none may need
 * another's data. Both circuits of a node in a step go ahead, or none. What goes ahead already, and
 * may not, waits again; what may not have come, or left, by then is waited for.
 *
 *     ring, both ways    + waits, - goes ahead, + waits for what came by the + before, ...
 */
#include <stdlib.h>

#include "planner/build.h"

/* When each slot of a node was last written and sent: 1 + the step; when what lies there has come,
 * which copies take along; whether a circuit has written it, and whether it was sent since. */
struct uses {
    uint32_t *written, *sent, *came, *arrives, *leaves, *added;
};

struct ahead {
    struct plan *plan;
    uint32_t part;              /* the step at which a new part begins; UINT32_MAX: none does */
    struct uses *uses;          /* [node * SPACES + space] */
    uint32_t *solid;            /* of each node: 1 + the last step that waited */
    uint32_t *waits_in;         /* of each node: 1 + the last step in which it cannot go ahead */
    uint32_t *sends, *receives; /* of each node: 1 + the last step with a circuit out, or in */
    bool several;               /* ports: none serves one circuit behind the other for sure */
};

static bool is_used(const struct ahead *a, uint32_t node, struct slots slots, bool writes)
{
    struct slot_ranges ranges = ranges_of(a->plan, slots, 0);
    struct slot_range range;
    uint32_t solid = a->solid[node] ? a->solid[node] : 1;

    while (ranges_next(&ranges, &range)) {
        const struct uses *uses = &a->uses[(uint64_t)node * SPACES + range.space];
        for (uint32_t i = range.first; i < range.first + range.count; i++) {
            if (uses->written[i] >= solid || uses->came[i] >= solid ||
                (writes && uses->sent[i] >= solid)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether another circuit of the step adds to a slot as well, by another port. */
static bool is_added_to(struct ahead *a, const struct plan_circuit *circuit)
{
    struct slot_ranges ranges = ranges_of(a->plan, received_slots(circuit), 0);
    struct slot_range range = {0};
    bool is = false;

    while (a->several && (circuit->flags & ROW_COMBINES) && ranges_next_slot(&ranges, &range)) {
        uint32_t *added = a->uses[(uint64_t)circuit->to * SPACES + range.space].added;
        is = is || added[range.first] == circuit->step + 1;
        added[range.first] = circuit->step + 1;
    }
    return is;
}

/* The same of a circuit that goes ahead because a port serves one circuit at a time: what is in use
 * may be through all the same (proof/blocks.c). */
static bool is_in_the_way(const struct ahead *a, uint32_t node, struct slots slots, bool writes)
{
    struct slot_ranges ranges = ranges_of(a->plan, slots, 0);
    struct slot_range range;
    uint32_t solid = a->solid[node] ? a->solid[node] : 1;

    if (a->several) {
        return is_used(a, node, slots, writes);
    }
    while (ranges_next(&ranges, &range)) {
        const struct uses *uses = &a->uses[(uint64_t)node * SPACES + range.space];
        for (uint32_t i = range.first; i < range.first + range.count; i++) {
            bool comes = !writes && uses->came[i] >= solid && a->receives[node] <= uses->came[i];
            bool leaves = writes && uses->sent[i] >= solid && a->sends[node] <= uses->sent[i];
            if (comes || leaves) {
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

/* What a copy makes has come when what it is made of has. */
static void note_copy(struct ahead *a, const struct plan_circuit *copy)
{
    struct slot_ranges sources = ranges_of(a->plan, sent_slots(copy), 0);
    struct slot_ranges places = ranges_of(a->plan, received_slots(copy), 0);
    struct slot_range source = {0}, place = {0};

    while (ranges_next_slot(&sources, &source) && ranges_next_slot(&places, &place)) {
        const struct uses *from = &a->uses[(uint64_t)copy->from * SPACES + source.space];
        struct uses *to = &a->uses[(uint64_t)copy->from * SPACES + place.space];
        uint32_t came = from->came[source.first], *there = &to->came[place.first];
        bool stays = (copy->flags & ROW_COMBINES) && *there > came;
        *there = to->sent[place.first] ? copy->step + 1 : stays ? *there : came;
    }
}

/* What a circuit or copy does to the slots of its ends. */
static void note_uses(struct ahead *a, const struct plan_circuit *circuit)
{
    uint32_t *sent[SPACES], *written[SPACES], *came[SPACES];

    for (unsigned space = 0; space < SPACES; space++) {
        sent[space] = a->uses[(uint64_t)circuit->from * SPACES + space].sent;
        written[space] = a->uses[(uint64_t)circuit->to * SPACES + space].written;
        came[space] = a->uses[(uint64_t)circuit->to * SPACES + space].came;
    }
    if (!is_copy(circuit)) {
        note(sent, a->plan, sent_slots(circuit), circuit->step + 1);
        note(came, a->plan, received_slots(circuit), circuit->step + 1);
        a->sends[circuit->from] = a->receives[circuit->to] = circuit->step + 1;
    }
    note(written, a->plan, received_slots(circuit), circuit->step + 1);
}

/* Whether a node has had no circuit yet in the part that has begun. */
static bool begins_part(const struct ahead *a, uint32_t node)
{
    return a->sends[node] <= a->part && a->receives[node] <= a->part;
}

static bool is_apart(const struct ahead *a, const struct plan_circuit *circuit)
{
    return circuit->step >= a->part &&
           (begins_part(a, circuit->from) || begins_part(a, circuit->to));
}

/* What of the circuits [from, to) of a step goes ahead and may not, waits again, and with it what
 * its two nodes have else in the step. */
static void hold_back(struct ahead *a, uint32_t from, uint32_t to)
{
    struct plan_circuit *circuits = a->plan->circuits;
    uint32_t step = circuits[from].step + 1;
    bool more = false;

    for (uint32_t i = from; i < to; i++) {
        struct plan_circuit *circuit = &circuits[i];
        if (!is_copy(circuit) && (circuit->flags & ROW_AHEAD) &&
            (is_apart(a, circuit) || is_in_the_way(a, circuit->from, sent_slots(circuit), false) ||
             is_in_the_way(a, circuit->to, received_slots(circuit), true))) {
            circuit->flags &= (uint8_t)~ROW_AHEAD;
            a->waits_in[circuit->from] = a->waits_in[circuit->to] = step;
            more = true;
        }
    }
    while (more) {
        more = false;
        for (uint32_t i = from; i < to; i++) {
            struct plan_circuit *circuit = &circuits[i];
            if (!is_copy(circuit) && (circuit->flags & ROW_AHEAD) &&
                (a->waits_in[circuit->from] == step || a->waits_in[circuit->to] == step)) {
                circuit->flags &= (uint8_t)~ROW_AHEAD;
                a->waits_in[circuit->from] = a->waits_in[circuit->to] = step;
                more = true;
            }
        }
    }
}

/* Whether some slot of a list has a mark. */
static bool has(uint32_t *const marks[], const struct plan *plan, struct slots slots)
{
    struct slot_ranges ranges = ranges_of(plan, slots, 0);
    struct slot_range range = {0};

    while (ranges_next_slot(&ranges, &range)) {
        if (marks[range.space][range.first]) {
            return true;
        }
    }
    return false;
}

/* Lets a circuit or copy wait for what still comes to, or leaves, the slots that it uses. */
static void await(struct ahead *a, struct plan_circuit *circuit)
{
    uint32_t *from[SPACES], *to[SPACES], *leaves[SPACES];

    for (unsigned space = 0; space < SPACES; space++) {
        from[space] = a->uses[(uint64_t)circuit->from * SPACES + space].arrives;
        to[space] = a->uses[(uint64_t)circuit->to * SPACES + space].arrives;
        leaves[space] = a->uses[(uint64_t)circuit->to * SPACES + space].leaves;
    }
    struct slots sent = sent_slots(circuit), received = received_slots(circuit);
    if (has(from, a->plan, sent) || has(to, a->plan, received)) {
        circuit->flags |= ROW_AFTER_RECEIVED;
    }
    if (has(leaves, a->plan, received)) {
        circuit->flags |= ROW_AFTER_SENT;
    }
    for (unsigned space = 0; space < SPACES; space++) {
        from[space] = a->uses[(uint64_t)circuit->from * SPACES + space].leaves;
    }
    if (!is_copy(circuit)) {
        note(from, a->plan, sent, 1);
    }
    note(leaves, a->plan, received, 0);
    note(to, a->plan, received, !is_copy(circuit));
}

/* The circuits [from, to) of a step: who must wait makes its partners wait. */
static void let_go(struct ahead *a, uint32_t from, uint32_t to)
{
    struct plan_circuit *circuits = a->plan->circuits;
    uint32_t step = circuits[from].step + 1;
    bool more = true;

    for (uint32_t i = from; i < to; i++) {
        if (!is_copy(&circuits[i]) && !(circuits[i].flags & ROW_AHEAD) &&
            (is_apart(a, &circuits[i]) || is_added_to(a, &circuits[i]) ||
             is_used(a, circuits[i].from, sent_slots(&circuits[i]), false) ||
             is_used(a, circuits[i].to, received_slots(&circuits[i]), true))) {
            a->waits_in[circuits[i].from] = a->waits_in[circuits[i].to] = step;
        }
    }
    while (more) {
        more = false;
        for (uint32_t i = from; i < to; i++) {
            uint32_t *ends[] = {&a->waits_in[circuits[i].from], &a->waits_in[circuits[i].to]};
            if (!is_copy(&circuits[i]) && !(circuits[i].flags & ROW_AHEAD) &&
                (*ends[0] == step) != (*ends[1] == step)) {
                *ends[0] = *ends[1] = step;
                more = true;
            }
        }
    }
    for (uint32_t i = from; i < to; i++) {
        if (is_copy(&circuits[i]) || circuits[i].flags & ROW_AHEAD) {
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
    a->sends = planner_memory(nodes, sizeof *a->sends);
    a->receives = planner_memory(nodes, sizeof *a->receives);
    for (uint32_t node = 0; node < nodes; node++) {
        for (unsigned space = 0; space < SPACES; space++) {
            struct uses *uses = &a->uses[(uint64_t)node * SPACES + space];
            uint32_t slots = plan_slots_at(a->plan, space, node);
            uses->written = planner_memory(slots, sizeof *uses->written);
            uses->sent = planner_memory(slots, sizeof *uses->sent);
            uses->came = planner_memory(slots, sizeof *uses->came);
            uses->arrives = planner_memory(slots, sizeof *uses->arrives);
            uses->leaves = planner_memory(slots, sizeof *uses->leaves);
            uses->added = planner_memory(slots, sizeof *uses->added);
        }
    }
}

static void end(struct ahead *a)
{
    for (uint64_t i = 0; i < (uint64_t)a->plan->network.nodes * SPACES; i++) {
        free(a->uses[i].written);
        free(a->uses[i].sent);
        free(a->uses[i].came);
        free(a->uses[i].arrives);
        free(a->uses[i].leaves);
        free(a->uses[i].added);
    }
    free(a->uses);
    free(a->solid);
    free(a->waits_in);
    free(a->sends);
    free(a->receives);
}

void build_ahead_parted(struct plan *plan, uint32_t step)
{
    struct ahead a = {.plan = plan, .part = step};
    uint32_t to;

    if (plan->refused) {
        return;
    }
    begin(&a);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        a.several = a.several || plan->circuits[i].port > 0;
    }
    for (uint32_t from = 0; from < plan->circuit_count; from = to) {
        to = from;
        while (to < plan->circuit_count && plan->circuits[to].step == plan->circuits[from].step) {
            to++;
        }
        uint32_t first = from;
        for (; first < to && is_copy(&plan->circuits[first]); first++) {
            note_copy(&a, &plan->circuits[first]);
        }
        hold_back(&a, from, to);
        let_go(&a, from, to);
        for (uint32_t i = from; i < to; i++) {
            if (i >= first && is_copy(&plan->circuits[i])) {
                note_copy(&a, &plan->circuits[i]);
            }
            await(&a, &plan->circuits[i]);
            note_uses(&a, &plan->circuits[i]);
        }
    }
    end(&a);
}

void build_ahead(struct plan *plan)
{
    build_ahead_parted(plan, UINT32_MAX);
}
