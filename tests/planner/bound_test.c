/*
 * bound_test.c - each argument of a bound against all that there is: all routings of whole blocks
 * on networks of up to six nodes, the linear programme over all routings up to 64, all ways to
 * spread and to combine among a few; and plans that are drawn, none of which takes less.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/text.h"
#include "planner/algorithms/candidates.h"
#include "planner/planner.h"
#include "planner/proof/link_load.h"
#include "tests/networks.h"
#include "tests/network/shapes.h"
#include "tests/planner/routings.h"

enum {
    SMALL_NODES = 6,
    EXCHANGE_NODES = 4,
    CUT_NODES = 12,
    BLOCKS_MAX = SMALL_NODES * (SMALL_NODES - 1),
    LINKS_MAX = 64, /* directed ones, numbered by node and port */
    WAYS_MAX = 64,
    PARTS = 8, /* of a block: how near the two ends of the linear programme must come */
    ROUNDS = 4000,
    DRAWS = 4000,
    FEW_DRAWS = 300
};

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};

static struct network shapes[SHAPES_MAX];

static uint64_t seed = 1;

static uint32_t random_below(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 32) % below);
}

static uint32_t target_of(const struct network *network, uint32_t operation, uint32_t root,
                          uint32_t node)
{
    return operation_target(operation_of(operation), network, root, node, 0);
}

/* What the bound says that some link carries. */
static uint64_t load_of(const struct network *network, uint32_t operation, uint32_t root)
{
    struct link_load load = link_load_begin(network);

    for (uint32_t node = 0; node < network->nodes; node++) {
        link_load_add(&load, node, target_of(network, operation, root, node), 1);
    }
    return link_load_end(&load);
}

/* All routings of whole blocks ------------------------------------------------------------------
 */

/* All simple ways of each block, as sets of directed links; and what links carry so far. */
struct routing {
    const struct network *network;
    unsigned blocks, ways[BLOCKS_MAX];
    uint64_t way[BLOCKS_MAX][WAYS_MAX];
    uint8_t load[LINKS_MAX];
};

static void add_ways(struct routing *r, uint32_t at, uint32_t to, uint32_t been, uint64_t links)
{
    if (at == to) {
        assert_true(r->ways[r->blocks] < WAYS_MAX);
        r->way[r->blocks][r->ways[r->blocks]++] = links;
        return;
    }
    for (unsigned port = 0; port < r->network->ports; port++) {
        uint32_t next = network_neighbour(r->network, at, port);
        if (next != NETWORK_NO_NODE && !(been >> next & 1)) {
            add_ways(r, next, to, been | 1u << next,
                     links | UINT64_C(1) << (at * r->network->ports + port));
        }
    }
}

static void add_block(struct routing *r, uint32_t from, uint32_t to)
{
    if (from != to) {
        r->ways[r->blocks] = 0;
        add_ways(r, from, to, 1u << from, 0);
        r->blocks++;
    }
}

/* Whether blocks from `block` on have ways with which no link carries more than `most`. */
static bool can_route(struct routing *r, unsigned block, uint64_t most)
{
    unsigned links = r->network->nodes * r->network->ports;

    if (block == r->blocks) {
        return true;
    }
    for (unsigned i = 0; i < r->ways[block]; i++) {
        uint64_t way = r->way[block][i];
        bool fits = true;
        for (unsigned link = 0; link < links; link++) {
            r->load[link] = (uint8_t)(r->load[link] + (way >> link & 1));
            fits &= r->load[link] <= most;
        }
        bool can = fits && can_route(r, block + 1, most);
        for (unsigned link = 0; link < links; link++) {
            r->load[link] = (uint8_t)(r->load[link] - (way >> link & 1));
        }
        if (can) {
            return true;
        }
    }
    return false;
}

static uint64_t least_of_all_routings(struct routing *r)
{
    uint64_t most = 0;

    while (!can_route(r, 0, most)) {
        most++;
    }
    return most;
}

TEST(some_link_carries_what_is_said_in_all_routings_of_shifts_and_reversals_and_no_more_in_one)
{
    unsigned count = shapes_make(shapes, SMALL_NODES), cases = 0, met = 0;
    struct routing *r = calloc(1, sizeof *r);

    assert_non_null(r);
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t operation = ECUBE_SHIFT; operation <= ECUBE_REVERSE; operation++) {
            uint32_t roots = operation_roots(operation_of(operation), &shapes[i]);
            for (uint32_t root = 0; root < roots; root++) {
                assert_true(shapes[i].nodes * shapes[i].ports <= LINKS_MAX);
                *r = (struct routing){.network = &shapes[i]};
                for (uint32_t node = 0; node < shapes[i].nodes; node++) {
                    add_block(r, node, target_of(&shapes[i], operation, root, node));
                }
                uint64_t said = load_of(&shapes[i], operation, root);
                uint64_t least = least_of_all_routings(r);
                assert_true(said <= least);
                met += said == least;
                cases++;
            }
        }
    }
    assert_true(cases > 600);
    assert_int_equal(met, cases);
    free(r);
}

TEST(some_link_carries_what_is_said_in_all_routings_of_exchanges_and_no_more_in_one)
{
    unsigned count = shapes_make(shapes, EXCHANGE_NODES);
    struct routing *r = calloc(1, sizeof *r);

    assert_non_null(r);
    for (unsigned i = 0; i < count; i++) {
        *r = (struct routing){.network = &shapes[i]};
        for (uint32_t from = 0; from < shapes[i].nodes; from++) {
            for (uint32_t to = 0; to < shapes[i].nodes; to++) {
                add_block(r, from, to);
            }
        }
        assert_int_equal(least_of_all_routings(r), link_load_of_exchange(&shapes[i]));
    }
    free(r);
}

/* As a load of all pairs it is the same as by its formula. */
/* Of a scan: sums that must go from some nodes to the others, no two the same, each of those of
 * them up to a rank of the others. */
static unsigned sums_across(const struct network *network, uint32_t cut)
{
    unsigned sums = 0;
    bool another = false;

    for (uint32_t node = 0; node < network->nodes; node++) {
        if (cut >> node & 1) {
            another = true;
        } else {
            sums += another;
            another = false;
        }
    }
    return sums;
}

static unsigned links_across(const struct network *network, uint32_t cut)
{
    unsigned links = 0;

    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned port = 0; cut >> node & 1 && port < network->ports; port++) {
            uint32_t next = network_neighbour(network, node, port);
            links += next != NETWORK_NO_NODE && !(cut >> next & 1);
        }
    }
    return links;
}

TEST(no_cut_of_all_tells_more_of_a_scan_than_the_bound_and_one_as_much)
{
    const struct profile profile = {0, 0, 1, 1000, PORTS_ALL, 1};
    unsigned count = shapes_make(shapes, CUT_NODES);

    for (unsigned i = 0; i < count; i++) {
        const struct plan plan = {.network = shapes[i], .operation = ECUBE_SCAN};
        uint64_t bytes = 12 * (uint64_t)CUT_NODES * CUT_NODES, most = 0;
        for (uint32_t cut = 1; cut + 1 < 1u << shapes[i].nodes; cut++) {
            uint64_t carried = sums_across(&shapes[i], cut) * bytes / links_across(&shapes[i], cut);
            most = carried > most ? carried : most;
        }
        struct plan_bound bound = plan_bound_full(&plan, (uint32_t)bytes, &profile);
        bool apart = bound.ns < most || bound.ns >= most + shapes[i].nodes; /* hops are elements */
        if (shapes[i].nodes > 1 && apart) {
            char name[NETWORK_NAME_MAX];
            network_name(&shapes[i], name);
            fail_msg("%s: %llu, a cut tells %llu", name, (unsigned long long)bound.ns,
                     (unsigned long long)most);
        }
    }
}

TEST(an_exchange_is_a_block_for_every_pair)
{
    unsigned count = shapes_make(shapes, 40);

    for (unsigned i = 0; i < count; i++) {
        struct link_load load = link_load_begin(&shapes[i]);
        for (uint32_t from = 0; from < shapes[i].nodes; from++) {
            for (uint32_t to = 0; to < shapes[i].nodes; to++) {
                link_load_add(&load, from, to, 1);
            }
        }
        assert_int_equal(link_load_end(&load), link_load_of_exchange(&shapes[i]));
    }
}

/* Spreads the blocks from `source` on, each from one node to the next (in all orders by which a
 * tree can grow), with no link carrying more than `most`. `has`: nodes that have this block. */
static bool can_spread(struct routing *r, uint32_t source, uint32_t has, unsigned first,
                       uint64_t most)
{
    const struct network *network = r->network;
    unsigned links = network->nodes * network->ports;

    if (has + 1 == 1u << network->nodes) {
        return source + 1 == network->nodes ||
               can_spread(r, source + 1, 1u << (source + 1), 0, most);
    }
    for (unsigned link = first; link < links; link++) {
        uint32_t at = link / network->ports;
        uint32_t next = network_neighbour(network, at, link % network->ports);
        if (next == NETWORK_NO_NODE || !(has >> at & 1) || has >> next & 1 ||
            r->load[link] >= most) {
            continue;
        }
        r->load[link]++;
        if (can_spread(r, source, has | 1u << next, 0, most)) {
            return true;
        }
        r->load[link]--;
    }
    return false;
}

TEST(with_all_ports_some_link_of_an_allgather_carries_what_is_said_and_not_a_block_more_in_one)
{
    unsigned count = shapes_make(shapes, EXCHANGE_NODES);

    for (unsigned i = 0; i < count; i++) {
        const struct plan plan = {.network = shapes[i], .operation = ECUBE_ALLGATHER};
        if (shapes[i].nodes == 1 || shapes[i].kind == NETWORK_CUBE) {
            continue;
        }
        uint64_t ns = plan_bound_full(&plan, 1000, &all_ports).ns;
        struct routing *r = calloc(1, sizeof *r);
        assert_non_null(r);
        uint64_t most = 0;
        do {
            *r = (struct routing){.network = &shapes[i]};
            most++;
        } while (!can_spread(r, 0, 1, 0, most));
        free(r);
        assert_in_range(ns, 75000 + (most - 1) * 1000 * 425 + 1, 75000 + most * 1000 * 425);
    }
}

/* The linear programme over all routings --------------------------------------------------------
 */

/* Blocks that may be divided need no less than said, nor 1 / PARTS more. */
static void compare_with_programme(const struct network *network, uint32_t operation, uint32_t root)
{
    static uint32_t amounts[ROUTINGS_NODES_MAX * ROUTINGS_NODES_MAX];
    char name[NETWORK_NAME_MAX];
    uint64_t said = load_of(network, operation, root);

    memset(amounts, 0, sizeof amounts);
    for (uint32_t node = 0; node < network->nodes; node++) {
        amounts[node * network->nodes + target_of(network, operation, root, node)] = 1;
    }
    struct routings_ends ends = routings_find(network, amounts, PARTS, ROUNDS);
    network_name(network, name);
    if (ends.least > (double)said + 1e-9 || ends.most > (double)said + 1.0 / PARTS) {
        fail_msg("%s %u on %s: some link carries %llu, by all routings from %.3f to %.3f",
                 operation_name(operation), root, name, (unsigned long long)said, ends.least,
                 ends.most);
    }
}

static void compare_drawn(unsigned draws)
{
    unsigned count = shapes_make(shapes, ROUTINGS_NODES_MAX);

    for (unsigned i = 0; i < draws; i++) {
        const struct network *network = &shapes[random_below(count)];
        uint32_t operation = i % 2 ? ECUBE_SHIFT : ECUBE_REVERSE;
        uint32_t roots = operation_roots(operation_of(operation), network);
        compare_with_programme(network, operation, random_below(roots));
    }
}

TEST(no_routing_of_divided_blocks_tells_more_of_shifts_and_reversals)
{
    compare_drawn(FEW_DRAWS / 3);
}

/* A minute. */
TEST_LONG(no_routing_of_divided_blocks_tells_more_of_many_shifts_and_reversals)
{
    compare_drawn(DRAWS / 4);
}

/* Sums ------------------------------------------------------------------------------------------
 */

/* How often something must go from one node to another until all know of all: the way through what
 * is known, a bit for each pair of nodes. It is a sum's least, which needs no more than that. */
static unsigned passes_until_all_know(unsigned nodes)
{
    unsigned bits = nodes * nodes, passes = 0;
    uint32_t mask = (1u << nodes) - 1, begin = 0, all = (uint32_t)((UINT64_C(1) << bits) - 1);
    uint32_t *now = calloc((size_t)1 << bits, sizeof *now);
    bool *been = calloc((size_t)1 << bits, sizeof *been);
    size_t head = 0, tail = 0;

    assert_true(now && been);
    for (unsigned node = 0; node < nodes; node++) {
        begin |= 1u << (node * nodes + node);
    }
    now[tail++] = begin;
    been[begin] = true;
    for (size_t level = tail; !been[all]; level = tail) {
        for (; head < level; head++) {
            for (unsigned pair = 0; pair < bits; pair++) {
                uint32_t known = now[head] >> (pair / nodes * nodes) & mask;
                uint32_t next = now[head] | known << (pair % nodes * nodes);
                if (!been[next]) {
                    been[next] = true;
                    now[tail++] = next;
                }
            }
        }
        passes++;
    }
    free(now);
    free(been);
    return passes;
}

TEST(an_element_is_passed_on_twice_for_all_nodes_but_one_before_all_have_the_sum)
{
    for (unsigned nodes = 2; nodes <= 4; nodes++) {
        assert_int_equal(passes_until_all_know(nodes), 2 * (nodes - 1));
    }
}

/* By hand ---------------------------------------------------------------------------------------
 */

static void bound_is(const char *name, uint32_t operation, uint32_t root, uint32_t bytes,
                     const struct profile *profile, uint64_t ns, const char *words)
{
    const struct plan plan = {.network = network_of(name), .operation = operation, .root = root};
    struct plan_bound bound = plan_bound_full(&plan, bytes, profile);

    if (bound.ns != ns || !strstr(bound.argument, words)) {
        fail_msg("%s on %s: %llu ns, %s", operation_name(operation), name,
                 (unsigned long long)bound.ns, bound.argument);
    }
}

static uint64_t blocks_ns(uint64_t blocks)
{
    return 75000 + blocks * 1000 * 425;
}

TEST(bounds_are_what_is_worked_out_by_hand)
{
    /* 30 nodes on one side, 31 on the other */
    bound_is("mesh:1x61", ECUBE_EXCHANGE, 0, 1000, &ipsc860, blocks_ns(930), "some link");
    bound_is("mesh:1x61", ECUBE_EXCHANGEV, 0, 1000, &ipsc860, blocks_ns(930), "some link");
    /* 6 x 9 hops, 12 links */
    bound_is("ring:6", ECUBE_EXCHANGE, 0, 1000, &all_ports, blocks_ns(5), "some link");
    bound_is("ring:6", ECUBE_EXCHANGE, 0, 1000, &ipsc860, blocks_ns(5), "port");
    bound_is("mesh:3x4", ECUBE_EXCHANGE, 0, 1000, &ipsc860, blocks_ns(12), "some link");
    bound_is("torus:5x5", ECUBE_EXCHANGE, 0, 1000, &ipsc860, blocks_ns(24), "port");
    /* to the opposite row of ten: half of each block five links forth, half five links back */
    bound_is("torus:10x4", ECUBE_SHIFT, 20, 1000, &ipsc860, 65425 + 9575 + 2500 * 425, "some link");
    /* eight nodes of one half give to the other, over two links */
    bound_is("ring:16", ECUBE_REVERSE, 0, 1000, &ipsc860, blocks_ns(4), "some link");
    bound_is("mesh:1x16", ECUBE_REVERSE, 0, 1000, &ipsc860, blocks_ns(8), "some link");
    /* 2 x 7 / 8 of 1,000 bytes */
    bound_is("ring:8", ECUBE_ALLREDUCE, 0, 1000, &ipsc860, 75000 + 1750 * 425, "2 (N - 1)");
    /* 14,000 bytes over 16 links: less than a node with two links must get */
    bound_is("ring:8", ECUBE_ALLREDUCE, 0, 1000000, &all_ports, 75000 + 875000 * UINT64_C(425),
             "2 (N - 1)");
    /* eight sums go from even to odd ranks over eight links; over two round each ring */
    bound_is("cube:4", ECUBE_SCAN, 0, 10000, &all_ports, 75000 + 10000 * 425, "some link");
    bound_is("torus:8x8", ECUBE_SCAN, 0, 100000, &all_ports, 75000 + 50000 * 425, "some link");
    /* a corner has two links, a node in the middle four */
    bound_is("mesh:5x5", ECUBE_ALLGATHER, 0, 1000, &all_ports, blocks_ns(12), "all its links");
    bound_is("mesh:5x5", ECUBE_SCATTER, 12, 1000, &all_ports, blocks_ns(6), "all its links");
    bound_is("mesh:5x5", ECUBE_SCATTER, 4, 1000, &all_ports, blocks_ns(12), "all its links");
}

/* Of table 1 the bytes alone; with set-ups it is more. */
TEST(bounds_of_cubes_are_the_paper_s_and_with_set_ups_more)
{
    const struct plan plan = {.network = network_of("cube:4"), .operation = ECUBE_EXCHANGE};

    assert_int_equal(plan_bound(&plan, 16, &ipsc860).ns, 15 * 16 * 425);
    assert_int_equal(plan_bound_full(&plan, 16, &ipsc860).ns, 4 * 75000 + 16 * 425);
    assert_int_equal(plan_bound(&plan, 1000, &ipsc860).ns, 15 * 425000);
    assert_int_equal(plan_bound_full(&plan, 1000, &ipsc860).ns, blocks_ns(15));
    /* with all ports half of the nodes' blocks cross each of N / 2 links: bandwidth */
    assert_int_equal(plan_bound(&plan, 1000, &all_ports).ns, 8 * 425000);
}

/* Plans that are drawn --------------------------------------------------------------------------
 */

/* A candidate of an operation, and one of its variants. */
static struct plan *draw_plan(const struct network *network, const struct plan_request *request)
{
    struct plan_fault fault;
    unsigned count = 0;

    while (candidate_of(request->operation, count)) {
        count++;
    }
    unsigned number = random_below(count);
    const struct candidate *candidate = candidate_of(request->operation, number);
    unsigned variants = candidate_variants(candidate, network, request);
    return variants
               ? candidate_plan(candidate, number, random_below(variants), network, request, &fault)
               : NULL;
}

static void draw(unsigned shape_count)
{
    const struct network *network = &shapes[random_below(shape_count)];
    struct profile profile = {random_below(1u << random_below(18)),
                              random_below(1u << random_below(15)),
                              random_below(1u << random_below(11)),
                              1000,
                              random_below(3) == 0,
                              (uint16_t)random_below(9)};
    struct plan_request request = {.operation = random_below(OPERATIONS),
                                   .bytes = random_below(UINT32_C(1) << random_below(21)),
                                   .profile = &profile};
    if (!operation_of(request.operation) || !operation_of(request.operation)->planned) {
        return;
    }
    request.root = random_below(operation_roots(operation_of(request.operation), network));
    struct plan *plan = draw_plan(network, &request);
    if (!plan) {
        return;
    }
    struct plan_bound bound = plan_bound_full(plan, request.bytes, &profile);
    uint64_t model_ns = plan_model_ns(plan, request.bytes, 1, &profile);
    if (bound.ns > model_ns || plan_bound(plan, request.bytes, &profile).ns > bound.ns) {
        char name[NETWORK_NAME_MAX];
        network_name(network, name);
        fail_msg("%s from %u on %s, %u bytes, by %s: %llu ns of at least %llu (%s); %u %u %u %u",
                 operation_name(request.operation), request.root, name, request.bytes,
                 plan_algorithm(plan), (unsigned long long)model_ns, (unsigned long long)bound.ns,
                 bound.argument, profile.xi_ns, profile.tau_ns, profile.element_ns, profile.ports);
    }
    plan_free(plan);
}

TEST(no_proved_plan_that_is_drawn_takes_less_than_its_bound)
{
    unsigned count = shapes_make(shapes, 24);

    for (unsigned i = 0; i < 2 * FEW_DRAWS; i++) {
        draw(count);
    }
}

/* Minutes. */
TEST_LONG(no_proved_plan_of_many_that_are_drawn_takes_less_than_its_bound)
{
    unsigned count = shapes_make(shapes, 40);

    for (unsigned i = 0; i < 5 * DRAWS; i++) {
        draw(count);
    }
}

/* Sizes of pairs that are drawn, by every exchangev there is. */
TEST(with_sizes_that_are_drawn_no_exchange_takes_less_than_its_bound)
{
    static uint32_t bytes[16 * 16];
    unsigned count = shapes_make(shapes, 16);

    for (unsigned i = 0; i < FEW_DRAWS / 3; i++) {
        const struct network *network = &shapes[random_below(count)];
        struct plan_request request = {.operation = ECUBE_EXCHANGEV};
        struct plan_fault fault;
        struct plan *plan = plan_make(network, &request, &fault);
        assert_non_null(plan);
        for (unsigned j = 0; j < network->nodes * network->nodes; j++) {
            bytes[j] = random_below(3) ? 0 : random_below(100000);
        }
        for (unsigned j = 0; j < 2; j++) {
            struct plan_time time = plan_time_sized(plan, bytes, j ? &all_ports : &ipsc860);
            assert_true(time.bound_ns <= time.model_ns);
        }
        plan_free(plan);
    }
}
