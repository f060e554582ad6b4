/*
 * ports_test.c - plans for machines of several ports: every variant does what its operation
 * promises on nodes that execute its parts, with as many ports as they have; the cheapest take the
 * times that are known; more ports are never dearer; and what is broken about ports is found.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/disjoint.h"
#include "planner/build.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"

enum { BYTES = 512, PRICES = 3, DRAWS = 120, LONG_DRAWS = 1500, ALL_ROOTS_NODES = 6 };

static const char *const names[] = {
    "cube:1",    "cube:2",    "cube:3",    "cube:4",     "ring:2",     "ring:3",
    "ring:4",    "ring:5",    "ring:7",    "ring:8",     "ring:12",    "mesh:1x4",
    "mesh:1x7",  "mesh:2x3",  "mesh:3x3",  "mesh:3x4",   "torus:3x3",  "torus:4x4",
    "torus:3x4", "torus:5x3", "torus:2x5", "mesh:2x2x3", "torus:3x3x2"};
static const uint8_t port_counts[] = {1, 2, 3, PORTS_ALL};

static void complain(const struct network *network, const struct candidate *candidate,
                     const struct plan_request *request, const char *words)
{
    char name[NETWORK_NAME_MAX], algorithm[ALGORITHM_WORDS_MAX];

    network_name(network, name);
    candidate_words(candidate, network, request->variant, algorithm);
    fail_msg("%s, %s by %s from %u with %u ports: %s", name, operation_name(request->operation),
             algorithm, request->root, request->ports, words);
}

static void try_variant(const struct network *network, const struct candidate *candidate,
                        const struct plan_request *request)
{
    struct plan_fault fault = {.words = ""};
    struct plan *plan = candidate->plan(network, request);
    const char *words;

    plan->variant = request->variant;
    if (!plan_prove(plan, &fault)) {
        complain(network, candidate, request, fault.words);
    }
    if (plan->node_ports > (request->ports == PORTS_ALL ? network->ports : request->ports)) {
        complain(network, candidate, request, "it uses more ports than there are");
    }
    words = machine_tries(plan, BYTES);
    if (words) {
        complain(network, candidate, request, words);
    }
    plan_free(plan);
}

static void try_candidate(const struct network *network, const struct candidate *candidate)
{
    struct plan_request request = {.operation = candidate->operation,
                                   .bytes = BYTES,
                                   .type = ECUBE_DOUBLE,
                                   .ports = PORTS_ALL};
    uint32_t roots = operation_roots(operation_of(request.operation), network);
    uint32_t stride = roots > ALL_ROOTS_NODES ? (roots - 1) / 2 : 1;

    for (request.root = 0; request.root < roots; request.root += stride) {
        request.ports = PORTS_ALL;
        unsigned variants = candidate_variants(candidate, network, &request);
        for (request.variant = 0; request.variant < variants; request.variant++) {
            for (unsigned p = 0; p < sizeof port_counts / sizeof port_counts[0]; p++) {
                request.ports = port_counts[p];
                if (!candidate->steps || request.ports >= network->ports) {
                    try_variant(network, candidate, &request);
                }
            }
        }
    }
}

TEST_SWEEP(every_variant_does_what_it_promises_with_any_ports)
{
    unsigned tried = 0;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            const struct candidate *candidate;
            for (unsigned k = 0; (candidate = candidate_of(operation, k)); k++) {
                if (candidate->wants_ports && candidate->possible(&network) &&
                    tried++ % sweep_share() == 0) {
                    try_candidate(&network, candidate);
                }
            }
        }
    }
    assert_in_range(tried, 100, 10000);
}

/* With one port nobody has them for the asking. */
TEST(who_wants_several_ports_is_not_asked_where_there_is_one)
{
    struct network network = network_of("torus:4x4");
    struct profile profile = {65425, 9575, 425, 1000, 1, 1};
    struct plan_request request = {.operation = ECUBE_BROADCAST,
                                   .bytes = BYTES,
                                   .algorithm = "disjoint trees",
                                   .profile = &profile};
    struct plan_fault fault;

    assert_false(plan_possible(&network, &request, &fault));
    assert_non_null(strstr(fault.words, "several ports (--ports)"));
    profile.ports = 2;
    struct plan *plan = plan_make(&network, &request, &fault);
    assert_non_null(plan);
    assert_int_equal(plan->node_ports, 2);
    assert_true(plan_is_for(plan, &profile));
    profile.ports = 1;
    assert_false(plan_is_for(plan, &profile));
    plan_free(plan);
}

/* Times ---------------------------------------------------------------------------------------- */

static uint64_t takes(const struct network *network, uint32_t operation, uint32_t root,
                      uint32_t bytes, uint8_t ports)
{
    const struct profile profile = {65425, 9575, 425, 1000, ports, 1};
    bool reduces = operation_of(operation)->reduces;
    struct plan_request request = {.operation = operation,
                                   .root = root,
                                   .bytes = bytes,
                                   .type = reduces ? ECUBE_UINT8 : 0,
                                   .profile = &profile};
    struct plan_fault fault;
    struct plan *plan = plan_make(network, &request, &fault);

    if (!plan) {
        fail_msg("%s: %s", operation_name(operation), fault.words);
    }
    uint64_t ns = plan_model_ns(plan, bytes, 1, &profile);
    plan_free(plan);
    return ns;
}

/* The reference cuts bytes: of what is whole a step takes an element more for each piece, and a
 * vector whose blocks are whole may have some bytes more. */
TEST_SWEEP(vectors_over_all_links_take_the_times_that_are_known)
{
    static const struct {
        const char *network;
        uint32_t operation;
        double us[PRICES];
    } known[] = {
#include "tests/golden/allreduce_all_ports.txt"
    };
    static const uint32_t sizes[PRICES] = {100, 10000, 1000000};

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct network network = network_of(known[i].network);
        if ((i + i / 3) % sweep_share() != 0) { /* each network has three lines */
            continue;
        }
        bool vector = operation_of(known[i].operation)->vector;
        for (unsigned k = vector ? 0 : 1; k < PRICES; k++) {
            uint32_t nodes = network.nodes;
            uint32_t bytes = vector ? sizes[k] : (sizes[k] + nodes - 1) / nodes;
            uint64_t ns = takes(&network, known[i].operation, 0, bytes, PORTS_ALL);
            double more = 0.425 * (vector ? 8 * 16 : 24 + bytes * nodes - sizes[k]);
            if ((double)ns > (known[i].us[k] + (k == 0 ? 0 : more)) * 1e3 + 10) {
                fail_msg("%s on %s, %u bytes: %.3f us, %.2f are known",
                         operation_name(known[i].operation), known[i].network, sizes[k],
                         (double)ns / 1e3, known[i].us[k]);
            }
        }
    }
}

TEST_LONG(operations_with_one_port_take_no_longer_than_is_known)
{
    static const struct {
        const char *network;
        uint32_t operation;
        double us[PRICES];
    } known[] = {
#include "tests/golden/operations_one_port.txt"
    };
    static const uint32_t sizes[PRICES] = {100, 1000, 10000};

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct network network = network_of(known[i].network);
        for (unsigned k = 0; k < PRICES; k++) {
            uint64_t ns = takes(&network, known[i].operation, 0, sizes[k], 1);
            if ((double)ns > known[i].us[k] * 1e3) {
                fail_msg("%s on %s, %u bytes: %.3f us, %.2f are known",
                         operation_name(known[i].operation), known[i].network, sizes[k],
                         (double)ns / 1e3, known[i].us[k]);
            }
        }
    }
}

/* Five eighths of a block go 3 links forward, three 5 links back: 15 in 5 steps of 3. */
TEST(a_shift_in_parts_takes_its_closed_form)
{
    struct network network = network_of("ring:8");

    assert_int_equal(takes(&network, ECUBE_SHIFT, 3, 8000, PORTS_ALL),
                     5 * (65425 + 9575 + 3000 * 425));
    assert_int_equal(takes(&network, ECUBE_SHIFT, 5, 8000, 2), 5 * (65425 + 9575 + 3000 * 425));
    assert_true(takes(&network, ECUBE_SHIFT, 3, 8000, 1) > 3 * 8000 * 425);
}

/* On rings and tori long blocks take little more than what the links must carry of them; on cubes
 * and lines they do with one port. */
TEST_SWEEP(shifts_over_all_links_are_near_their_bounds)
{
    static const struct {
        const char *name;
        unsigned percent;
    } near[] = {{"ring:5", 110},    {"ring:8", 110},    {"ring:9", 115},    {"ring:16", 110},
                {"torus:4x4", 120}, {"torus:4x3", 135}, {"torus:5x5", 135}, {"cube:4", 101},
                {"mesh:1x7", 101},  {"mesh:4x4", 145}};
    const struct profile profile = {65425, 9575, 425, 1000, PORTS_ALL, 1};

    for (unsigned i = 0; i < sizeof near / sizeof near[0]; i += sweep_share()) {
        struct network network = network_of(near[i].name);
        for (uint32_t distance = 1; distance < network.nodes; distance++) {
            const struct plan plan = {
                .network = network, .operation = ECUBE_SHIFT, .root = distance};
            uint64_t bound = plan_bound_full(&plan, 100000, &profile).ns;
            uint64_t ns = takes(&network, ECUBE_SHIFT, distance, 100000, PORTS_ALL);
            if (ns < bound || ns * 100 > bound * near[i].percent) {
                fail_msg("%s by %u: %llu ns, bound %llu", near[i].name, distance,
                         (unsigned long long)ns, (unsigned long long)bound);
            }
        }
    }
}

/* d trees of the cube, 8 segments in each, are 5 deep: 12 steps. */
TEST(disjoint_trees_take_their_closed_form)
{
    struct network network = network_of("cube:4");
    const struct profile profile = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    struct plan_request request = {.operation = ECUBE_BROADCAST,
                                   .bytes = 32 * 1000,
                                   .algorithm = "disjoint trees 8 segments",
                                   .profile = &profile};
    struct plan_fault fault;
    struct plan *plan = plan_make(&network, &request, &fault);

    assert_non_null(plan);
    assert_int_equal(plan->steps, 12);
    assert_int_equal(plan_model_ns(plan, request.bytes, 1, &profile),
                     12 * (65425 + 9575 + 1000 * 425));
    plan_free(plan);
}

/* 64 steps, in each of which every node has two circuits: at most 1.03 of N / 2 blocks. */
TEST(two_ports_exchange_in_pairs_of_complements)
{
    struct network network = network_of("cube:7");
    uint64_t blocks = UINT64_C(64) * 10000 * 425, ns = takes(&network, ECUBE_EXCHANGE, 0, 10000, 2);

    assert_in_range(ns, blocks, blocks * 103 / 100);
}

/* All links of the root are busy in every step: as many steps as the reference has. */
TEST(branches_have_as_few_steps_as_there_can_be)
{
    static const struct {
        const char *name;
        uint32_t root, steps;
    } known[] = {{"ring:8", 0, 4},    {"ring:9", 3, 4},      {"torus:4x4", 5, 4},
                 {"torus:5x5", 0, 6}, {"torus:3x3x3", 1, 5}, {"cube:3", 0, 3},
                 {"cube:4", 15, 4},   {"cube:5", 0, 7},      {"cube:6", 9, 11},
                 {"torus:3x4", 0, 3}, {"cube:7", 0, 19},     {"torus:4x4x4", 0, 11}};

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct network network = network_of(known[i].name);
        const struct plan_request request = {
            .operation = ECUBE_SCATTER, .root = known[i].root, .ports = PORTS_ALL};
        struct plan_fault fault = {.words = ""};
        struct plan *plan = plan_in_branches(&network, &request);
        assert_true(plan_prove(plan, &fault));
        if (plan->steps != known[i].steps) {
            fail_msg("%s: %u steps, not %u", known[i].name, plan->steps, known[i].steps);
        }
        plan_free(plan);
    }
}

/* As many trees as the node with the fewest links has; they reach all, and share no link. */
TEST(trees_that_are_packed_share_no_link)
{
    static const struct {
        const char *name;
        uint32_t trees;
    } packed[] = {{"ring:7", 2},    {"mesh:4x5", 2},    {"torus:4x4", 4}, {"torus:5x3", 4},
                  {"mesh:1x5", 1},  {"mesh:3x3x3", 3},  {"cube:5", 5},    {"torus:3x3x3", 6},
                  {"torus:2x5", 3}, {"torus:16x16", 4}, {"mesh:2x2", 2}};

    for (unsigned i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        struct network network = network_of(packed[i].name);
        for (uint32_t root = 0; root < network.nodes; root += network.nodes / 2) {
            struct disjoint d = disjoint_make(&network, root);
            bool *used = planner_memory((uint64_t)network.nodes * network.ports, sizeof *used);
            assert_int_equal(d.trees, packed[i].trees);
            for (uint64_t at = 0; at < (uint64_t)d.trees * d.nodes; at++) {
                uint32_t node = (uint32_t)(at % d.nodes), parent = d.parent[at];
                if (node == root) {
                    assert_int_equal(d.depth[at], 0);
                    continue;
                }
                unsigned port = network_port_to(&network, parent, node);
                assert_true(port < network.ports);
                assert_false(used[parent * network.ports + port]);
                used[parent * network.ports + port] = true;
                assert_int_equal(d.depth[at], d.depth[at - node + parent] + 1);
                assert_in_range(d.depth[at], 1, d.deepest);
            }
            assert_in_range(d.deepest, network_distance(&network, root, network.nodes - 1 - root),
                            3 * network_diameter(&network) + 3);
            free(used);
            disjoint_free(&d);
        }
    }
}

static uint32_t drawn(uint32_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % below;
}

/* What a machine with few ports can do, one with more can. */
static void hold_ports(uint32_t seed, unsigned draws)
{
    static const uint32_t operations[] = {
        ECUBE_BROADCAST, ECUBE_SCATTER,        ECUBE_GATHER,    ECUBE_EXCHANGE, ECUBE_ALLGATHER,
        ECUBE_REDUCE,    ECUBE_REDUCE_SCATTER, ECUBE_ALLREDUCE, ECUBE_SCAN,     ECUBE_SHIFT};
    uint32_t state = seed;

    for (unsigned i = 0; i < draws; i++) {
        const char *name = names[drawn(&state, sizeof names / sizeof names[0])];
        struct network network = network_of(name);
        uint32_t operation = operations[drawn(&state, sizeof operations / sizeof operations[0])];
        uint32_t root = drawn(&state, operation_roots(operation_of(operation), &network));
        uint32_t bytes = drawn(&state, 2u << drawn(&state, 17));
        uint64_t one = takes(&network, operation, root, bytes, 1);
        uint64_t two = takes(&network, operation, root, bytes, 2);
        uint64_t all = takes(&network, operation, root, bytes, PORTS_ALL);
        if (two > one || all > two) {
            fail_msg("%s on %s, %u bytes, root %u: %llu ns with one port, %llu with two, %llu with "
                     "all",
                     operation_name(operation), name, bytes, root, (unsigned long long)one,
                     (unsigned long long)two, (unsigned long long)all);
        }
    }
}

TEST(more_ports_are_never_dearer_than_fewer)
{
    hold_ports(2463534242u, DRAWS / sweep_share());
}

TEST_LONG(more_ports_are_never_dearer_than_fewer_in_many_draws)
{
    hold_ports(88172645u, LONG_DRAWS);
}

/* Broken plans --------------------------------------------------------------------------------- */

/* What is done to the broadcast of ring:4 from 0 over two trees, a segment in each:
 *
 *     0>1:0 0>3:1 | 1>2:0 3>2:1 | 2>3:0 2>1:1      (which way each segment goes is the packer's)
 */
static struct plan *right_plan(uint32_t operation)
{
    struct network network = network_of("ring:4");
    const struct plan_request request = {.operation = operation, .ports = 2};
    const struct candidate *candidate;
    unsigned i = 0;

    while ((candidate = candidate_of(operation, i++)) &&
           strcmp(candidate->name, "disjoint trees")) {
    }
    assert_non_null(candidate);
    return candidate->plan(&network, &request);
}

static struct plan_circuit *circuit_at(struct plan *plan, uint32_t step, uint32_t port)
{
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        struct plan_circuit *circuit = &plan->circuits[i];
        if (circuit->step == step && circuit->port == port && circuit->from != circuit->to) {
            return circuit;
        }
    }
    fail();
    return NULL;
}

static void rejected(struct plan *plan, const char *why)
{
    struct plan_fault fault = {.words = ""};

    assert_false(plan_prove(plan, &fault));
    if (!strstr(fault.words, why)) {
        assert_string_equal(fault.words, why);
    }
    plan_free(plan);
}

TEST(two_circuits_have_not_one_port)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);

    circuit_at(plan, 0, 1)->port = 0;
    rejected(plan, "twice in a step by one port");
}

TEST(there_are_so_many_ports_and_no_more)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);

    circuit_at(plan, 0, 1)->port = CLOCK_PORTS_MAX;
    rejected(plan, "there is no port 16");
}

TEST(a_later_port_does_not_come_first)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);
    struct plan_circuit *first = circuit_at(plan, 0, 0), *second = circuit_at(plan, 0, 1);

    first->port = 1;
    second->port = 0;
    rejected(plan, "by a later port before it");
}

/* What one direction of a link carries, the other does not. */
TEST(a_link_has_two_directions)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);
    struct plan_circuit *circuit = circuit_at(plan, 1, 0);
    uint32_t from = circuit->from;

    circuit->from = circuit->to;
    circuit->to = from;
    rejected(plan, "before anything is there");
}

TEST(a_part_does_not_come_for_another)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);
    struct plan_circuit *first = circuit_at(plan, 0, 0), *second = circuit_at(plan, 0, 1);

    first->receive_at = second->receive_at;
    rejected(plan, "segment");
}

/* One port gives the part of the other as well, which then is nowhere. */
TEST(no_part_is_given_twice_and_another_never)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);
    struct plan_circuit *first = circuit_at(plan, 2, 0), *second = circuit_at(plan, 2, 1);

    assert_int_equal(first->from, second->from);
    first->send_at = second->send_at;
    first->receive_at = second->receive_at;
    first->flags |= ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    second->flags |= ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    rejected(plan, "at the end");
}

TEST(no_contribution_is_added_by_two_ports)
{
    struct plan *plan = right_plan(ECUBE_REDUCE);
    struct plan_circuit *first = circuit_at(plan, 2, 0), *second = circuit_at(plan, 2, 1);

    assert_int_equal(first->to, second->to);
    second->from = first->from;
    second->port = 1;
    rejected(plan, "is sent before anything is there");
}

TEST(what_comes_by_one_port_is_not_sent_by_another_in_the_step)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        plan->circuits[i].step = 0;
        plan->circuits[i].flags |= ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
        plan->circuits[i].flags &= (uint8_t)~ROW_AHEAD;
        plan->circuits[i].port = (uint8_t)i;
    }
    rejected(plan, "the sender receives into what it sends");
}

TEST(all_circuits_of_a_node_s_step_go_ahead_or_none)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);

    circuit_at(plan, 0, 1)->flags ^= ROW_AHEAD;
    rejected(plan, "some are issued ahead and some are not");
}

/* With one port what was received has come when the next begins; with two nobody can tell. */
TEST(what_comes_by_another_port_may_not_be_there_for_who_goes_ahead)
{
    struct plan *plan = right_plan(ECUBE_BROADCAST);

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        plan->circuits[i].flags |= ROW_AHEAD;
    }
    rejected(plan, "is in use by the step that is overlapped");
}

TEST(a_reduction_waits_for_what_another_port_brings)
{
    struct plan *plan = right_plan(ECUBE_REDUCE);
    uint32_t i = plan->circuit_count;

    while (i-- > 0) {
        plan->circuits[i].flags &= (uint8_t)~ROW_AFTER_RECEIVED;
    }
    rejected(plan, "may still be arriving");
}
