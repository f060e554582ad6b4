/*
 * all_to_some.c - from all to some: each node has a block for each movement by a power of two on
 * the ring of places (collectives/movement.h).
 *
 * By Gray code, on a cube whose places are the Gray ring's. The codes of places i and i + 2^j
 * differ in one bit for j = 0, else in two: in bit j - 1 and in one above it. Of these phi_i(j) is
 * the one that comes first in the schedule, and the other is phi of the place to which it leads.
 * For one place all phi_i(j) are different, and so are those over which blocks come. So all blocks
 * of +2^j go at once, first over phi_i(j), then those with j > 0 over phi of where they are; and
 * then all of -2^j, which have the mirrored table: varphi_i(j) = phi_(N - 1 - i)(j).
 *
 *     cube:3      place        0 1 2 3 4 5 6 7
 *                 node         0 1 3 2 6 7 5 4
 *                 phi_i(0)     0 1 0 2 0 1 0 2    +1 of place 1: over link 1, from node 1 to 3
 *                 phi_i(1)     1 0 2 0 1 0 2 0    +2 of place 0: 0 -> 2 over link 1, place 3, where
 *                 phi_i(2)     2 2 1 1 2 2 1 1        phi is 0: 2 -> 3, place 2
 *
 * In the second step of each half the neighbour's link is free: there goes what is to go by +1 or
 * -1 once more. +-2^(n-1) is one movement, and goes with the first half.
 *
 * On the 3-cube a search found a schedule of three steps for the five movements, the bound. The
 * cube turned by two places of the ring is the cube with links 1 and 2 exchanged, so what places 0
 * and 1 do is the whole schedule. Each node uses link 0, the busiest, in every step. From four
 * dimensions on four steps are the least, by the links of dimension 1.
 *
 * With fewer ports than links a node cannot do that. One movement after the other takes one port,
 * and one or two steps of neighbours each.
 *
 * Source   Hu, Optimal All-to-Some Personalized Communication on Hypercubes, theorems 1 to 5
 * Names    the paper's H_n is gray_change; phi and varphi are all_to_some_link
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/all_to_some.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/permute.h"

enum { VARIANT_AHEAD = 1, VARIANT_THREE = 2, HALVES = 2, HALF_STEPS = 2 };

/* Of the 3-cube: its dimensions, movements, and the places of which the others are turned ones. */
enum { THREE_DIMS = 3, THREE_STEPS = 3, THREE_MOVEMENTS = 5, THREE_PLACES = 2, HOPS_MAX = 2 };

/* Links ---------------------------------------------------------------------------------------- */

unsigned gray_change(unsigned n, uint32_t place)
{
    uint32_t ones = ~(place & ((UINT32_C(1) << n) - 1));
    unsigned change = (unsigned)__builtin_ctz(ones);

    return change < n ? change : n - 1;
}

unsigned all_to_some_link(unsigned n, uint32_t place, unsigned j, bool back)
{
    uint32_t i = back ? (UINT32_C(1) << n) - 1 - place : place;

    if (j == 0) {
        return gray_change(n, i);
    }
    uint32_t half = UINT32_C(1) << (j - 1);
    return gray_change(n, i / half * half + 2 * half - 1);
}

/* The plan ------------------------------------------------------------------------------------- */

/* A plan under way. Scratch has a slot for each of a node's own. */
struct laying {
    struct plan *plan;
    unsigned n;
    uint32_t nodes, slots, step;
    uint32_t *place_of; /* of each node */
};

/* A circuit of a movement out of a node, at its place: in its first step, or its second. */
static void lay_circuit(struct laying *l, uint32_t node, unsigned link, uint32_t slot, unsigned hop,
                        bool last)
{
    struct slots from = slots_of(l->plan, hop == 0 ? SPACE_SEND : SPACE_SCRATCH, slot, 1);
    struct slots to = slots_of(l->plan, last ? SPACE_RECEIVE : SPACE_SCRATCH, slot, 1);
    uint32_t next = node ^ UINT32_C(1) << link;

    build_circuit(l->plan, l->step, node, next, from, to, hop ? ROW_AFTER_RECEIVED : 0);
}

/* What goes in a step of a half: movement +2^j or -2^j, or once more +1 or -1; UINT32_MAX: nothing.
 */
static uint32_t slot_in(const struct laying *l, unsigned half, unsigned hop, unsigned j)
{
    uint32_t movement = 2 * j + half;

    if (hop > 0 && j == 0) {
        movement = MOVEMENT_AGAIN + half;
    }
    return movement_slot(l->nodes, l->plan->root, movement);
}

/* One step of a half: every node sends over every link at most once, in the order of links. */
static void lay_step(struct laying *l, unsigned half, unsigned hop)
{
    uint32_t before = l->plan->circuit_count;

    for (unsigned link = 0; link < l->n; link++) {
        l->plan->port = (uint8_t)link;
        for (uint32_t node = 0; node < l->nodes; node++) {
            for (unsigned j = 0; j < l->n; j++) {
                uint32_t slot = slot_in(l, half, hop, j);
                if (slot < l->slots && all_to_some_link(l->n, l->place_of[node], j, half) == link) {
                    lay_circuit(l, node, link, slot, j > 0 ? hop : 0, j == 0 || hop > 0);
                }
            }
        }
    }
    l->step += l->plan->circuit_count > before;
}

/* One movement by itself: each node sends one block over one link in a step. */
static void lay_alone(struct laying *l, uint32_t slot)
{
    uint32_t movement = movement_of(l->nodes, l->plan->root, slot);
    unsigned j = movement >= MOVEMENT_AGAIN ? 0 : movement / 2, hops = j > 0 ? 2 : 1;

    for (unsigned hop = 0; hop < hops; hop++, l->step++) {
        for (uint32_t node = 0; node < l->nodes; node++) {
            unsigned link = all_to_some_link(l->n, l->place_of[node], j, movement % 2);
            lay_circuit(l, node, link, slot, hop, hop + 1 == hops);
        }
    }
}

/* The way of a block in three steps: its links in their order, and the step of each. */
struct way {
    uint8_t hops, link[HOPS_MAX], step[HOPS_MAX];
};

/* +1 -1 +2 -2 +4 of places 0 and 1. */
static const struct way ways[THREE_PLACES][THREE_MOVEMENTS] = {
    {{1, {0}, {0}}, {1, {2}, {0}}, {2, {1, 0}, {0, 1}}, {2, {0, 2}, {1, 2}}, {2, {1, 2}, {1, 2}}},
    {{1, {1}, {0}}, {1, {0}, {2}}, {2, {0, 1}, {0, 2}}, {2, {2, 0}, {0, 2}}, {2, {2, 1}, {1, 2}}}};

/* The link of a way as it is at a place: two places on, links 1 and 2 are exchanged. */
static unsigned turned_link(uint32_t place, unsigned link)
{
    return link > 0 && place / THREE_PLACES % 2 ? THREE_DIMS - link : link;
}

/* What of a node's block goes over a link in a step of three, if anything. */
static void lay_way(struct laying *l, uint32_t node, uint32_t movement, unsigned link)
{
    uint32_t place = l->place_of[node], at = node;
    const struct way *way = &ways[place % THREE_PLACES][movement];

    for (unsigned hop = 0; hop < way->hops; hop++) {
        unsigned over = turned_link(place, way->link[hop]);
        if (over == link && way->step[hop] == l->step) {
            lay_circuit(l, at, link, movement, hop, hop + 1 == way->hops);
        }
        at ^= UINT32_C(1) << over;
    }
}

static void lay_three_steps(struct laying *l)
{
    for (l->step = 0; l->step < THREE_STEPS; l->step++) {
        for (unsigned link = 0; link < THREE_DIMS; link++) {
            l->plan->port = (uint8_t)link;
            for (uint32_t node = 0; node < l->nodes; node++) {
                for (uint32_t movement = 0; movement < THREE_MOVEMENTS; movement++) {
                    lay_way(l, node, movement, link);
                }
            }
        }
    }
}

static struct laying lay_begin(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, false);
    struct laying l = {.plan = plan, .n = network->dims, .nodes = network->nodes};

    l.slots = plan_slots_at(plan, SPACE_SEND, 0);
    l.place_of = planner_memory(l.nodes, sizeof *l.place_of);
    for (uint32_t node = 0; node < l.nodes; node++) {
        l.place_of[node] = movement_place(network_guest(network), network_rank(network, node));
        plan->scratch[node] = l.slots;
    }
    (void)build_too_many(plan, (uint64_t)HALF_STEPS * l.slots * l.nodes);
    return l;
}

static struct plan *lay_end(struct laying *l, bool ahead)
{
    l->plan->port = 0;
    free(l->place_of);
    if (ahead) {
        build_ahead(l->plan);
    }
    return l->plan;
}

struct plan *plan_gray_all_to_some(const struct network *network,
                                   const struct plan_request *request)
{
    struct laying l = lay_begin(network, request);
    bool three = request->variant & VARIANT_THREE;

    if (three && !l.plan->refused) {
        lay_three_steps(&l);
    }
    for (unsigned half = 0; half < HALVES && !three && !l.plan->refused; half++) {
        for (unsigned hop = 0; hop < HALF_STEPS; hop++) {
            lay_step(&l, half, hop);
        }
    }
    return lay_end(&l, request->variant & VARIANT_AHEAD);
}

struct plan *plan_gray_in_turn(const struct network *network, const struct plan_request *request)
{
    struct laying l = lay_begin(network, request);

    for (uint32_t slot = 0; slot < l.slots && !l.plan->refused; slot++) {
        lay_alone(&l, slot);
    }
    return lay_end(&l, request->variant & VARIANT_AHEAD);
}

struct plan *plan_direct_all_to_some(const struct network *network,
                                     const struct plan_request *request)
{
    return permute_slots(network, request);
}

/* What is possible ----------------------------------------------------------------------------- */

bool possible_on_gray_ring(const struct network *network)
{
    const struct network *guest = network_guest(network);

    if (network->kind != NETWORK_CUBE || network->nodes < 2) {
        return false;
    }
    for (uint32_t place = 0; place < network->nodes; place++) {
        if (network_node(network, movement_rank_at(guest, place)) != (place ^ place >> 1)) {
            return false;
        }
    }
    return true;
}

/* Three steps are for all movements, each once. */
unsigned gray_all_to_some_variants(const struct network *network,
                                   const struct plan_request *request)
{
    bool three = network->dims == THREE_DIMS && request->root == 0;

    return three ? (VARIANT_THREE | VARIANT_AHEAD) + 1 : gray_in_turn_variants(network, request);
}

void gray_all_to_some_words(const struct network *network, unsigned variant,
                            char words[VARIANT_WORDS_MAX])
{
    static const char *const names[] = {"", "ahead", "three steps", "three steps ahead"};

    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", names[variant]);
}

unsigned gray_in_turn_variants(const struct network *network, const struct plan_request *request)
{
    (void)network;
    (void)request;
    return VARIANT_AHEAD + 1;
}

/* A step with so many blocks at each node becomes as many as they need ports. */
static unsigned steps_of(unsigned blocks, unsigned ports)
{
    return (blocks + ports - 1) / ports;
}

unsigned gray_all_to_some_steps(const struct network *network, unsigned ports)
{
    unsigned n = network->dims, steps = 0;

    ports = ports == 0 ? 1 : ports;
    for (unsigned half = 0; half < HALVES; half++) {
        unsigned blocks = half == 0 || n == 0 ? n : n - 1;
        steps += steps_of(blocks, ports) + steps_of(blocks > 0 ? blocks - 1 : 0, ports);
    }
    return steps;
}
