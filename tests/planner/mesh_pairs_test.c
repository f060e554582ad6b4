/*
 * mesh_pairs_test.c - the complete exchanges of Thakur, Choudhary & Fox on meshes: messages on a
 * link, step by step, against what others counted; steps; and which meshes are refused.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/build.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"

static struct plan *planned(const char *name, const char *algorithm)
{
    const struct plan_request request = {.operation = ECUBE_EXCHANGE, .algorithm = algorithm};

    return planned_for(name, &request);
}

/* The most circuits on a directed link, of each step: their sum, and the most of all. */
static uint32_t count_contention(const struct plan *plan, uint32_t *most)
{
    const struct network *mesh = &plan->network;
    uint32_t *load = calloc((size_t)plan->steps * mesh->nodes * mesh->ports, sizeof *load);
    uint32_t sum = 0;

    assert_non_null(load);
    *most = 0;
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        for (uint32_t at = circuit->from; at != circuit->to;) {
            unsigned port = network_next_hop(mesh, at, circuit->to);
            load[((size_t)circuit->step * mesh->nodes + at) * mesh->ports + port]++;
            at = network_neighbour(mesh, at, port);
        }
    }
    for (uint32_t step = 0; step < plan->steps; step++) {
        uint32_t here = 0;
        for (uint32_t link = 0; link < mesh->nodes * mesh->ports; link++) {
            uint32_t one = load[(size_t)step * mesh->nodes * mesh->ports + link];
            here = one > here ? one : here;
        }
        sum += here;
        *most = here > *most ? here : *most;
    }
    free(load);
    return sum;
}

TEST(pex_has_the_contention_that_was_counted)
{
    static const struct {
        uint32_t rows, columns, most, sum, sum_by_ceil;
    } golden[] = {
#include "tests/golden/pex_contention.txt"
    };
    char name[NETWORK_NAME_MAX];
    uint32_t most;

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        snprintf(name, sizeof name, "mesh:%ux%u", golden[i].rows, golden[i].columns);
        if (golden[i].rows * golden[i].columns > 128) {
            continue; /* proofs of more nodes: the_large_meshes_of_the_tables_have_it_too */
        }
        struct plan *plan = planned(name, "PEX");
        assert_int_equal(count_contention(plan, &most), golden[i].sum);
        assert_int_equal(most, golden[i].most);
        assert_int_equal(plan->steps, plan->network.nodes - 1);
        plan_free(plan);
    }
}

static void check_sums(uint32_t nodes_min, uint32_t nodes_max)
{
    static const struct {
        const char *algorithm;
        uint32_t rows, columns, sum;
    } golden[] = {
#include "tests/golden/mesh_exchanges.txt"
    };
    char name[NETWORK_NAME_MAX];
    uint32_t most;

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        uint32_t nodes = golden[i].rows * golden[i].columns;
        if (nodes < nodes_min || nodes > nodes_max) {
            continue;
        }
        snprintf(name, sizeof name, "mesh:%ux%u", golden[i].rows, golden[i].columns);
        struct plan *plan = planned(name, golden[i].algorithm);
        uint32_t sum = count_contention(plan, &most);
        if (sum != golden[i].sum) {
            fail_msg("%s on %s: %u messages on busiest links, not %u", golden[i].algorithm, name,
                     sum, golden[i].sum);
        }
        plan_free(plan);
    }
}

TEST(the_meshes_of_the_tables_have_the_contention_that_was_counted)
{
    check_sums(1, 150);
}

/* Proofs of up to 512 nodes, under sanitizers. */
TEST_LONG(the_large_meshes_of_the_tables_have_it_too)
{
    check_sums(151, 512);
}

/* What the choice leaves out unseen takes no less than is said of it. */
TEST(no_plan_takes_less_than_its_least)
{
    static const char *const names[] = {"mesh:1x2", "mesh:2x4", "mesh:4x4", "mesh:3x5",
                                        "mesh:2x3x4"};
    static const struct profile profiles[] = {{65425, 9575, 425, 1000, 0, 1},
                                              {0, 7, 1000, 1000, 0, 4},
                                              {1000, 1, 10, 1000, PORTS_ALL, 1}};
    static const uint32_t sizes[] = {0, 1, 7, 1000};
    const struct candidate *candidate;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        for (unsigned c = 0; (candidate = candidate_of(ECUBE_EXCHANGE, c)); c++) {
            if (candidate->least != mesh_pairs_least || !candidate->possible(&network)) {
                continue;
            }
            struct plan *plan = planned(names[i], candidate->name);
            for (unsigned k = 0; k < 12; k++) {
                const struct profile *profile = &profiles[k / 4];
                const struct plan_request request = {
                    .operation = ECUBE_EXCHANGE, .bytes = sizes[k % 4], .profile = profile};
                uint64_t least = candidate->least(&network, &request).ns;
                uint64_t takes = plan_time(plan, sizes[k % 4], 1, profile).model_ns;
                assert_true(takes * clock_element_bytes(profile) >= least);
            }
            plan_free(plan);
        }
    }
}

/* As in the head of mesh_pairs.c. */
TEST(shifted_pairs_are_as_in_the_example)
{
    struct plan *plan = planned("mesh:2x3", "PEX-GEN-SHIFT");
    static const uint32_t to[] = {1, 0, 2, 3, 5, 4}; /* step 3, partners of nodes 0 to 5 */

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (circuit->step == 2 && circuit->from != circuit->to) {
            assert_int_equal(circuit->to, to[circuit->from]);
        }
    }
    assert_int_equal(plan->steps, 7);
    plan_free(plan);
}

TEST(meshes_that_an_algorithm_is_not_for_are_refused)
{
    static const struct {
        const char *network, *algorithm;
    } cases[] = {{"mesh:3x3", "PEX"},       {"mesh:4x4", "PEX-GEN"}, {"mesh:4x4", "PEX-GEN-SHIFT"},
                 {"torus:4x4", "PEX"},      {"cube:4", "GEN"},       {"ring:8", "GEN"},
                 {"mesh:19x27", "PEX-GEN"}, {"mesh:23x23", "GEN"},   {"mesh:1x1", "GEN"},
                 {"mesh:32x32", "PEX"}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct plan_request request = {.operation = ECUBE_EXCHANGE,
                                             .algorithm = cases[i].algorithm};
        struct plan_fault fault = {.words = ""};
        struct network network = network_of(cases[i].network);
        if (plan_possible(&network, &request, &fault)) {
            fail_msg("%s is for %s", cases[i].algorithm, cases[i].network);
        }
        assert_non_null(strstr(fault.words, cases[i].algorithm));
    }
}
