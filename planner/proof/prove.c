#include "planner/proof/prove.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/proof/digest.h"
#include "wire/circuit.h"

bool plan_fails(struct plan_fault *fault, const struct plan_circuit *circuit, uint32_t slot,
                const char *format, ...)
{
    va_list arguments;
    int used = 0;

    *fault = (struct plan_fault){UINT32_MAX, UINT32_MAX, UINT32_MAX, slot, .words = ""};
    if (circuit) {
        fault->step = circuit->step;
        fault->from = circuit->from;
        fault->to = circuit->to;
        used = snprintf(fault->words, sizeof fault->words, "step %u, %u to %u: ", circuit->step,
                        circuit->from, circuit->to);
    }
    va_start(arguments, format);
    vsnprintf(fault->words + used, sizeof fault->words - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether extents lie in the pool, and their slots in the spaces of the node; counts the slots. */
static bool slots_fit(const struct plan *plan, struct slots slots, uint32_t node, uint64_t *count)
{
    if (slots.count > PLAN_EXTENTS_MAX || (uint64_t)slots.at + slots.count > plan->extent_count) {
        return false;
    }
    for (uint32_t i = 0; i < slots.count; i++) {
        const struct plan_extent *e = &plan->extents[slots.at + i];
        if (e->space >= SPACES || e->length == 0 || e->times == 0 ||
            (e->times > 1 && e->stride < e->length)) {
            return false;
        }
        uint64_t end = e->first + (uint64_t)(e->times - 1) * e->stride + e->length;
        if (end > plan_slots_at(plan, e->space, node)) {
            return false;
        }
        *count += (uint64_t)e->length * e->times;
    }
    return true;
}

static bool ends_fit(const struct plan *plan, const struct plan_circuit *circuit)
{
    uint32_t nodes = plan->network.nodes;

    return circuit->from < nodes && circuit->to < nodes &&
           (circuit->from == circuit->to) == is_copy(circuit) &&
           (!plan->invariant || circuit->from == 0);
}

static bool flags_fit(const struct plan_circuit *circuit)
{
    const unsigned both = ROW_COMBINES | ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    unsigned known = both | (is_copy(circuit) ? ROW_COPIES : ROW_AHEAD);

    return !(circuit->flags & ~known);
}

/* A range of an untranslated space is the same at every node. Of a cube one that is read upwards at
 * every node must be so at both ends of a circuit, or what holds for node 0 does not hold for the
 * others. */
static bool ranges_alike(const struct plan *plan, struct slot_range a, struct slot_range b)
{
    bool translated = space_is_translated(plan, a.space);

    if (a.count == 1 && b.count == 1) {
        return true;
    }
    if (a.count != b.count || translated != space_is_translated(plan, b.space)) {
        return false;
    }
    return !translated || !(a.first % a.count || b.first % b.count || (a.count & (a.count - 1)));
}

static bool read_alike(const struct plan *plan, const struct plan_circuit *circuit)
{
    struct slot_ranges sent = ranges_of(plan, sent_slots(circuit), 0);
    struct slot_ranges received = ranges_of(plan, received_slots(circuit), 0);
    struct slot_range a = {0}, b = {0};
    bool more = plan->invariant && plan->network.kind == NETWORK_CUBE;

    while (more && ranges_next(&sent, &a) && ranges_next(&received, &b)) {
        if (!ranges_alike(plan, a, b)) {
            return false;
        }
    }
    return true;
}

/* Whether it moves one block from where the sender's program has it to where the receiver's wants
 * it: nobody else knows the size of a block that has one of its own. */
static bool is_one_block(const struct plan *plan, const struct plan_circuit *circuit)
{
    const struct plan_extent *sent = &plan->extents[circuit->send_at];
    const struct plan_extent *received = &plan->extents[circuit->receive_at];

    return circuit->blocks == 1 && circuit->send_count == 1 && circuit->receive_count == 1 &&
           sent->space == SPACE_SEND && received->space == SPACE_RECEIVE;
}

static bool circuit_fits(const struct plan *plan, const struct plan_circuit *circuit,
                         struct plan_fault *fault)
{
    uint64_t sent = 0, received = 0;
    uint32_t none = UINT32_MAX;

    if (!ends_fit(plan, circuit)) {
        return plan_fails(fault, circuit, none, "these are no two nodes of the plan");
    }
    if (circuit->port >= CLOCK_PORTS_MAX) {
        return plan_fails(fault, circuit, none, "there is no port %u", circuit->port);
    }
    if (circuit->step >= PLAN_STEPS_MAX) {
        return plan_fails(fault, circuit, none, "a row cannot count so many steps");
    }
    if (!flags_fit(circuit)) {
        return plan_fails(fault, circuit, none, "it has flags that it cannot have");
    }
    if (!slots_fit(plan, sent_slots(circuit), circuit->from, &sent)) {
        return plan_fails(fault, circuit, none, "it sends slots that the sender has not");
    }
    if (!slots_fit(plan, received_slots(circuit), circuit->to, &received)) {
        return plan_fails(fault, circuit, none, "it receives into slots that there are not");
    }
    if (sent != received || sent != circuit->blocks) {
        return plan_fails(fault, circuit, none, "%llu slots are sent, %llu received, %u said",
                          (unsigned long long)sent, (unsigned long long)received, circuit->blocks);
    }
    if ((circuit->flags & ROW_COMBINES) && !operation_of(plan->operation)->reduces) {
        return plan_fails(fault, circuit, none, "the operation combines nothing");
    }
    if (operation_of(plan->operation)->sized && !is_one_block(plan, circuit)) {
        return plan_fails(fault, circuit, none,
                          "blocks with sizes of their own go one by one, straight to their place");
    }
    if (!read_alike(plan, circuit)) {
        return plan_fails(fault, circuit, none, "its runs are not read alike at all nodes");
    }
    return true;
}

/* Copies of a step stand before all of its circuits or behind them. */
static bool order_fits(const struct plan *plan, struct plan_fault *fault)
{
    enum { BEFORE, AMONG, BEHIND } place = BEFORE;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (i > 0 && circuit->step < circuit[-1].step) {
            return plan_fails(fault, circuit, UINT32_MAX, "a later step stands before it");
        }
        if (i > 0 && circuit->step > circuit[-1].step) {
            place = BEFORE;
        }
        if (!is_copy(circuit) && place == BEHIND) {
            return plan_fails(fault, circuit, UINT32_MAX, "a copy of its step is among circuits");
        }
        place = !is_copy(circuit) ? AMONG : place == AMONG ? BEHIND : place;
    }
    return true;
}

static bool head_fits(const struct plan *plan, struct plan_fault *fault)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t nodes = plan->invariant ? 1 : plan->network.nodes, none = UINT32_MAX;

    if (!operation || !operation->planned) {
        return plan_fails(fault, NULL, none, "there is no such operation to plan");
    }
    if (plan->root >= operation_roots(operation, &plan->network)) {
        return plan_fails(fault, NULL, none, "node %u cannot be the root", plan->root);
    }
    bool cut = !operation->vector && plan->segments > 1;
    if (plan->segments == 0 || plan->segments > UINT16_MAX ||
        (cut && (!operation_has_segments(operation) || plan->invariant))) {
        return plan_fails(fault, NULL, none, "%u segments cannot be", plan->segments);
    }
    if (plan->bytes_min > plan->bytes_max) {
        return plan_fails(fault, NULL, none, "it is for blocks of no size");
    }
    if (plan->invariant && (operation->rooted || operation->parameter || operation->prefix ||
                            !network_is_symmetric(&plan->network))) {
        return plan_fails(fault, NULL, none, "nodes that differ cannot have one plan");
    }
    for (uint32_t i = 0; i < nodes; i++) {
        if (plan->scratch[i] > PLAN_SCRATCH_MAX) {
            return plan_fails(fault, NULL, none, "node %u needs %u slots of scratch", i,
                              plan->scratch[i]);
        }
    }
    return true;
}

bool prove_form(const struct plan *plan, struct plan_fault *fault)
{
    if (!head_fits(plan, fault)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        if (!circuit_fits(plan, &plan->circuits[i], fault)) {
            return false;
        }
    }
    return order_fits(plan, fault);
}

/* What a node does in the step that it is in. */
struct doing {
    uint32_t step;
    bool ahead;
    uint16_t sends, receives; /* masks of ports */
};

/* Notes a circuit at one of its ends. NULL: it may be there; else what is wrong with it. */
static const char *clash(struct doing *node, const struct plan_circuit *circuit, bool sends)
{
    bool ahead = circuit->flags & ROW_AHEAD;
    uint16_t port = (uint16_t)(1u << circuit->port), *ports;

    if (node->step != circuit->step + 1) {
        *node = (struct doing){.step = circuit->step + 1, .ahead = ahead};
    }
    ports = sends ? &node->sends : &node->receives;
    if (*ports & port) {
        return "a node sends or receives twice in a step by one port";
    }
    if (node->ahead != ahead) {
        return "of a node's circuits in a step some are issued ahead and some are not";
    }
    if ((node->sends | node->receives) > 2u * port - 1) {
        return "a node has a circuit of the step by a later port before it";
    }
    *ports |= port;
    return NULL;
}

bool prove_meetings(const struct plan *plan, struct plan_fault *fault)
{
    uint32_t nodes = plan->invariant ? 1 : plan->network.nodes;
    struct doing *doing = planner_memory(nodes, sizeof *doing);
    bool holds = true;

    for (uint32_t i = 0; i < plan->circuit_count && holds; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        uint32_t to = plan->invariant ? 0 : circuit->to;
        const char *wrong = clash(&doing[circuit->from], circuit, true);
        wrong = wrong ? wrong : clash(&doing[to], circuit, false);
        holds = !wrong || plan_fails(fault, circuit, UINT32_MAX, "%s", wrong);
    }
    free(doing);
    return holds;
}

static void add_up(struct plan *plan)
{
    plan->steps = 0;
    plan->node_ports = plan->node_ports == PORTS_ALL ? PORTS_ALL : 1;
    plan->hops = plan->blocks = 0;
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        plan->steps = circuit->step + 1;
        if (plan->node_ports != PORTS_ALL && circuit->port >= plan->node_ports) {
            plan->node_ports = circuit->port + 1;
        }
        plan->hops += circuit->hops;
        plan->blocks += circuit->blocks;
    }
}

bool prove_end(struct plan *plan, struct plan_fault *fault)
{
    add_up(plan);
    if (plan->one_port && plan->node_ports == PORTS_ALL) {
        return plan_fails(fault, NULL, UINT32_MAX,
                          "what it issues ahead is right where ports count, and it is for all");
    }
    plan_index(plan);
    plan->digest = plan_digest_of(plan);
    return plan_parts_fit(plan, fault);
}

/* Whether the slots that a plan moves have names that can be moved with node 0. Sums of names
 * cannot: then all nodes are looked at. */
static bool prove_contents(struct plan *plan, struct plan_fault *fault)
{
    const struct operation *operation = operation_of(plan->operation);

    if (operation->span[SPACE_SEND] == SPAN_NONE && operation->span[SPACE_RECEIVE] == SPAN_NONE) {
        return prove_knowledge(plan, fault);
    }
    if (!plan->invariant || !operation->reduces) {
        return prove_blocks(plan, fault);
    }
    struct plan *all = plan_expand(plan);
    bool holds = plan_prove(all, fault);
    plan->one_port = all->one_port;
    plan_free(all);
    return holds;
}

bool plan_is_for(const struct plan *plan, const struct profile *profile)
{
    return plan->node_ports <= (profile ? clock_ports(profile) : 1);
}

bool plan_suit(struct plan *plan, const struct profile *profile)
{
    if (profile && clock_all_ports(profile) && !plan->one_port && plan->node_ports != PORTS_ALL) {
        plan->node_ports = PORTS_ALL;
        plan->digest = plan_digest_of(plan);
    }
    return plan_is_for(plan, profile);
}

bool plan_prove(struct plan *plan, struct plan_fault *fault)
{
    if (plan->refused) {
        return plan_fails(fault, NULL, UINT32_MAX, "%s", plan->refused);
    }
    if (!prove_form(plan, fault) || !prove_paths(plan, fault) || !prove_meetings(plan, fault) ||
        !prove_contents(plan, fault)) {
        return false;
    }
    return prove_end(plan, fault);
}
