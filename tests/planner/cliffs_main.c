/*
 * cliffs_main.c - prints the exceptions of tests/golden/cliffs.txt: every cliff of the whole sweep.
 *
 * `make cliffs` writes the file anew. What stands above its first line that begins with { is kept
 * there: the reasons.
 */
#include <stdio.h>

#include "collectives/operation.h"
#include "tests/planner/cliffs.h"

static void print(const struct cliff *cliff, void *context)
{
    (void)context;
    if (cliff->permille > CLIFF_ALLOWED_PERMILLE) {
        printf("{\"%s\", \"%s\", \"%s\", %u}, /* %u bytes: %s, %s */\n",
               operation_name(cliff->operation), cliff->from, cliff->to, cliff->permille,
               cliff->bytes, cliff->before, cliff->after);
        fflush(stdout);
    }
}

int main(void)
{
    uint32_t sizes[CLIFF_SIZES_MAX];
    struct cliff_sweep sweep = {
        .stride = 1, .nodes_max = UINT32_MAX, .sizes = sizes, .size_count = cliffs_sizes(sizes)};

    cliffs_sweep(&sweep, print, NULL);
    return 0;
}
