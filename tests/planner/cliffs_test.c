/*
 * cliffs_test.c - no cliffs: one node more, one column, or one byte, makes no collective much
 * dearer than it must be, but for the exceptions in tests/golden/cliffs.txt.
 *
 * Parts of the sweep, with sanitizers a share of them: `make cliffs` takes all of it.
 */
#include "tests/testing.h"

#include <string.h>

#include "collectives/operation.h"
#include "tests/planner/cliffs.h"

enum { STRIDE = 5, LONG_STRIDE = 7, NODES_MAX = 24, LONG_NODES_MAX = 300 };

struct exception {
    const char *operation, *from, *to;
    uint32_t permille; /* the steepest of all sizes */
};

static const struct exception exceptions[] = {
#include "tests/golden/cliffs.txt"
    {0}};

static const struct exception *find(const struct cliff *cliff)
{
    for (const struct exception *e = exceptions; e->operation; e++) {
        if (strcmp(e->operation, operation_name(cliff->operation)) == 0 &&
            strcmp(e->from, cliff->from) == 0 && strcmp(e->to, cliff->to) == 0) {
            return e;
        }
    }
    return NULL;
}

static void look(const struct cliff *cliff, void *context)
{
    const struct exception *exception = find(cliff);
    unsigned *count = context;

    ++*count;
    if (cliff->permille > (exception ? exception->permille : CLIFF_ALLOWED_PERMILLE)) {
        fail_msg("%s, %u bytes, from %s (%s) to %s (%s): %u thousandths of what the bounds say",
                 operation_name(cliff->operation), cliff->bytes, cliff->from, cliff->before,
                 cliff->to, cliff->after, cliff->permille);
    }
}

TEST(one_node_more_is_no_cliff_for_some_sizes)
{
    static const uint32_t sizes[] = {16, 4096, 4097};
    const struct cliff_sweep sweep = {STRIDE * sweep_share(), NODES_MAX, sizes,
                                      sizeof sizes / sizeof sizes[0]};
    unsigned count = 0;

    cliffs_sweep(&sweep, look, &count);
    assert_true(count > 100 / sweep_share());
}

TEST_LONG(one_node_more_is_no_cliff)
{
    static const uint32_t sizes[] = {1, 16, 100, 1000, 1001, 4097, 65536};
    const struct cliff_sweep sweep = {LONG_STRIDE, LONG_NODES_MAX, sizes,
                                      sizeof sizes / sizeof sizes[0]};
    unsigned count = 0;

    cliffs_sweep(&sweep, look, &count);
    assert_true(count > 200);
}
