/*
 * Every algorithm on every network of up to 64 nodes: it is proved, the nodes' parts do what the
 * operation promises in the time that is predicted, and one node's plan says the same as all.
 * `make test` takes every network of up to nine nodes, and every SOME-th of the others; with
 * sanitizers a share of these.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/planner.h"
#include "network/text.h"
#include "tests/planner/plan_machine.h"
#include "tests/network/shapes.h"

/* Machines are smaller, and of the larger networks the slow exchanges take a few: for the time. */
enum {
    NODES = 64,
    MACHINE_NODES = 24,
    SLOW_NODES = 16,
    ALL_ROOTS_NODES = 9,
    SOME = 13,
    FEW = 16,
    BYTES = 100
};

static struct network shapes[SHAPES_MAX];
static unsigned shape_count;

static int make_shapes(void **state)
{
    (void)state;
    shape_count = shapes_make(shapes, NODES);
    assert_true(shape_count > 1000);
    return 0;
}

static void complain(const struct network *network, const struct plan_request *request,
                     const char *words)
{
    char name[NETWORK_NAME_MAX];

    network_name(network, name);
    print_error("%s, %s by %s from %u: %s\n", name, operation_name(request->operation),
                request->algorithm, request->root, words);
    fail();
}

static struct plan *planned(const struct network *network, const struct plan_request *request)
{
    struct plan_fault fault;
    struct plan *plan = plan_make(network, request, &fault);

    if (!plan) {
        complain(network, request, fault.words);
    }
    return plan;
}

/* Whether to try a root: all of a small network, else one end and two more. */
static bool is_tried(const struct network *network, uint32_t root)
{
    return network->nodes <= ALL_ROOTS_NODES || root == network->nodes - 1 ||
           root == network->nodes / 2 || root == network->nodes / 3 + 1;
}

static bool is_slow(const struct network *network, const struct candidate *candidate)
{
    bool slow = candidate->plan == plan_neighbour_exchange || candidate->plan == plan_both_ways ||
                candidate->plan == plan_rounds || candidate->plan == plan_bruck ||
                candidate->plan == plan_gray_multiphase || candidate->plan == plan_pieces ||
                candidate->plan == plan_leaders_of_blocks ||
                candidate->plan == plan_bruck_allgather;

    return slow && network->nodes > SLOW_NODES && (network - shapes) % FEW;
}

/* Calls `look` with every plan there is for a network. */
static void each_plan(const struct network *network,
                      void (*look)(const struct plan *plan, const struct plan_request *request))
{
    const struct candidate *candidate;

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
            struct plan_request request = {.operation = operation,
                                           .bytes = BYTES,
                                           .type = ECUBE_INT32,
                                           .algorithm = candidate->name};
            uint32_t roots = operation_roots(operation_of(operation), network);
            if (!candidate->possible(network) || candidate->wants_ports ||
                is_slow(network, candidate)) {
                continue;
            }
            for (; request.root < roots; request.root++) {
                if (!is_tried(network, request.root)) {
                    continue;
                }
                struct plan *plan = planned(network, &request);
                look(plan, &request);
                plan_free(plan);
            }
        }
    }
}

static bool is_any(const struct network *network)
{
    return network->nodes <= NODES;
}

static bool is_for_machines(const struct network *network)
{
    return network->nodes <= MACHINE_NODES;
}

/* Calls `look` with every plan of the networks that suit, or of a share of them: of all small ones,
 * and of every `stride`-th of the others. */
static void each_network(bool (*suits)(const struct network *network), unsigned stride,
                         void (*look)(const struct plan *plan, const struct plan_request *request))
{
    unsigned count = 0;

    for (unsigned i = 0; i < shape_count; i++) {
        if (suits(&shapes[i]) && (shapes[i].nodes <= ALL_ROOTS_NODES || i % stride == 0) &&
            count++ % sweep_share() == 0) {
            each_plan(&shapes[i], look);
        }
    }
}

static void try_on_machine(const struct plan *plan, const struct plan_request *request)
{
    const char *fault = machine_tries(plan, BYTES);

    if (fault) {
        complain(&plan->network, request, fault);
    }
}

TEST(plans_do_what_they_promise_in_the_time_they_say)
{
    each_network(is_for_machines, SOME, try_on_machine);
}

TEST_LONG(every_plan_does_what_it_promises_in_the_time_it_says)
{
    each_network(is_for_machines, 1, try_on_machine);
}

static void compare_with_all(const struct plan *plan, const struct plan_request *request)
{
    struct profile profile = {65425, 9575, 425, 1000, 0, 1};
    uint32_t nodes = plan->network.nodes, ports = plan->network.ports;
    struct plan_fault fault;

    if (!plan->invariant) {
        return;
    }
    struct plan *all = plan_expand(plan);
    if (!plan_prove(all, &fault)) {
        complain(&plan->network, request, fault.words);
    }
    assert_int_equal(all->steps, plan->steps);
    assert_int_equal(all->hops, plan->hops * nodes);
    assert_int_equal(all->blocks, plan->blocks * nodes);
    for (uint32_t i = 0; i < nodes * ports; i++) {
        assert_int_equal(all->carries[i], plan->carries[i % ports]);
    }
    for (uint32_t bytes = 0; bytes < 3000; bytes = 5 * bytes + 7) {
        for (unsigned way = 0; way < 2; way++) {
            profile.ports = way ? PORTS_ALL : 1;
            struct plan ported = *plan;
            ported.node_ports = all->node_ports = way && !plan->one_port ? PORTS_ALL : 1;
            struct plan_time one = plan_time(&ported, bytes, 1, &profile);
            struct plan_time each = plan_time(all, bytes, 1, &profile);
            assert_int_equal(one.model_ns, each.model_ns);
            assert_int_equal(one.bound_ns, each.bound_ns);
        }
    }
    try_on_machine(all, request);
    plan_free(all);
}

TEST(plans_of_one_node_say_what_plans_of_all_say)
{
    each_network(network_is_symmetric, SOME, compare_with_all);
}

TEST_LONG(the_plan_of_one_node_says_what_the_plan_of_all_says)
{
    each_network(network_is_symmetric, 1, compare_with_all);
}

static void compare_with_bound(const struct plan *plan, const struct plan_request *request)
{
    static const struct profile profiles[] = {{65425, 9575, 425, 1000, 0, 1},
                                              {7, 100, 30, 1000, 1, 1},
                                              {900, 1, 0, 1000, 0, 1},
                                              {11, 3, 7, 1000, 0, 13}};

    for (unsigned i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        struct plan_time time = plan_time(plan, i * BYTES, 1, &profiles[i]);
        if (time.bound_ns > time.model_ns) {
            complain(&plan->network, request, "it takes less than any plan can");
        }
    }
}

TEST(plans_are_proved_and_take_no_less_than_their_bound)
{
    each_network(is_any, SOME, compare_with_bound);
}

TEST_LONG(every_plan_is_proved_and_takes_no_less_than_its_bound)
{
    each_network(is_any, 1, compare_with_bound);
}

TEST_GROUP(make_shapes, NULL);
