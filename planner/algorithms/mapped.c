/*
 * mapped.c - plans of another network that is the same but for the names of its nodes (alike.h):
 * each circuit goes between the nodes that its two become, over the same links, in the same order.
 * So it takes the same time.
 *
 *     cube:2      0 sends block 3 to 3 over 1      node 2 is ring:4's node 3, 3 is its node 2:
 *     ring:4      0 sends block 2 to 2 over 1      the path is given by its ports
 *
 * Ranks stay the user's: what a node has for, or of, a node of the other network it has for, or of,
 * the one which that becomes. A map keeps what most operations mean, whatever the order of ranks. A
 * root becomes the node whose place it takes; a shift or reversal is taken where some distance, or
 * mask, of the other network moves each block between the same two nodes; a scan where the map
 * keeps the order of ranks. All operators of reductions give the same in either order.
 *
 * A plan that is the same at all nodes stays so where the map makes a translation of every
 * translation (sides in another order), else it is laid down for all nodes, if these are at most
 * 4,096, with as many circuits as fit (Gray codes: x + 1 of a ring of four is no translation of a
 * cube).
 *
 * Under a map (struct network_map) that keeps neighbours, what the ranks form is such a network,
 * whose plans do here what they do there: so collectives are no dearer than on it.
 *
 * Variants  all plans of the other network, also those made of other operations there, but for
 *           those that are mapped; of them the cheapest for the size is looked at (choose.h)
 */
#include "planner/algorithms/mapped.h"

#include <stdio.h>
#include <stdlib.h>

#include "network/text.h"
#include "planner/algorithms/alike.h"
#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "drivers/check.h"

enum { NODES_MAX = 4096, CIRCUITS_MAX = 1 << 21 };

/* Slots ----------------------------------------------------------------------------------------
 */

struct mapping {
    const struct plan *from;
    struct plan *plan;
    const uint32_t *map, *names; /* of nodes; of the slots that are nodes' */
    struct pair *pairs;          /* of one circuit */
};

/* A block of a circuit: where it comes from, and goes to. */
struct pair {
    uint8_t space[2]; /* at the sender, at the receiver */
    uint32_t slot[2], place;
};

/* Whether slots are those of nodes, which have other numbers now. */
static bool is_renamed(const struct mapping *m, unsigned space)
{
    unsigned span = space < SPACE_SCRATCH ? operation_of(m->plan->operation)->span[space] : 0;

    return span == SPAN_NODES || span == SPAN_NODES_ROOT;
}

/* One end of a circuit's blocks, one by one. */
static uint32_t list_slots(const struct mapping *m, struct slots slots, unsigned end)
{
    struct slot_ranges ranges = ranges_of(m->from, slots, 0);
    struct slot_range range;
    uint32_t count = 0, cut = m->from->segments;

    while (ranges_next(&ranges, &range)) {
        for (uint32_t i = 0; i < range.count; i++, count++) {
            uint32_t slot = range.first + i;
            m->pairs[count].space[end] = range.space;
            m->pairs[count].slot[end] =
                is_renamed(m, range.space) ? m->names[slot / cut] * cut + slot % cut : slot;
            m->pairs[count].place = count;
        }
    }
    return count;
}

static int by_slot_sent(const void *one, const void *other)
{
    const struct pair *a = one, *b = other;

    if (a->space[0] != b->space[0]) {
        return a->space[0] < b->space[0] ? -1 : 1;
    }
    if (a->slot[0] != b->slot[0]) {
        return a->slot[0] < b->slot[0] ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

/* Adds a slot that keeps its place in the order at every node. */
static void add_alone(struct plan *plan, struct slots *slots, enum space space, uint32_t slot)
{
    struct plan_extent *last = slots->count ? &plan->extents[plan->extent_count - 1] : NULL;

    if (last && last->space == space && extent_repeats(last, slot, 1)) {
        return;
    }
    slots->count += slots_apart(plan, space, slot, 1, 1).count;
}

static struct slots end_of(const struct mapping *m, unsigned end, uint32_t count)
{
    struct slots slots = slots_begin(m->plan);

    for (uint32_t i = 0; i < count; i++) {
        enum space space = (enum space)m->pairs[i].space[end];
        if (m->plan->invariant) {
            add_alone(m->plan, &slots, space, m->pairs[i].slot[end]);
        } else {
            slots_add(m->plan, &slots, space, m->pairs[i].slot[end], 1);
        }
    }
    return slots;
}

static bool are_renamed(const struct mapping *m, struct slots slots)
{
    for (uint32_t i = 0; i < slots.count; i++) {
        if (is_renamed(m, m->from->extents[slots.at + i].space)) {
            return true;
        }
    }
    return false;
}

static struct slots copied(const struct mapping *m, struct slots slots)
{
    struct slots result = slots_begin(m->plan);
    struct slot_ranges ranges = ranges_of(m->from, slots, 0);
    struct slot_range range;

    while (ranges_next(&ranges, &range)) {
        slots_add(m->plan, &result, (enum space)range.space, range.first, range.count);
    }
    return result;
}

/* The slots of both ends. Blocks travel in the order in which they are sent from, so that they are
 * few pieces; those of a plan that is one for all nodes keep theirs. */
static void map_slots(const struct mapping *m, const struct plan_circuit *circuit,
                      struct slots *send, struct slots *receive)
{
    if (!are_renamed(m, sent_slots(circuit)) && !are_renamed(m, received_slots(circuit))) {
        *send = copied(m, sent_slots(circuit));
        *receive = copied(m, received_slots(circuit));
        return;
    }
    uint32_t count = list_slots(m, sent_slots(circuit), 0);
    list_slots(m, received_slots(circuit), 1);
    if (!m->plan->invariant) {
        qsort(m->pairs, count, sizeof *m->pairs, by_slot_sent);
    }
    *send = end_of(m, 0, count);
    *receive = end_of(m, 1, count);
}

/* Circuits --------------------------------------------------------------------------------------
 */

/* The ports of the path between the nodes that a circuit's become; false: it is the network's own.
 */
static bool map_path(const struct mapping *m, const struct plan_circuit *circuit,
                     uint8_t ports[UINT8_MAX])
{
    const struct network *network = &m->plan->network;
    uint32_t at = circuit->from;
    bool own = network_distance(network, m->map[at], m->map[circuit->to]) == circuit->hops;

    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        uint32_t next =
            network_neighbour(&m->from->network, at, circuit_port(m->from, circuit, at, hop));
        ports[hop] = (uint8_t)network_port_to(network, m->map[at], m->map[next]);
        own = own && ports[hop] == network_next_hop(network, m->map[at], m->map[circuit->to]);
        at = next;
    }
    return !own;
}

static void map_circuit(const struct mapping *m, const struct plan_circuit *circuit)
{
    uint32_t from = m->map[circuit->from], to = m->map[circuit->to];
    struct slots send, receive;
    uint8_t ports[UINT8_MAX];

    map_slots(m, circuit, &send, &receive);
    m->plan->port = circuit->port;
    if (is_copy(circuit)) {
        build_copy(m->plan, circuit->step, from, send, receive, circuit->flags);
    } else if (map_path(m, circuit, ports)) {
        build_routed(m->plan, circuit->step, from, to, send, receive, circuit->flags, ports,
                     circuit->hops);
    } else {
        build_circuit(m->plan, circuit->step, from, to, send, receive, circuit->flags);
    }
}

static uint32_t most_blocks(const struct plan *plan)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        most = plan->circuits[i].blocks > most ? plan->circuits[i].blocks : most;
    }
    return most;
}

static struct plan *renamed(const struct plan *from, const struct network *network,
                            const uint32_t *map, const uint32_t *names,
                            const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, from->invariant);
    struct mapping m = {.from = from, .plan = plan, .map = map, .names = names};

    plan->segments = from->segments;
    plan->sums_apart = from->sums_apart;
    plan->refused = from->refused;
    for (uint32_t node = 0; node < (from->invariant ? 1 : network->nodes); node++) {
        plan->scratch[map[node]] = from->scratch[node];
    }
    m.pairs = planner_memory(most_blocks(from), sizeof *m.pairs);
    for (uint32_t i = 0; i < from->circuit_count && !plan->refused; i++) {
        map_circuit(&m, &from->circuits[i]);
    }
    free(m.pairs);
    return plan;
}

struct plan *map_plan(const struct plan *from, const struct network *network, const uint32_t *map,
                      const struct plan_request *request)
{
    return renamed(from, network, map, map, request);
}

struct plan *rename_slots(const struct plan *from, const uint32_t *names)
{
    const struct plan_request request = {
        .operation = from->operation, .root = from->root, .choice = from->choice};
    uint32_t *same = planner_memory(from->network.nodes, sizeof *same);

    for (uint32_t node = 0; node < from->network.nodes; node++) {
        same[node] = node;
    }
    struct plan *plan = renamed(from, &from->network, same, names, &request);
    plan->algorithm = from->algorithm;
    plan->variant = from->variant;
    plan->type = from->type;
    plan->choice = from->choice;
    plan->bytes_min = from->bytes_min;
    plan->bytes_max = from->bytes_max;
    free(same);
    return plan;
}

/* The request -----------------------------------------------------------------------------------
 */

/* Whether plans of another network do what an operation promises here, from every root. */
static bool keeps_meaning(const struct network *from, const struct network *network,
                          uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    if (row->prefix || row->parameter == PARAMETER_DISTANCE) {
        return alike_keeps_order(from, network);
    }
    return row->parameter != PARAMETER_DIMENSIONS || alike_keeps_reversals(from, network);
}

/* The dimensions in which a node is not at the first place: of what node 0 becomes when some are
 * reversed, these. */
static uint32_t dimensions_of(const struct network *network, uint32_t node)
{
    uint32_t dimensions = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        dimensions |= (uint32_t)(node / dim->stride % dim->size > 0) << k;
    }
    return dimensions;
}

/* What stands in the place of the root there. */
static uint32_t root_of(const struct network *from, const struct network *network,
                        const struct plan_request *request)
{
    const struct operation *operation = operation_of(request->operation);

    if (request->root == CANDIDATE_ROOT_ANY || (operation->parameter && network->map)) {
        return request->root;
    }
    if (operation->parameter == PARAMETER_DIMENSIONS) {
        uint32_t target = operation_target(operation, network, request->root, 0, 0);
        return dimensions_of(from, alike_node(network, from, target));
    }
    return operation->rooted ? alike_node(network, from, request->root) : request->root;
}

/* The same request there, whatever algorithm is asked for here. */
static struct plan_request request_of(const struct network *from, const struct network *network,
                                      const struct plan_request *request)
{
    struct plan_request other = *request;

    other.root = root_of(from, network, request);
    other.algorithm = NULL;
    other.choice = 0;
    return other;
}

static unsigned variants_there(const struct network *from, const struct network *network,
                               uint32_t operation)
{
    return keeps_meaning(from, network, operation) ? sources_count(operation, from, SOURCES_THERE)
                                                   : 0;
}

/* The candidate of another network that has a variant, which becomes its own; NULL: none has. */
static const struct candidate *find_source(const struct network *network, uint32_t operation,
                                           unsigned *variant, struct network *from)
{
    struct network others[ALIKE_MAX];
    unsigned count = alike_networks(network, others);

    for (unsigned i = 0; i < count; i++) {
        unsigned variants = variants_there(&others[i], network, operation);
        if (*variant < variants) {
            *from = others[i];
            return sources_find(operation, from, SOURCES_THERE, variant);
        }
        *variant -= variants;
    }
    return NULL;
}

/* The plan -------------------------------------------------------------------------------------
 */

/* Whether it has another whose plans of an operation it can take. */
static bool possible_for(const struct network *network, uint32_t operation)
{
    struct network others[ALIKE_MAX];
    unsigned count = network->nodes <= NODES_MAX ? alike_networks(network, others) : 0;

    for (unsigned i = 0; i < count; i++) {
        if (keeps_meaning(&others[i], network, operation)) {
            return true;
        }
    }
    return false;
}

bool possible_mapped(const struct network *network)
{
    return possible_for(network, ECUBE_BARRIER);
}

bool possible_in_order(const struct network *network)
{
    return possible_for(network, ECUBE_SCAN);
}

bool possible_reversed(const struct network *network)
{
    return possible_for(network, ECUBE_REVERSE);
}

unsigned mapped_networks(const struct network *network)
{
    struct network others[ALIKE_MAX];

    return alike_networks(network, others);
}

unsigned mapped_variants(const struct network *network, const struct plan_request *request)
{
    struct network others[ALIKE_MAX];
    unsigned count = alike_networks(network, others), variants = 0;

    for (unsigned i = 0; i < count; i++) {
        variants += variants_there(&others[i], network, request->operation);
    }
    return variants;
}

unsigned made_of_mapped(const struct network *network, const struct plan_request *request,
                        struct made_of made_of[MADE_OF_MAX])
{
    struct network others[ALIKE_MAX];
    unsigned which = request->variant, first = 0;

    alike_networks(network, others);
    for (unsigned i = 0; i < which; i++) {
        first += variants_there(&others[i], network, request->operation);
    }
    made_of[0] = (struct made_of){.of = SOURCES_THERE,
                                  .first = first,
                                  .network = others[which],
                                  .request = request_of(&others[which], network, request),
                                  .times = request->operation != ECUBE_BARRIER,
                                  .parts = 1};
    return keeps_meaning(&others[which], network, request->operation);
}

void mapped_words(const struct network *network, uint32_t operation, unsigned variant,
                  char words[VARIANT_WORDS_MAX])
{
    struct network from;
    const struct candidate *source = find_source(network, operation, &variant, &from);
    char name[NETWORK_NAME_MAX], all[ALGORITHM_WORDS_MAX];

    words[0] = '\0';
    if (source) {
        network_name(&from, name);
        candidate_words(source, &from, variant, all);
        int used = snprintf(words, VARIANT_WORDS_MAX, "from %s, ", name);
        snprintf(words + used, (size_t)(VARIANT_WORDS_MAX - used), "%.*s",
                 VARIANT_WORDS_MAX - used - 1, all);
    }
}

struct plan *plan_mapped(const struct network *network, const struct plan_request *request)
{
    unsigned variant = request->variant;
    struct network from;
    const struct candidate *source = find_source(network, request->operation, &variant, &from);
    struct plan *plan, *all = NULL;

    CHECK(source);
    struct plan_request other = request_of(&from, network, request);
    other.variant = variant;
    struct plan *there = source->plan(&from, &other);
    uint32_t *map = alike_map(&from, network);
    bool expands = there->invariant && !alike_keeps_translations(&from, network, map);
    if (expands && (uint64_t)there->circuit_count * from.nodes > CIRCUITS_MAX) {
        plan = build_begin(network, request, false);
        plan->refused = "the plan that is mapped has too many circuits";
    } else {
        all = expands && !there->refused ? plan_expand(there) : NULL;
        plan = map_plan(all ? all : there, network, map, request);
    }
    plan_free(all);
    plan_free(there);
    free(map);
    return plan;
}
