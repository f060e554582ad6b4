/*
 * parts.c - shifts for several ports: blocks are cut in parts, which go different
 * ways and are passed on from neighbour to neighbour.
 *
 * With d dimensions longer than one node, part r of a block goes through them in the order r,
 * r + 1, ... d - 1, 0, ... Round a ring of n nodes of which the block's way is w links forward,
 * (n - w) / n of it goes forward and the rest back, so that both directions carry w (n - w) / n of
 * a block, the least that there is; where parts do not divide so, neighbours do it by turns.
 *
 * In a step every link carries at most `burst` parts, of those that wait there the ones that have
 * farthest to go. So the parts of a block follow each other, and no link waits for another.
 *
 *     ring:8, distance 3, 8 parts, 3 in a step    five parts go 3 links forward, three 5 links
 *                                                 back: 15 in each direction, 5 steps. The whole
 *                                                 block by circuits: 3 of its length
 *
 * On a cube that does not help: all blocks must cross the lowest dimension in which their ways
 * differ, so each of its links carries a whole one, as with one port. Nor does it on one line,
 * where what goes up and what comes down use both directions of the links.
 *
 * Variants  how many parts there are for each dimension, and how many a link carries in a step
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.1 (one to one over several paths; here portions are
 *           inverse to their lengths) and 3.1 (vector shift)
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "planner/algorithms/permute.h"
#include "planner/algorithms/rotated.h"

enum { NODES_MAX = 256, SITES_MAX = 1 << 20, RING_LEAST = 3 };

static const struct form {
    uint8_t parts, burst;
} forms[] = {{2, 1}, {4, 1}, {8, 1}, {8, 2}, {8, 3}, {16, 2}, {16, 3}, {16, 6}};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* A part of a block on its way. */
struct traveller {
    uint32_t at, goal, hops; /* hops: that are left */
    uint8_t first, ways;     /* its first dimension; of each dimension whether it goes back */
};

struct travel {
    const struct network *network;
    unsigned dims[NETWORK_DIMS_MAX], count, parts, burst;
    struct traveller *all; /* [node * parts + part], by the node whose block it is of */
    uint32_t travellers;
    uint32_t *waiting; /* of each link of a node: who goes in the step, burst of each */
    uint32_t *waits;   /* how many */
};

static uint32_t line_hops(const struct network_dimension *dim, uint32_t at, uint32_t goal,
                          bool back)
{
    uint32_t forward = (goal + dim->size - at) % dim->size;

    if (!dim->wraps || dim->size < RING_LEAST) {
        return at < goal ? goal - at : at - goal;
    }
    return forward && back ? dim->size - forward : forward;
}

/* Which way round a ring a part goes. */
static bool goes_back(const struct network_dimension *dim, uint32_t at, uint32_t goal,
                      uint32_t part, uint32_t parts)
{
    uint32_t way = (goal + dim->size - at) % dim->size, forth = dim->size - way;

    if (!dim->wraps || dim->size < RING_LEAST) {
        return goal < at;
    }
    return way > 0 && ((uint64_t)at * parts + part) * forth % dim->size >= forth;
}

static void set_out(struct travel *t, uint32_t node, uint32_t goal)
{
    for (uint32_t part = 0; part < t->parts; part++) {
        struct traveller *traveller = &t->all[node * t->parts + part];
        *traveller =
            (struct traveller){.at = node, .goal = goal, .first = (uint8_t)(part % t->count)};
        for (unsigned i = 0; i < t->count; i++) {
            const struct network_dimension *dim = &t->network->dim[t->dims[i]];
            uint32_t at = coordinate_of(dim, node), end = coordinate_of(dim, goal);
            bool back = goes_back(dim, at, end, part / t->count, t->parts / t->count);
            traveller->ways |= (uint8_t)(back << i);
            traveller->hops += line_hops(dim, at, end, back);
        }
    }
}

/* The port of a part's next hop; it is not where it goes. */
static uint32_t next_port(const struct travel *t, const struct traveller *traveller)
{
    for (unsigned i = traveller->first;; i = (i + 1) % t->count) {
        const struct network_dimension *dim = &t->network->dim[t->dims[i]];
        uint32_t at = coordinate_of(dim, traveller->at);
        if (at != coordinate_of(dim, traveller->goal)) {
            bool back = traveller->ways >> i & 1;
            uint32_t next = (at + (back ? dim->size - 1 : 1)) % dim->size;
            return network_port_to(t->network, traveller->at,
                                   with_coordinate(dim, traveller->at, next));
        }
    }
}

/* Puts a part among those that go over its next link, if it has farther to go than one of them. */
static void wait_there(struct travel *t, uint32_t number)
{
    const struct traveller *traveller = &t->all[number];
    uint64_t link = (uint64_t)traveller->at * t->network->ports + next_port(t, traveller);
    uint32_t *there = t->waiting + link * t->burst, place = t->waits[link];

    if (place < t->burst) {
        t->waits[link]++;
    } else if (t->all[there[place - 1]].hops < traveller->hops) {
        place--;
    } else {
        return;
    }
    for (; place > 0 && t->all[there[place - 1]].hops < traveller->hops; place--) {
        there[place] = there[place - 1];
    }
    there[place] = number;
}

static int by_number(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return a < b ? -1 : a > b;
}

/* One step over all links; false: all are where they go. */
static bool step_on(struct travel *t, struct flow *flow, uint32_t step)
{
    uint32_t links = t->network->nodes * t->network->ports;
    bool moved = false;

    for (uint32_t link = 0; link < links; link++) {
        t->waits[link] = 0;
    }
    for (uint32_t i = 0; i < t->travellers; i++) {
        if (t->all[i].at != t->all[i].goal) {
            wait_there(t, i);
        }
    }
    for (uint32_t link = 0; link < links; link++) {
        uint32_t *there = t->waiting + (uint64_t)link * t->burst, count = t->waits[link];
        if (count == 0) {
            continue;
        }
        uint32_t from = link / t->network->ports;
        uint32_t to = network_neighbour(t->network, from, link % t->network->ports);
        qsort(there, count, sizeof *there, by_number);
        flow_move(flow, step, from, to, FLOW_DIRECT);
        for (uint32_t i = 0; i < count; i++) {
            flow_add(flow, there[i], 1);
            t->all[there[i]].at = to;
            t->all[there[i]].hops--;
        }
        moved = true;
    }
    return moved;
}

bool possible_in_parts(const struct network *network)
{
    unsigned dims[NETWORK_DIMS_MAX], count = rotated_dims(network, dims);
    bool ring = count > 0 && network->dim[dims[0]].wraps && network->nodes >= RING_LEAST;

    return network->kind != NETWORK_CUBE && (ring || count > 1) && network->nodes <= NODES_MAX;
}

/* Forms whose parts are not too many. */
unsigned parts_variants(const struct network *network, const struct plan_request *request)
{
    unsigned dims[NETWORK_DIMS_MAX], count = rotated_dims(network, dims), variants = 0;
    uint64_t sites = (uint64_t)network->nodes * network->nodes * count;

    (void)request;
    while (variants < FORMS && sites * forms[variants].parts <= SITES_MAX) {
        variants++;
    }
    return variants;
}

void parts_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    unsigned dims[NETWORK_DIMS_MAX], count = rotated_dims(network, dims);

    snprintf(words, VARIANT_WORDS_MAX, "%u, %u at once", count * forms[variant].parts,
             (unsigned)forms[variant].burst);
}

struct plan *plan_in_parts(const struct network *network, const struct plan_request *request)
{
    const struct operation *operation = operation_of(request->operation);
    struct travel t = {.network = network, .burst = forms[request->variant].burst};
    struct flow flow = {0};
    uint64_t links = (uint64_t)network->nodes * network->ports;

    t.count = rotated_dims(network, t.dims);
    t.parts = t.count * forms[request->variant].parts;
    t.travellers = network->nodes * t.parts;
    t.all = planner_memory(t.travellers, sizeof *t.all);
    t.waiting = planner_memory(links * t.burst, sizeof *t.waiting);
    t.waits = planner_memory(links, sizeof *t.waits);
    for (uint32_t node = 0; node < network->nodes; node++) {
        set_out(&t, node, operation_target(operation, network, request->root, node, 0));
    }
    for (uint32_t step = 0; step_on(&t, &flow, step); step++) {
    }
    free(t.all);
    free(t.waiting);
    free(t.waits);
    flow_ports(&flow, network->nodes, request->ports);
    return flow_plan_cut(network, request, &flow, network->nodes, t.parts);
}
