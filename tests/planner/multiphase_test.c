/*
 * multiphase_test.c - the complete exchange on cubes with set-up ahead and in phases: orders and
 * times against what others worked out, closed forms, and every partition on small cubes.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "network/text.h"
#include "tests/planner/planned.h"

enum { MACHINE_DIMS = 5, EXPANDED_DIMS = 7, ALL_PARTS_DIMS = 8, LONG_DIMS = 11, DIMS = 12 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned(uint32_t dims, const char *algorithm, uint32_t bytes,
                            const struct profile *profile)
{
    const struct plan_request request = {
        .operation = ECUBE_EXCHANGE, .bytes = bytes, .algorithm = algorithm, .profile = profile};
    char name[NETWORK_NAME_MAX];

    snprintf(name, sizeof name, "cube:%u", dims);
    return planned_for(name, &request);
}

static uint64_t time_ns(const struct plan *plan, uint32_t bytes)
{
    return plan_time(plan, bytes, 1, &ipsc860).model_ns;
}

/* The paper's order with set-up ahead: T_aap' would be 54366.75 us for 1000 bytes on cube:7. */
TEST(the_dual_order_is_the_paper_s_and_its_closed_form_is_not_reached)
{
    static const struct {
        uint32_t dims, step, mask;
    } golden[] = {
#include "tests/golden/aap_dual_steps.txt"
    };
    struct plan *plan = NULL;

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        if (golden[i].step == 0) {
            plan_free(plan);
            plan = planned(golden[i].dims, "AAP ahead", 0, NULL);
        }
        assert_int_equal(plan->circuits[1 + golden[i].step].to, golden[i].mask);
    }
    plan_free(plan);
    plan = planned(7, "AAP ahead", 0, NULL);
    assert_int_equal(time_ns(plan, 1000), 55689700);
    plan_free(plan);
}

/* Another order: single circuits of sets of dimensions, each after one that it shares few with. */
TEST(times_are_these)
{
    static const struct {
        uint32_t dims, bytes;
        const char *algorithm, *variant;
        uint64_t model_ns;
    } cases[] = {{3, 1000, "multiphase", "multiphase 3", 3080850},
                 {4, 1000, "multiphase", "multiphase 4", 6505100},
                 {7, 16, "multiphase", "multiphase 4+3", 2210900},
                 {7, 100, "multiphase", "multiphase 6+1", 8982675},
                 {7, 1000, "multiphase", "multiphase 7", 54531125}};
    char words[ALGORITHM_WORDS_MAX];

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan *plan = planned(cases[i].dims, NULL, cases[i].bytes, &ipsc860);
        const struct candidate *candidate = candidate_of(ECUBE_EXCHANGE, plan->algorithm);
        assert_string_equal(candidate->name, cases[i].algorithm);
        candidate_words(candidate, &plan->network, plan->variant, words);
        assert_string_equal(words, cases[i].variant);
        assert_int_equal(time_ns(plan, cases[i].bytes), cases[i].model_ns);
        plan_free(plan);
    }
}

/* The time of a plan whose nodes set nothing up ahead; a phase's order does not matter then. */
static uint64_t plain_ns(struct plan *plan, uint32_t bytes)
{
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        plan->circuits[i].flags &= (uint8_t)~ROW_AHEAD;
    }
    return time_ns(plan, bytes);
}

/* The best of all partitions, none of which goes ahead. */
static uint64_t best_plain_ns(uint32_t dims, uint32_t bytes)
{
    struct plan *plan = planned(dims, "standard exchange", bytes, NULL);
    const struct plan_request any = {.operation = ECUBE_EXCHANGE, .bytes = bytes};
    unsigned count = multiphase_variants(&plan->network, &any);
    uint64_t best_ns = time_ns(plan, bytes);
    char words[ALGORITHM_WORDS_MAX];
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(ECUBE_EXCHANGE, i)); i++) {
        for (unsigned v = 0; candidate->plan == plan_multiphase && v < count; v++) {
            candidate_words(candidate, &plan->network, v, words);
            struct plan *one = planned(dims, words, bytes, NULL);
            uint64_t one_ns = plain_ns(one, bytes);
            best_ns = one_ns < best_ns ? one_ns : best_ns;
            plan_free(one);
        }
    }
    plan_free(plan);
    return best_ns;
}

TEST(without_set_up_ahead_times_are_the_published_model_s)
{
    static const struct {
        uint32_t dims, bytes;
        const char *partition;
        uint64_t best_ns, standard_ns;
    } golden[] = {
#include "tests/golden/multiphase_times.txt"
    };

    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct plan *plan = planned(golden[i].dims, "standard exchange", golden[i].bytes, NULL);
        assert_int_equal(time_ns(plan, golden[i].bytes), golden[i].standard_ns);
        plan_free(plan);
        assert_int_equal(best_plain_ns(golden[i].dims, golden[i].bytes), golden[i].best_ns);
        if (strlen(golden[i].partition) == 2 * golden[i].dims - 1) {
            continue;
        }
        char words[ALGORITHM_WORDS_MAX] = "multiphase ";
        strcat(words, golden[i].partition);
        plan = planned(golden[i].dims, words, golden[i].bytes, NULL);
        assert_true(time_ns(plan, golden[i].bytes) < golden[i].best_ns);
        assert_int_equal(plain_ns(plan, golden[i].bytes), golden[i].best_ns);
        plan_free(plan);
    }
}

TEST(the_standard_exchange_takes_its_closed_form)
{
    for (uint32_t dims = 1; dims <= DIMS; dims++) {
        struct plan *plan = planned(dims, "standard exchange", 0, NULL);
        for (uint64_t bytes = 1; bytes < 5000; bytes = 3 * bytes + 1) {
            assert_int_equal(time_ns(plan, (uint32_t)bytes),
                             dims * (65425 + 9575 + (bytes << (dims - 1)) * 425));
        }
        plan_free(plan);
    }
}

/* Calls `look` with every variant of the new exchanges on a cube. */
static void each_variant(uint32_t dims, void (*look)(const struct plan *plan))
{
    const struct candidate *candidate;
    char words[ALGORITHM_WORDS_MAX];
    struct network cube;

    network_make(&cube, NETWORK_CUBE, NULL, dims);
    for (unsigned i = 0; (candidate = candidate_of(ECUBE_EXCHANGE, i)); i++) {
        if (candidate->plan != plan_multiphase && candidate->plan != plan_aap_ahead &&
            candidate->plan != plan_standard_exchange) {
            continue;
        }
        unsigned count = candidate->variants ? candidate->variants(&cube, NULL) : 1;
        for (unsigned v = 0; v < count; v++) {
            candidate_words(candidate, &cube, v, words);
            struct plan *plan = planned(dims, words, 1, NULL);
            assert_int_equal(plan->variant, v);
            look(plan);
            plan_free(plan);
        }
    }
}

static void try_on_machine(const struct plan *plan)
{
    const char *words = machine_tries(plan, 100);

    if (words) {
        assert_string_equal(words, "");
    }
}

TEST(every_partition_does_what_it_promises)
{
    for (uint32_t dims = 1; dims <= MACHINE_DIMS; dims++) {
        each_variant(dims, try_on_machine);
    }
}

static void compare_with_all(const struct plan *plan)
{
    struct plan *all = plan_expand(plan);
    struct plan_fault fault = {.words = ""};

    if (!plan_prove(all, &fault)) {
        assert_string_equal(fault.words, "");
    }
    for (uint32_t bytes = 0; bytes < 3000; bytes = 5 * bytes + 7) {
        assert_int_equal(time_ns(all, bytes), time_ns(plan, bytes));
    }
    plan_free(all);
}

TEST(one_node_s_plan_says_what_that_of_all_says)
{
    for (uint32_t dims = 1; dims <= EXPANDED_DIMS; dims++) {
        each_variant(dims, compare_with_all);
    }
}

/* A port of a phase of p dimensions carries 2^(p-1) circuits. */
static void has_equal_phases(const struct plan *plan)
{
    const struct candidate *candidate = candidate_of(plan->operation, plan->algorithm);
    uint32_t least = plan->carries[plan->network.ports - 1];

    if (candidate->plan == plan_multiphase) {
        assert_in_range(plan->carries[0], least, 2 * least);
    }
}

TEST(large_cubes_have_equal_phases)
{
    for (uint32_t dims = ALL_PARTS_DIMS + 1; dims < LONG_DIMS; dims++) {
        each_variant(dims, has_equal_phases);
    }
}

TEST_LONG(larger_cubes_have_equal_phases)
{
    for (uint32_t dims = LONG_DIMS; dims <= DIMS; dims++) {
        each_variant(dims, has_equal_phases);
    }
}
