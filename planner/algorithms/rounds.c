/*
 * rounds.c - the direct complete exchange in rounds without contention: the circuits of a round
 * share no directed link, and a node sends and receives one at most, or with several ports as many
 * as it has.
 *
 *     mesh:1x3    0>1 1>2 2>1 | 0>2 1>0 | 2>0 ...: a round in which all are busy, and so on
 *
 * Rounds are filled greedily. The weight of a circuit is how much is left to carry on the busiest
 * link of its way and at the ports of its two ends. The heaviest circuit is placed first; of equals
 * the longest. It has up to four ways: in the order of the dimensions or against it, and on a ring
 * in either direction where both are as long. It takes the first that is free in the round. This is
 * tried a few times, with other weights and other choices among equals; the trial with the fewest
 * rounds is kept. Beyond 64 nodes a circuit goes into the first round that is free (rounds_fit.c).
 *
 * All blocks are there from the beginning, so all circuits go ahead. A circuit waits only for links
 * that the round before uses as well, so the rounds are put in an order in which neighbours share
 * few links.
 *
 * Source   Thakur, Choudhary & Fox, complete exchange on a mesh: contention of the direct exchange;
 *          list scheduling: Graham, SIAM J. Appl. Math. 17(2), 1969, 416-429
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/alike.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/flow.h"
#include "planner/algorithms/rounds.h"
#include "drivers/check.h"
#include "wire/circuit.h"

enum {
    NODES_MAX = 1024,
    PORTED_NODES_MAX = 256, /* with several ports */
    WEIGHED_NODES_MAX = 64, /* of more, circuits go into the first round that is free */
    TRIALS = 6,
    SMALL_NODES = 20,  /* of more, two trials are made; */
    QUICK_NODES = 128, /* of so many, but more than are weighed, as many as of few; */
    MANY_NODES = 512,  /* of more, one */
    SORTED_MAX = 1000, /* with more circuits weights are looked at every few rounds */
    ROUNDS_TO_SORT = 8,
    NEXT_MAX = 16, /* of more nodes, so many rounds are looked at for the next one */
    LINK_CIRCUITS_MAX = UINT16_MAX
};

/* On large cubes AAP (aap.c) has as few rounds as there can be, and one node's table; a network
 * that is one but for names takes it from there. */
bool possible_in_rounds(const struct network *network)
{
    uint32_t most = alike_to_cube(network) ? WEIGHED_NODES_MAX : NODES_MAX;

    return network->nodes > 1 && network->nodes <= most &&
           network_diameter(network) <= OPEN_HOPS_MAX;
}

bool possible_in_rounds_of_ports(const struct network *network)
{
    return possible_in_rounds(network) && network->nodes <= PORTED_NODES_MAX;
}

/* Ways ---------------------------------------------------------------------------------------- */

/* Goes the hops of one dimension, over the port given at first and straight on. */
static uint32_t go_on(struct search *s, uint32_t at, unsigned port, uint32_t hops)
{
    for (; hops > 0; hops--) {
        s->ports[s->used] = (uint8_t)port;
        s->links[s->used++] = (uint16_t)(at * s->network->ports + port);
        at = network_neighbour(s->network, at, port);
    }
    return at;
}

/* The port of the other direction, if the way is as long over it; else NETWORK_NO_PORT. */
static unsigned other_port(const struct network *network, uint32_t hops, unsigned dimension,
                           unsigned port)
{
    const struct network_dimension *dim = &network->dim[dimension];

    if (!dim->wraps || 2 * hops != dim->size) {
        return NETWORK_NO_PORT;
    }
    return port == dim->port ? dim->port + 1u : dim->port;
}

static uint32_t hops_in(const struct network_dimension *dim, uint32_t from, uint32_t to)
{
    uint32_t a = from / dim->stride % dim->size, b = to / dim->stride % dim->size;
    uint32_t apart = a > b ? a - b : b - a;

    return dim->wraps && apart > dim->size - apart ? dim->size - apart : apart;
}

/* Adds a way: against the order of dimensions, or the other way round a ring where it can. False:
 * there is no such other. */
static bool add_way(struct search *s, struct transfer *transfer, bool backwards, bool other)
{
    const struct network *network = s->network;
    uint32_t at = transfer->from, begin = s->used;
    bool differs = false;
    unsigned turns = 0;

    for (unsigned i = 0; i < network->dims; i++) {
        unsigned k = backwards ? network->dims - 1 - i : i;
        unsigned port = network_port_toward(network, at, transfer->to, k);
        if (port == NETWORK_NO_PORT) {
            continue;
        }
        uint32_t hops = hops_in(&network->dim[k], at, transfer->to);
        unsigned across = other_port(network, hops, k, port);
        differs = differs || across != NETWORK_NO_PORT;
        at = go_on(s, at, other && across != NETWORK_NO_PORT ? across : port, hops);
        turns++;
    }
    if ((backwards && turns < 2) || (other && !differs)) {
        s->used = begin;
        return false;
    }
    transfer->way[transfer->ways++] = (struct way){begin, s->used - begin};
    return true;
}

/* All ways between two nodes, another one first for every other sender. */
static void add_transfer(struct search *s, uint32_t from, uint32_t to)
{
    struct transfer *transfer = &s->transfers[s->count++];

    *transfer = (struct transfer){.from = from, .to = to};
    for (unsigned i = 0; i < WAYS_MAX; i++) {
        (void)add_way(s, transfer, i / 2, i % 2);
    }
    struct way first = transfer->way[0];
    transfer->way[0] = transfer->way[from % transfer->ways];
    transfer->way[from % transfer->ways] = first;
}

/* Rounds -------------------------------------------------------------------------------------- */

static uint32_t drawn(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Adds a transfer to what links and ports have to carry, or takes it away; every way counts for
 * its share, in twelfths. */
static void bear(struct search *s, const struct transfer *transfer, bool adds)
{
    uint32_t share = 12 / transfer->ways;

    for (unsigned w = 0; w < transfer->ways; w++) {
        for (uint32_t h = 0; h < transfer->way[w].hops; h++) {
            uint32_t *load = &s->load[s->links[transfer->way[w].at + h]];
            *load = adds ? *load + share : *load - share;
        }
    }
    s->sends[transfer->from] += adds ? 12 : UINT32_MAX - 11;
    s->receives[transfer->to] += adds ? 12 : UINT32_MAX - 11;
}

/* How much a transfer is to be preferred: by the most that something on its way has to carry, or by
 * all of it. */
static uint32_t weight_of(const struct search *s, const struct transfer *transfer, bool by_sum)
{
    const struct way *way = &transfer->way[0];
    uint32_t port = s->sends[transfer->from], most = 0, sum = 0;

    if (s->receives[transfer->to] > port) {
        port = s->receives[transfer->to];
    }
    port = s->at_once == PORTS_ALL ? 0 : port / s->at_once;
    for (uint32_t h = 0; h < way->hops; h++) {
        uint32_t load = s->load[s->links[way->at + h]];
        most = load > most ? load : most;
        sum += load;
    }
    if (by_sum) {
        return sum + port;
    }
    return (most > port ? most : port) * WEIGHED_NODES_MAX + way->hops;
}

static int by_weight(const void *left, const void *right)
{
    const struct transfer *a = *(struct transfer *const *)left;
    const struct transfer *b = *(struct transfer *const *)right;

    if (a->weight != b->weight) {
        return a->weight < b->weight ? 1 : -1;
    }
    if (a->draw != b->draw) {
        return a->draw < b->draw ? 1 : -1;
    }
    return a < b ? -1 : a > b;
}

static void sort_by_weight(struct search *s, bool by_sum)
{
    for (uint32_t i = 0; i < s->left; i++) {
        s->order[i]->weight = weight_of(s, s->order[i], by_sum);
    }
    qsort(s->order, s->left, sizeof *s->order, by_weight);
}

/* What is taken in a round: bytes of 1 for links, and for ports of nodes. */
struct taken {
    uint8_t links[WEIGHED_NODES_MAX * NETWORK_PORTS_MAX];
    uint8_t sends[WEIGHED_NODES_MAX], receives[WEIGHED_NODES_MAX];
};

/* Takes the first way of a transfer that is free; false: none is. */
static bool takes(struct search *s, struct taken *taken, const struct transfer *transfer)
{
    if (taken->sends[transfer->from] >= s->at_once || taken->receives[transfer->to] >= s->at_once) {
        return false;
    }
    for (unsigned w = 0; w < transfer->ways; w++) {
        const uint16_t *links = &s->links[transfer->way[w].at];
        uint32_t free_hops = 0;
        while (free_hops < transfer->way[w].hops && !taken->links[links[free_hops]]) {
            free_hops++;
        }
        if (free_hops < transfer->way[w].hops) {
            continue;
        }
        for (uint32_t h = 0; h < free_hops; h++) {
            taken->links[links[h]] = 1;
        }
        taken->sends[transfer->from]++;
        taken->receives[transfer->to]++;
        s->round[transfer - s->transfers] = s->rounds;
        s->way[transfer - s->transfers] = w;
        return true;
    }
    return false;
}

static void fill_round(struct search *s)
{
    struct taken taken = {.links = {0}};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->left; i++) {
        if (takes(s, &taken, s->order[i])) {
            bear(s, s->order[i], false);
        } else {
            s->order[kept++] = s->order[i];
        }
    }
    s->left = kept;
    s->rounds++;
}

void rounds_keep(struct search *s)
{
    if (s->rounds < s->best_rounds) {
        s->best_rounds = s->rounds;
        memcpy(s->best_round, s->round, s->count * sizeof *s->round);
        memcpy(s->best_way, s->way, s->count * sizeof *s->way);
    }
}

/* Puts all transfers into rounds, and keeps them if they are fewer than before. */
static void try_rounds(struct search *s, uint32_t trial)
{
    uint32_t state = 2463534242u + trial * 7919;

    s->rounds = 0;
    s->left = s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        s->order[i] = &s->transfers[i];
        s->transfers[i].draw = drawn(&state);
        bear(s, &s->transfers[i], true);
    }
    while (s->left) {
        if (s->count <= SORTED_MAX || s->rounds % ROUNDS_TO_SORT == 0) {
            sort_by_weight(s, trial % 2);
        }
        fill_round(s);
    }
    rounds_keep(s);
}

/* The order of rounds ------------------------------------------------------------------------- */

static const struct way *best_way(const struct search *s, uint32_t transfer)
{
    return &s->transfers[transfer].way[s->best_way[transfer]];
}

/* The transfers of each round together: those of round r are [begin[r], begin[r + 1]) of `list`. */
struct lists {
    uint32_t *begin, *list;
};

static struct lists lists_of(const struct search *s)
{
    struct lists lists = {planner_memory(s->best_rounds + UINT64_C(2), sizeof(uint32_t)),
                          planner_memory(s->count, sizeof(uint32_t))};
    uint32_t *next = lists.begin + 1; /* where the next of a round goes: at last where it ends */

    for (uint32_t i = 0; i < s->count; i++) {
        next[s->best_round[i] + 1]++;
    }
    for (uint32_t r = 0; r < s->best_rounds; r++) {
        next[r + 1] += next[r];
    }
    for (uint32_t i = 0; i < s->count; i++) {
        lists.list[next[s->best_round[i]]++] = i;
    }
    return lists;
}

/* The hops of a round that must wait for the end of another, whose links are `before`. */
static uint32_t waiting_hops(const struct search *s, const struct lists *lists, uint32_t round,
                             const uint8_t *before)
{
    uint32_t sum = 0;

    for (uint32_t i = lists->begin[round]; i < lists->begin[round + 1]; i++) {
        const struct way *way = best_way(s, lists->list[i]);
        uint32_t h = 0;
        while (h < way->hops && !before[s->links[way->at + h]]) {
            h++;
        }
        sum += way->hops - h;
    }
    return sum;
}

/* The round of those that have not gone, the first of which is `first`, in which the fewest hops
 * wait. */
static uint32_t next_round(const struct search *s, const struct lists *lists, uint32_t first,
                           const uint8_t *gone, const uint8_t *before)
{
    uint32_t next = 0, least = UINT32_MAX, looked = 0;
    uint32_t most = s->network->nodes > WEIGHED_NODES_MAX ? NEXT_MAX : UINT32_MAX;

    for (uint32_t r = first; r < s->best_rounds && least > 0 && looked < most; r++) {
        uint32_t waits = gone[r] ? UINT32_MAX : waiting_hops(s, lists, r, before);
        looked += !gone[r];
        if (waits < least) {
            least = waits;
            next = r;
        }
    }
    return next;
}

/* The circuits of a round by ports, as moves of which each has the place of its transfer. */
static struct flow moves_of(const struct search *s, const struct lists *lists, uint32_t round)
{
    struct flow flow = {0};

    for (uint32_t i = lists->begin[round]; i < lists->begin[round + 1]; i++) {
        const struct transfer *t = &s->transfers[lists->list[i]];
        flow_move(&flow, 0, t->from, t->to, FLOW_DIRECT);
        flow_add(&flow, lists->list[i], 1);
    }
    if (s->at_once > 1) {
        flow_ports(&flow, s->network->nodes, s->at_once);
    }
    return flow;
}

static void lay_down(const struct search *s, struct plan *plan)
{
    uint32_t links = s->network->nodes * s->network->ports, first = 0;
    uint8_t *before = planner_memory(links, 1), *gone = planner_memory(s->best_rounds + 1u, 1);
    struct lists lists = lists_of(s);

    for (uint32_t step = 0; step < s->best_rounds && !plan->refused; step++) {
        uint32_t round = next_round(s, &lists, first, gone, before);
        gone[round] = 1;
        while (gone[first]) {
            first++;
        }
        memset(before, 0, links);
        struct flow flow = moves_of(s, &lists, round);
        CHECK(flow.steps <= 1);
        for (uint32_t i = 0; i < flow.count; i++) {
            uint32_t number = flow.ranges[flow.moves[i].range_at].first;
            const struct transfer *t = &s->transfers[number];
            const struct way *way = best_way(s, number);
            struct slots block = slots_of(plan, SPACE_SEND, t->to, 1);
            plan->port = flow.moves[i].port;
            build_routed(plan, step, t->from, t->to, block,
                         slots_of(plan, SPACE_RECEIVE, t->from, 1), ROW_AHEAD, &s->ports[way->at],
                         way->hops);
            for (uint32_t h = 0; h < way->hops; h++) {
                before[s->links[way->at + h]] = 1;
            }
        }
        flow_free(&flow);
    }
    free(before);
    free(gone);
    free(lists.begin);
    free(lists.list);
}

void rounds_begin(struct search *s)
{
    uint32_t nodes = s->network->nodes;
    uint64_t count = (uint64_t)nodes * (nodes - 1), links = nodes * (uint64_t)s->network->ports;
    uint64_t hops = count * WAYS_MAX * network_diameter(s->network); /* touched as they are used */

    s->transfers = planner_memory(count, sizeof *s->transfers);
    s->order = planner_memory(count, sizeof(struct transfer *));
    s->ports = planner_memory(hops, sizeof *s->ports);
    s->links = planner_memory(hops, sizeof *s->links);
    s->load = planner_memory(links, sizeof *s->load);
    s->sends = planner_memory(nodes, sizeof *s->sends);
    s->receives = planner_memory(nodes, sizeof *s->receives);
    s->round = planner_memory(count, sizeof *s->round);
    s->way = planner_memory(count, sizeof *s->way);
    s->best_round = planner_memory(count, sizeof *s->best_round);
    s->best_way = planner_memory(count, sizeof *s->best_way);
    s->best_rounds = UINT32_MAX;
    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            if (from != to) {
                add_transfer(s, from, to);
            }
        }
    }
}

void rounds_end(struct search *s)
{
    free(s->transfers);
    free(s->order);
    free(s->ports);
    free(s->links);
    free(s->load);
    free(s->sends);
    free(s->receives);
    free(s->round);
    free(s->way);
    free(s->best_round);
    free(s->best_way);
}

static uint32_t trials_of(const struct network *network)
{
    bool few = network->nodes <= SMALL_NODES ||
               (network->nodes > WEIGHED_NODES_MAX && network->nodes <= QUICK_NODES);

    return few ? TRIALS : network->nodes <= MANY_NODES ? 2 : 1;
}

void rounds_list(struct search *s)
{
    uint32_t trials = trials_of(s->network);

    for (uint32_t trial = 0; trial < trials; trial++) {
        if (s->network->nodes > WEIGHED_NODES_MAX) {
            rounds_fit(s, trial);
        } else {
            try_rounds(s, trial);
        }
    }
}

struct plan *rounds_plan(const struct search *s, const struct plan_request *request)
{
    struct plan *plan = build_begin(s->network, request, false);

    for (uint32_t node = 0; node < s->network->nodes; node++) {
        struct slots own = slots_of(plan, SPACE_SEND, node, 1);
        build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    lay_down(s, plan);
    return plan;
}

static struct plan *with_ports(const struct network *network, const struct plan_request *request,
                               unsigned ports)
{
    struct search search = {.network = network, .at_once = ports};

    rounds_begin(&search);
    rounds_list(&search);
    struct plan *plan = rounds_plan(&search, request);
    rounds_end(&search);
    return plan;
}

struct plan *plan_rounds(const struct network *network, const struct plan_request *request)
{
    return with_ports(network, request, 1);
}

/* Rounds are searched: fewer circuits at once may come out better by accident. */
unsigned rounds_variants(const struct network *network, const struct plan_request *request)
{
    (void)network;
    (void)request;
    return 2;
}

void rounds_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", variant ? "two" : "as many as there are");
}

struct plan *plan_rounds_of_ports(const struct network *network, const struct plan_request *request)
{
    unsigned ports = request->ports ? request->ports : 1;

    return with_ports(network, request, request->variant && ports > 2 ? 2 : ports);
}
