/*
 * composed.c - plans of two operations, one after the other, that do the same as one.
 *
 *     broadcast = scatter, allgather              a share of the vector for each node
 *     reduce    = reduce_scatter, gather
 *     allreduce = reduce_scatter, allgather
 *     allreduce = reduce to node 0, broadcast from it
 *     scan      = exchange, exchange              between them each node combines its share's
 *                                                 contributions in the order of ranks
 *
 * Slots. A share is a segment of the vector; of a vector in m segments and one in f m, f segments
 * are one. What lies in a slot is followed through both plans by its segment's name. Slots of the
 * program's buffers become the vector's of that segment; what each plan has in scratch, and what
 * lies between the two, goes into scratch in layers of whole vectors, since a slot there has the
 * size of its segment.
 *
 *     scan on ring:3, node 1   first exchange    0, 1 and 2 send it segment 1 into three layers
 *                              between           the sums 0, 0 1 and 0 1 2 of segment 1
 *                              second exchange   they go to 0, 1 and 2
 *
 * Variants  the pairs of the two operations' plans
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "drivers/check.h"

enum { CIRCUITS_MAX = 1 << 16, NODES_MAX = 1024 };

static const uint32_t NOTHING = UINT32_MAX;

/* The two operations that are one, and whether each moves shares of the vector. */
struct pair {
    uint32_t operation, parts[2];
    bool shares;
};

static const struct pair in_shares[] = {
    {ECUBE_BROADCAST, {ECUBE_SCATTER, ECUBE_ALLGATHER}, true},
    {ECUBE_REDUCE, {ECUBE_REDUCE_SCATTER, ECUBE_GATHER}, true},
    {ECUBE_ALLREDUCE, {ECUBE_REDUCE_SCATTER, ECUBE_ALLGATHER}, true},
    {ECUBE_SCAN, {ECUBE_EXCHANGE, ECUBE_EXCHANGE}, true},
};
static const struct pair whole = {ECUBE_ALLREDUCE, {ECUBE_REDUCE, ECUBE_BROADCAST}, false};

static const struct pair *pair_of(uint32_t operation)
{
    const struct pair *pair = in_shares;

    while (pair->operation != operation) {
        CHECK(pair < in_shares + sizeof in_shares / sizeof in_shares[0] - 1);
        pair++;
    }
    return pair;
}

/* A slot of the whole plan, behind others of the same slot of the part's. */
struct place {
    uint8_t space;
    uint32_t slot, segment;
    uint32_t next; /* 1 + its index */
};

/* One of the two plans, and where its slots lie in the whole. */
struct half {
    const struct plan *from; /* of all nodes */
    struct plan *plan;       /* the whole */
    unsigned number;
    uint32_t fine;    /* segments of the whole in a slot */
    uint32_t *at;     /* of each node and space its first slot, of all in one row */
    uint32_t *held;   /* the segment of which each slot holds a part; NOTHING */
    uint32_t *places; /* of each slot of scratch: 1 + the index of the first place that it has */
    struct place *pool;
    uint32_t pooled;
    uint32_t *layers; /* [node * segments + segment]: of the whole's scratch that are taken */
};

/* Places ---------------------------------------------------------------------------------------
 */

static struct place at(enum space space, uint32_t slot)
{
    return (struct place){.space = (uint8_t)space, .slot = slot};
}

/* The slot of scratch for a segment, in a layer of the whole's. */
static struct place in_layer(struct half *half, uint32_t node, uint32_t layer, uint32_t segment)
{
    uint32_t slot = layer * half->plan->segments + segment;
    uint32_t *scratch = &half->plan->scratch[node], *taken;

    taken = &half->layers[(uint64_t)node * half->plan->segments + segment];
    *taken = *taken > layer ? *taken : layer + 1;
    *scratch = *scratch > slot ? *scratch : slot + 1;
    return at(SPACE_SCRATCH, slot);
}

/* Of a share what lies between the two plans at a node: the contribution, or sum, of a rank; a
 * segment of it. */
static struct place between(struct half *half, uint32_t node, uint32_t rank, uint32_t segment)
{
    struct plan *plan = half->plan;

    switch (plan->operation) {
    case ECUBE_REDUCE:
        return node == plan->root ? at(SPACE_RECEIVE, segment) : in_layer(half, node, 0, segment);
    case ECUBE_SCAN: return in_layer(half, node, rank, segment);
    default: return at(SPACE_RECEIVE, segment);
    }
}

/* The sum of the ranks up to one lies where that before it has lain, and the first where it came;
 * one layer is free for the second. */
static struct place sum_of(struct half *half, uint32_t node, uint32_t rank)
{
    uint32_t layer = rank == 0 ? 0 : rank == 1 ? half->plan->network.nodes : rank - 1;

    return between(half, node, layer, node);
}

/* Where the whole has the segment that the half has in a slot of a buffer. */
static struct place of_buffer(struct half *half, enum space space, uint32_t node, uint32_t slot,
                              uint32_t segment)
{
    bool first = half->number == 0, sent = space == SPACE_SEND;
    bool one = operation_of(half->from->operation)->span[space] == SPAN_ONE;

    switch (half->from->operation) {
    case ECUBE_SCATTER: return at(SPACE_RECEIVE, segment);
    case ECUBE_EXCHANGE:
        return first ? (sent ? at(SPACE_SEND, slot) : between(half, node, slot, node))
                     : (sent ? sum_of(half, node, slot) : at(SPACE_RECEIVE, slot));
    case ECUBE_REDUCE_SCATTER:
        return one ? between(half, node, node, segment) : at(SPACE_SEND, segment);
    default: return one ? between(half, node, node, segment) : at(SPACE_RECEIVE, segment);
    }
}

/* Of scratch a slot for each segment that ever lies in it, in the lowest layer that is free. */
static struct place of_scratch(struct half *half, uint32_t node, uint64_t index, uint32_t segment)
{
    for (uint32_t i = half->places[index]; i; i = half->pool[i - 1].next) {
        if (half->pool[i - 1].segment == segment) {
            return half->pool[i - 1];
        }
    }
    uint32_t layer = half->layers[(uint64_t)node * half->plan->segments + segment];
    struct place place = in_layer(half, node, layer, segment);
    place.segment = segment;
    place.next = half->places[index];
    half->pool = planner_grow(half->pool, half->pooled, sizeof place);
    half->pool[half->pooled++] = place;
    half->places[index] = half->pooled;
    return place;
}

/* The i-th segment's place of a slot. */
static struct place place_of(struct half *half, uint32_t node, enum space space, uint32_t slot,
                             uint32_t segment)
{
    uint64_t index = half->at[(uint64_t)node * SPACES + space] + slot;
    bool vector = operation_of(half->from->operation)->vector;

    return space == SPACE_SCRATCH ? of_scratch(half, node, index, segment)
           : vector               ? at(space, segment)
                                  : of_buffer(half, space, node, slot, segment);
}

/* Contents -------------------------------------------------------------------------------------
 */

/* The segment, of as many as the half has, of which a buffer's slot holds a part. */
static uint32_t segment_in(const struct plan *from, enum space space, uint32_t node, uint32_t slot)
{
    uint64_t block = plan_block_of(from, space, node, slot);
    uint64_t all = (uint64_t)from->network.nodes * from->segments;

    switch (from->operation) {
    case ECUBE_SCATTER:
    case ECUBE_REDUCE_SCATTER: return (uint32_t)(block % all);
    case ECUBE_GATHER:
    case ECUBE_ALLGATHER: return (uint32_t)(block / all);
    default: return (uint32_t)block;
    }
}

static void half_begin(struct half *half)
{
    uint32_t nodes = half->from->network.nodes, total;

    half->at = plan_slots_index(half->from, &total);
    half->held = planner_memory(total, sizeof *half->held);
    half->places = planner_memory(total, sizeof *half->places);
    for (uint32_t i = 0; i < total; i++) {
        half->held[i] = NOTHING;
    }
    for (uint32_t i = 0; i < nodes * SPACES; i++) {
        enum space space = (enum space)(i % SPACES);
        uint32_t node = i / SPACES;
        bool before = operation_of(half->from->operation)->span[SPACE_SEND] == SPAN_NONE
                          ? space == SPACE_RECEIVE
                          : space == SPACE_SEND;
        for (uint32_t slot = 0; before && slot < plan_slots_at(half->from, space, node); slot++) {
            uint32_t segment = segment_in(half->from, space, node, slot);
            if (half->from->operation == ECUBE_EXCHANGE) {
                segment = half->number ? node : slot;
            }
            half->held[half->at[i] + slot] = segment;
        }
    }
}

static void half_end(struct half *half)
{
    free(half->at);
    free(half->held);
    free(half->places);
    free(half->pool);
}

/* Circuits --------------------------------------------------------------------------------------
 */

/* Both ends of a circuit, or copy, in the whole. */
struct ends {
    struct place *sent, *received;
    uint32_t count;
};

static void add_slot(struct half *half, const struct plan_circuit *circuit, struct ends *ends,
                     struct slot_range source, struct slot_range target)
{
    uint32_t *from = &half->at[(uint64_t)circuit->from * SPACES + source.space];
    uint32_t *to = &half->at[(uint64_t)circuit->to * SPACES + target.space];
    uint32_t held = half->held[*from + source.first];

    if (held == NOTHING) {
        half->plan->refused = "a plan that it is made of sends what it has not";
        return;
    }
    half->held[*to + target.first] = held;
    for (uint32_t i = 0; i < half->fine; i++) {
        uint32_t segment = held * half->fine + i;
        struct place sent =
            place_of(half, circuit->from, (enum space)source.space, source.first, segment);
        struct place received =
            place_of(half, circuit->to, (enum space)target.space, target.first, segment);
        if (is_copy(circuit) && sent.space == received.space && sent.slot == received.slot) {
            continue;
        }
        ends->sent = planner_grow(ends->sent, ends->count, sizeof *ends->sent);
        ends->received = planner_grow(ends->received, ends->count, sizeof *ends->received);
        ends->sent[ends->count] = sent;
        ends->received[ends->count++] = received;
    }
}

static struct slots slots_for(struct plan *plan, const struct place *places, uint32_t count)
{
    struct slots slots = slots_begin(plan);

    for (uint32_t i = 0; i < count; i++) {
        slots_add(plan, &slots, (enum space)places[i].space, places[i].slot, 1);
    }
    return slots;
}

static void add_circuit(struct half *half, const struct plan_circuit *circuit, uint32_t step,
                        struct ends *ends)
{
    struct slot_ranges sources = ranges_of(half->from, sent_slots(circuit), 0);
    struct slot_ranges targets = ranges_of(half->from, received_slots(circuit), 0);
    struct slot_range source = {0}, target = {0};
    struct plan *plan = half->plan;

    ends->count = 0;
    while (ranges_next_slot(&sources, &source) && ranges_next_slot(&targets, &target)) {
        add_slot(half, circuit, ends, source, target);
    }
    if (is_copy(circuit) && ends->count == 0) {
        return;
    }
    struct slots sent = slots_for(plan, ends->sent, ends->count);
    struct slots received = slots_for(plan, ends->received, ends->count);
    step += circuit->step;
    plan->port = circuit->port;
    if (is_copy(circuit)) {
        build_copy(plan, step, circuit->from, sent, received, circuit->flags);
    } else if (circuit->ports_at == PLAN_DIMENSION_ORDER) {
        build_circuit(plan, step, circuit->from, circuit->to, sent, received, circuit->flags);
    } else {
        build_routed(plan, step, circuit->from, circuit->to, sent, received, circuit->flags,
                     half->from->ports + circuit->ports_at, circuit->hops);
    }
}

/* Lays a half down from a step on; returns the step behind it. */
static uint32_t add_half(struct half *half, uint32_t step)
{
    struct ends ends = {0};
    uint32_t end = step;

    half_begin(half);
    for (uint32_t i = 0; i < half->from->circuit_count && !half->plan->refused; i++) {
        add_circuit(half, &half->from->circuits[i], step, &ends);
        end = step + half->from->circuits[i].step + 1;
    }
    half_end(half);
    free(ends.sent);
    free(ends.received);
    return end;
}

/* Each node makes the sums of its share, of the ranks up to each. */
static void add_up(struct half *half, uint32_t step)
{
    struct plan *plan = half->plan;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        for (uint32_t rank = 1; rank < plan->network.nodes; rank++) {
            struct place before = sum_of(half, node, rank - 1), sum = sum_of(half, node, rank);
            struct place own = between(half, node, rank, node);
            struct slots to = slots_of(plan, SPACE_SCRATCH, sum.slot, 1);
            build_copy(plan, step, node, slots_of(plan, SPACE_SCRATCH, before.slot, 1), to, 0);
            build_copy(plan, step, node, slots_of(plan, SPACE_SCRATCH, own.slot, 1), to,
                       ROW_COMBINES);
        }
    }
}

/* The plan ------------------------------------------------------------------------------------- */

/* A plan of all nodes, and the one that it is of if that is another. */
struct source {
    struct plan *laid, *all;
};

static struct source source_of(const struct pair *pair, unsigned number,
                               const struct network *network, const struct plan_request *request)
{
    unsigned second = sources_count(pair->parts[1], network, sources_for(pair->operation));
    unsigned variant = number ? request->variant % second : request->variant / second;
    const struct candidate *candidate =
        sources_find(pair->parts[number], network, sources_for(pair->operation), &variant);
    const bool rooted = operation_of(pair->parts[number])->rooted;
    const struct plan_request of = {.operation = pair->parts[number],
                                    .root = rooted && pair->shares ? request->root : 0,
                                    .variant = variant,
                                    .ports = request->ports};
    struct source source = {0};

    if (candidate) {
        source.laid = source.all = candidate->plan(network, &of);
        if (!source.laid->refused && source.laid->invariant) {
            source.all = plan_expand(source.laid);
        }
    }
    return source;
}

static void source_free(struct source *source)
{
    if (source->all != source->laid) {
        plan_free(source->all);
    }
    plan_free(source->laid);
}

/* What lies between the two plans has its layers of scratch. */
static void take_layers(const struct plan *plan, uint32_t *layers)
{
    uint32_t fine = plan->segments / plan->network.nodes;

    for (uint32_t i = 0; i < plan->segments; i++) {
        uint32_t node = i / fine, *taken = &layers[(uint64_t)node * plan->segments + i];
        switch (plan->operation) {
        case ECUBE_REDUCE: *taken = node != plan->root; break;
        case ECUBE_SCAN: *taken = plan->network.nodes + 1; break;
        default: break;
        }
    }
}

static const char *refusal_of(const struct source *a, const struct source *b)
{
    if (!a->laid || !b->laid) {
        return "there are no such plans to be put together";
    }
    if (a->laid->refused || b->laid->refused) {
        return a->laid->refused ? a->laid->refused : b->laid->refused;
    }
    if ((uint64_t)a->all->circuit_count + b->all->circuit_count > CIRCUITS_MAX) {
        return "the plans that it is made of have too many circuits";
    }
    uint32_t m = a->all->segments, n = b->all->segments;
    return m % n && n % m ? "the plans that it is made of have segments that do not match" : NULL;
}

static struct plan *composed(const struct pair *pair, const struct network *network,
                             const struct plan_request *request)
{
    struct source a = source_of(pair, 0, network, request);
    struct source b = source_of(pair, 1, network, request);
    struct plan *plan = build_begin(network, request, false);

    plan->refused = refusal_of(&a, &b);
    if (!plan->refused) {
        uint32_t m = a.all->segments, n = b.all->segments;
        plan->sums_apart = a.all->sums_apart || b.all->sums_apart;
        plan->segments = (m > n ? m : n) * (pair->shares ? network->nodes : 1);
        uint32_t *layers =
            planner_memory((uint64_t)network->nodes * plan->segments, sizeof *layers);
        struct half first = {.from = a.all, .plan = plan, .layers = layers, .number = 0};
        struct half second = {.from = b.all, .plan = plan, .layers = layers, .number = 1};
        if (pair->shares) {
            take_layers(plan, layers);
        }
        first.fine = (m > n ? m : n) / m;
        second.fine = (m > n ? m : n) / n;
        uint32_t step = add_half(&first, 0);
        if (plan->operation == ECUBE_SCAN) {
            add_up(&first, step);
        }
        add_half(&second, step);
        /* Written plans have a block of both halves in one place (written.h). */
        build_ahead_parted(plan, step);
        free(layers);
    }
    source_free(&a);
    source_free(&b);
    return plan;
}

static unsigned variants_of(const struct pair *pair, const struct network *network)
{
    return sources_count(pair->parts[0], network, sources_for(pair->operation)) *
           sources_count(pair->parts[1], network, sources_for(pair->operation));
}

static unsigned made_of(const struct pair *pair, const struct network *network,
                        const struct plan_request *request, struct made_of others[MADE_OF_MAX])
{
    for (unsigned i = 0; i < 2; i++) {
        bool rooted = operation_of(pair->parts[i])->rooted && pair->shares;
        others[i] = (struct made_of){.of = sources_for(pair->operation),
                                     .network = *network,
                                     .request = {.operation = pair->parts[i],
                                                 .root = rooted ? request->root : 0,
                                                 .type = request->type,
                                                 .profile = request->profile},
                                     .times = 1,
                                     .parts = pair->shares ? network->nodes : 1};
    }
    return 2;
}

static void words_of(const struct pair *pair, const struct network *network, unsigned variant,
                     char words[VARIANT_WORDS_MAX])
{
    unsigned second = sources_count(pair->parts[1], network, sources_for(pair->operation));
    unsigned variants[] = {variant / second, variant % second};
    char all[2][ALGORITHM_WORDS_MAX] = {"", ""};

    for (unsigned i = 0; i < 2; i++) {
        const struct candidate *candidate =
            sources_find(pair->parts[i], network, sources_for(pair->operation), &variants[i]);
        if (candidate) {
            candidate_words(candidate, network, variants[i], all[i]);
        }
    }
    snprintf(words, VARIANT_WORDS_MAX, "%.60s + %.60s", all[0], all[1]);
}

bool possible_composed(const struct network *network)
{
    return network->nodes > 1 && network->nodes <= NODES_MAX;
}

struct plan *plan_in_shares(const struct network *network, const struct plan_request *request)
{
    return composed(pair_of(request->operation), network, request);
}

struct plan *plan_as_wholes(const struct network *network, const struct plan_request *request)
{
    return composed(&whole, network, request);
}

unsigned shares_variants(const struct network *network, const struct plan_request *request)
{
    return variants_of(pair_of(request->operation), network);
}

unsigned wholes_variants(const struct network *network, const struct plan_request *request)
{
    (void)request;
    return variants_of(&whole, network);
}

unsigned made_of_shares(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX])
{
    return made_of(pair_of(request->operation), network, request, others);
}

unsigned made_of_wholes(const struct network *network, const struct plan_request *request,
                        struct made_of others[MADE_OF_MAX])
{
    return made_of(&whole, network, request, others);
}

void broadcast_shares_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX])
{
    words_of(pair_of(ECUBE_BROADCAST), network, variant, words);
}

void reduce_shares_words(const struct network *network, unsigned variant,
                         char words[VARIANT_WORDS_MAX])
{
    words_of(pair_of(ECUBE_REDUCE), network, variant, words);
}

void allreduce_shares_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX])
{
    words_of(pair_of(ECUBE_ALLREDUCE), network, variant, words);
}

void scan_shares_words(const struct network *network, unsigned variant,
                       char words[VARIANT_WORDS_MAX])
{
    words_of(pair_of(ECUBE_SCAN), network, variant, words);
}

void wholes_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    words_of(&whole, network, variant, words);
}
