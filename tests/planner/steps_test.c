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
#include "planner/build.h"
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

static const char whole[] = "rounds have whole paths at once; the known schedules pass blocks on";

/* What takes more steps than are known, so many. */
static const struct {
    struct known known;
    const char *reason;
} missed[] = {
    {{"mesh:3x2", ECUBE_EXCHANGE, 0, 5}, whole},
    {{"mesh:3x3", ECUBE_EXCHANGE, 0, 7}, whole},
};

static uint32_t steps_missed(const struct known *known)
{
    for (unsigned i = 0; i < sizeof missed / sizeof missed[0]; i++) {
        const struct known *other = &missed[i].known;
        if (strcmp(other->network, known->network) == 0 && other->operation == known->operation &&
            other->root == known->root) {
            return other->steps;
        }
    }
    return 0;
}

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
    unsigned more = 0;

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        char best[ALGORITHM_WORDS_MAX] = "nothing";
        uint32_t least = fewest(&known[i], best), miss = steps_missed(&known[i]);
        if (miss ? least != miss : least > known[i].steps) {
            fail_msg("%s on %s, root %u: %u steps by %s, %u are known",
                     operation_name(known[i].operation), known[i].network, known[i].root, least,
                     best, known[i].steps);
        }
        more += miss > known[i].steps;
    }
    assert_int_equal(more, sizeof missed / sizeof missed[0]);
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
