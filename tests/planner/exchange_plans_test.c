/*
 * exchange_plans_test.c - the complete exchange on rings, meshes and tori: what the cheapest plan
 * takes, and every candidate and variant on networks of many shapes.
 */
#include "tests/testing.h"

#include <string.h>

#include "planner/algorithms/candidates.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"
#include "tests/planner/shared_links.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned(const char *name, const char *algorithm, uint32_t bytes,
                            const struct profile *profile)
{
    const struct plan_request request = {
        .operation = ECUBE_EXCHANGE, .bytes = bytes, .algorithm = algorithm, .profile = profile};

    return planned_for(name, &request);
}

TEST(the_cheapest_plan_takes_this)
{
    static const struct {
        const char *network;
        uint32_t bytes;
        const char *algorithm;
        uint64_t model_ns;
    } cases[] = {{"torus:4x4", 1000, "multiphase by Gray code", 6505100},
                 {"ring:16", 100, "Bruck", 2720750},
                 {"ring:16", 1000, "searched rounds", 15544375},
                 {"torus:8x8", 16, "Bruck", 1981350},
                 {"mesh:4x4", 100, "Bruck", 1628300},
                 {"mesh:4x4", 1000, "searched rounds", 7372875}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan *plan = planned(cases[i].network, NULL, cases[i].bytes, &ipsc860);
        assert_string_equal(plan_algorithm(plan), cases[i].algorithm);
        assert_int_equal(plan_time(plan, cases[i].bytes, 1, &ipsc860).model_ns, cases[i].model_ns);
        plan_free(plan);
    }
}

/* + waits n/2 times; what each way carries follows from how far superblocks go. */
TEST(both_ways_round_a_ring_take_their_closed_form)
{
    static const char *const names[] = {"ring:3",  "ring:4",  "ring:5", "ring:8",
                                        "ring:11", "ring:16", "ring:20"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (uint64_t bytes = 180; bytes < 5000; bytes *= 3) {
            struct plan *plan = planned(names[i], "neighbours both ways", 0, NULL);
            uint64_t plus = plan->network.nodes / 2, minus = (plan->network.nodes - 1) / 2;
            uint64_t blocks = plus * (plus + 1) / 2 + minus * (minus + 1) / 2;
            assert_int_equal(plan_time(plan, (uint32_t)bytes, 1, &ipsc860).model_ns,
                             plus * (65425 + 9575) + blocks * bytes * 425);
            plan_free(plan);
        }
    }
}

/* No two circuits of a step share a directed link. */
TEST(rounds_are_without_contention)
{
    static const char *const names[] = {"ring:2",    "ring:7",      "ring:16",   "mesh:1x9",
                                        "mesh:4x4",  "torus:3x3x2", "torus:4x6", "ring:101",
                                        "torus:9x9", "torus:5x5x5", "mesh:6x11"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct plan *plan = planned(names[i], "rounds", 0, NULL);
        assert_false(steps_share_links(plan));
        plan_free(plan);
    }
    struct plan *direct = planned("ring:7", "direct", 0, NULL);
    assert_true(steps_share_links(direct));
    plan_free(direct);
}

/* More nodes than are weighed: a block for each of them, at once and in the time that is said. */
TEST(rounds_of_more_nodes_do_what_they_promise)
{
    static const char *const names[] = {"ring:65", "torus:6x11", "mesh:5x14", "mesh:3x5x5"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned sized = 0; sized < 2; sized++) {
            const struct plan_request request = {
                .operation = sized ? ECUBE_EXCHANGEV : ECUBE_EXCHANGE, .algorithm = "rounds"};
            struct plan_fault fault = {.words = ""};
            struct network network = network_of(names[i]);
            struct plan *plan = plan_make(&network, &request, &fault);
            const char *words = plan ? machine_tries(plan, 100) : fault.words;
            if (words) {
                fail_msg("%s, %s: %s", names[i], operation_name(request.operation), words);
            }
            plan_free(plan);
        }
    }
}

/* Short blocks of more nodes go together, and where paths are too long for circuits, from neighbour
 * to neighbour. */
TEST_LONG(more_than_512_nodes_have_exchanges_that_combine)
{
    static const char *const cases[][2] = {{"torus:23x23", "Bruck both ways"},
                                           {"mesh:19x29", "Bruck one way"},
                                           {"mesh:19x29", "neighbours both ways"},
                                           {"ring:530", "neighbours"}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        plan_free(planned(cases[i][0], cases[i][1], 0, NULL));
    }
    struct plan *plan = planned("torus:23x23", NULL, 4, &ipsc860);
    assert_string_equal(plan_algorithm(plan), "neighbours both ways");
    assert_true(plan_time(plan, 4, 1, &ipsc860).model_ns <= 12044200);
    plan_free(plan);
}

/* The largest: a node sends in every round but a few, so the rounds are near the bound of links. */
TEST_LONG(rounds_of_a_thousand_nodes_are_near_what_links_carry)
{
    struct plan *plan = planned("torus:32x32", "rounds", 0, NULL);
    uint32_t most = 0;

    for (uint32_t link = 0; link < plan->network.nodes * plan->network.ports; link++) {
        most = plan->carries[link] > most ? plan->carries[link] : most;
    }
    assert_true(plan->steps >= most);
    assert_true(plan->steps * 100 <= most * 130);
    plan_free(plan);
}

TEST(every_candidate_does_what_it_promises)
{
    static const char *const names[] = {
        "ring:2",    "ring:3",    "ring:4",      "ring:6",      "ring:7",      "ring:13",
        "mesh:1x2",  "mesh:1x5",  "mesh:2x2",    "mesh:2x3",    "mesh:3x5",    "mesh:2x2x3",
        "torus:4x2", "torus:3x4", "torus:3x3x2", "torus:2x4x2", "torus:1x4x3", "cube:3"};
    const struct plan_request exchange = {.operation = ECUBE_EXCHANGE};
    char words[ALGORITHM_WORDS_MAX];
    const struct candidate *candidate;

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        for (unsigned i = 0; (candidate = candidate_of(ECUBE_EXCHANGE, i)); i++) {
            for (unsigned v = 0, count = 1; v < count; v++) {
                struct plan *plan = planned(names[n], NULL, 0, NULL);
                struct network network = plan->network;
                plan_free(plan);
                if (!candidate->possible(&network) || candidate->wants_ports) {
                    break; /* those for several ports: ports_test.c */
                }
                count = candidate->variants ? candidate->variants(&network, &exchange) : 1;
                candidate_words(candidate, &network, v, words);
                plan = planned(names[n], words, 0, NULL);
                const char *fault = machine_tries(plan, 100);
                if (fault) {
                    fail_msg("%s by %s: %s", names[n], words, fault);
                }
                plan_free(plan);
            }
        }
    }
}
