/*
 * roots_test.c - every algorithm with every root, executed by simulated nodes: right bytes, in the
 * time that is predicted. system/exact*_test.sh has some roots of these on nodes in QEMU.
 */
#include "tests/testing.h"

#include "planner/algorithms/candidates.h"
#include "tests/networks.h"
#include "tests/sim/execution.h"

enum { BYTES = 104 };

static void is_exact(const struct network *network, const struct plan_request *request)
{
    struct plan_fault fault;
    char why[SIM_TEXT_MAX];
    struct plan *plan = plan_make(network, request, &fault);

    assert_non_null(plan);
    if (!execution_is_right(plan, BYTES, request->type, why)) {
        fail_msg("%s by %s from %u: %s", operation_name(request->operation), request->algorithm,
                 request->root, why);
    }
    plan_free(plan);
}

static void are_exact(const char *name)
{
    struct network network = network_of(name);
    const struct candidate *candidate;

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
            bool reduces = operation_of(operation)->reduces;
            struct plan_request request = {.operation = operation,
                                           .bytes = BYTES,
                                           .type = reduces ? ECUBE_DOUBLE : 0,
                                           .algorithm = candidate->name};
            uint32_t roots = operation_roots(operation_of(operation), &network);
            for (; candidate->possible(&network) && request.root < roots; request.root++) {
                is_exact(&network, &request);
            }
        }
    }
}

TEST(every_algorithm_is_exact_with_every_root_on_a_cube)
{
    are_exact("cube:3");
}

TEST(so_it_is_on_a_ring)
{
    are_exact("ring:5");
}

TEST(so_it_is_on_a_mesh)
{
    are_exact("mesh:2x3");
}

TEST(so_it_is_on_a_torus)
{
    are_exact("torus:3x3");
}

TEST_LONG(so_it_is_on_networks_of_sixteen_nodes)
{
    are_exact("cube:4");
    are_exact("ring:16");
    are_exact("mesh:4x4");
    are_exact("torus:4x4");
}
