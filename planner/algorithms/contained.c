/*
 * contained.c - plans that are cut out of a plan of an operation that contains theirs: circuits,
 * and blocks of them, that lead to no result are left out, the others stay as they are. Under
 * turns that stay in order a circuit that is left out delays no other: so no operation is dearer
 * than one that contains it.
 *
 *     broadcast      the root's block of an allgather
 *     gather         of an allgather what ends at the root
 *     scatter        of an exchange what comes from the root
 *     shift, reverse of an exchange a block of each node
 *     all_to_some    of an exchange the blocks of its movements
 *     reduce         of an allreduce what ends at the root
 *     reduce_scatter of an allreduce in as many segments as nodes a segment of each node
 *     barrier        an allreduce, or allgather, without data
 *
 * Others are what nodes combine themselves, in the order of ranks, of what an operation without
 * combining has brought them: allreduce, reduce and scan of an allgather of all vectors, of a
 * reduce those for the root alone; reduce_scatter of an exchange.
 *
 * Slots. What the operation has as well keeps its meaning; what it has not lies in scratch.
 *
 * Variants  the plans of the operation that contains it, its candidates' variants one after the
 *           other, but for those that are made of others themselves; of them the cheapest for the
 *           size is looked at (choose.h)
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/permute.h"
#include "planner/build.h"

enum {
    CIRCUITS_MAX = 1 << 16 /* of the plan that is cut, all nodes' */
};

/* Where a slot of the container's lies in the plan that is cut out. */
struct place {
    uint8_t space;
    bool is_somewhere;
    uint32_t slot;
};

struct cut {
    const struct plan *from; /* of all nodes */
    struct plan *plan;
    uint32_t fine; /* segments of a block */
    bool combines_itself;
    struct place *places; /* of all slots: those of a node and space from slots_at on */
    bool *needed;         /* what lies there is for some result */
    uint32_t *slots_at;   /* [node * SPACES + space] */
};

/* Whether nodes combine themselves what the container brings them. */
static bool combines_itself(uint32_t operation, uint32_t container)
{
    return operation_of(operation)->reduces && !operation_of(container)->reduces;
}

/* Variants --------------------------------------------------------------------------------------
 */

static unsigned count_of(const struct network *network, const struct plan_request *request,
                         uint32_t container)
{
    return sources_count(container, network, sources_for(request->operation));
}

/* The request for the container: for as many bytes, or for all blocks that are reduced. */
static unsigned ask(const struct network *network, const struct plan_request *request,
                    uint32_t container, struct made_of others[MADE_OF_MAX])
{
    uint32_t times = request->operation == ECUBE_BARRIER ? 0
                     : request->operation == ECUBE_REDUCE_SCATTER && container == ECUBE_ALLREDUCE
                         ? network->nodes
                         : 1;

    others[0] =
        (struct made_of){.of = sources_for(request->operation),
                         .network = *network,
                         .request = {.operation = container,
                                     .type = operation_of(container)->reduces
                                                 ? request->type ? request->type : ECUBE_INT32
                                                 : 0,
                                     .profile = request->profile},
                         .times = times,
                         .parts = 1};
    return 1;
}

bool possible_contained(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= CIRCUITS_MAX / 4;
}

/* Slots -----------------------------------------------------------------------------------------
 */

static struct place at(enum space space, uint32_t slot)
{
    return (struct place){.space = (uint8_t)space, .is_somewhere = true, .slot = slot};
}

static const struct place nowhere;

/* Where the block for, or of, a node is that of a movement. */
static struct place place_of_movement(const struct plan *plan, enum space space, uint32_t node,
                                      uint32_t other)
{
    const struct operation *operation = operation_of(plan->operation);

    for (uint32_t slot = 0; slot < plan_slots_at(plan, space, node); slot++) {
        uint32_t own = space == SPACE_SEND
                           ? operation_target(operation, &plan->network, plan->root, node, slot)
                           : operation_source(operation, &plan->network, plan->root, node, slot);
        if (own == other) {
            return at(space, slot);
        }
    }
    return nowhere;
}

/* Where the operation itself has what its container has in the place of a block of SEND or RECEIVE,
 * if it combines nothing itself. */
static struct place own_block(const struct plan *plan, enum space space, uint32_t node,
                              uint32_t slot)
{
    const struct operation *operation = operation_of(plan->operation);
    bool sent = space == SPACE_SEND, is_root = node == plan->root;

    switch (plan->operation) {
    case ECUBE_BROADCAST:
        return sent ? (is_root ? at(SPACE_RECEIVE, 0) : nowhere)
                    : (slot == plan->root ? at(SPACE_RECEIVE, 0) : nowhere);
    case ECUBE_GATHER:
    case ECUBE_REDUCE: return sent || is_root ? at(space, slot) : nowhere;
    case ECUBE_SCATTER:
        return sent ? (is_root ? at(SPACE_SEND, slot) : nowhere)
                    : (slot == plan->root ? at(SPACE_RECEIVE, 0) : nowhere);
    case ECUBE_SHIFT:
    case ECUBE_REVERSE: {
        uint32_t own = sent ? operation_target(operation, &plan->network, plan->root, node, 0)
                            : operation_source(operation, &plan->network, plan->root, node, 0);
        return slot == own ? at(space, 0) : nowhere;
    }
    case ECUBE_ALL_TO_SOME: return place_of_movement(plan, space, node, slot);
    case ECUBE_REDUCE_SCATTER:
        return sent ? at(SPACE_SEND, slot) : slot == node ? at(SPACE_RECEIVE, 0) : nowhere;
    default: return sent ? at(SPACE_SEND, slot) : nowhere;
    }
}

/* The same of a segment, all of which lie alike. */
static struct place own_place(const struct cut *cut, enum space space, uint32_t node, uint32_t slot)
{
    struct place place = own_block(cut->plan, space, node, slot / cut->fine);

    place.slot = place.slot * cut->fine + slot % cut->fine;
    return place;
}

static struct place place_of(const struct cut *cut, enum space space, uint32_t node, uint32_t slot)
{
    if (space == SPACE_SCRATCH) {
        return at(SPACE_SCRATCH, slot);
    }
    if (cut->combines_itself) {
        return space == SPACE_SEND ? at(SPACE_SEND, slot) : nowhere;
    }
    return own_place(cut, space, node, slot);
}

/* Whether what the container leaves in a slot of RECEIVE is for the node's result. */
static bool is_wanted(const struct cut *cut, uint32_t node, uint32_t slot)
{
    const struct plan *plan = cut->plan;

    if (cut->combines_itself) {
        return !operation_of(plan->operation)->rooted || node == plan->root;
    }
    return own_place(cut, SPACE_RECEIVE, node, slot).is_somewhere;
}

static uint64_t index_of(const struct cut *cut, uint32_t node, unsigned space, uint32_t slot)
{
    return cut->slots_at[(uint64_t)node * SPACES + space] + slot;
}

/* Scratch keeps its slots; behind it lies what the operation has not, segments in their order, so
 * that each has a slot of its size. */
static void find_places(struct cut *cut, uint32_t node)
{
    uint32_t segments = cut->from->segments, scratch = cut->from->scratch[node];
    uint32_t base = (scratch + segments - 1) / segments * segments;

    cut->plan->scratch[node] = scratch;
    for (unsigned space = 0; space < SPACES; space++) {
        uint32_t slots = plan_slots_at(cut->from, space, node);
        for (uint32_t slot = 0; slot < slots; slot++) {
            struct place *place = &cut->places[index_of(cut, node, space, slot)];
            *place = place_of(cut, (enum space)space, node, slot);
            if (space == SPACE_RECEIVE && !place->is_somewhere) {
                *place = at(SPACE_SCRATCH, base + slot);
                cut->plan->scratch[node] = base + slots;
            }
            cut->needed[index_of(cut, node, space, slot)] =
                space == SPACE_RECEIVE && is_wanted(cut, node, slot);
        }
    }
}

static void cut_begin(struct cut *cut)
{
    uint32_t nodes = cut->from->network.nodes, total;

    cut->slots_at = plan_slots_index(cut->from, &total);
    cut->places = planner_memory(total, sizeof *cut->places);
    cut->needed = planner_memory(total, sizeof *cut->needed);
    for (uint32_t node = 0; node < nodes; node++) {
        find_places(cut, node);
    }
}

static void cut_end(struct cut *cut)
{
    free(cut->slots_at);
    free(cut->places);
    free(cut->needed);
}

/* Circuits --------------------------------------------------------------------------------------
 */

/* The slots of a circuit in their order, one by one, at one of its ends. */
struct walk {
    struct slot_ranges ranges;
    struct slot_range range;
    uint32_t node;
};

static struct walk walk_of(const struct plan *plan, struct slots slots, uint32_t node)
{
    return (struct walk){.ranges = ranges_of(plan, slots, 0), .node = node};
}

/* The index of the next slot; false: there is no more. */
static bool walk_next(const struct cut *cut, struct walk *walk, uint64_t *index)
{
    if (!ranges_next_slot(&walk->ranges, &walk->range)) {
        return false;
    }
    *index = index_of(cut, walk->node, walk->range.space, walk->range.first);
    return true;
}

/* Goes back over a circuit: what it brings that is needed is needed where it comes from, and,
 * unless it is combined, not any more where it goes. `kept` says which of its blocks these are. */
static uint32_t look_back(struct cut *cut, const struct plan_circuit *circuit, bool *kept)
{
    struct walk sent = walk_of(cut->from, sent_slots(circuit), circuit->from);
    struct walk received = walk_of(cut->from, received_slots(circuit), circuit->to);
    uint64_t source, destination = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; walk_next(cut, &sent, &source); i++) {
        walk_next(cut, &received, &destination);
        kept[i] = cut->needed[destination];
        count += kept[i];
        if (kept[i] && !(circuit->flags & ROW_COMBINES)) {
            cut->needed[destination] = false;
        }
    }
    sent = walk_of(cut->from, sent_slots(circuit), circuit->from);
    for (uint32_t i = 0; walk_next(cut, &sent, &source); i++) {
        cut->needed[source] |= kept[i];
    }
    return count;
}

/* The slots of one end of a circuit that are kept. */
static struct slots kept_slots(struct cut *cut, struct walk walk, const bool *kept)
{
    struct slots slots = slots_begin(cut->plan);
    uint64_t index;

    for (uint32_t i = 0; walk_next(cut, &walk, &index); i++) {
        if (kept[i] && !cut->places[index].is_somewhere) {
            cut->plan->refused = "what is not there is needed";
        } else if (kept[i]) {
            slots_add(cut->plan, &slots, (enum space)cut->places[index].space,
                      cut->places[index].slot, 1);
        }
    }
    return slots;
}

/* Whether a copy would copy a slot to itself: two of the container's are one of the operation's. */
static bool stays(const struct plan *plan, struct slots from, struct slots to)
{
    return from.count == 1 && to.count == 1 &&
           plan->extents[from.at].space == plan->extents[to.at].space &&
           plan->extents[from.at].first == plan->extents[to.at].first;
}

static void keep(struct cut *cut, const struct plan_circuit *circuit, uint32_t step,
                 const bool *kept)
{
    struct plan *plan = cut->plan;
    uint8_t flags = circuit->flags;

    if (!operation_of(plan->operation)->reduces) {
        flags &= (uint8_t)~ROW_COMBINES;
    }
    if (operation_of(plan->operation)->span[SPACE_RECEIVE] == SPAN_NONE) {
        flags &= (uint8_t)~ROW_AHEAD; /* whole steps alone tell who has entered */
    }
    struct slots send =
        kept_slots(cut, walk_of(cut->from, sent_slots(circuit), circuit->from), kept);
    struct slots receive =
        kept_slots(cut, walk_of(cut->from, received_slots(circuit), circuit->to), kept);

    plan->port = circuit->port;
    if (is_copy(circuit)) {
        if (!stays(plan, send, receive)) {
            build_copy(plan, step, circuit->from, send, receive, flags);
        }
    } else if (circuit->ports_at == PLAN_DIMENSION_ORDER) {
        build_circuit(plan, step, circuit->from, circuit->to, send, receive, flags);
    } else {
        build_routed(plan, step, circuit->from, circuit->to, send, receive, flags,
                     cut->from->ports + circuit->ports_at, circuit->hops);
    }
}

/* A node's circuits in its last steps. */
struct course {
    uint32_t step;  /* 1 + the last one */
    bool kept;      /* some circuit of it */
    bool was_kept;  /* of the one before */
    uint32_t waits; /* 1 + the last one in which it does not go ahead */
};

/* Whether the node has any circuit in the step that one of this step overlaps when it goes ahead.
 */
static bool overlaps(struct course *course, uint32_t step)
{
    return course->step == step + 1 ? course->was_kept : course->kept;
}

static void note(struct course *course, uint32_t step, bool kept)
{
    if (course->step != step + 1) {
        course->was_kept = course->kept;
        course->kept = false;
        course->step = step + 1;
    }
    course->kept |= kept;
}

/* What went ahead of a circuit that is left out waits now, and with it what its two nodes have else
 * in the step: it would be set up while what it sends still comes. It waits for no more than that
 * circuit did. */
static void let_wait(struct cut *cut, const uint32_t *counts, bool *waits)
{
    const struct plan *from = cut->from;
    struct course *courses = planner_memory(from->network.nodes, sizeof *courses);
    uint32_t end;

    for (uint32_t begin = 0; begin < from->circuit_count; begin = end) {
        uint32_t step = from->circuits[begin].step;
        bool more = true;
        for (end = begin; end < from->circuit_count && from->circuits[end].step == step; end++) {
            const struct plan_circuit *c = &from->circuits[end];
            if (is_copy(c)) {
                continue;
            }
            waits[end] = counts[end] &&
                         (!overlaps(&courses[c->from], step) || !overlaps(&courses[c->to], step));
            note(&courses[c->from], step, counts[end] > 0);
            note(&courses[c->to], step, counts[end] > 0);
        }
        while (more) {
            more = false;
            for (uint32_t i = begin; i < end; i++) {
                const struct plan_circuit *c = &from->circuits[i];
                uint32_t *ends[] = {&courses[c->from].waits, &courses[c->to].waits};
                bool now = waits[i] || *ends[0] == step + 1 || *ends[1] == step + 1;
                if (!is_copy(c) && counts[i] && now &&
                    (!waits[i] || *ends[0] != step + 1 || *ends[1] != step + 1)) {
                    *ends[0] = *ends[1] = step + 1;
                    waits[i] = more = true;
                }
            }
        }
    }
    free(courses);
}

/* Backwards over all circuits, to see what is kept, then forwards. Returns the steps. */
static uint32_t cut_circuits(struct cut *cut)
{
    const struct plan *from = cut->from;
    bool empty = operation_of(cut->plan->operation)->span[SPACE_RECEIVE] == SPAN_NONE;
    uint64_t blocks = 0;
    uint32_t steps = 0, last = UINT32_MAX;

    for (uint32_t i = 0; i < from->circuit_count; i++) {
        blocks += from->circuits[i].blocks;
    }
    bool *kept = planner_memory(blocks, sizeof *kept);
    uint32_t *counts = planner_memory(from->circuit_count, sizeof *counts);
    for (uint32_t i = from->circuit_count; i-- > 0;) {
        blocks -= from->circuits[i].blocks;
        counts[i] = empty ? !is_copy(&from->circuits[i])
                          : look_back(cut, &from->circuits[i], kept + blocks);
    }
    bool *waits = planner_memory(from->circuit_count, sizeof *waits);
    let_wait(cut, counts, waits);
    for (uint32_t i = 0; i < from->circuit_count; i++) {
        struct plan_circuit circuit = from->circuits[i];
        if (counts[i] > 0) {
            steps += circuit.step != last;
            last = circuit.step;
            circuit.flags &= waits[i] ? (uint8_t)~ROW_AHEAD : UINT8_MAX;
            keep(cut, &circuit, steps - 1, kept + blocks);
        }
        blocks += circuit.blocks;
    }
    free(waits);
    free(kept);
    free(counts);
    return steps;
}

/* Each node combines what it has, in the order of ranks. */
static void combine(struct cut *cut, uint32_t step)
{
    struct plan *plan = cut->plan;
    uint32_t m = cut->fine;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        uint32_t last = operation_of(plan->operation)->prefix ? node : plan->network.nodes - 1;
        for (uint32_t rank = 0; rank <= last && is_wanted(cut, node, rank); rank++) {
            struct place place = cut->places[index_of(cut, node, SPACE_RECEIVE, rank * m)];
            struct slots vector = slots_of(plan, (enum space)place.space, place.slot, m);
            build_copy(plan, step, node, vector, slots_of(plan, SPACE_RECEIVE, 0, m),
                       (rank > 0 ? ROW_COMBINES : 0) | ROW_AFTER_RECEIVED);
        }
    }
}

/* Of several movements to one node an exchange has the block of the first: where +2^i and -2^j add
 * up to the nodes, and of +1 and -1 once more. The others' go straight, behind it. */
static void add_movements(struct plan *plan, uint32_t step)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t slots = plan_slots_at(plan, SPACE_SEND, 0);

    plan->port = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        bool repeats = permute_repeats(plan, slot);
        for (uint32_t node = 0; repeats && node < plan->network.nodes; node++) {
            uint32_t to = operation_target(operation, &plan->network, plan->root, node, slot);
            build_circuit(plan, step, node, to, slots_of(plan, SPACE_SEND, slot, 1),
                          slots_of(plan, SPACE_RECEIVE, slot, 1), 0);
        }
        step += repeats;
    }
}

/* The plan ------------------------------------------------------------------------------------- */

static const char *refusal_of(const struct plan *container, const struct plan *plan)
{
    bool expands = container->invariant;
    uint64_t circuits =
        (uint64_t)container->circuit_count * (expands ? container->network.nodes : 1);

    return container->refused        ? container->refused
           : circuits > CIRCUITS_MAX ? "the plan that contains it has too many circuits"
           : plan->operation == ECUBE_REDUCE_SCATTER && container->operation == ECUBE_ALLREDUCE &&
                   container->segments % container->network.nodes
               ? "the plan that contains it has segments of several blocks"
           : plan->operation == ECUBE_BARRIER && container->segments > 1
               ? "the plan that contains it has several segments"
               : NULL;
}

/* In how many segments the container has what is a block here, or whole vectors there. */
static uint32_t segments_in(const struct plan *container, const struct plan *plan)
{
    if (!operation_of(container->operation)->vector) {
        return container->segments;
    }
    return plan->operation == ECUBE_REDUCE_SCATTER ? container->segments / container->network.nodes
                                                   : 1;
}

static struct plan *part_of(uint32_t operation, const struct network *network,
                            const struct plan_request *request)
{
    unsigned variant = request->variant;
    const struct candidate *source =
        sources_find(operation, network, sources_for(request->operation), &variant);
    const struct plan_request of_all = {
        .operation = operation, .variant = variant, .ports = request->ports};
    struct plan *plan = build_begin(network, request, false);
    struct plan *container = source ? source->plan(network, &of_all) : NULL;

    plan->refused = source ? refusal_of(container, plan) : "there is no such plan to be cut";
    if (!plan->refused) {
        struct plan *all = container->invariant ? plan_expand(container) : NULL;
        struct cut cut = {.from = all ? all : container,
                          .plan = plan,
                          .fine = segments_in(container, plan),
                          .combines_itself = combines_itself(plan->operation, operation)};
        plan->segments = operation_of(plan->operation)->vector ? container->segments : cut.fine;
        plan->sums_apart = container->sums_apart;
        cut_begin(&cut);
        uint32_t steps = cut_circuits(&cut);
        if (plan->operation == ECUBE_ALL_TO_SOME) {
            add_movements(plan, steps);
        }
        if (plan->operation != ECUBE_BARRIER) {
            build_ahead(plan);
        }
        if (cut.combines_itself) {
            combine(&cut, steps);
        }
        cut_end(&cut);
        plan_free(all);
    }
    plan_free(container);
    return plan;
}

static void words_of(uint32_t container, const struct network *network, uint32_t operation,
                     unsigned variant, char words[VARIANT_WORDS_MAX])
{
    const struct candidate *source =
        sources_find(container, network, sources_for(operation), &variant);
    char all[ALGORITHM_WORDS_MAX];

    words[0] = '\0';
    if (source) {
        candidate_words(source, network, variant, all);
        snprintf(words, VARIANT_WORDS_MAX, "%.*s", VARIANT_WORDS_MAX - 1, all);
    }
}

struct plan *plan_of_allgather(const struct network *network, const struct plan_request *request)
{
    return part_of(ECUBE_ALLGATHER, network, request);
}

unsigned allgather_variants(const struct network *network, const struct plan_request *request)
{
    return count_of(network, request, ECUBE_ALLGATHER);
}

unsigned made_of_allgather(const struct network *network, const struct plan_request *request,
                           struct made_of others[MADE_OF_MAX])
{
    return ask(network, request, ECUBE_ALLGATHER, others);
}

void allgather_words(const struct network *network, uint32_t operation, unsigned variant,
                     char words[VARIANT_WORDS_MAX])
{
    words_of(ECUBE_ALLGATHER, network, operation, variant, words);
}

struct plan *plan_of_allreduce(const struct network *network, const struct plan_request *request)
{
    return part_of(ECUBE_ALLREDUCE, network, request);
}

unsigned allreduce_variants(const struct network *network, const struct plan_request *request)
{
    return count_of(network, request, ECUBE_ALLREDUCE);
}

unsigned made_of_allreduce(const struct network *network, const struct plan_request *request,
                           struct made_of others[MADE_OF_MAX])
{
    return ask(network, request, ECUBE_ALLREDUCE, others);
}

void allreduce_words(const struct network *network, uint32_t operation, unsigned variant,
                     char words[VARIANT_WORDS_MAX])
{
    words_of(ECUBE_ALLREDUCE, network, operation, variant, words);
}

struct plan *plan_of_exchange(const struct network *network, const struct plan_request *request)
{
    return part_of(ECUBE_EXCHANGE, network, request);
}

unsigned exchange_variants(const struct network *network, const struct plan_request *request)
{
    return count_of(network, request, ECUBE_EXCHANGE);
}

unsigned made_of_exchange(const struct network *network, const struct plan_request *request,
                          struct made_of others[MADE_OF_MAX])
{
    return ask(network, request, ECUBE_EXCHANGE, others);
}

void exchange_words(const struct network *network, uint32_t operation, unsigned variant,
                    char words[VARIANT_WORDS_MAX])
{
    words_of(ECUBE_EXCHANGE, network, operation, variant, words);
}
