/*
 * main.c - runs the tests of a binary under cmocka.
 *
 * ECUBE_TESTS says which: "short" or nothing those of the short tier, "long" those of the long one,
 * "all" both. Where there are none the plan of TAP says so: 1..0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

/* Of what a sweep takes, the short tier takes one of so many. */
enum { SHORT_SHARE = 3 };

/* cmocka's runner behind its macro, which counts an array. */
const struct test_group test_group __attribute__((weak));

static int by_line(const void *one, const void *other)
{
    return (*(const struct test *const *)one)->line - (*(const struct test *const *)other)->line;
}

static unsigned tiers_wanted(void)
{
    const char *wanted = getenv("ECUBE_TESTS");

    if (!wanted || strcmp(wanted, "short") == 0) {
        return TIER_SHORT;
    }
    return strcmp(wanted, "all") == 0 ? TIER_SHORT | TIER_LONG : TIER_LONG;
}

unsigned sweep_share(void)
{
    return tiers_wanted() == TIER_SHORT ? BUILD_SHARE * SHORT_SHARE : BUILD_SHARE;
}

int main(void)
{
    size_t most = (size_t)(__stop_tests - __start_tests), count = 0;
    const struct test **sorted = calloc(most, sizeof *sorted);
    struct CMUnitTest *tests = calloc(most, sizeof *tests);

    assert_non_null(sorted);
    assert_non_null(tests);
    for (size_t i = 0; i < most; i++) {
        if (__start_tests[i]->tiers & tiers_wanted()) {
            sorted[count++] = __start_tests[i];
        }
    }
    qsort(sorted, count, sizeof *sorted, by_line);
    for (size_t i = 0; i < count; i++) {
        tests[i] = (struct CMUnitTest){.name = sorted[i]->name,
                                       .test_func = sorted[i]->function,
                                       .setup_func = sorted[i]->setup,
                                       .teardown_func = sorted[i]->teardown};
    }
    free(sorted);
    if (count == 0) {
        puts("1..0");
        free(tests);
        return 0;
    }
    int failed =
        _cmocka_run_group_tests("tests", tests, count, test_group.setup, test_group.teardown);
    free(tests);
    return failed;
}
