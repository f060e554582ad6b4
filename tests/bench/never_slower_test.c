/*
 * No algorithm that Open MPI, MPICH, MVAPICH2 or Intel MPI selects is faster than our plan, on
 * cubes of 8, 32 and 128 nodes, from 16 bytes to 100,000: at the ends of every range of sizes for
 * which one is selected, where on 128 nodes every twelfth is looked at, in the long tier every
 * fourth.
 */
#include "tests/testing.h"

#include "bench/rivals/comparison.h"
#include "tests/networks.h"

enum { SKIPPED_ON_128 = 4 };

static bool is_never_slower(const struct network *cube, uint32_t operation, uint32_t bytes)
{
    struct comparison c;
    struct plan_fault fault = {.words = ""};

    if (!compare(cube, operation, bytes, &c, &fault)) {
        print_message("%s, %u bytes: %s\n", operation_name(operation), bytes, fault.words);
        return false;
    }
    for (unsigned i = 0; i < c.count; i++) {
        if (c.selected[i].ns < c.ns) {
            print_message("%s on %u nodes, %u bytes: %s takes %.1f us, %s of %s %.1f us\n",
                          operation_name(operation), cube->nodes, bytes, c.algorithm,
                          (double)c.ns / 1e3, rivals[c.selected[i].selection->rival].name,
                          libraries[c.selected[i].selection->library].name,
                          (double)c.selected[i].ns / 1e3);
        }
    }
    return c.count > 0 && comparison_ratio(&c) <= 1;
}

static void check(uint32_t operation)
{
    static const char *const names[] = {"cube:3", "cube:5", "cube:7"};
    uint32_t sizes[COMPARED_SIZES_MAX];
    unsigned slower = 0, skipped = SKIPPED_ON_128 * sweep_share() / BUILD_SHARE;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network cube = network_of(names[i]);
        unsigned count = compared_sizes(operation, cube.nodes, sizes);
        for (unsigned k = 0; k < count; k += cube.nodes < 128 ? 1 : skipped) {
            slower += !is_never_slower(&cube, operation, sizes[k]);
        }
    }
    assert_int_equal(slower, 0);
}

TEST_SWEEP(alltoall_is_never_slower)
{
    check(ECUBE_EXCHANGE);
}

TEST_SWEEP(allgather_is_never_slower)
{
    check(ECUBE_ALLGATHER);
}

TEST_SWEEP(broadcast_is_never_slower)
{
    check(ECUBE_BROADCAST);
}

TEST_SWEEP(allreduce_is_never_slower)
{
    check(ECUBE_ALLREDUCE);
}

TEST_SWEEP(reduce_scatter_is_never_slower)
{
    check(ECUBE_REDUCE_SCATTER);
}
