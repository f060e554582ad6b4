/*
 * best_known_test.c - no operation takes more than is known to be enough (tests/golden).
 */
#include "tests/testing.h"

#include "reduction/reduction.h"
#include "tests/planner/planned.h"

enum tier { SHORT, LONG };

static const struct known {
    const char *network;
    uint32_t operation, bytes;
    double us;
    enum tier tier;
} all_known[] = {
#include "tests/golden/best_known.txt"
};

static void no_more_is_taken(enum tier tier)
{
    static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

    for (const struct known *known = all_known;
         known < all_known + sizeof all_known / sizeof all_known[0]; known++) {
        uint32_t type = operation_of(known->operation)->reduces ? ECUBE_INT32 : 0;
        const struct plan_request request = {.operation = known->operation,
                                             .bytes = known->bytes,
                                             .type = type,
                                             .profile = &ipsc860};
        if (known->tier != tier) {
            continue;
        }
        struct plan *plan = planned_for(known->network, &request);
        double us =
            (double)plan_model_ns(plan, known->bytes, reduction_element_bytes(type), &ipsc860) /
            1e3;
        if (us > known->us + 1e-6) {
            fail_msg("%s on %s, %u bytes: %.3f us by %s, %.3f are known",
                     operation_name(known->operation), known->network, known->bytes, us,
                     plan_algorithm(plan), known->us);
        }
        plan_free(plan);
    }
}

TEST(no_more_is_taken_than_is_known_to_be_enough)
{
    no_more_is_taken(SHORT);
}

TEST_LONG(no_more_is_taken_than_is_known_to_be_enough_where_it_is_long_to_choose)
{
    no_more_is_taken(LONG);
}
