/*
 * rounds_table.c - searched rounds as a table of 16-bit words, which can be kept: how many rounds;
 * then of each transfer, by sender and receiver, its round and the ports of its way, which is as
 * long as the nodes are apart.
 *
 *     ring:3    2 | 0 0 | 1 1 | 1 1 ...: in two rounds; 0 to 1 in round 0 over port 0, 0 to 2 in
 *               round 1 over port 1, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/rounds_search.h"
#include "planner/algorithms/shelf.h"
#include "planner/build.h"
#include "planner/proof/link_load.h"

enum { NAME_MAX = 96 };

bool possible_searched(const struct network *network)
{
    return network->kind != NETWORK_CUBE && network->nodes > 2 &&
           network->nodes <= SEARCHED_NODES_MAX;
}

static uint16_t *find(const void *what, uint32_t *count)
{
    struct search s = {.network = what, .at_once = 1};
    uint32_t used = 1;

    rounds_begin(&s);
    rounds_search(&s);
    uint16_t *words = planner_memory(1 + s.count + (uint64_t)s.used, sizeof *words);
    words[0] = (uint16_t)s.best_rounds;
    for (uint32_t i = 0; i < s.count; i++) {
        const struct way *way = &s.transfers[i].way[s.best_way[i]];
        words[used++] = (uint16_t)s.best_round[i];
        for (uint32_t h = 0; h < way->hops; h++) {
            words[used++] = s.ports[way->at + h];
        }
    }
    rounds_end(&s);
    *count = used;
    return words;
}

/* Reads the way of a transfer over its first one, which is as long. False: it does not lead there.
 */
static bool read_way(struct search *s, uint32_t transfer, const uint16_t *ports)
{
    const struct transfer *t = &s->transfers[transfer];
    uint32_t at = t->from;

    for (uint32_t h = 0; h < t->way[0].hops; h++) {
        uint32_t next = ports[h] < s->network->ports ? network_neighbour(s->network, at, ports[h])
                                                     : NETWORK_NO_NODE;
        if (next == NETWORK_NO_NODE) {
            return false;
        }
        s->ports[t->way[0].at + h] = (uint8_t)ports[h];
        s->links[t->way[0].at + h] = (uint16_t)(at * s->network->ports + ports[h]);
        at = next;
    }
    return at == t->to;
}

/* Reads a table; false: it is none of this network. */
static bool read_table(struct search *s, const uint16_t *words, uint32_t count)
{
    uint32_t at = 1;

    s->best_rounds = count ? words[0] : 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t hops = s->transfers[i].way[0].hops;
        if (count < at + 1 + hops || words[at] >= s->best_rounds ||
            !read_way(s, i, words + at + 1)) {
            return false;
        }
        s->best_round[i] = words[at];
        s->best_way[i] = 0;
        at += 1 + hops;
    }
    return at == count;
}

static bool take(uint8_t *taken, uint32_t thing)
{
    bool is_free = !taken[thing];

    taken[thing] = 1;
    return is_free;
}

/* Whether no link, sender or receiver is taken twice in a round. */
static bool is_without_contention(const struct search *s)
{
    uint32_t nodes = s->network->nodes, links = nodes * s->network->ports;
    uint32_t things = links + 2 * nodes;
    uint8_t *taken = planner_memory((uint64_t)things * s->best_rounds, 1);
    bool holds = true;

    for (uint32_t i = 0; i < s->count && holds; i++) {
        const struct transfer *t = &s->transfers[i];
        uint8_t *round = taken + (uint64_t)things * s->best_round[i];
        holds = take(round, links + t->from) && take(round, links + nodes + t->to);
        for (uint32_t h = 0; h < t->way[0].hops && holds; h++) {
            holds = take(round, s->links[t->way[0].at + h]);
        }
    }
    free(taken);
    return holds;
}

static bool is_right(const void *what, const uint16_t *words, uint32_t count)
{
    struct search s = {.network = what, .at_once = 1};

    rounds_begin(&s);
    bool holds = read_table(&s, words, count) && is_without_contention(&s);
    rounds_end(&s);
    return holds;
}

/* All that a table depends on. */
static void name_table(const struct network *network, char name[NAME_MAX])
{
    int used = snprintf(name, NAME_MAX, "rounds-%u-%u", ROUNDS_SEARCH_VERSION, network->kind);

    for (unsigned k = 0; k < network->dims; k++) {
        used += snprintf(name + used, NAME_MAX - (size_t)used, "-%u", network->dim[k].size);
    }
}

struct plan *plan_searched_rounds(const struct network *network, const struct plan_request *request)
{
    char name[NAME_MAX];
    struct search s = {.network = network, .at_once = 1};
    const struct shelf_item item = {name, find, is_right, network};

    name_table(network, name);
    uint32_t count;
    const uint16_t *words = shelf_get(&item, &count);
    rounds_begin(&s);
    CHECK(read_table(&s, words, count));
    struct plan *plan = rounds_plan(&s, request);
    rounds_end(&s);
    return plan;
}

/* Some node, or some link, carries so many blocks one after the other when a path stands. */
struct candidate_least searched_least(const struct network *network,
                                      const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    struct candidate_least least = direct_least(network, request);
    uint64_t rounds =
        clock_all_ports(profile) ? link_load_of_exchange(network) : rounds_bound(network);
    uint64_t flow =
        profile->xi_ns + profile->tau_ns + rounds * request->bytes * profile->element_ns;

    least.ns = clock_max(least.ns, flow);
    return least;
}
