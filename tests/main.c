/*
 * main.c - runs the tests of a binary under cmocka.
 */
#include <stdlib.h>

#include "tests/testing.h"

/* cmocka's runner behind its macro, which counts an array. */
const struct test_group test_group __attribute__((weak));

static int by_line(const void *one, const void *other)
{
    return (*(const struct test *const *)one)->line - (*(const struct test *const *)other)->line;
}

int main(void)
{
    size_t count = (size_t)(__stop_tests - __start_tests);
    const struct test **sorted = calloc(count, sizeof *sorted);
    struct CMUnitTest *tests = calloc(count, sizeof *tests);

    assert_non_null(sorted);
    assert_non_null(tests);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = __start_tests[i];
    }
    qsort(sorted, count, sizeof *sorted, by_line);
    for (size_t i = 0; i < count; i++) {
        tests[i] = (struct CMUnitTest){.name = sorted[i]->name,
                                       .test_func = sorted[i]->function,
                                       .setup_func = sorted[i]->setup,
                                       .teardown_func = sorted[i]->teardown};
    }
    free(sorted);
    int failed =
        _cmocka_run_group_tests("tests", tests, count, test_group.setup, test_group.teardown);
    free(tests);
    return failed;
}
