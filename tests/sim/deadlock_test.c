/*
 * deadlock_test.c - real nodes whose circuits deadlock, because they are not routed in one order of
 * dimensions; the run stops and names the circle.
 *
 * The linker puts __wrap_router_next_hop in the place of the router's own for circuits (packets
 * keep theirs, which lies in the same file): nodes of odd parity correct the highest dimension
 * first. On four nodes the circuits
 *
 *   0>3: 0 -> 1 -> 3     1>2: 1 -> 3 -> 2     3>0: 3 -> 2 -> 0     2>1: 2 -> 0 -> 1
 *
 * then each hold their first link and wait for the first link of the next.
 */
#include "tests/testing.h"

#include <string.h>

#include "drivers/status.h"
#include "router/packet.h"
#include "sim/core/loop.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"
#include "tests/sim/simulation.h"

unsigned __real_router_next_hop(const struct router *router, uint32_t dst);
unsigned __wrap_router_next_hop(const struct router *router, uint32_t dst);

static bool odd_nodes_turn;

unsigned __wrap_router_next_hop(const struct router *router, uint32_t dst)
{
    unsigned port = __real_router_next_hop(router, dst);

    if (!odd_nodes_turn || port >= router->network.ports ||
        __builtin_popcount(router->id) % 2 == 0) {
        return port;
    }
    return 31u - (unsigned)__builtin_clz(router->id ^ dst);
}

enum { BYTES = 5000 };

/* A message's call of a program; the number of its request. */
static int32_t call_message(struct sim *sim, uint32_t rank, uint32_t number, uint32_t data)
{
    struct ecube_abi_message message = {data, BYTES, (int32_t)(rank ^ 3), 7, 0};
    uint32_t arguments[4] = {program_arguments_address(sim)};
    int32_t result;

    memcpy(program_arguments(sim, rank), &message, sizeof message);
    assert_int_equal(
        node_call(sim_node(sim, rank), sim->wall_ns / 1000, number, arguments, &result),
        NODE_RESUME);
    return result;
}

/* Every node sends to the one opposite, while its program waits: the circle's, of which nobody
 * begins. */
static struct sim_result opposite_nodes_exchange(void)
{
    struct sim_options options = simulation(2, SIM_CIRCLE, 2 * BYTES);
    options.faults.delay_ns = 1000; /* all OPENs are on their first links at once */
    struct sim *sim = sim_make(&options);
    struct sim_result result;
    uint32_t done, total;

    assert_non_null(sim);
    while (strcmp(sim_progress(sim, &done, &total), "run") != 0) {
        assert_true(sim_advance(sim, 1));
    }
    while (sim->tasks[0].state != TASK_POLLS || sim->tasks[1].state != TASK_POLLS ||
           sim->tasks[2].state != TASK_POLLS || sim->tasks[3].state != TASK_POLLS) {
        assert_true(sim_advance(sim, 1));
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        uint32_t at = sim->tasks[rank].data_address;
        assert_true(call_message(sim, rank, ECUBE_CALL_RECEIVE, at + BYTES) >= 0);
        assert_true(call_message(sim, rank, ECUBE_CALL_SEND, at) >= 0);
        sim_wake(sim, rank);
    }
    while (sim_advance(sim, 100000)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    return result;
}

TEST(circuits_out_of_order_deadlock_and_are_named)
{
    static const char *const lines[] = {
        "the programs that still run wait for ever: 0 of 4 have ended",
        "deadlock, each waits for the next:",
        "  node 0: circuit 2>1 (message) waits for link 0>1, held by circuit 0>3 (message)",
        "  node 1: circuit 0>3 (message) waits for link 1>3, held by circuit 1>2 (message)",
        "  node 3: circuit 1>2 (message) waits for link 3>2, held by circuit 3>0 (message)",
        "  node 2: circuit 3>0 (message) waits for link 2>0, held by circuit 2>1 (message)",
        "  and so round"};

    odd_nodes_turn = true;
    struct sim_result result = opposite_nodes_exchange();
    odd_nodes_turn = false;
    assert_int_equal(result.verdict, SIM_STUCK);
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_string_equal(result.troubles[i], lines[i]);
    }
}

TEST(the_same_circuits_in_order_wait_for_no_link)
{
    struct sim_result result = opposite_nodes_exchange();
    assert_int_not_equal(result.verdict, SIM_STUCK);
    for (unsigned i = 0; i < result.trouble_count; i++) {
        assert_null(strstr(result.troubles[i], "link"));
    }
}
