/*
 * steps_test.c - plans for nodes that use all links at once have no more steps than are known. In
 * such a step a link carries one block, so a plan's step in which a circuit has more of them counts
 * as so many. Circuits over several hops may have fewer steps than nodes are apart.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "network/text.h"
#include "planner/build.h"
#include "tests/network/shapes.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"
#include "tests/planner/shared_links.h"

enum { BYTES = 12 };

static const uint32_t NEVER = UINT32_MAX;

/* Steps of a plan in which no two circuits share a link; NEVER where they do, or where a vector is
 * cut into segments. */
static uint32_t steps_of(const struct plan *plan)
{
    uint32_t *most = planner_memory(PLAN_STEPS_MAX, sizeof *most), sum = 0;
    bool shares = !plan->invariant && steps_share_links(plan);

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (circuit->from != circuit->to && circuit->blocks > most[circuit->step]) {
            most[circuit->step] = circuit->blocks;
        }
    }
    for (uint32_t step = 0; step < PLAN_STEPS_MAX; step++) {
        sum += most[step];
    }
    free(most);
    return shares || plan->segments > 1 ? NEVER : sum;
}

static struct plan *plan_by(const char *name, uint32_t operation, const char *algorithm)
{
    const struct profile profile = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    struct network network = network_of(name);
    struct plan_request request = {.operation = operation,
                                   .bytes = BYTES,
                                   .type = operation_of(operation)->reduces ? ECUBE_UINT8 : 0,
                                   .algorithm = algorithm,
                                   .profile = &profile};
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(&network, &request, &fault);

    if (!plan) {
        fail_msg("%s on %s by %s: %s", operation_name(operation), name, algorithm, fault.words);
    }
    return plan;
}

/* The fewest steps of a candidate's variants, of which those with fewer than `least` are proved. */
static uint32_t fewest_of(const struct candidate *candidate, const struct network *network,
                          struct plan_request *request, uint32_t least,
                          char words[ALGORITHM_WORDS_MAX])
{
    unsigned variants = candidate_variants(candidate, network, request);

    for (request->variant = 0; request->variant < variants; request->variant++) {
        struct plan *plan = candidate->plan(network, request);
        struct plan_fault fault = {.words = ""};
        uint32_t steps = plan->refused ? NEVER : steps_of(plan);
        if (steps < least) {
            assert_true(plan_prove(plan, &fault));
            candidate_words(candidate, network, request->variant, words);
            least = steps;
        }
        plan_free(plan);
    }
    return least;
}

struct known {
    const char *network;
    uint32_t operation, root, steps;
};

/* The fewest steps of all candidates that are made of no others. */
static uint32_t fewest(const struct known *known, char best[ALGORITHM_WORDS_MAX])
{
    struct network network = network_of(known->network);
    struct plan_request request = {
        .operation = known->operation, .root = known->root, .bytes = BYTES, .ports = PORTS_ALL};
    const struct candidate *candidate;
    uint32_t least = NEVER;

    for (unsigned k = 0; (candidate = candidate_of(known->operation, k)); k++) {
        if (candidate->possible(&network) && !candidate->made_of) {
            least = fewest_of(candidate, &network, &request, least, best);
        }
    }
    return least;
}

TEST(who_uses_all_links_has_no_more_steps_than_are_known)
{
    static const struct known known[] = {
#include "tests/golden/ozveren_steps.txt"
    };

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        char best[ALGORITHM_WORDS_MAX] = "nothing";
        uint32_t least = fewest(&known[i], best);
        if (least > known[i].steps) {
            fail_msg("%s on %s, root %u: %u steps by %s, %u are known",
                     operation_name(known[i].operation), known[i].network, known[i].root, least,
                     best, known[i].steps);
        }
    }
}

/* Blocks that a link of a cut across a dimension must carry one way, and that the node with the
 * fewest links must get over each; counted pair by pair, link by link. */
static uint32_t steps_of_cuts(const struct network *network)
{
    uint32_t most = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        for (uint32_t at = 1; at < network->dim[k].size; at++) {
            uint32_t pairs = 0, links = 0;
            for (uint32_t a = 0; a < network->nodes; a++) {
                for (uint32_t b = 0; b < network->nodes; b++) {
                    bool crosses = a / network->dim[k].stride % network->dim[k].size < at &&
                                   b / network->dim[k].stride % network->dim[k].size >= at;
                    pairs += crosses;
                    links += crosses && network_distance(network, a, b) == 1;
                }
            }
            most = (pairs + links - 1) / links > most ? (pairs + links - 1) / links : most;
        }
    }
    for (uint32_t a = 0; a < network->nodes; a++) {
        uint32_t links = 0;
        for (uint32_t b = 0; b < network->nodes; b++) {
            links += network_distance(network, a, b) == 1;
        }
        uint32_t least = (network->nodes - 1 + links - 1) / links;
        most = least > most ? least : most;
    }
    return most;
}

static unsigned sides_of(const struct network *network)
{
    unsigned sides = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        sides += network->dim[k].size > 1;
    }
    return sides;
}

TEST(relayed_exchanges_have_the_steps_of_the_busiest_cut)
{
    static struct network shapes[SHAPES_MAX];
    unsigned count = shapes_make(shapes, 12), held = 0;

    for (unsigned i = 0; i < count; i++) {
        if (possible_relayed(&shapes[i]) && sides_of(&shapes[i]) < 3) {
            const struct plan_request request = {
                .operation = ECUBE_EXCHANGE, .bytes = BYTES, .ports = PORTS_ALL};
            struct plan *plan = plan_relayed(&shapes[i], &request);
            char name[NETWORK_NAME_MAX];
            network_name(&shapes[i], name);
            if (steps_of(plan) != steps_of_cuts(&shapes[i])) {
                fail_msg("%s: %u steps, its cuts want %u", name, steps_of(plan),
                         steps_of_cuts(&shapes[i]));
            }
            plan_free(plan);
            held++;
        }
    }
    assert_true(held > 15);
}

/* A necklace is a step; filled, as many nodes as there are ports where that can be. */
static void hold_necklaces(unsigned from, unsigned to)
{
    static const struct {
        unsigned dims;
        uint32_t necklaces, filled;
    } known[] = {
#include "tests/golden/necklace_steps.txt"
    };
    static const uint32_t operations[] = {ECUBE_ALLGATHER, ECUBE_REDUCE_SCATTER};
    unsigned held = 0;

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        char name[NETWORK_NAME_MAX];
        snprintf(name, sizeof name, "cube:%u", known[i].dims);
        for (unsigned k = 0; k < 2 && known[i].dims >= from && known[i].dims <= to; k++) {
            struct plan *plain = plan_by(name, operations[k], "necklaces");
            struct plan *filled = plan_by(name, operations[k], "table");
            assert_int_equal(steps_of(plain), known[i].necklaces);
            assert_int_equal(steps_of(filled), known[i].filled);
            plan_free(plain);
            plan_free(filled);
            held++;
        }
    }
    assert_int_equal(held, 2 * (to + 1 - from));
}

TEST(necklaces_have_a_step_each_and_fewer_when_gaps_are_filled)
{
    hold_necklaces(1, 6);
}

TEST_LONG(necklaces_of_large_cubes_have_a_step_each_and_fewer_when_gaps_are_filled)
{
    hold_necklaces(7, 9);
}

/* As many phases as the farthest node has hops, together as long as the busiest link's load. */
TEST(an_exchange_by_table_takes_its_closed_form)
{
    static const struct {
        const char *name;
        uint32_t hops, blocks;
    } known[] = {{"ring:4", 2, 2},     {"ring:6", 3, 5},       {"ring:9", 4, 10},
                 {"ring:16", 8, 32},   {"torus:3x3", 2, 3},    {"torus:3x4", 3, 6},
                 {"torus:5x5", 4, 15}, {"torus:3x3x4", 4, 18}, {"torus:5x6", 5, 23},
                 {"torus:8x8", 8, 64}, {"cube:4", 4, 8},       {"cube:7", 7, 64}};
    const struct profile profile = {65425, 9575, 425, 1000, PORTS_ALL, 1};

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct plan *plan = plan_by(known[i].name, ECUBE_EXCHANGE, "table");
        uint64_t ns = plan_model_ns(plan, BYTES, 1, &profile);
        assert_int_equal(plan->steps, known[i].hops);
        assert_int_equal(ns, known[i].hops * 75000 + known[i].blocks * BYTES * 425);
        plan_free(plan);
    }
}
