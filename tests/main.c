/*
 * main.c - runs the tests of a binary under cmocka.
 *
 * ECUBE_TESTS says which: "long" those that are registered as long, "all" these and the others,
 * which run without it. Without any the plan of TAP says so: 1..0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

/* cmocka's runner behind its macro, which counts an array. */
const struct test_group test_group __attribute__((weak));

static int by_line(const void *one, const void *other)
{
    return (*(const struct test *const *)one)->line - (*(const struct test *const *)other)->line;
}

static bool is_wanted(const struct test *test)
{
    const char *wanted = getenv("ECUBE_TESTS");

    if (!wanted || strcmp(wanted, "short") == 0) {
        return !test->is_long;
    }
    return test->is_long || strcmp(wanted, "all") == 0;
}

int main(void)
{
    size_t most = (size_t)(__stop_tests - __start_tests), count = 0;
    const struct test **sorted = calloc(most, sizeof *sorted);
    struct CMUnitTest *tests = calloc(most, sizeof *tests);

    assert_non_null(sorted);
    assert_non_null(tests);
    for (size_t i = 0; i < most; i++) {
        if (is_wanted(__start_tests[i])) {
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
