/*
 * Which processor a node is for.
 */
#include "tests/testing.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/computer/placement.h"

enum { NODES = 128, PROCESSORS_MAX = 12 };

/* Of so many nodes, first, first + stride, ..., each processor has its part, one more at most. */
static void expect_balanced(uint32_t first, uint32_t stride, unsigned count, unsigned processors)
{
    unsigned counts[PROCESSORS_MAX] = {0};

    for (unsigned i = 0; i < count; i++) {
        counts[placement_of(first + i * stride, processors)]++;
    }
    for (unsigned p = 0; p < processors; p++) {
        assert_in_range(counts[p], count / processors, (count + processors - 1) / processors);
    }
}

TEST(processors_have_as_many_nodes_of_every_subcube)
{
    for (uint32_t bit = 1; bit < NODES; bit *= 2) {
        for (uint32_t node = 0; node < NODES; node++) {
            if ((node & bit) == 0) {
                assert_int_not_equal(placement_of(node, 2), placement_of(node | bit, 2));
            }
        }
    }
    expect_balanced(0, 2, NODES / 2, 2);
    expect_balanced(1, 2, NODES / 2, 2);
    expect_balanced(NODES / 2, 1, NODES / 2, 2);
}

TEST(processors_have_as_many_nodes_of_every_aligned_block)
{
    for (unsigned processors = 1; processors <= PROCESSORS_MAX; processors++) {
        for (uint32_t first = 0; first + processors <= NODES; first += processors) {
            expect_balanced(first, 1, processors, processors);
        }
    }
}

/* In a process of its own: the number of processors that it may use after placement_bind. */
static int processors_after(uint32_t node, uint32_t nodes)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        cpu_set_t usable;

        placement_bind(node, nodes);
        _exit(sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(only_nodes_that_outnumber_processors_are_bound)
{
    cpu_set_t usable;

    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    uint32_t processors = (uint32_t)CPU_COUNT(&usable);
    assert_int_equal(processors_after(0, processors), processors);
    for (uint32_t node = 0; node <= processors; node++) {
        assert_int_equal(processors_after(node, processors + 1), 1);
    }
}

TEST(only_nodes_with_a_processor_each_spin)
{
    cpu_set_t usable;

    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    uint32_t processors = (uint32_t)CPU_COUNT(&usable);
    assert_int_not_equal(placement_spin_us(processors), 0);
    assert_int_equal(placement_spin_us(processors + 1), 0);
}
