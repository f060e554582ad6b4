/*
 * choose_test.c - the cheapest plan for a size: no other candidate or variant takes less, at the
 * size asked for, at both ends of its range, inside it and beyond it; the cache's answers do not
 * depend on what was asked before.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "planner/choose/choose.h"
#include "drivers/status.h"
#include "network/text.h"
#include "reduction/reduction.h"
#include "tests/networks.h"
#include "wire/plan.h"

enum { INSIDE = 2, DRAWS = 60, FEW_DRAWS = 15, DESK_SIZES = 3000 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct profile quick_start = {500, 10, 425, 1000, 0, 1};
static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};
static const struct profile packets = {777, 55, 131, 1000, 0, 24};

static uint64_t seed = 1;

static uint32_t random_below(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 32) % below);
}

static void complain(const struct contest *contest, const struct plan_request *request,
                     const struct plan *plan, uint64_t took, uint32_t other, uint64_t less)
{
    char name[NETWORK_NAME_MAX], words[ALGORITHM_WORDS_MAX];
    const struct contestant *one = &contest->all[other];

    network_name(&contest->network, name);
    candidate_words(one->candidate, &contest->network, one->variant, words);
    print_error("%s on %s from %u, %u bytes of type %u: %s variant %u takes %llu ns, for %u to %u; "
                "%s %llu\n",
                operation_name(request->operation), name, request->root, request->bytes,
                request->type, plan_algorithm(plan), plan->variant, (unsigned long long)took,
                plan->bytes_min, plan->bytes_max, words, (unsigned long long)less);
    fail();
}

/* Whether a rival is no plan, or takes as much when it is proved: that its ports count, where nodes
 * have all, is known then. */
static bool is_refused(const struct contest *contest, const struct plan_request *request,
                       uint32_t other, uint64_t took)
{
    const struct contestant *one = &contest->all[other];
    struct plan_fault fault;
    struct plan *plan = candidate_plan(one->candidate, one->number, one->variant, &contest->network,
                                       request, &fault);
    bool refused =
        !plan || plan_model_ns(plan, request->bytes, reduction_element_bytes(request->type),
                               request->profile) >= took;

    plan_free(plan);
    return refused;
}

/* Holds a plan against all that compete for a size; of those that take the same it is the first. */
static void is_cheapest(struct contest *contest, struct plan_request request,
                        const struct plan *plan, uint32_t bytes)
{
    uint64_t took, other;
    bool found = false;

    request.bytes = bytes;
    took = plan_time(plan, bytes, reduction_element_bytes(request.type), request.profile).model_ns;
    contest_enter(contest, &request);
    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contestant *one = &contest->all[i];
        if (one->number == plan->algorithm && one->variant == plan->variant) {
            found = contest_allows(contest, i, &request);
        } else if (contest_time(contest, i, &request, &other) &&
                   (found ? other < took : other <= took) &&
                   !is_refused(contest, &request, i, took)) {
            complain(contest, &request, plan, took, i, other);
        }
    }
    assert_true(found);
}

/* The whole range of the plan for a size: its ends, what is inside; and the sizes beyond. */
static void holds_in_its_range(struct contest *contest, struct plan_request request, uint32_t bytes,
                               bool beyond)
{
    struct plan_fault fault;
    uint32_t size = reduction_element_bytes(request.type), unit = size ? size : 1;

    request.bytes = bytes - bytes % unit;
    struct plan *plan = plan_make(&contest->network, &request, &fault);
    assert_non_null(plan);
    assert_true(plan->bytes_min <= request.bytes && request.bytes <= plan->bytes_max);
    assert_true(plan->bytes_min % unit == 0);
    is_cheapest(contest, request, plan, request.bytes);
    is_cheapest(contest, request, plan, plan->bytes_min);
    bool whole = plan->bytes_max == UINT32_MAX;
    uint32_t last = whole ? plan->bytes_min : plan->bytes_max - (unit - 1);
    is_cheapest(contest, request, plan, last);
    for (unsigned i = 0; i < INSIDE && last > plan->bytes_min; i++) {
        uint32_t inside = plan->bytes_min + random_below(last - plan->bytes_min);
        is_cheapest(contest, request, plan, inside - inside % unit);
    }
    uint32_t below = plan->bytes_min, above = last;
    plan_free(plan);
    if (beyond && below > 0) {
        holds_in_its_range(contest, request, below - unit, false);
    }
    if (beyond && !whole) {
        holds_in_its_range(contest, request, above + unit, false);
    }
}

static void holds_on(const char *name, uint32_t operation, uint32_t root, uint32_t type,
                     const struct profile *profile)
{
    static const uint32_t sizes[] = {0, 1, 24, 1000, 65536};
    struct network network = network_of(name);
    struct plan_request request = {
        .operation = operation, .root = root, .type = type, .profile = profile};
    struct contest *contest = contest_make(&network, &request);

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        holds_in_its_range(contest, request, sizes[i], true);
    }
    contest_free(contest);
}

/* Of all that is asked for, a sweep's share. */
static void holds_everywhere(const char *name, const struct profile *profile)
{
    static unsigned asked;
    struct network network = network_of(name);

    for (uint32_t number = 0; number < OPERATIONS; number++) {
        const struct operation *operation = operation_of(number);
        if (!operation || !operation->planned || asked++ % sweep_share() != 0) {
            continue;
        }
        uint32_t root = operation->rooted ? network.nodes / 3 : 0;
        holds_on(name, number, root, operation->reduces ? ECUBE_UINT8 : 0, profile);
        if (operation->reduces) {
            holds_on(name, number, root, ECUBE_DOUBLE, profile);
        }
    }
}

TEST_SWEEP(no_other_plan_takes_less)
{
    static const char *const names[] = {"cube:0", "cube:2", "ring:5", "mesh:2x3", "torus:3x2"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        holds_everywhere(names[i], &ipsc860);
    }
}

/* More nodes have more variants. */
TEST_LONG(no_other_plan_takes_less_on_larger_networks)
{
    static const char *const names[] = {"cube:3", "ring:8", "mesh:1x6", "mesh:3x3", "torus:3x3"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        holds_everywhere(names[i], &ipsc860);
    }
}

TEST_SWEEP(no_other_plan_takes_less_on_other_machines)
{
    holds_everywhere("cube:2", &quick_start);
    holds_everywhere("cube:2", &all_ports);
    holds_everywhere("ring:4", &quick_start);
    holds_everywhere("torus:2x2", &all_ports);
    holds_everywhere("mesh:2x2", &packets);
}

/* Any size and any machine, so that thresholds and rests fall anywhere. */
static void holds_wherever_it_is_drawn(unsigned draws)
{
    static const char *const names[] = {"cube:3",   "ring:5",  "mesh:2x3", "torus:3x2",
                                        "mesh:1x8", "ring:12", "mesh:3x4", "cube:4"};
    static const uint32_t operations[] = {ECUBE_SCAN, ECUBE_ALLREDUCE, ECUBE_EXCHANGE,
                                          ECUBE_BROADCAST, ECUBE_ALLGATHER};

    for (unsigned i = 0; i < draws; i++) {
        struct network network = network_of(names[random_below(sizeof names / sizeof names[0])]);
        struct profile profile = {random_below(100000),     random_below(20000),
                                  1 + random_below(1000),   1000,
                                  (uint8_t)random_below(2), (uint16_t)random_below(10)};
        struct plan_request request = {.operation = operations[i % 5], .profile = &profile};
        if (operation_of(request.operation)->reduces) {
            request.type = i % 2 ? ECUBE_FLOAT : ECUBE_INT16;
        }
        struct contest *contest = contest_make(&network, &request);
        holds_in_its_range(contest, request, random_below(UINT32_C(1) << random_below(20)), true);
        contest_free(contest);
    }
}

TEST(no_other_plan_takes_less_on_any_machine)
{
    holds_wherever_it_is_drawn(FEW_DRAWS);
}

TEST_LONG(no_other_plan_takes_less_on_many_machines)
{
    holds_wherever_it_is_drawn(DRAWS);
}

/* Which one wins depends on the size. A plan's range may begin below where another of the same plan
 * has ended: it was found as far as others were excluded in the same way. */
TEST(thresholds_are_exact)
{
    struct network network = network_of("cube:4");
    struct plan_request request = {
        .operation = ECUBE_SCAN, .type = ECUBE_INT32, .profile = &ipsc860};
    unsigned others = 0;
    struct plan_fault fault;
    const char *before = "";

    for (uint32_t bytes = 4; bytes < 1 << 14;) {
        request.bytes = bytes;
        struct plan *plan = plan_make(&network, &request, &fault);
        bool another = plan_algorithm(plan) != before;
        assert_true(another ? plan->bytes_min == bytes : plan->bytes_min <= bytes);
        others += another;
        before = plan_algorithm(plan);
        bytes = plan->bytes_max + 1;
        plan_free(plan);
    }
    assert_true(others >= 2);
}

/* The cache ------------------------------------------------------------------------------------ */

static const uint8_t *part_of(struct plan_cache *cache, struct plan_request request, uint32_t bytes)
{
    const char *words;
    uint32_t part_bytes;
    int status;

    request.bytes = bytes;
    const uint8_t *part = plan_cache_part(cache, &request, 1, &part_bytes, &status, &words);
    assert_int_equal(status, E_OK);
    assert_true(plan_suits(part, bytes, (uint8_t)request.type));
    return part;
}

/* The same sizes asked upwards and downwards: the same plans. */
TEST(an_answer_does_not_depend_on_the_questions_before_it)
{
    struct network network = network_of("mesh:3x4");
    struct plan_cache *up = plan_cache_make(&network, &ipsc860);
    struct plan_cache *down = plan_cache_make(&network, &ipsc860);
    struct plan_request request = {.operation = ECUBE_SCAN, .type = ECUBE_UINT8};
    enum { SIZES = 700 };
    uint32_t digests[SIZES];

    for (uint32_t i = 0; i < SIZES; i++) {
        digests[i] = plan_digest(part_of(up, request, 5 * i));
    }
    for (uint32_t i = SIZES; i-- > 0;) {
        assert_int_equal(plan_digest(part_of(down, request, 5 * i)), digests[i]);
    }
    plan_cache_free(up);
    plan_cache_free(down);
}

TEST(the_part_for_one_type_is_not_another_s)
{
    struct network network = network_of("ring:6");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_request request = {.operation = ECUBE_SCAN, .type = ECUBE_UINT8};
    const uint8_t *bytes = part_of(cache, request, 96);

    assert_false(plan_suits(bytes, 96, ECUBE_DOUBLE));
    request.type = ECUBE_DOUBLE;
    assert_ptr_not_equal(part_of(cache, request, 96), bytes);
    plan_cache_free(cache);
}

/* Nodes may ask for any number of sizes. */
TEST(the_cache_forgets_what_was_asked_long_ago)
{
    struct network network = network_of("cube:1");
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_request request = {.operation = ECUBE_SCAN, .type = ECUBE_UINT8};

    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < DESK_SIZES; i++) {
            request.algorithm = i % 2 ? "chain" : "recursive doubling";
            (void)part_of(cache, request, i * 31);
        }
    }
    plan_cache_free(cache);
}
