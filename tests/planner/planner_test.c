/*
 * Plans and what they take: on cubes the papers' closed forms, the paper's order of AAP,
 * independent figures for circuits that go ahead; trees by hand; the cache; results in the plan's
 * order.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/closed_form.h"
#include "planner/algorithms/halving.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "tests/networks.h"
#include "tests/planner/odd_plans.h"
#include "tests/planner/plan_machine.h"

enum { CUBE_DIMS = 10, EXCHANGE_DIMS = 12 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned_by(const struct network *network, uint32_t operation, uint32_t root,
                               const char *algorithm)
{
    const struct plan_request request = {
        .operation = operation, .root = root, .type = ECUBE_DOUBLE, .algorithm = algorithm};
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(network, &request, &fault);

    if (!plan) {
        assert_string_equal(fault.words, "");
    }
    return plan;
}

static struct plan *planned_on(const struct network *network, uint32_t operation, uint32_t root)
{
    return planned_by(network, operation, root, NULL);
}

static struct plan *planned(const char *name, uint32_t operation, uint32_t root)
{
    struct network network = network_of(name);

    return planned_on(&network, operation, root);
}

/* Cubes --------------------------------------------------------------------------------------- */

static void compare_with_closed_form(const struct plan *plan, uint32_t operation, uint32_t dims)
{
    for (uint32_t bytes = 0; bytes < 70000; bytes = 6 * bytes + 5) {
        struct plan_time time = plan_time(plan, bytes, 8, &ipsc860);
        assert_int_equal(time.model_ns, closed_form_ns(operation, dims, bytes, &ipsc860));
        if (operation != ECUBE_BARRIER) {
            assert_int_equal(time.bound_ns, closed_form_bound_ns(operation, dims, bytes, &ipsc860));
        }
    }
    assert_int_equal(plan->steps, closed_form_steps(operation, dims));
}

TEST(plans_of_cubes_take_what_the_closed_forms_say)
{
    for (uint32_t operation = ECUBE_BARRIER; operation <= ECUBE_EXCHANGE; operation++) {
        bool rooted = operation_of(operation)->rooted;
        for (uint32_t dims = 0; dims <= (rooted ? CUBE_DIMS : EXCHANGE_DIMS); dims++) {
            struct network cube;
            network_make(&cube, NETWORK_CUBE, NULL, dims);
            struct plan *plan = planned_on(&cube, operation, rooted ? cube.nodes / 3 : 0);
            compare_with_closed_form(plan, operation, dims);
            plan_free(plan);
        }
    }
}

TEST(exchanges_of_cubes_take_what_the_paper_says)
{
    static const struct {
        uint32_t dims, block_bytes;
        uint64_t time_ns, bound_ns;
    } golden[] = {
#include "tests/golden/aap_times.txt"
    };

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct network cube;
        network_make(&cube, NETWORK_CUBE, NULL, golden[i].dims);
        struct plan *plan = planned_on(&cube, ECUBE_EXCHANGE, 0);
        struct plan_time time = plan_time(plan, golden[i].block_bytes, 1, &ipsc860);
        assert_int_equal(time.model_ns, golden[i].time_ns);
        assert_int_equal(time.bound_ns, golden[i].bound_ns);
        plan_free(plan);
    }
}

TEST(aap_is_in_the_paper_s_order)
{
    static const struct {
        uint32_t dims, phase, step, mask;
    } golden[] = {
#include "tests/golden/aap_steps.txt"
    };
    struct plan *plan = NULL;
    uint32_t at = 0;

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++, at++) {
        if (i == 0 || golden[i].dims != golden[i - 1].dims) {
            struct network cube;
            assert_true(!plan || at == plan->circuit_count);
            plan_free(plan);
            network_make(&cube, NETWORK_CUBE, NULL, golden[i].dims);
            plan = planned_on(&cube, ECUBE_EXCHANGE, 0);
            at = 1; /* behind the copy */
        }
        assert_int_equal(plan->circuits[at].to, golden[i].mask);
        assert_int_equal(plan->circuits[at].step, at - 1);
    }
    plan_free(plan);
}

TEST(large_cubes_have_plans_of_one_node)
{
    static const struct {
        const char *network;
        uint32_t operation, steps;
    } cases[] = {{"cube:16", ECUBE_BARRIER, 16},
                 {"cube:16", ECUBE_ALLGATHER, 16},
                 {"cube:12", ECUBE_EXCHANGE, 4095},
                 {"ring:65536", ECUBE_ALLGATHER, 65535}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan *plan = planned(cases[i].network, cases[i].operation, 0);
        assert_true(plan->invariant);
        assert_int_equal(plan->steps, cases[i].steps);
        plan_free(plan);
    }
}

/* Circuits that go ahead ---------------------------------------------------------------------- */

static uint64_t ahead_ns(uint32_t dims, const uint32_t *masks, uint32_t bytes)
{
    struct network cube;

    network_make(&cube, NETWORK_CUBE, NULL, dims);
    struct plan *plan = ahead_plan(&cube, masks);
    assert_null(machine_tries(plan, bytes));
    uint64_t model_ns = plan_time(plan, bytes, 1, &ipsc860).model_ns;
    plan_free(plan);
    return model_ns;
}

/* Found by search, and timed, independently of this project. */
TEST(set_up_ahead_takes_what_others_say)
{
    static const uint32_t three[] = {1, 6, 5, 2, 3, 4, 7};
    static const uint32_t four[] = {1, 10, 5, 2, 13, 6, 9, 14, 11, 4, 3, 12, 7, 8, 15};

    assert_int_equal(ahead_ns(3, three, 1000), 3080850);
    assert_int_equal(ahead_ns(4, four, 1000), 6514675);
}

/* Two neighbours of a node send to it, the second while the first does. */
TEST(a_receiver_takes_one_circuit_after_the_other)
{
    const struct network line = network_of("mesh:1x3");
    const struct plan_request request = {.operation = ECUBE_GATHER, .root = 1};
    struct plan *plan = build_begin(&line, &request, false);
    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    struct plan_moment moments[3];
    struct plan_fault fault;

    build_copy(plan, 0, 1, own, slots_of(plan, SPACE_RECEIVE, 1, 1), 0);
    build_circuit(plan, 0, 0, 1, own, slots_of(plan, SPACE_RECEIVE, 0, 1), 0);
    build_circuit(plan, 1, 2, 1, own, slots_of(plan, SPACE_RECEIVE, 2, 1), ROW_AHEAD);
    assert_true(plan_prove(plan, &fault));
    assert_null(machine_tries(plan, 1000));
    assert_int_equal(plan_replay(plan, 1000, 1, &ipsc860, moments).model_ns, 75000 + 2 * 425000);
    assert_int_equal(moments[1].begin_ns, 75000);
    assert_int_equal(moments[2].begin_ns, 75000 + 425000);
    struct profile ports = ipsc860;
    ports.ports = PORTS_ALL;
    assert_true(plan_suit(plan, &ports));
    assert_int_equal(plan_time(plan, 1000, 1, &ports).model_ns, 75000 + 425000);
    plan_free(plan);
}

/* Trees --------------------------------------------------------------------------------------- */

static void assert_edges(const char *name, uint32_t root, const uint32_t (*edges)[3],
                         uint32_t count)
{
    struct network network = network_of(name);
    struct tree tree = tree_make(&network, root);

    assert_int_equal(tree.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(tree.edges[i].step, edges[i][0]);
        assert_int_equal(tree.edges[i].from, edges[i][1]);
        assert_int_equal(tree.edges[i].to, edges[i][2]);
    }
    tree_free(&tree);
}

TEST(trees_halve_each_dimension)
{
    static const uint32_t line[][3] = {{0, 2, 4}, {1, 2, 1}, {1, 4, 6}, {2, 2, 3},
                                       {2, 4, 5}, {2, 1, 0}, {2, 6, 7}};
    static const uint32_t cube[][3] = {{0, 0, 4}, {1, 0, 2}, {1, 4, 6}, {2, 0, 1},
                                       {2, 4, 5}, {2, 2, 3}, {2, 6, 7}};
    static const uint32_t ring[][3] = {{0, 1, 2}, {1, 1, 0}, {1, 2, 3}};
    static const uint32_t mesh[][3] = {{0, 4, 1}, {1, 4, 5}, {1, 1, 2}, {2, 4, 3}, {2, 1, 0}};

    assert_edges("mesh:1x8", 2, line, 7);
    assert_edges("cube:3", 0, cube, 7);
    assert_edges("ring:4", 1, ring, 3);
    assert_edges("mesh:2x3", 4, mesh, 5);
}

TEST(no_edge_of_a_tree_is_longer_than_a_circuit)
{
    static const char *const names[] = {"mesh:1x2000", "ring:3001", "torus:2x1000"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        struct tree tree = tree_make(&network, 700);
        unsigned longest = 0;
        for (uint32_t e = 0; e < tree.count; e++) {
            unsigned hops = network_distance(&network, tree.edges[e].from, tree.edges[e].to);
            longest = hops > longest ? hops : longest;
        }
        assert_int_equal(longest, 127);
        tree_free(&tree);
    }
}

/* Roots that a test tries: one where there is none, none where there is no plan. */
static uint32_t roots_tried(uint32_t operation, uint32_t most)
{
    const struct operation *row = operation_of(operation);

    return !row || !row->planned ? 0 : operation_root_name(row) ? most : 1;
}

/* Nor all to some, whose paths are as long as those of a reversal. */
static void has_all_but_exchanges_and_reversal(const char *network)
{
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        if (roots_tried(operation, 1) && operation != ECUBE_EXCHANGE &&
            operation != ECUBE_EXCHANGEV && operation != ECUBE_REVERSE &&
            operation != ECUBE_ALL_TO_SOME) {
            plan_free(planned(network, operation, 0));
        }
    }
}

TEST(large_networks_have_all_but_exchanges_and_reversal)
{
    has_all_but_exchanges_and_reversal("ring:9000");
    has_all_but_exchanges_and_reversal("mesh:1x3000");
    has_all_but_exchanges_and_reversal("torus:16x16x16");
}

/* As many nodes as there may be; they take twenty seconds. */
TEST_LONG(so_have_the_largest)
{
    has_all_but_exchanges_and_reversal("mesh:256x256");
}

/* The proofs of their quarter million circuits take seconds. */
TEST_LONG(exchanges_reach_five_hundred_and_twelve_nodes)
{
    static const struct {
        const char *network, *algorithm;
    } cases[] = {{"mesh:16x32", "direct"},
                 {"ring:254", "direct"},
                 {"mesh:1x200", "neighbours both ways"},
                 {"ring:512", "neighbours both ways"}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan *plan = planned(cases[i].network, ECUBE_EXCHANGE, 0);
        assert_string_equal(plan_algorithm(plan), cases[i].algorithm);
        plan_free(plan);
    }
}

/* Requests ------------------------------------------------------------------------------------ */

static void refused(const char *name, uint32_t operation, uint32_t root, uint32_t type,
                    const char *algorithm, const char *why, int status)
{
    struct network network = network_of(name);
    const struct plan_request request = {
        .operation = operation, .root = root, .type = type, .algorithm = algorithm};
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_time time;
    struct plan_fault fault;
    const char *words;
    uint32_t bytes, steps;
    int got;

    assert_null(plan_make(&network, &request, &fault));
    if (!strstr(fault.words, why)) {
        assert_string_equal(fault.words, why);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_null(plan_cache_part(cache, &request, 0, &bytes, &got, &words));
        assert_int_equal(got, status);
        assert_string_equal(words, fault.words);
        assert_false(plan_cache_predict(cache, &request, &time, &steps, &got));
        assert_int_equal(got, status);
    }
    plan_cache_free(cache);
}

TEST(requests_that_cannot_be_are_refused_in_words)
{
    refused("ring:5", ECUBE_SCATTER, 5, 0, NULL, "no node 5 to be the root", E_ARGUMENT);
    refused("ring:5", ECUBE_EXCHANGE, 1, 0, NULL, "has no root", E_ARGUMENT);
    refused("ring:5", ECUBE_REDUCE, 1, 0, NULL, "type of elements", E_ARGUMENT);
    refused("ring:5", ECUBE_ALIGN, 0, 0, NULL, "no such operation", E_ARGUMENT);
    refused("ring:5", OPERATIONS, 0, 0, NULL, "no such operation", E_ARGUMENT);
    refused("mesh:1x2100", ECUBE_EXCHANGE, 0, 0, NULL, "at most 2,048 nodes", E_NETWORK);
    refused("ring:5", ECUBE_EXCHANGE, 0, 0, "AAP", "wants a cube", E_NETWORK);
    refused("ring:5", ECUBE_EXCHANGE, 0, 0, "Swing", "there are \"AAP\", \"AAP ahead\"", E_NETWORK);
}

/* Of a long line, where nobody can, each candidate's limit is named, and who has it. */
TEST(where_nobody_makes_a_plan_every_limit_is_named)
{
    struct network network = network_of("mesh:1x60000");
    const struct candidate *candidate;
    unsigned refusals = 0;

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        const struct plan_request request = {.operation = operation, .type = ECUBE_INT32};
        struct plan_fault fault;
        if (!candidate_of(operation, 0) || plan_possible(&network, &request, &fault)) {
            continue;
        }
        for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
            assert_non_null(strstr(fault.words, candidate->name));
            assert_non_null(strstr(fault.words, candidate->restriction));
        }
        assert_true(strlen(fault.words) + 1 < sizeof fault.words);
        refusals++;
    }
    assert_true(refusals > 0);
}

/* Some may be laid down, and meet a limit then. */
TEST(where_all_plans_pass_a_limit_each_is_named)
{
    struct network network = network_of("mesh:1x1100");
    const struct plan_request request = {.operation = ECUBE_EXCHANGE, .profile = &ipsc860};
    struct plan_fault fault;

    assert_null(plan_make(&network, &request, &fault));
    assert_non_null(strstr(fault.words, "by neighbours wants at most 512 nodes"));
    assert_non_null(strstr(fault.words, "; by neighbours both ways: a circuit has more pieces than "
                                        "a row counts; by Bruck: a path has more hops than"));
}

/* A new part, to compare with one of the cache. */
static void assert_part(const struct plan *plan, uint32_t rank, const uint8_t *part, uint32_t bytes)
{
    uint8_t *again = malloc(bytes);

    assert_int_equal(plan_part(plan, rank, NULL), bytes);
    plan_part(plan, rank, again);
    assert_memory_equal(part, again, bytes);
    free(again);
}

TEST(the_cache_keeps_parts_where_they_are)
{
    struct network network = network_of("mesh:3x4");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    const uint8_t *parts[12];
    uint32_t bytes, steps;
    const char *words;
    int status;

    for (uint32_t round = 0; round < 3; round++) {
        const struct plan_request request = {
            .operation = ECUBE_GATHER, .root = 7, .bytes = 24, .profile = &ipsc860};
        struct plan_fault fault;
        struct plan *plan = plan_make(&network, &request, &fault);
        for (uint32_t rank = 0; rank < network.nodes; rank++) {
            const uint8_t *part = plan_cache_part(cache, &request, rank, &bytes, &status, &words);
            assert_int_equal(status, E_OK);
            assert_part(plan, rank, part, bytes);
            assert_true(round == 0 || part == parts[rank]);
            parts[rank] = part;
        }
        struct plan_time time, there = plan_time(plan, request.bytes, 0, &ipsc860);
        assert_true(plan_cache_predict(cache, &request, &time, &steps, &status));
        assert_int_equal(time.model_ns, there.model_ns);
        assert_int_equal(time.bound_ns, there.bound_ns);
        assert_int_equal(steps, plan->steps);
        plan_free(plan);
    }
    plan_cache_free(cache);
}

/* Bytes from nodes are data: whatever they ask for is answered, and kept only if it can be. */
TEST(no_question_fills_the_cache)
{
    struct network network = network_of("ring:5");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    const uint8_t *part = NULL;
    uint32_t bytes;
    const char *words;
    int status;

    for (uint32_t i = 0; i < 100000; i++) {
        struct plan_request request = {
            .operation = i % 11, .root = i / 11, .bytes = 7 * i, .type = i % 7};
        const uint8_t *next = plan_cache_part(cache, &request, i % 5, &bytes, &status, &words);
        assert_true(next ? status == E_OK : status == E_ARGUMENT && words[0]);
    }
    for (uint32_t i = 0; i < 100; i++) { /* the type is no part of what a gather is */
        struct plan_request request = {.operation = ECUBE_GATHER, .type = i};
        const uint8_t *next = plan_cache_part(cache, &request, 2, &bytes, &status, &words);
        assert_true(next && (!part || next == part));
        part = next;
    }
    plan_cache_free(cache);
}

TEST(other_requests_have_other_plans)
{
    struct network network = network_of("torus:3x4");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_request request = {.operation = ECUBE_ALLGATHER, .algorithm = "ring of neighbours"};
    uint32_t bytes;
    const char *words;
    int status;

    const uint8_t *one = plan_cache_part(cache, &request, 3, &bytes, &status, &words);
    assert_ptr_equal(one, plan_cache_part(cache, &request, 4, &bytes, &status, &words));
    request.algorithm = "gather and broadcast";
    assert_ptr_not_equal(one, plan_cache_part(cache, &request, 3, &bytes, &status, &words));
    struct plan_request scatter = {.operation = ECUBE_SCATTER, .root = 1};
    one = plan_cache_part(cache, &scatter, 3, &bytes, &status, &words);
    scatter.root = 2;
    assert_ptr_not_equal(one, plan_cache_part(cache, &scatter, 3, &bytes, &status, &words));
    plan_cache_free(cache);
    network = network_of("mesh:1x1100"); /* more roots than the cache has drawers */
    cache = plan_cache_make(&network, &ipsc860);
    scatter.root = 1;
    one = plan_cache_part(cache, &scatter, 3, &bytes, &status, &words);
    scatter.root = 1025;
    assert_ptr_not_equal(one, plan_cache_part(cache, &scatter, 3, &bytes, &status, &words));
    plan_cache_free(cache);
}

/* Not those of which only the time was asked for. */
TEST(the_cache_tells_which_plans_it_has_given)
{
    struct network network = network_of("ring:6");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_request requests[] = {
        {.operation = ECUBE_GATHER, .root = 2, .bytes = 100, .algorithm = "halving tree"},
        {.operation = ECUBE_BROADCAST, .bytes = 4096, .algorithm = "chain 8 segments"}};
    struct plan_summary summaries[2];
    struct plan_time time;
    uint32_t bytes, steps;
    const char *words;
    int status;

    assert_true(plan_cache_predict(cache, &requests[1], &time, &steps, &status));
    assert_int_equal(plan_cache_given(cache, summaries, 2), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_non_null(plan_cache_part(cache, &requests[i % 2], i, &bytes, &status, &words));
    }
    assert_int_equal(plan_cache_given(cache, summaries, 1), 2);
    assert_int_equal(summaries[0].operation, ECUBE_BROADCAST); /* it is the older one */
    assert_string_equal(summaries[0].algorithm, "chain 8 segments");
    assert_in_range(4096, summaries[0].bytes_min, summaries[0].bytes_max);
    assert_int_equal(plan_cache_given(cache, summaries, 2), 2);
    assert_int_equal(summaries[1].root, 2);
    assert_string_equal(summaries[1].algorithm, "halving tree");
    plan_cache_free(cache);
}

TEST(other_plans_have_other_digests)
{
    static const char *const names[] = {"cube:2", "ring:4", "mesh:2x2", "torus:2x2"};
    uint32_t digests[96], count = 0;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            for (uint32_t root = 0; root < roots_tried(operation, 2); root++) {
                assert_in_range(count, 0, 95);
                struct plan *plan = planned(names[i], operation, root);
                for (uint32_t j = 0; j < count; j++) {
                    assert_int_not_equal(digests[j], plan->digest);
                }
                digests[count++] = plan->digest;
                plan_free(plan);
            }
        }
    }
}

TEST(bounds_say_why)
{
    struct plan *plan = planned("mesh:1x16", ECUBE_BROADCAST, 0);
    struct plan *barrier = planned("cube:4", ECUBE_BARRIER, 0);
    struct plan *reduce = planned("cube:4", ECUBE_REDUCE, 0);

    assert_non_null(strstr(plan_bound(plan, 0, &ipsc860).argument, "grow faster"));
    assert_int_equal(plan_time(plan, 0, 1, &ipsc860).bound_ns, 4 * 75000);
    const struct profile slow = {10, 1000, 1, 1000, 0, 1};
    assert_non_null(strstr(plan_bound(plan, 8, &slow).argument, "farthest"));
    assert_int_equal(plan_time(plan, 8, 1, &slow).bound_ns, 10 + 15 * 1000 + 15 + 8 - 1);
    assert_int_equal(plan_time(barrier, 0, 1, &ipsc860).bound_ns, 4 * 75000);
    assert_int_equal(plan_time(reduce, 100, 1, &ipsc860).bound_ns, 65425 + 4 * 9575 + 103 * 425);
    plan_free(plan);
    plan_free(barrier);
    plan_free(reduce);
}

/* Results ------------------------------------------------------------------------------------- */

/* Of a line of four, by hand: 3 goes to 2 and 1 to 0, then 2 to 0. */
TEST(sums_are_in_the_order_of_the_plan)
{
    static const double x[4] = {1e16, 1, -1e16, 1.25};
    const uint8_t *send[4];
    uint8_t *receive[4] = {NULL};
    double sum;
    struct plan *plan = planned("mesh:1x4", ECUBE_REDUCE, 0);

    for (unsigned i = 0; i < 4; i++) {
        send[i] = (const uint8_t *)&x[i];
    }
    receive[0] = (uint8_t *)&sum;
    const struct plan_data data = {sizeof sum, ECUBE_DOUBLE, ECUBE_SUM, send, receive};
    plan_perform(plan, &data);
    const double expected = (x[0] + x[1]) + (x[2] + x[3]);
    assert_memory_equal(&sum, &expected, sizeof sum);
    assert_true(sum != x[0] + (x[1] + (x[2] + x[3])));
    plan_free(plan);
}

static void order_is(const char *name, uint32_t operation, const char *algorithm, uint32_t rank,
                     const char *wanted)
{
    struct network network = network_of(name);
    struct plan *plan = planned_by(&network, operation, 0, algorithm);
    char words[100];

    assert_true(plan_order(plan, rank, 0, words, sizeof words));
    assert_string_equal(words, wanted);
    assert_false(plan_order(plan, rank, 0, words, strlen(wanted)));
    plan_free(plan);
}

/* The brackets, whose operands of lower ranks stand first. */
TEST(the_order_is_said_in_words)
{
    order_is("mesh:1x4", ECUBE_REDUCE, "halving tree", 0, "(0 1) (2 3)");
    order_is("mesh:1x1", ECUBE_REDUCE, "halving tree", 0, "0");
    order_is("mesh:1x5", ECUBE_SCAN, "chain", 4, "(((0 1) 2) 3) 4");
    order_is("mesh:1x5", ECUBE_SCAN, "chain", 1, "0 1");
    order_is("cube:3", ECUBE_SCAN, "recursive doubling", 6, "((0 1) (2 3)) ((4 5) 6)");
    order_is("mesh:1x8", ECUBE_SCAN, "halving tree", 7, "((((0 1) (2 3)) (4 5)) 6) 7");
}

TEST(exchanged_bytes_are_where_they_belong)
{
    enum { NODES = 12, BYTES = 3 };
    static const char *const names[] = {"mesh:3x4", "ring:12", "torus:3x2x2"};
    static const char *const algorithms[] = {"direct", "neighbours", NULL};
    uint8_t sent[NODES][NODES][BYTES], got[NODES][NODES][BYTES];
    const uint8_t *send[NODES];
    uint8_t *receive[NODES];

    for (uint32_t s = 0; s < NODES; s++) {
        send[s] = sent[s][0];
        receive[s] = got[s][0];
        for (uint32_t d = 0; d < NODES; d++) {
            memset(sent[s][d], (int)(s * NODES + d), BYTES);
        }
    }
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        struct plan *plan = planned_by(&network, ECUBE_EXCHANGE, 0, algorithms[i]);
        const struct plan_data data = {BYTES, 0, 0, send, receive};
        memset(got, 0xff, sizeof got);
        plan_perform(plan, &data);
        for (uint32_t s = 0; s < NODES; s++) {
            for (uint32_t d = 0; d < NODES; d++) {
                assert_memory_equal(got[d][s], sent[s][d], BYTES);
            }
        }
        plan_free(plan);
    }
}
