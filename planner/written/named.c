#include "planner/written/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/written/named_holdings.h"
#include "planner/proof/prove.h"

/* Where a circuit or copy stands in its step. */
enum phase { BEFORE, CIRCUITS, BEHIND };

struct laying {
    const struct named_plan *named;
    struct plan *plan;
    struct holdings holdings;
    uint8_t *phases;     /* of the plan's circuits */
    struct place *cargo; /* where the senders of a step have what they send */
    uint64_t cargo_count;
    uint32_t step, circuit; /* that are laid */
    bool reduces, with_sets;
    uint32_t words; /* of a set */
    /* of each block: 1 + the first circuit that replaces what its receiver had of it; 0: none */
    uint32_t *replaces;
    uint32_t again, again_name, agains; /* the first block that comes where it is; how many do */
    struct named_fault *fault;
};

void named_text(const struct plan *plan, uint32_t name, char text[NAMED_TEXT_MAX])
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t width = operation_pair_width(operation, plan->network.nodes);
    char movement[MOVEMENT_TEXT_MAX];

    if (operation_has_movements(operation)) {
        movement_text(name % width, movement);
        snprintf(text, NAMED_TEXT_MAX, "%u.%s", name / width, movement);
    } else if (operation_has_pairs(operation)) {
        snprintf(text, NAMED_TEXT_MAX, "%u.%u", name / width, name % width);
    } else {
        snprintf(text, NAMED_TEXT_MAX, "%u", name);
    }
}

/* Laying down --------------------------------------------------------------------------------- */

static void note_phase(struct laying *l, enum phase phase)
{
    uint32_t last = l->plan->circuit_count - 1;

    l->phases = planner_grow(l->phases, last, sizeof *l->phases);
    l->phases[last] = (uint8_t)phase;
}

static void copy(struct laying *l, uint32_t step, enum phase phase, uint32_t node,
                 struct place from, struct place to, unsigned flags)
{
    struct slots read = slots_of(l->plan, (enum space)from.space, from.slot, 1);
    struct slots written = slots_of(l->plan, (enum space)to.space, to.slot, 1);

    build_copy(l->plan, step, node, read, written, (uint8_t)flags);
    note_phase(l, phase);
}

/* Nothing but SEND is ever written, and there is nothing in flight in it. */
static unsigned reading(struct place place)
{
    return place.space == SPACE_SEND ? 0 : ROW_AFTER_RECEIVED;
}

static const unsigned writing_again = ROW_AFTER_RECEIVED | ROW_AFTER_SENT;

/* A place in which the node's sum may grow: where the operation promises it, or scratch. */
static struct place place_to_grow(struct laying *l, struct holding *h)
{
    struct place wanted = place_promised(l->plan, h->node, h->name);

    return wanted.space == SPACE_NONE ? holdings_scratch(l->plan, h) : wanted;
}

/* Sums with sets ------------------------------------------------------------------------------ */

static uint64_t *set_of(const struct laying *l, const struct named_circuit *circuit, uint32_t name)
{
    return l->named->sets + ((uint64_t)circuit->set_at + name) * l->words;
}

static uint64_t *copy_of_set(const struct laying *l, const uint64_t *set)
{
    uint64_t *own = planner_memory(l->words, sizeof *own);

    memcpy(own, set, l->words * sizeof *own);
    return own;
}

static bool same_set(const struct laying *l, const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, l->words * sizeof *a) == 0;
}

static bool is_within(const struct laying *l, const uint64_t *part, const uint64_t *whole)
{
    for (uint32_t i = 0; i < l->words; i++) {
        if (part[i] & ~whole[i]) {
            return false;
        }
    }
    return true;
}

static bool is_apart(const struct laying *l, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < l->words; i++) {
        if (a[i] & b[i]) {
            return false;
        }
    }
    return true;
}

static uint32_t lowest(const struct laying *l, const uint64_t *set)
{
    for (uint32_t i = 0; i < l->words; i++) {
        if (set[i]) {
            return i * 64 + (uint32_t)__builtin_ctzll(set[i]);
        }
    }
    return NAMED_NONE;
}

static uint32_t highest(const struct laying *l, const uint64_t *set)
{
    for (uint32_t i = l->words; i-- > 0;) {
        if (set[i]) {
            return i * 64 + 63 - (uint32_t)__builtin_clzll(set[i]);
        }
    }
    return NAMED_NONE;
}

static uint32_t size_of(const struct laying *l, const uint64_t *set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->words; i++) {
        count += (uint32_t)__builtin_popcountll(set[i]);
    }
    return count;
}

/* The ranks whose contributions a node gets at last. */
static void set_promised(const struct laying *l, uint32_t node, uint64_t *set)
{
    uint32_t count = operation_of(l->plan->operation)->prefix ? node + 1 : l->plan->network.nodes;

    memset(set, 0, l->words * sizeof *set);
    for (uint32_t rank = 0; rank < count; rank++) {
        set[rank / 64] |= UINT64_C(1) << rank % 64;
    }
}

/* What a node has at first, with its own contribution; else with those given. */
static struct holding *hold(struct laying *l, uint32_t node, uint32_t name)
{
    bool made;
    struct holding *h = holdings_find(&l->holdings, l->plan, node, name, &made);

    if (made && l->with_sets && h->at.space != SPACE_NONE) {
        uint64_t *own = planner_memory(l->words, sizeof *own);
        own[node / 64] |= UINT64_C(1) << node % 64;
        sums_add(&h->sums, h->at, own);
    }
    return h;
}

static struct sum *sum_with(const struct laying *l, struct holding *h, const uint64_t *set)
{
    for (struct sum *sum = h->sums; sum; sum = sum->next) {
        if (same_set(l, sum->set, set)) {
            return sum;
        }
    }
    return NULL;
}

/* Picks sums that make up a set, each rank once: for the lowest rank that is still missing the
 * largest sum that fits, back and forth within bounds. */
enum { PICKED_MAX = 64, TRIES_MAX = 1 << 14 };

struct pick {
    struct sum *all[PICKED_MAX];
    uint32_t count, tries;
};

static bool pick_sums(const struct laying *l, struct holding *h, const uint64_t *missing,
                      struct pick *pick)
{
    uint64_t rest[NAMED_SETS_NODES_MAX / 64];
    uint32_t low = lowest(l, missing);
    uint32_t size_max = UINT32_MAX;

    if (low == NAMED_NONE) {
        return true;
    }
    while (pick->count < PICKED_MAX && pick->tries++ < TRIES_MAX) {
        struct sum *best = NULL;
        uint32_t best_size = 0;
        for (struct sum *sum = h->sums; sum; sum = sum->next) {
            uint32_t size = size_of(l, sum->set);
            if (size < size_max && size > best_size && (sum->set[low / 64] >> low % 64 & 1) &&
                is_within(l, sum->set, missing)) {
                best = sum;
                best_size = size;
            }
        }
        if (!best) {
            return false;
        }
        for (uint32_t i = 0; i < l->words; i++) {
            rest[i] = missing[i] & ~best->set[i];
        }
        pick->all[pick->count++] = best;
        if (pick_sums(l, h, rest, pick)) {
            return true;
        }
        pick->count--;
        size_max = best_size;
    }
    return false;
}

/* Combines the sums picked at a place: into it, or onto the one that lies in it already. */
static void combine_picked(struct laying *l, enum phase phase, uint32_t node, struct pick *pick,
                           struct place to)
{
    uint32_t base = 0;

    for (uint32_t i = 0; i < pick->count; i++) {
        if (same_place(pick->all[i]->at, to)) {
            base = i;
        }
    }
    if (!same_place(pick->all[base]->at, to)) {
        copy(l, l->step, phase, node, pick->all[base]->at, to,
             reading(pick->all[base]->at) | writing_again);
    }
    /* Downwards from the base, then upwards: ranks that follow each other. */
    for (uint32_t i = base; i-- > 0;) {
        copy(l, l->step, phase, node, pick->all[i]->at, to, ROW_COMBINES | writing_again);
    }
    for (uint32_t i = base + 1; i < pick->count; i++) {
        copy(l, l->step, phase, node, pick->all[i]->at, to, ROW_COMBINES | writing_again);
    }
}

/* "0-3 5" */
static void say_set(const struct laying *l, const uint64_t *set, char *words, size_t room)
{
    size_t used = 0;

    words[0] = '\0';
    for (uint32_t rank = 0; rank < l->plan->network.nodes && used + 16 < room; rank++) {
        uint32_t end = rank;
        while (end < l->plan->network.nodes && set[end / 64] >> end % 64 & 1) {
            end++;
        }
        if (end == rank) {
            continue;
        }
        used += end - rank == 1
                    ? (size_t)snprintf(words + used, room - used, "%s%u", used ? " " : "", rank)
                    : (size_t)snprintf(words + used, room - used, "%s%u-%u", used ? " " : "", rank,
                                       end - 1);
        rank = end;
    }
}

/* Where a node has, or gets now, the sum of a set; SPACE_NONE: it cannot be made. */
static struct place make_sum(struct laying *l, struct holding *h, const uint64_t *set)
{
    struct sum *there = sum_with(l, h, set);
    struct pick pick = {.count = 0};

    if (there) {
        return there->at;
    }
    if (!pick_sums(l, h, set, &pick) || pick.count == 0) {
        return (struct place){.space = SPACE_NONE};
    }
    struct place place = holdings_scratch(l->plan, h);
    combine_picked(l, BEFORE, h->node, &pick, place);
    sums_add(&h->sums, place, copy_of_set(l, set));
    return place;
}

/* Sending ------------------------------------------------------------------------------------- */

static bool lacks(struct laying *l, const struct named_circuit *circuit, uint32_t name,
                  const uint64_t *set)
{
    char text[NAMED_TEXT_MAX], ranks[100];

    named_text(l->plan, name, text);
    if (!set) {
        return named_fails(l->fault, l->circuit,
                           "step %u, %u to %u: node %u has not got block %s by then", circuit->step,
                           circuit->from, circuit->to, circuit->from, text);
    }
    say_set(l, set, ranks, sizeof ranks);
    return named_fails(l->fault, l->circuit,
                       "step %u, %u to %u: node %u cannot make the sum of %s of block %s by then",
                       circuit->step, circuit->from, circuit->to, circuit->from, ranks, text);
}

static bool load(struct laying *l, uint32_t index)
{
    const struct named_circuit *circuit = &l->named->circuits[index];

    l->circuit = index;
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        uint32_t name = l->named->names[circuit->name_at + i];
        struct holding *h = hold(l, circuit->from, name);
        const uint64_t *set = l->with_sets ? set_of(l, circuit, i) : NULL;
        struct place place = set ? make_sum(l, h, set) : h->at;
        if (place.space == SPACE_NONE) {
            return lacks(l, circuit, name, set);
        }
        if (same_place(place, h->at)) {
            h->sent_step = l->step + 1;
        }
        l->cargo = planner_grow(l->cargo, l->cargo_count, sizeof *l->cargo);
        l->cargo[l->cargo_count++] = place;
    }
    return true;
}

/* Receiving ----------------------------------------------------------------------------------- */

/* What comes is there already: once more is no error, but of no use. */
static void note_again(struct laying *l, uint32_t name)
{
    if (l->agains++ == 0) {
        l->again = l->circuit;
        l->again_name = name;
    }
}

/* What comes stays as it is: where it is promised if nothing is there, else in scratch. */
static struct place keep(struct laying *l, struct holding *h)
{
    struct place place =
        h->at.space == SPACE_NONE ? place_to_grow(l, h) : holdings_scratch(l->plan, h);

    if (h->at.space == SPACE_NONE) {
        h->at = place;
    } else {
        note_again(l, h->name);
    }
    return place;
}

/* The place into which a sum that lies in SEND, or is sent in this step, is moved before something
 * is combined with it, or written over it. */
static void make_writable(struct laying *l, struct holding *h, bool combines)
{
    struct place from = h->at;

    if (from.space == SPACE_SEND) {
        h->at = place_to_grow(l, h);
        if (combines) { /* as early as can be: who is issued ahead must find it there */
            copy(l, 0, BEFORE, h->node, from, h->at, 0);
        }
    } else if (h->sent_step == l->step + 1) {
        if (h->other.space == SPACE_NONE) {
            h->other = holdings_scratch(l->plan, h);
        }
        h->at = h->other;
        h->other = from;
        if (combines) {
            copy(l, l->step, BEFORE, h->node, from, h->at, writing_again);
        }
    }
}

/* A sum is combined with what comes, or gives way to it. */
static struct place replace(struct laying *l, struct holding *h, bool combines)
{
    if (h->at.space == SPACE_NONE) {
        h->at = place_to_grow(l, h);
        return h->at;
    }
    if (!combines && !l->replaces[h->name]) {
        l->replaces[h->name] = l->circuit + 1;
    }
    make_writable(l, h, combines);
    return h->at;
}

/* The node's own sum becomes one of more ranks, in a place that is known. */
static void grow_sum(struct laying *l, struct holding *h, struct place before, const uint64_t *more)
{
    struct sum *own = sums_at(h->sums, before);
    uint64_t *both = copy_of_set(l, more);

    for (uint32_t i = 0; i < l->words; i++) {
        both[i] |= own->set[i];
    }
    if (same_place(before, h->at)) { /* what was there is no more */
        sums_remove(&h->sums, own);
    }
    struct sum *over = sums_at(h->sums, h->at);
    if (over) {
        sums_remove(&h->sums, over);
    }
    sums_add(&h->sums, h->at, both);
}

/* What a node has kept of ranks between those that come and those of its own prefix is combined
 * with the prefix first. */
static void fill_gap(struct laying *l, struct holding *h, const uint64_t *set)
{
    const struct sum *own = sums_at(h->sums, h->at);
    uint64_t gap[NAMED_SETS_NODES_MAX / 64] = {0};
    struct pick pick = {.count = 0};

    if (!own || highest(l, set) + 1 >= lowest(l, own->set)) {
        return;
    }
    for (uint32_t rank = highest(l, set) + 1; rank < lowest(l, own->set); rank++) {
        gap[rank / 64] |= UINT64_C(1) << rank % 64;
    }
    if (!pick_sums(l, h, gap, &pick)) {
        return;
    }
    struct place before = h->at;
    make_writable(l, h, true);
    for (uint32_t i = pick.count; i-- > 0;) {
        copy(l, l->step, BEFORE, h->node, pick.all[i]->at, h->at, ROW_COMBINES | writing_again);
    }
    grow_sum(l, h, before, gap);
}

/* Whether a node's own sum takes up what comes: of a prefix the ranks just below. */
static bool takes_up(const struct laying *l, const struct holding *h, const uint64_t *set)
{
    const struct sum *own = sums_at(h->sums, h->at);

    if (!own) {
        return false;
    }
    if (operation_of(l->plan->operation)->prefix) {
        return highest(l, set) + 1 == lowest(l, own->set);
    }
    return is_apart(l, own->set, set);
}

/* All the blocks of a circuit are combined, or none. */
static bool all_taken_up(struct laying *l, const struct named_circuit *circuit)
{
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        struct holding *h = hold(l, circuit->to, l->named->names[circuit->name_at + i]);
        if (operation_of(l->plan->operation)->prefix) {
            fill_gap(l, h, set_of(l, circuit, i));
        }
        if (!takes_up(l, h, set_of(l, circuit, i))) {
            return false;
        }
    }
    return true;
}

/* The same where contributions are said. */
static struct place take_up(struct laying *l, struct holding *h, const uint64_t *set)
{
    struct place before = h->at, place = replace(l, h, true);

    grow_sum(l, h, before, set);
    return place;
}

static struct place put_beside(struct laying *l, struct holding *h, const uint64_t *set)
{
    struct place place = holdings_scratch(l->plan, h);

    if (sum_with(l, h, set)) {
        note_again(l, h->name);
    }
    sums_add(&h->sums, place, copy_of_set(l, set));
    return place;
}

static struct place receive(struct laying *l, const struct named_circuit *circuit, uint32_t i,
                            bool combines)
{
    struct holding *h = hold(l, circuit->to, l->named->names[circuit->name_at + i]);

    if (!l->reduces) {
        return keep(l, h);
    }
    if (!l->with_sets) {
        return replace(l, h, combines);
    }
    const uint64_t *set = set_of(l, circuit, i);
    return combines ? take_up(l, h, set) : put_beside(l, h, set);
}

static struct slots slots_at(struct laying *l, const struct place *places, uint32_t count)
{
    struct slots slots = slots_begin(l->plan);

    for (uint32_t i = 0; i < count; i++) {
        slots_add(l->plan, &slots, (enum space)places[i].space, places[i].slot, 1);
    }
    return slots;
}

/* The circuit itself; its sender's places in the cargo begin at `cargo`. */
static void unload(struct laying *l, uint32_t index, uint64_t cargo)
{
    const struct named_circuit *circuit = &l->named->circuits[index];
    struct place *to = planner_memory(circuit->name_count, sizeof *to);
    const struct place *from = circuit->name_count ? l->cargo + cargo : NULL;
    bool combines = circuit->combines && (!l->with_sets || all_taken_up(l, circuit));
    unsigned flags = (combines ? ROW_COMBINES : 0) | (circuit->ahead ? ROW_AHEAD : 0);

    l->circuit = index;
    l->plan->port = circuit->port;
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        uint64_t written = l->plan->scratch[circuit->to];
        to[i] = receive(l, circuit, i, combines);
        bool fresh = to[i].space == SPACE_SCRATCH && to[i].slot >= written;
        flags |= reading(from[i]) | (l->reduces && !fresh ? writing_again : 0u);
    }
    struct slots send = slots_at(l, from, circuit->name_count);
    struct slots place = slots_at(l, to, circuit->name_count);
    if (circuit->port_at == PLAN_DIMENSION_ORDER) {
        build_circuit(l->plan, circuit->step, circuit->from, circuit->to, send, place,
                      (uint8_t)flags);
    } else {
        build_routed(l->plan, circuit->step, circuit->from, circuit->to, send, place,
                     (uint8_t)flags, l->named->ports + circuit->port_at, circuit->port_count);
    }
    note_phase(l, CIRCUITS);
    free(to);
}

/* The circuits of one step: [first, end) of those sorted. All read before any of them writes. */
static bool lay_step(struct laying *l, const uint32_t *sorted, uint32_t first, uint32_t end)
{
    uint64_t at = 0;

    l->step = l->named->circuits[sorted[first]].step;
    l->cargo_count = 0;
    for (uint32_t i = first; i < end; i++) {
        if (!load(l, sorted[i])) {
            return false;
        }
    }
    for (uint32_t i = first; i < end; i++) {
        unload(l, sorted[i], at);
        at += l->named->circuits[sorted[i]].name_count;
    }
    return true;
}

/* The end ------------------------------------------------------------------------------------- */

static bool lacks_at_last(struct laying *l, uint32_t node, uint32_t name)
{
    char text[NAMED_TEXT_MAX];

    named_text(l->plan, name, text);
    return named_fails(l->fault, NAMED_NONE, "node %u has not got %s %s at the end", node,
                       l->reduces ? "the result of block" : "block", text);
}

/* A result where contributions are said: the sum that is it, or what makes it up. */
static bool settle_sum(struct laying *l, struct holding *h, struct place wanted)
{
    uint64_t set[NAMED_SETS_NODES_MAX / 64];
    struct pick pick = {.count = 0};
    const struct sum *there;

    set_promised(l, h->node, set);
    there = sum_with(l, h, set);
    if (there && same_place(there->at, wanted)) {
        return true;
    }
    if (there) {
        pick.all[pick.count++] = (struct sum *)there;
    } else if (!pick_sums(l, h, set, &pick)) {
        return false;
    }
    combine_picked(l, BEHIND, h->node, &pick, wanted);
    return true;
}

/* A block that a node is to have at last goes where it is promised. */
static bool settle(struct laying *l, uint32_t node, uint32_t slot)
{
    uint32_t name = name_in(l->plan, SPACE_RECEIVE, node, slot);
    struct place wanted = {SPACE_RECEIVE, slot};
    struct holding *h = hold(l, node, name);

    if (l->with_sets) {
        return settle_sum(l, h, wanted) || lacks_at_last(l, node, name);
    }
    if (h->at.space == SPACE_NONE) {
        return lacks_at_last(l, node, name);
    }
    if (same_place(h->at, wanted)) {
        return true;
    }
    if (h->at.space == SPACE_SEND) {
        copy(l, 0, BEFORE, node, h->at, wanted, 0);
    } else {
        copy(l, l->step, BEHIND, node, h->at, wanted, writing_again);
    }
    return true;
}

static bool settle_all(struct laying *l)
{
    for (uint32_t node = 0; node < l->plan->network.nodes; node++) {
        uint32_t count = plan_slots_at(l->plan, SPACE_RECEIVE, node);
        for (uint32_t slot = 0; slot < count; slot++) {
            if (!settle(l, node, slot)) {
                return false;
            }
        }
    }
    return true;
}

/* Puts copies that were noted late where their step and phase are. */
static void arrange(struct laying *l)
{
    struct plan *plan = l->plan;
    uint32_t steps = plan->circuit_count ? plan->circuits[0].step : 0;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        steps = plan->circuits[i].step > steps ? plan->circuits[i].step : steps;
    }
    uint64_t bins = ((uint64_t)steps + 1) * (BEHIND + 1);
    uint32_t *at = planner_memory(bins + 1, sizeof *at);
    struct plan_circuit *all = planner_memory(plan->circuit_count, sizeof *all);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        at[plan->circuits[i].step * (BEHIND + 1) + l->phases[i] + 1]++;
    }
    for (uint64_t i = 0; i < bins; i++) {
        at[i + 1] += at[i];
    }
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        all[at[plan->circuits[i].step * (BEHIND + 1) + l->phases[i]]++] = plan->circuits[i];
    }
    free(plan->circuits);
    plan->circuits = all;
    free(at);
}

/* The whole ----------------------------------------------------------------------------------- */

/* Names are below it. */
static uint64_t names_most(const struct named_plan *named)
{
    const struct operation *operation = operation_of(named->operation);
    uint64_t nodes = named->network.nodes;

    if (operation->span[SPACE_RECEIVE] == SPAN_NONE) {
        return 0;
    }
    if (operation->vector) {
        return named->segments;
    }
    return operation_has_pairs(operation)
               ? nodes * operation_pair_width(operation, named->network.nodes)
               : nodes * named->segments;
}

static bool circuit_fits(const struct named_plan *named, uint32_t index, struct named_fault *fault)
{
    const struct named_circuit *circuit = &named->circuits[index];
    uint32_t nodes = named->network.nodes;

    if (circuit->from >= nodes || circuit->to >= nodes || circuit->from == circuit->to) {
        return named_fails(fault, index, "step %u, %u to %u: these are no two nodes of the network",
                           circuit->step, circuit->from, circuit->to);
    }
    if (circuit->step >= PLAN_STEPS_MAX) {
        return named_fails(fault, index,
                           "step %u, %u to %u: it is a step too many, there are at most %d",
                           circuit->step, circuit->from, circuit->to, PLAN_STEPS_MAX);
    }
    if ((circuit->set_at == NAMED_NONE) != (named->circuits[0].set_at == NAMED_NONE)) {
        return named_fails(fault, index,
                           "step %u, %u to %u: contributions are said of some circuits, and not "
                           "of this one or the first: say them of all or of none",
                           circuit->step, circuit->from, circuit->to);
    }
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        if (named->names[circuit->name_at + i] >= names_most(named)) {
            return named_fails(fault, index, "step %u, %u to %u: %s has no block %u", circuit->step,
                               circuit->from, circuit->to, operation_name(named->operation),
                               named->names[circuit->name_at + i]);
        }
    }
    for (uint32_t i = 0; i < circuit->name_count; i++) {
        if (circuit->set_at != NAMED_NONE) {
            const uint64_t *set =
                named->sets + (uint64_t)(circuit->set_at + i) * named_set_words(nodes);
            uint64_t any = 0;
            for (uint32_t w = 0; w < named_set_words(nodes); w++) {
                any |= set[w];
            }
            if (!any) {
                return named_fails(fault, index, "step %u, %u to %u: nobody's contributions",
                                   circuit->step, circuit->from, circuit->to);
            }
        }
    }
    return true;
}

/* The block in a slot of a node; NAMED_NONE: it is not known. */
static uint32_t name_at(struct laying *l, uint32_t node, struct place place)
{
    const struct plan *plan = l->plan;

    if (operation_of(plan->operation)->vector) {
        return place.slot % plan->segments;
    }
    if (place.space != SPACE_SCRATCH) {
        return name_in(plan, (enum space)place.space, node, place.slot);
    }
    for (uint32_t i = 0; i < l->holdings.bucket_count; i++) {
        const struct holding *h = l->holdings.buckets[i];
        if (h && h->node == node &&
            (same_place(h->at, place) || same_place(h->other, place) || sums_at(h->sums, place))) {
            return h->name;
        }
    }
    return NAMED_NONE;
}

/* What is wrong with a slot, said of the block in it. Where contributions are missing a circuit may
 * have replaced what it should have been combined with. */
static void tell_slot(struct laying *l, const struct plan_fault *proof, uint32_t circuit)
{
    const char *why = proof->words + proof->why_at;
    uint32_t name = name_at(l, proof->node, (struct place){proof->space, proof->slot});
    uint32_t replaces = name != NAMED_NONE && l->replaces ? l->replaces[name] : 0;
    char block[NAMED_TEXT_MAX] = "of it";

    if (name != NAMED_NONE) {
        named_text(l->plan, name, block);
    }
    if (circuit != NAMED_NONE) {
        (void)named_fails(l->fault, circuit, "step %u, %u to %u: block %s at node %u %s",
                          proof->step, proof->from, proof->to, block, proof->node, why);
    } else if (replaces) {
        const struct named_circuit *c = &l->named->circuits[replaces - 1];
        (void)named_fails(l->fault, replaces - 1,
                          "node %u: block %s %s; step %u, %u to %u has no \"combine\", so it "
                          "replaces what node %u has of it",
                          proof->node, block, why, c->step, c->from, c->to, c->to);
    } else {
        (void)named_fails(l->fault, NAMED_NONE, "node %u: block %s %s", proof->node, block, why);
    }
}

/* Of the proof's words those at a circuit, as the file counts them. */
static void tell_proof(struct laying *l, const struct plan_fault *proof)
{
    uint32_t circuit = NAMED_NONE;

    for (uint32_t i = 0; i < l->named->circuit_count && proof->step != UINT32_MAX; i++) {
        const struct named_circuit *c = &l->named->circuits[i];
        if (c->step == proof->step && c->from == proof->from && c->to == proof->to) {
            circuit = i;
        }
    }
    if (proof->why_at) {
        tell_slot(l, proof, circuit);
    } else if (proof->step == UINT32_MAX && proof->to != UINT32_MAX) {
        (void)named_fails(l->fault, circuit, "node %u: %s", proof->to, proof->words);
    } else {
        (void)named_fails(l->fault, circuit, "%s", proof->words);
    }
}

/* What is no error, but odd. */
static void tell_again(struct laying *l)
{
    const struct named_circuit *c = &l->named->circuits[l->again];
    char block[NAMED_TEXT_MAX], more[64] = "";

    if (l->agains == 0) {
        (void)named_fails(l->fault, NAMED_NONE, "%s", "");
        return;
    }
    named_text(l->plan, l->again_name, block);
    if (l->agains > 1) {
        snprintf(more, sizeof more, ", and so it is %u time%s more", l->agains - 1,
                 l->agains > 2 ? "s" : "");
    }
    (void)named_fails(l->fault, l->again, "step %u, %u to %u: node %u has block %s already%s",
                      c->step, c->from, c->to, c->to, block, more);
}

static bool lay_all(struct laying *l, const uint32_t *sorted)
{
    const struct named_plan *named = l->named;
    struct plan_fault proof;

    for (uint32_t i = 0, end = 0; i < named->circuit_count; i = end) {
        while (end < named->circuit_count &&
               named->circuits[sorted[end]].step == named->circuits[sorted[i]].step) {
            end++;
        }
        if (!lay_step(l, sorted, i, end)) {
            return false;
        }
    }
    if (!settle_all(l)) {
        return false;
    }
    arrange(l);
    l->plan->node_ports = named->node_ports == PORTS_ALL ? PORTS_ALL : 0;
    if (plan_prove(l->plan, &proof)) {
        if (named->node_ports && l->plan->node_ports > named->node_ports) {
            return named_fails(l->fault, NAMED_NONE, "it is said to be for %u ports, and uses %u",
                               named->node_ports, l->plan->node_ports);
        }
        tell_again(l);
        return true;
    }
    tell_proof(l, &proof);
    return false;
}

struct plan *named_plan_lay(const struct named_plan *named, uint32_t *sorted,
                            struct named_fault *fault)
{
    const struct plan_request request = {.operation = named->operation, .root = named->root};
    const struct operation *operation = operation_of(named->operation);

    if (!operation || !operation->planned ||
        named->root >= operation_roots(operation, &named->network) || named->segments == 0 ||
        named->segments > UINT16_MAX ||
        (named->segments != 1 && !operation_has_segments(operation))) {
        (void)named_fails(fault, NAMED_NONE, "there is no such operation, root or segments");
        return NULL;
    }
    for (uint32_t i = 0; i < named->circuit_count; i++) {
        if (!circuit_fits(named, i, fault)) {
            return NULL;
        }
    }
    if (!named_sort(named, sorted, fault)) {
        return NULL;
    }
    struct laying l = {.named = named,
                       .plan = build_begin(&named->network, &request, false),
                       .reduces = operation->reduces,
                       .with_sets = operation->reduces && named->circuit_count &&
                                    named->circuits[0].set_at != NAMED_NONE,
                       .words = named_set_words(named->network.nodes),
                       .fault = fault};
    l.plan->segments = named->segments;
    l.replaces = operation->reduces ? planner_memory(names_most(named), sizeof *l.replaces) : NULL;
    bool holds = lay_all(&l, sorted);
    holdings_free(&l.holdings);
    free(l.phases);
    free(l.cargo);
    free(l.replaces);
    if (holds) {
        return l.plan;
    }
    plan_free(l.plan);
    return NULL;
}
