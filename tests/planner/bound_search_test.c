/*
 * bound_search_test.c - whole bounds, start-up and bytes together, against a search of everything
 * that few nodes can do: who sends which blocks to whom over which way, in any order. The machine
 * is a little better than the real one, so what it cannot do no plan can: a node's set-ups may
 * begin when what they send is there and the node's set-up before is through.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "network/text.h"
#include "planner/planner.h"
#include "tests/networks.h"

enum { NODES = 4, LINKS = NODES * 8, BLOCKS = 6 };

static const uint64_t NEVER = UINT64_MAX;

struct search {
    const struct network *network;
    const struct profile *profile;
    uint64_t bytes, bound;
    unsigned blocks;
    bool combines;               /* what a circuit carries is one sum */
    uint32_t goal[NODES];        /* blocks that a node must have */
    uint64_t has[NODES][BLOCKS]; /* from when on */
    uint64_t began[NODES];       /* its last circuit out */
    uint64_t sent[NODES], received[NODES], link[LINKS];
};

static uint64_t max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_done(const struct search *s)
{
    for (uint32_t node = 0; node < s->network->nodes; node++) {
        for (unsigned i = 0; i < s->blocks; i++) {
            if ((s->goal[node] >> i & 1) && s->has[node][i] == NEVER) {
                return false;
            }
        }
    }
    return true;
}

static bool beats(struct search *s, uint64_t last);

/* Sends a set of blocks over a way; whether the bound can be beaten then. */
static bool send(struct search *s, uint64_t last, uint32_t from, uint32_t to, uint32_t set,
                 const unsigned *way, unsigned hops)
{
    struct search next = *s;
    uint64_t t = s->began[from], count = 0;

    for (unsigned i = 0; i < s->blocks; i++) {
        if (set >> i & 1) {
            t = max(t, s->has[from][i]);
            count++;
        }
    }
    t += s->profile->xi_ns;
    for (unsigned i = 0; i < hops; i++) {
        t = max(t, s->link[way[i]]) + s->profile->tau_ns;
    }
    if (!clock_all_ports(s->profile)) {
        t = max(t, max(s->sent[from], s->received[to]));
    }
    uint64_t bytes = s->combines ? s->bytes : count * s->bytes, width = s->profile->element_bytes;
    uint64_t elements = hops + (bytes + width - 1) / width;
    uint64_t done = t + (elements - 1) * s->profile->element_ns;
    if (t < last || done >= s->bound) {
        return false;
    }
    for (unsigned i = 0; i < s->blocks; i++) {
        if (set >> i & 1 && done < next.has[to][i]) {
            next.has[to][i] = done;
        }
    }
    for (unsigned i = 0; i < hops; i++) {
        next.link[way[i]] = done;
    }
    next.began[from] = t;
    next.sent[from] = next.received[to] = done;
    return beats(&next, t);
}

static bool send_all_ways(struct search *s, uint64_t last, uint32_t from, uint32_t to, uint32_t at,
                          uint32_t set, unsigned *way, unsigned hops, uint32_t been)
{
    if (at == to) {
        return send(s, last, from, to, set, way, hops);
    }
    for (unsigned port = 0; port < s->network->ports; port++) {
        uint32_t next = network_neighbour(s->network, at, port);
        if (next == NETWORK_NO_NODE || been >> next & 1) {
            continue;
        }
        way[hops] = at * s->network->ports + port;
        if (send_all_ways(s, last, from, to, next, set, way, hops + 1, been | 1u << next)) {
            return true;
        }
    }
    return false;
}

/* Circuits in the order in which they begin: links and ports serve them so. What the receiver has
 * already is not sent. */
static bool beats(struct search *s, uint64_t last)
{
    unsigned way[NODES];

    if (is_done(s)) {
        return true;
    }
    for (uint32_t from = 0; from < s->network->nodes; from++) {
        for (uint32_t to = 0; to < s->network->nodes; to++) {
            uint32_t can = 0;
            for (unsigned i = 0; i < s->blocks; i++) {
                can |= (uint32_t)(s->has[from][i] != NEVER && s->has[to][i] == NEVER) << i;
            }
            for (uint32_t set = can; set && from != to; set = (set - 1) & can) {
                if (send_all_ways(s, last, from, to, from, set, way, 0, 1u << from)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Blocks are numbered as they come: of each node, or of each pair of an exchange. */
static void begin(struct search *s, const struct plan *plan)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t nodes = s->network->nodes;

    memset(s->has, 0xff, sizeof s->has);
    for (uint32_t from = 0; from < nodes; from++) {
        for (uint32_t to = 0; to < nodes; to++) {
            bool target = operation->parameter
                              ? operation_target(operation, s->network, plan->root, from, 0) == to
                              : from != to;
            if (plan->operation == ECUBE_EXCHANGE || operation->parameter) {
                if (!target || from == to) {
                    continue;
                }
                s->has[from][s->blocks] = 0;
                s->goal[to] |= 1u << s->blocks++;
            } else if (plan->operation == ECUBE_SCATTER && from == plan->root && target) {
                s->has[from][s->blocks] = 0;
                s->goal[to] |= 1u << s->blocks++;
            }
        }
        if (plan->operation == ECUBE_BROADCAST && from == plan->root) {
            s->has[from][s->blocks++] = 0;
        } else if (s->combines || plan->operation == ECUBE_ALLGATHER ||
                   plan->operation == ECUBE_GATHER) {
            s->has[from][s->blocks++] = 0;
        }
    }
    for (uint32_t node = 0; node < nodes && !s->goal[node]; node++) {
        bool all = plan->operation == ECUBE_BROADCAST || plan->operation == ECUBE_ALLGATHER ||
                   plan->operation == ECUBE_ALLREDUCE || plan->operation == ECUBE_BARRIER;
        bool root = plan->operation == ECUBE_REDUCE || plan->operation == ECUBE_GATHER;
        if (all || (root && node == plan->root)) {
            s->goal[node] = (1u << s->blocks) - 1;
        } else if (plan->operation == ECUBE_SCAN) {
            s->goal[node] = (2u << node) - 1;
        }
    }
}

static void search(const struct network *network, uint32_t operation, uint32_t root, uint32_t bytes,
                   const struct profile *profile)
{
    const struct plan plan = {.network = *network, .operation = operation, .root = root};
    struct search s = {.network = network, .profile = profile, .bytes = bytes};
    char name[NETWORK_NAME_MAX];

    s.combines = operation_of(operation)->reduces || operation == ECUBE_BARRIER;
    s.bound = plan_bound_full(&plan, bytes, profile).ns;
    begin(&s, &plan);
    assert_true(s.blocks <= BLOCKS);
    bool beaten = beats(&s, 0);
    network_name(network, name);
    if (beaten && s.bound > 0) {
        fail_msg("%s from %u on %s, %u bytes: it can be done in less than %llu",
                 operation_name(operation), root, name, bytes, (unsigned long long)s.bound);
    }
}

static void search_all(uint32_t bytes_min, uint32_t bytes_max)
{
    static const struct profile profiles[] = {{1, 1, 1, 1000, 0, 1},
                                              {3, 1, 2, 1000, 0, 1},
                                              {1, 2, 3, 1000, 0, 1},
                                              {2, 1, 1, 1000, 1, 1},
                                              {1, 2, 3, 1000, 0, 2}};
    static const char *const names[] = {"mesh:1x2", "ring:3", "mesh:1x3", "ring:4", "mesh:1x4"};
    static const uint32_t operations[] = {ECUBE_BARRIER,   ECUBE_BROADCAST, ECUBE_REDUCE,
                                          ECUBE_SCATTER,   ECUBE_GATHER,    ECUBE_SHIFT,
                                          ECUBE_REVERSE,   ECUBE_SCAN,      ECUBE_ALLREDUCE,
                                          ECUBE_ALLGATHER, ECUBE_EXCHANGE};

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct network network = network_of(names[n]);
        for (unsigned o = 0; o < sizeof operations / sizeof operations[0]; o++) {
            uint32_t roots = operation_roots(operation_of(operations[o]), &network);
            bool large = operations[o] == ECUBE_EXCHANGE;
            for (uint32_t root = 0; root < roots && !(large && network.nodes > 3); root++) {
                for (uint32_t bytes = bytes_min; bytes <= bytes_max; bytes++) {
                    for (unsigned p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
                        search(&network, operations[o], root, bytes, &profiles[p]);
                    }
                }
            }
        }
    }
}

TEST(nothing_that_few_nodes_can_do_takes_less_than_the_bound)
{
    search_all(0, 2);
}

/* Longer blocks leave time for more circuits. */
TEST_LONG(nothing_that_few_nodes_can_do_with_longer_blocks_takes_less_than_the_bound)
{
    search_all(3, 4);
}
