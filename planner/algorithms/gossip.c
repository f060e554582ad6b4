/*
 * gossip.c - a searched gossip (gossip_search.c) as a plan: each node tells another all that it
 * knows and that one does not. As an allgather what it tells are blocks; the same backwards is a
 * reduce_scatter; a barrier tells nothing but that it has come.
 *
 * It is kept as a table of words: the steps, none if nothing was found, then of each step to whom
 * each node tells.
 */
#include "planner/algorithms/gossip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "planner/algorithms/block_sets.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/shelf.h"

/* What blocks a search is for, in bytes: short ones; of a barrier none. */
enum { SHORT_BYTES = 8, NAME_MAX = 96 };

struct wanted {
    const struct network *network;
    uint32_t bytes;
};

bool possible_by_gossip(const struct network *network)
{
    return network->kind != NETWORK_CUBE && network->nodes > 2 &&
           network->nodes <= GOSSIP_NODES_MAX;
}

static uint16_t *find(const void *what, uint32_t *count)
{
    const struct wanted *wanted = what;
    uint32_t nodes = wanted->network->nodes;
    struct gossip gossip;

    gossip_search(wanted->network, wanted->bytes, &gossip);
    uint16_t *words = planner_memory(1 + gossip.steps * (uint64_t)nodes, sizeof *words);
    *count = 1 + gossip.steps * nodes;
    words[0] = (uint16_t)gossip.steps;
    for (uint32_t i = 0; i + 1 < *count; i++) {
        words[1 + i] = gossip.to[i / nodes][i % nodes];
    }
    return words;
}

/* Reads one step; false: somebody tells no node, or two tell the same. */
static bool read_step(const struct network *network, const uint16_t *words, uint8_t *to)
{
    uint64_t told = 0;

    for (uint32_t node = 0; node < network->nodes; node++) {
        if (words[node] >= network->nodes || (words[node] != node && told >> words[node] & 1)) {
            return false;
        }
        told |= words[node] != node ? UINT64_C(1) << words[node] : 0;
        to[node] = (uint8_t)words[node];
    }
    return true;
}

static bool read_table(const struct network *network, const uint16_t *words, uint32_t count,
                       struct gossip *gossip)
{
    gossip->steps = count ? words[0] : GOSSIP_STEPS_MAX + 1;
    bool holds = gossip->steps <= GOSSIP_STEPS_MAX && count == 1 + gossip->steps * network->nodes;

    for (uint32_t step = 0; step < gossip->steps && holds; step++) {
        holds = read_step(network, words + 1 + step * network->nodes, gossip->to[step]);
    }
    return holds;
}

/* Whether all hear of all. */
static bool is_whole(const struct network *network, const struct gossip *gossip)
{
    uint64_t known[GOSSIP_NODES_MAX], heard[GOSSIP_NODES_MAX];
    uint32_t nodes = network->nodes, whole = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        heard[node] = UINT64_C(1) << node;
    }
    for (uint32_t step = 0; step < gossip->steps; step++) {
        memcpy(known, heard, sizeof known);
        for (uint32_t node = 0; node < nodes; node++) {
            heard[gossip->to[step][node]] |= known[node];
        }
    }
    for (uint32_t node = 0; node < nodes; node++) {
        whole += (uint32_t)__builtin_popcountll(heard[node]) == nodes;
    }
    return whole == nodes;
}

static bool is_right(const void *what, const uint16_t *words, uint32_t count)
{
    const struct wanted *wanted = what;
    struct gossip gossip;

    return read_table(wanted->network, words, count, &gossip) &&
           (gossip.steps == 0 || is_whole(wanted->network, &gossip));
}

/* The gossip of a network, from the shelf or searched. */
static void get_gossip(const struct network *network, uint32_t bytes, struct gossip *gossip)
{
    char name[NAME_MAX];
    const struct wanted wanted = {network, bytes};
    const struct shelf_item item = {name, find, is_right, &wanted};
    uint32_t count;
    int used = snprintf(name, sizeof name, "gossip-%u-%u-%u", GOSSIP_VERSION, bytes, network->kind);

    for (unsigned k = 0; k < network->dims; k++) {
        used += snprintf(name + used, sizeof name - (size_t)used, "-%u", network->dim[k].size);
    }
    const uint16_t *words = shelf_get(&item, &count);
    CHECK(read_table(network, words, count, gossip));
}

static struct plan *flow_of(const struct network *network, const struct plan_request *request,
                            const struct gossip *gossip, const struct gossip_paths *paths)
{
    struct block_sets known = block_sets_make(network->nodes);
    struct block_sets before = block_sets_make(network->nodes);
    struct flow flow = {0};
    uint8_t order[GOSSIP_NODES_MAX];

    for (uint32_t step = 0; step < gossip->steps; step++) {
        uint32_t count = gossip_order(paths, gossip->to[step], order);
        block_sets_copy(&before, &known);
        for (uint32_t i = 0; i < count; i++) {
            block_sets_give(&before, &known, &flow, step, order[i], gossip->to[step][order[i]]);
        }
    }
    block_sets_free(&known);
    block_sets_free(&before);
    return flow_plan(network, request, &flow, network->nodes);
}

/* The same circuits without blocks: who has nothing new to tell is silent here as well. */
static struct plan *barrier_of(const struct network *network, const struct plan_request *request,
                               const struct gossip *gossip, const struct gossip_paths *paths)
{
    struct plan *plan = build_begin(network, request, false);
    uint64_t known[GOSSIP_NODES_MAX], heard[GOSSIP_NODES_MAX];
    uint8_t order[GOSSIP_NODES_MAX];

    for (uint32_t node = 0; node < network->nodes; node++) {
        heard[node] = UINT64_C(1) << node;
    }
    for (uint32_t step = 0; step < gossip->steps; step++) {
        uint32_t count = gossip_order(paths, gossip->to[step], order);
        memcpy(known, heard, sizeof known);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t to = gossip->to[step][order[i]];
            if (known[order[i]] & ~known[to]) {
                build_circuit(plan, step, order[i], to, NO_SLOTS, NO_SLOTS, 0);
            }
            heard[to] |= known[order[i]];
        }
    }
    return plan;
}

struct plan *plan_gossip(const struct network *network, const struct plan_request *request)
{
    bool barrier = request->operation == ECUBE_BARRIER;
    struct gossip_paths *paths = planner_memory(1, sizeof *paths);
    struct gossip gossip;

    get_gossip(network, barrier ? 0 : SHORT_BYTES, &gossip);
    gossip_find_paths(paths, network);
    struct plan *plan = barrier ? barrier_of(network, request, &gossip, paths)
                                : flow_of(network, request, &gossip, paths);
    if (gossip.steps == 0) {
        plan->refused = "no gossip of few steps was found";
    }
    free(paths);
    return plan;
}

/* Who has heard doubles in each round at most, and some node gets the blocks of all others through
 * its port. */
struct candidate_least gossip_least(const struct network *network,
                                    const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    uint64_t set_up = profile->xi_ns + profile->tau_ns, rounds = 0;
    uint64_t bytes = request->operation == ECUBE_BARRIER ? 0 : request->bytes;

    while (UINT64_C(1) << rounds < network->nodes) {
        rounds++;
    }
    uint64_t flow = set_up + (network->nodes - 1) * bytes * profile->element_ns;
    return (struct candidate_least){
        clock_all_ports(profile) ? set_up : clock_max(rounds * set_up, flow), 1};
}
