/*
 * spread_test.c - plans by cycles, lines, pairs, pipelines and uneven trees: every variant does
 * what its operation promises on nodes that execute its parts; sums have the bits of the order
 * that the plan says; and the cheapest of all takes the times that are known.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/cycle.h"
#include "network/text.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"

enum { BYTES = 512, ALL_ROOTS_NODES = 6, NODES = 16, DOUBLES = 64, ORDER_ROOM = 1024 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};

static void complain(const struct network *network, const struct candidate *candidate,
                     const struct plan_request *request, const char *words)
{
    char name[NETWORK_NAME_MAX], algorithm[ALGORITHM_WORDS_MAX];

    network_name(network, name);
    candidate_words(candidate, network, request->variant, algorithm);
    fail_msg("%s, %s by %s from %u: %s", name, operation_name(request->operation), algorithm,
             request->root, words);
}

typedef void try_plan(const struct candidate *candidate, const struct plan *plan,
                      const struct plan_request *request);

/* Plans that are made of others', and those of which none can be made. Of pairs of plans there are
 * many: so many of them are looked at. */
enum { PAIRS = 30 };

static unsigned made, not_made;

static unsigned stride_of(const struct candidate *candidate, unsigned variants)
{
    return candidate->made_of && variants > 2 * PAIRS ? variants / PAIRS : 1;
}

static void each_variant(const struct network *network, const struct candidate *candidate,
                         struct plan_request request, try_plan *look)
{
    struct plan_fault fault = {.words = ""};
    unsigned variants = candidate->variants ? candidate->variants(network, &request) : 1;

    for (request.variant = 0; request.variant < variants;
         request.variant += stride_of(candidate, variants)) {
        struct plan *plan = candidate->plan(network, &request);
        plan->variant = request.variant;
        made += candidate->made_of && !plan->refused;
        if (candidate->made_of && plan->refused) {
            not_made++;
            plan_free(plan);
            continue;
        }
        if (!plan_prove(plan, &fault)) {
            complain(network, candidate, &request, fault.words);
        }
        look(candidate, plan, &request);
        plan_free(plan);
    }
}

/* Calls `look` with every variant of every candidate of an operation, from all roots of a small
 * network, else from three. */
static void each_plan(const struct network *network, uint32_t operation, try_plan *look)
{
    const struct candidate *candidate;
    uint32_t roots = operation_of(operation)->rooted ? network->nodes : 1;
    uint32_t stride = roots > ALL_ROOTS_NODES ? (roots - 1) / 2 : 1;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        for (uint32_t root = 0; candidate->possible(network) && root < roots; root += stride) {
            const struct plan_request request = {
                .operation = operation, .root = root, .bytes = BYTES, .type = ECUBE_DOUBLE};
            each_variant(network, candidate, request, look);
        }
    }
}

static const uint32_t operations[] = {ECUBE_BROADCAST, ECUBE_SCATTER,        ECUBE_GATHER,
                                      ECUBE_ALLGATHER, ECUBE_REDUCE_SCATTER, ECUBE_REDUCE,
                                      ECUBE_ALLREDUCE};
static const char *const names[] = {"cube:0",   "cube:1",    "cube:3",    "cube:4",    "ring:2",
                                    "ring:3",   "ring:5",    "ring:6",    "ring:8",    "mesh:1x4",
                                    "mesh:3x3", "mesh:3x4",  "mesh:2x5",  "torus:3x3", "torus:4x4",
                                    "mesh:1x7", "torus:5x3", "mesh:1x13", "ring:12"};

static void try_on_machine(const struct candidate *candidate, const struct plan *plan,
                           const struct plan_request *request)
{
    const char *words = machine_tries(plan, BYTES);

    if (words) {
        complain(&plan->network, candidate, request, words);
    }
}

TEST_SWEEP(every_variant_does_what_it_promises)
{
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned k = 0; k < sizeof operations / sizeof operations[0]; k++) {
            struct network network = network_of(names[i]);
            if ((i + k) % sweep_share() == 0) {
                each_plan(&network, operations[k], try_on_machine);
            }
        }
    }
    assert_in_range(not_made, 1, made / 2);
}

/* More nodes than a set has, and rows of more pieces. */
TEST(pieces_come_to_all_of_more_nodes)
{
    static const char *const large[] = {"torus:16x17", "mesh:13x21"};

    for (unsigned i = 0; i < sizeof large / sizeof large[0]; i++) {
        for (uint32_t operation = ECUBE_BROADCAST; operation <= ECUBE_REDUCE; operation++) {
            struct network network = network_of(large[i]);
            struct plan_request request = {.operation = operation, .root = 100, .bytes = 4000};
            const struct candidate *candidate;
            for (unsigned k = 0; (candidate = candidate_of(operation, k)); k++) {
                if (strcmp(candidate->name, "in pieces") == 0) {
                    each_variant(&network, candidate, request, try_on_machine);
                }
            }
        }
    }
}

/* Order ---------------------------------------------------------------------------------------- */

static double numbers[NODES][NODES * DOUBLES]; /* of each node, for each other */

/* Adds up what words say, of element `at`; moves the words on. */
static double added_up(const char **words, unsigned at)
{
    double sum = 0;
    bool first = true;

    while (**words && **words != ')') {
        double next;
        if (**words == '(') {
            ++*words;
            next = added_up(words, at);
            ++*words;
        } else {
            char *end;
            next = numbers[strtoul(*words, &end, 10)][at];
            *words = end;
        }
        sum = first ? next : sum + next;
        first = false;
        *words += **words == ' ';
    }
    return sum;
}

static void compare_orders(const struct candidate *candidate, const struct plan *plan,
                           const struct plan_request *request)
{
    static double results[NODES][DOUBLES];
    bool blocks = plan->operation == ECUBE_REDUCE_SCATTER;
    const uint8_t *send[NODES];
    uint8_t *receive[NODES];
    const struct plan_data data = {BYTES, ECUBE_DOUBLE, ECUBE_SUM, send, receive};
    char words[ORDER_ROOM];

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        send[node] = (const uint8_t *)numbers[node];
        receive[node] = (uint8_t *)results[node];
    }
    plan_perform(plan, &data);
    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        for (uint32_t i = 0; i < DOUBLES; i++) {
            uint32_t segment = (uint32_t)(((i + 1) * (uint64_t)plan->segments - 1) / DOUBLES);
            const char *at = words;
            if (plan->operation == ECUBE_REDUCE && node != plan->root) {
                continue;
            }
            assert_true(plan_order(plan, node, segment, words, sizeof words));
            double sum = added_up(&at, (blocks ? node * DOUBLES : 0) + i);
            if (memcmp(&sum, &results[node][i], sizeof sum) != 0) {
                complain(&plan->network, candidate, request, "another sum than in its order");
            }
            i += DOUBLES / 8;
        }
    }
}

TEST_SWEEP(sums_have_the_bits_of_the_order_that_is_said)
{
    static const char *const small[] = {"cube:3", "ring:5", "mesh:2x3", "torus:3x3", "ring:8"};
    static const uint32_t sums[] = {ECUBE_REDUCE, ECUBE_ALLREDUCE, ECUBE_REDUCE_SCATTER};
    uint64_t x = 88172645463325252;

    for (unsigned i = 0; i < sizeof numbers / sizeof **numbers; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        numbers[i / (NODES * DOUBLES)][i % (NODES * DOUBLES)] =
            (double)(int64_t)x / (double)(1 + (x & 0xffff));
    }
    for (unsigned i = 0; i < sizeof small / sizeof small[0]; i++) {
        for (unsigned k = 0; k < 3; k++) {
            struct network network = network_of(small[i]);
            if ((i + k) % sweep_share() == 0) {
                each_plan(&network, sums[k], compare_orders);
            }
        }
    }
}

/* Times ---------------------------------------------------------------------------------------- */

/* A variant's time, by hand from its steps. */
static void variant_takes(const char *name, uint32_t operation, const char *algorithm,
                          uint32_t bytes, uint64_t wanted_ns)
{
    struct network network = network_of(name);
    const struct plan_request request = {.operation = operation,
                                         .bytes = bytes,
                                         .type = operation_of(operation)->reduces ? ECUBE_UINT8 : 0,
                                         .algorithm = algorithm,
                                         .profile = &ipsc860};
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(&network, &request, &fault);

    assert_string_equal(plan ? "" : fault.words, "");
    uint64_t took_ns = plan_time(plan, bytes, 1, &ipsc860).model_ns;
    plan_free(plan);
    if (took_ns != wanted_ns) {
        fail_msg("%s on %s by %s, %u bytes: %llu ns, not %llu", operation_name(operation), name,
                 algorithm, bytes, (unsigned long long)took_ns, (unsigned long long)wanted_ns);
    }
}

TEST(closed_forms_are_met)
{
    const uint64_t set_up = 75000, byte = 425;

    variant_takes("ring:8", ECUBE_REDUCE_SCATTER, "cycle one way", 1000,
                  7 * (set_up + 1000 * byte));
    variant_takes("ring:8", ECUBE_REDUCE_SCATTER, "cycle both ways", 1000,
                  set_up + 7 * 1000 * byte);
    variant_takes("ring:8", ECUBE_ALLREDUCE, "cycle both ways", 8000,
                  2 * set_up + 14 * 1000 * byte);
    variant_takes("torus:3x3", ECUBE_ALLGATHER, "cycle one way", 1000, 8 * (set_up + 1000 * byte));
    variant_takes("cube:4", ECUBE_ALLREDUCE, "halving and doubling 4 halved", 16000,
                  8 * set_up + 30 * 1000 * byte);
    variant_takes("cube:4", ECUBE_ALLREDUCE, "halving and doubling 1 halved", 1600,
                  5 * (set_up + 800 * byte));
    variant_takes("torus:4x4", ECUBE_REDUCE_SCATTER, "pairs whole", 1000,
                  4 * set_up + 15 * 1000 * byte);
    variant_takes("mesh:2x4", ECUBE_BROADCAST, "chain 4 segments", 4000,
                  10 * (set_up + 1000 * byte));
    variant_takes("cube:3", ECUBE_BROADCAST, "rotation 4 segments", 4000,
                  7 * (set_up + 1000 * byte));
}

/* What is said of a plan that is not laid down: never more than its time, and of chains, with one
 * hop from node to node, less by no more than what segments of whole numbers are shorter. */
static void says_no_more(const struct candidate *candidate, const struct plan *plan,
                         const struct plan_request *request)
{
    static const struct profile profiles[] = {
        {65425, 9575, 425, 1000, 0, 1}, {500, 10, 425, 1000, 0, 1},
        {65425, 9575, 425, 1000, 1, 1}, {0, 0, 1, 1000, 0, 1},
        {90000, 1, 3, 1000, 0, 1},      {65425, 9575, 425, 1000, 0, 16}};

    for (unsigned i = 0; candidate->least && i < sizeof profiles / sizeof profiles[0]; i++) {
        for (uint32_t bytes = 0; bytes < 100000; bytes = 3 * bytes + 8) {
            struct plan_request one = *request;
            one.bytes = bytes;
            one.profile = &profiles[i];
            struct candidate_least least =
                candidate_least(candidate, plan->variant, &plan->network, &one);
            uint64_t took_ns = plan_time(plan, bytes, 8, &profiles[i]).model_ns;
            uint64_t width = profiles[i].element_bytes, parts = plan->segments * width;
            if (least.segments != plan->segments || least.ns > took_ns * parts) {
                complain(&plan->network, candidate, &one, "it takes less than is said");
            }
            uint64_t slack = ((plan->segments - 1) * UINT64_C(8) + plan->segments * (width - 1)) *
                             profiles[i].element_ns * (2 * plan->network.nodes + plan->segments);
            if (operation_of(plan->operation)->vector && plan->variant % 2 == 0 &&
                plan->network.nodes > 2 && plan->hops == plan->blocks &&
                least.ns + slack < took_ns * parts) {
                complain(&plan->network, candidate, &one, "it takes more than its closed form");
            }
        }
    }
}

TEST_SWEEP(plans_take_no_less_than_is_said_of_them)
{
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        if (network.nodes > 1 && i % sweep_share() == sweep_share() / 2) {
            each_plan(&network, ECUBE_BROADCAST, says_no_more);
            each_plan(&network, ECUBE_REDUCE, says_no_more);
            each_plan(&network, ECUBE_EXCHANGE, says_no_more);
            each_plan(&network, ECUBE_EXCHANGEV, says_no_more);
        }
    }
}

/* A node in QEMU keeps 128 KiB of parts, and a row of a chain takes more than 32 bytes. */
TEST(parts_that_a_node_could_not_keep_are_refused)
{
    struct network network = network_of("ring:8");
    struct plan_request request = {
        .operation = ECUBE_BROADCAST, .bytes = 10000000, .profile = &ipsc860};
    struct plan_fault fault = {.words = ""};
    const struct candidate *candidate;
    unsigned number = 0;

    while ((candidate = candidate_of(ECUBE_BROADCAST, number)) &&
           strcmp(candidate->name, "chain") != 0) {
        number++;
    }
    assert_non_null(candidate);
    unsigned variants = candidate_variants(candidate, &network, &request);
    struct plan *most = candidate_plan(candidate, number, variants - 1, &network, &request, &fault);
    assert_string_equal(fault.words, "");
    for (uint32_t node = 0; node < network.nodes; node++) {
        assert_true(plan_part(most, node, NULL) <= PLAN_KEPT_BYTES);
    }
    plan_free(most);
    assert_null(candidate_plan(candidate, number, variants + 1, &network, &request, &fault));
    assert_non_null(strstr(fault.words, "room for 131072"));
}

/* Of 100 bytes: 2 hops 127.5 us, 3 hops 137.5, 4 hops 147.5; who waits for its first link goes all
 * its hops behind the one before. The times of groups are those of tests' reference data. */
TEST(groups_and_pairs_take_their_closed_forms)
{
    const uint64_t near = 117500, waits_3 = 3 * 9575 + 102 * 425, waits_6 = 6 * 9575 + 105 * 425;

    variant_takes("ring:8", ECUBE_ALLREDUCE, "leaders 4 a line 8/16", 100, 490000);
    variant_takes("ring:16", ECUBE_ALLREDUCE, "leaders 4 a line 8/16", 100, 765000);
    variant_takes("torus:8x8", ECUBE_ALLREDUCE, "leaders 4 a line 8/16", 100, 980000);
    variant_takes("ring:8", ECUBE_ALLREDUCE, "halving and doubling 0 halved", 100,
                  2 * near + 137500 + waits_3);
    variant_takes("torus:8x8", ECUBE_ALLREDUCE, "halving and doubling 0 halved", 100,
                  2 * (2 * near + 137500 + waits_3));
    variant_takes("ring:16", ECUBE_ALLREDUCE, "leaders 8 a line 8/16", 100,
                  2 * near + 2 * 127500 + 167500 + waits_6);
    variant_takes("mesh:1x8", ECUBE_ALLREDUCE, "leaders 2 a line 8/16", 100,
                  2 * (near + 127500) + near);
    variant_takes("ring:16", ECUBE_ALLGATHER, "leaders 4 a line 8/16", 8, 659600);
    variant_takes("ring:16", ECUBE_REDUCE_SCATTER, "leaders 4 a line 8/16", 8, 659600);
    variant_takes("torus:8x8", ECUBE_ALLGATHER, "leaders 4 a line 8/16", 4, 854200);
    variant_takes("torus:8x8", ECUBE_REDUCE_SCATTER, "leaders 4 a line 8/16", 4, 854200);
    variant_takes("ring:8", ECUBE_BARRIER, "leaders 8 a line 8/16", 0,
                  2 * 75000 + 95000 + 3 * 9575 + 2 * 425);
    variant_takes("ring:8", ECUBE_BARRIER, "leaders 4 a line 8/16", 0, 2 * 75000 + 2 * 85000);
}

/* All send to the root at once, and its port receives one after the other; on the cycle of cube:2
 * who is two hops away is served first. */
TEST(a_star_takes_its_closed_form)
{
    variant_takes("ring:3", ECUBE_GATHER, "uneven tree 0/16", 100, 75000 + 2 * 100 * 425);
    variant_takes("ring:3", ECUBE_REDUCE, "uneven tree 0/16", 100, 75000 + 2 * 100 * 425);
    variant_takes("cube:2", ECUBE_GATHER, "uneven tree 0/16 on a cycle", 1000,
                  85000 + 3 * 1000 * 425);
}

/* Of a dimension of three nodes: two shifts of a hop, each with `moved` bytes, the second ahead. */
static uint64_t two_shifts(uint64_t moved)
{
    const uint64_t set_up = 75000, flow = moved * 425;

    return (flow > set_up ? set_up + flow : 2 * set_up) + flow;
}

TEST(bruck_takes_its_closed_form_in_dimensions_of_three)
{
    for (uint32_t bytes = 1; bytes < 5000; bytes = 7 * bytes + 20) {
        variant_takes("torus:3x3", ECUBE_EXCHANGE, "Bruck one way", bytes,
                      2 * two_shifts(3 * bytes));
        variant_takes("torus:3x3x3", ECUBE_EXCHANGE, "Bruck both ways", bytes,
                      3 * two_shifts(9 * bytes));
        variant_takes("torus:3x3", ECUBE_ALLGATHER, "Bruck", bytes,
                      two_shifts(bytes) + two_shifts(3 * bytes));
        variant_takes("torus:3x3", ECUBE_REDUCE_SCATTER, "Bruck", bytes,
                      two_shifts(bytes) + two_shifts(3 * bytes));
    }
}

/* All that a node of cube:2 lacks behind the scatter it gets in two steps more. The first of them
 * goes ahead over the link of the last piece that the root gave away there, behind that. */
TEST(vectors_in_pieces_take_their_closed_form)
{
    const uint64_t set_up = 75000, hop = 9575, byte = 425;

    variant_takes("cube:1", ECUBE_BROADCAST, "in pieces by doubling", 4000,
                  set_up + hop + 4000 * byte);
    variant_takes("cube:2", ECUBE_BROADCAST, "in pieces by doubling", 4000,
                  3 * set_up + hop + 6 * 1000 * byte);
    variant_takes("cube:2", ECUBE_REDUCE, "in pieces by doubling", 4000,
                  3 * set_up + hop + 6 * 1000 * byte);
}

/* With all ports its ports count all the same, so it takes what it takes with one. */
TEST(what_rests_on_one_port_does_on_machines_with_all)
{
    struct network network = network_of("ring:8");
    struct plan_request request = {.operation = ECUBE_ALLREDUCE,
                                   .bytes = BYTES,
                                   .type = ECUBE_INT32,
                                   .algorithm = "cycle both ways",
                                   .profile = &all_ports};
    struct plan_fault fault = {.words = ""};

    struct plan *plan = plan_make(&network, &request, &fault);
    assert_non_null(plan);
    assert_true(plan->one_port);
    assert_int_equal(plan->node_ports, 1);
    uint64_t ns = plan_model_ns(plan, BYTES, 4, &ipsc860);
    assert_int_equal(plan_model_ns(plan, BYTES, 4, &all_ports), ns);
    plan_free(plan);
    request.algorithm = NULL;
    plan = plan_make(&network, &request, &fault);
    assert_non_null(plan);
    assert_true(plan_model_ns(plan, BYTES, 4, &all_ports) <= ns);
    plan_free(plan);
}

/* Cycles --------------------------------------------------------------------------------------- */

/* Hops between neighbours on the cycle: one where there is a Hamiltonian one, else at most two. */
static void cycle_is(const char *name, uint32_t hops)
{
    struct network network = network_of(name);
    struct cycle cycle = cycle_make(&network);
    bool *seen = calloc(network.nodes, sizeof *seen);

    for (uint32_t i = 0; i < network.nodes && network.nodes > 1; i++) {
        uint32_t here = cycle.at[i], next = cycle.at[(i + 1) % network.nodes];
        assert_false(seen[here]);
        seen[here] = true;
        assert_in_range(network_distance(&network, here, next), 1, hops);
        if (cycle.via[i] != FLOW_DIRECT) {
            assert_int_equal(network_distance(&network, here, cycle.via[i]), 1);
            assert_int_equal(network_distance(&network, cycle.via[i], next), 1);
        }
    }
    free(seen);
    cycle_free(&cycle);
}

TEST(a_cycle_goes_through_all_nodes)
{
    static const char *const one[] = {"cube:1",      "cube:5",     "ring:7",      "mesh:2x3",
                                      "mesh:5x6",    "torus:3x3",  "torus:3x7",   "torus:7x3",
                                      "torus:5x4",   "mesh:3x2x3", "torus:3x5x7", "torus:5x3x3",
                                      "torus:9x3x3", "mesh:1x2"};
    static const char *const two[] = {"mesh:1x3", "mesh:1x8", "mesh:3x3", "mesh:5x3x3"};

    for (unsigned i = 0; i < sizeof one / sizeof one[0]; i++) {
        cycle_is(one[i], 1);
    }
    for (unsigned i = 0; i < sizeof two / sizeof two[0]; i++) {
        cycle_is(two[i], 2);
    }
}
