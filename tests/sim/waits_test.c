/*
 * waits_test.c - who waits for whom: in runs that come to a stop, and in states made by hand.
 */
#include "tests/testing.h"

#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/state.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"
#include "sim/observe/waits.h"
#include "tests/sim/simulation.h"
#include "wire/circuit.h"

static struct sim *running(const struct sim_options *options)
{
    struct sim *sim = sim_make(options);
    uint32_t done, total;

    assert_non_null(sim);
    while (strcmp(sim_progress(sim, &done, &total), "run") != 0) {
        assert_true(sim_advance(sim, 1));
    }
    return sim;
}

static bool tells(const struct sim_result *result, const char *text)
{
    for (unsigned i = 0; i < result->trouble_count && i < SIM_TROUBLES_MAX; i++) {
        if (strcmp(result->troubles[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Node 0 is made to expect one message more than is sent to it; the others wait for it in their
 * next align, and there is no circle. */
TEST(a_run_that_stops_says_who_waits_for_whom)
{
    struct sim_options options = simulation(2, SIM_HOTSPOT, 100);
    options.sizes[options.size_count++] = 100;
    struct sim *sim = running(&options);
    struct sim_result result;

    sim->expected[0]++;
    while (sim_advance(sim, 100000)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    assert_int_equal(result.verdict, SIM_STUCK);
    assert_true(tells(&result, "nobody waits in a circle; all wait for these:"));
    assert_true(tells(&result, "  node 0 waits to receive from any rank"));
    assert_true(tells(&result, "node 2 (rank 2) waits in align for rank 0 to enter"));
    assert_false(tells(&result, "  and so round"));
}

/* The same, and who lies sends data for ever: the links are never quiet. */
TEST(a_run_ends_when_its_links_are_busy_for_ever)
{
    struct sim_options options = simulation(2, SIM_HOTSPOT, 100);
    options.sizes[options.size_count++] = 100;
    struct sim *sim = running(&options);
    struct sim_result result;

    sim->expected[0]++;
    for (unsigned i = 0; i < 100000 && sim_advance(sim, 1); i++) {
        sim->partitions[0].moved = true;
    }
    sim_result(sim, &result);
    sim_free(sim);
    assert_int_equal(result.verdict, SIM_STUCK);
    assert_true(
        strncmp(result.troubles[0], "links are busy, and no program has got on for 6", 47) == 0);
    assert_true(tells(&result, "  node 0 waits to receive from any rank"));
    assert_true(tells(&result, "node 2 (rank 2) waits in align for rank 0 to enter"));
    assert_in_range(result.wall_ns, 60 * UINT64_C(1000000000), 70 * UINT64_C(1000000000));
}

/* ... or answers at once, for ever. */
TEST(a_run_ends_when_no_time_passes)
{
    struct sim_options options = simulation(2, SIM_EXCHANGE, 100);
    struct sim *sim = running(&options);
    struct sim_result result;

    assert_in_range(sim->limit.rounds, 1000000, 2000000);
    sim->limit.rounds = 5000;
    for (unsigned i = 0; i < 10000 && sim_advance(sim, 1); i++) {
        partition_at_wall(&sim->partitions[0], sim->wall_ns, DUE_LOOK, 0);
        partition_tell(&sim->partitions[0]);
    }
    sim_result(sim, &result);
    sim_free(sim);
    assert_int_equal(result.verdict, SIM_STUCK);
    assert_true(tells(&result, "nodes are stepped for ever, and no time passes"));
}

/* A step of many nodes on slow links may take long; damage adds to it what its frames can be
 * damaged. */
TEST(a_run_is_given_the_time_that_its_longest_step_takes)
{
    struct sim_options options = simulation(4, SIM_EXCHANGE, 100);
    struct sim *sim = running(&options);
    struct limit limit = sim->limit;

    uint64_t predicted_ns = sim->options.plans->times[0].model_ns;
    assert_true(limit.ns >= 60 * UINT64_C(1000000000) + 2 * predicted_ns);
    assert_true(limit.ns < 70 * UINT64_C(1000000000));
    assert_int_equal(limit_ns(&limit, 0), limit.ns);
    assert_int_equal(limit_ns(&limit, 2) - limit.ns, 1760 * UINT64_C(1000000));
    assert_true(limit.frames > 1000);
    assert_int_equal(limit_ns(&limit, limit.frames), limit_ns(&limit, UINT64_MAX));
    sim_free(sim);
    options.faults.delay_ns = 1000 * 1000;
    sim = running(&options);
    assert_true(sim->limit.ns >= limit.ns + limit.frames * options.faults.delay_ns);
    sim_free(sim);
}

/* Programs that each wait for the next, on real nodes. */
TEST(programs_that_receive_before_they_send_wait_in_a_circle)
{
    struct sim_options options = simulation(2, SIM_CIRCLE, 100);
    struct sim_result result = simulated(&options);

    assert_int_equal(result.verdict, SIM_STUCK);
    assert_true(tells(&result, "deadlock, each waits for the next:"));
    assert_true(tells(&result, "  node 3 waits to receive from rank 0"));
    assert_true(tells(&result, "  and so round"));
}

/* The program waits for its one message in a system call, and no longer for any of several. */
static void block(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct node *node = sim_node(sim, rank);
    int32_t result;

    task->step =
        program_step_call(ECUBE_CALL_WAIT, node->request_order[0], program_arguments_address(sim));
    assert_int_equal(
        node_call(node, sim->wall_ns / 1000, ECUBE_CALL_WAIT, task->step.arguments, &result),
        NODE_BLOCK);
    task->state = TASK_WAITS;
}

/* The controller has the circle from the nodes' answers, and nothing is said of it twice. */
TEST(programs_that_wait_in_calls_are_told_as_on_real_machines)
{
    struct sim_options options = simulation(2, SIM_CIRCLE, 100);
    struct sim *sim = running(&options);
    struct sim_result result;

    while (sim->tasks[0].state != TASK_POLLS || sim->tasks[1].state != TASK_POLLS ||
           sim->tasks[2].state != TASK_POLLS || sim->tasks[3].state != TASK_POLLS) {
        assert_true(sim_advance(sim, 1));
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        block(sim, rank);
    }
    while (sim_advance(sim, 100000)) {
        ;
    }
    sim_result(sim, &result);
    sim_free(sim);
    assert_int_equal(result.verdict, SIM_STUCK);
    assert_in_range(result.wall_ns, 0, 20 * UINT64_C(1000000000));
    assert_true(tells(&result, "the programs that still run wait for ever: 0 of 4 have ended"));
    assert_true(
        tells(&result, "programs wait for each other in a circle: rank 0 for 1 for 2 for 3 for 0"));
    assert_true(
        tells(&result, "node 3 (rank 3) waits to receive from rank 0 (one of 8 open requests)"));
    assert_false(tells(&result, "deadlock, each waits for the next:"));
}

enum { STEP_OF_1 = 2, MADE_BYTES = OPEN_BYTES + HOP_LIST_BYTES + 3 * HOP_BYTES };

/* States made by hand, of a cube of 8: circuit 3>4 (step 0) holds links 3>2, 2>0 and 0>4; circuit
 * 1>4 (step 2) holds 1>0 and waits for 0>4. Its path is  3 -> 2 -> 0 -> 4,  the other one's  1 -> 0
 * -> 4. */
struct made {
    struct sim *sim;
    uint8_t packets[2][MADE_BYTES]; /* 1>4, 3>4 */
};

/* `turn` is that on the last of `count` links; all before have been passed. */
static void make_open_to(uint8_t *packet, uint32_t src, uint32_t dst, unsigned count, uint32_t step,
                         uint16_t turn)
{
    struct open_hop hops[3] = {{HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, 0}};

    hops[count - 1] = (struct open_hop){HOP_DIMENSION_ORDER, turn};
    packet_pack(packet, PACKET_OPEN,
                OPEN_BODY_BYTES + hop_list_pack(packet + OPEN_BYTES, hops, count), src, dst);
    packet_set_hops(packet, count - 1);
    open_pack(packet, &(struct open_body){.match = step, .flags = OPEN_SCHEDULE});
}

/* ... of a circuit to node 4 of the cube: link 0>4. */
static void make_open(uint8_t *packet, uint32_t src, uint32_t step, uint16_t turn)
{
    make_open_to(packet, src, 4, (unsigned)__builtin_popcount(src ^ 4), step, turn);
}

static void make_own(struct router *router, unsigned out, enum source_state source_state,
                     const uint8_t *packet)
{
    struct source *source = &router->sources[0];

    router->opening[0] = 0;
    router->opening_count = 1;
    source->state = (uint8_t)source_state;
    source->out = (uint8_t)out;
    memcpy(source->open + FRAME_HEADER_BYTES, packet, MADE_BYTES);
}

static void make_held(struct router *router, unsigned in, unsigned out, uint8_t *packet)
{
    struct port *port = &router->ports[in];

    port->circuit_count = port->opens_held = 1;
    port->circuits[0] =
        (struct circuit){.out = (uint8_t)out, .state = CIRCUIT_HELD, .open = {.packet = packet}};
    router->held_ports |= 1u << in;
}

static void make_set_up(struct router *router, unsigned out, unsigned holder)
{
    router->ports[out].setup_count = 1;
    router->ports[out].setup_holder = (uint8_t)holder;
    router->ports[out].setup_flags = OPEN_SCHEDULE;
}

/* A node's program is in a step of a collective, and waits for the circuit of `peer`. */
static void make_receiver(struct sim *sim, uint32_t rank, uint32_t peer, uint32_t step)
{
    struct node *node = sim_node(sim, rank);

    sim->tasks[rank].state = TASK_WAITS;
    node->request_order[0] = 0;
    node->request_count = 1;
    node->requests[0].kind = REQUEST_COLLECTIVE;
    node->requests[0].state = STATE_MOVING;
    node->engine.call.operation = ECUBE_EXCHANGE;
    node->engine.stage = ENGINE_STEPS;
    node->engine.row_open = true;
    node->engine.step_waits = STEP_RECEIVE;
    node->engine.head.from = peer;
    node->engine.head.step = (uint16_t)step;
}

static struct router *router_at(const struct made *made, uint32_t rank)
{
    return &sim_node(made->sim, rank)->router;
}

static struct made made_by_hand(void)
{
    struct sim_options options = simulation(3, SIM_EXCHANGE, 100);
    struct made made = {.sim = sim_make(&options)};

    assert_non_null(made.sim);
    make_open(made.packets[0], 1, STEP_OF_1, 0);
    make_open(made.packets[1], 3, 0, 0);
    make_own(router_at(&made, 1), 0, SOURCE_OPENED, made.packets[0]);
    make_set_up(router_at(&made, 1), 0, PORT_LOCAL);
    return made;
}

static void expect_lines(const struct sim *sim, const char *const *lines, unsigned count,
                         unsigned cycle)
{
    struct wait_found found;

    assert_true(wait_search(sim, &found));
    assert_int_equal(found.cycle, cycle);
    assert_int_equal(found.line_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_string_equal(found.lines[i], lines[i]);
    }
}

static void make_holder(struct made *made)
{
    make_own(router_at(made, 3), 0, SOURCE_OPENED, made->packets[1]);
    make_set_up(router_at(made, 3), 0, PORT_LOCAL);
    make_set_up(router_at(made, 2), 1, 0);
    make_set_up(router_at(made, 0), 2, 1);
    make_held(router_at(made, 4), 2, PORT_LOCAL, made->packets[1]);
    make_held(router_at(made, 0), 0, 2, made->packets[0]);
}

/* Node 4 takes the circuits in another order than link 0>4 does. */
TEST(circuits_that_hold_links_in_a_circle_are_named)
{
    static const char *const lines[] = {
        "node 0: circuit 1>4 (step 2) waits for link 0>4, held by circuit 3>4 (step 0)",
        "node 4: circuit 3>4 (step 0) waits for node 4 to come to its step",
        "node 4 waits in step 2 of exchange for the circuit of node 1",
        "node 1: circuit 1>4 (step 2) has come to node 0"};
    struct made made = made_by_hand();

    make_holder(&made);
    make_receiver(made.sim, 4, 1, STEP_OF_1);
    expect_lines(made.sim, lines, 4, 4);
    sim_free(made.sim);
}

/* The receiver waits for node 6, which is dead. */
TEST(circuits_behind_a_dead_node_wait_for_it)
{
    static const char *const lines[] = {"node 6 is dead"};
    struct made made = made_by_hand();

    make_holder(&made);
    make_receiver(made.sim, 4, 6, 0);
    made.sim->actors[6].dead = true;
    expect_lines(made.sim, lines, 1, 0);
    sim_free(made.sim);
}

/* Nobody holds link 0>4, but its next turn is that of circuit 3>4, which its node has not sent off,
 * for the link 3>2 is dead. */
TEST(a_circuit_waits_for_the_one_whose_turn_it_is)
{
    static const char *const lines[] = {
        "node 3: circuit 3>4 (step 0) waits for link 3>2, which is dead"};
    struct wait_edge edges[WAIT_EDGES_MAX];
    struct made made = made_by_hand();

    make_open(made.packets[0], 1, STEP_OF_1, 1);
    make_own(router_at(&made, 1), 0, SOURCE_OPENED, made.packets[0]);
    make_held(router_at(&made, 0), 0, 2, made.packets[0]);
    make_own(router_at(&made, 3), 0, SOURCE_WAITING, made.packets[1]);
    router_at(&made, 3)->ports[0].channel.state = LINK_DEAD;
    assert_int_equal(wait_edges(made.sim, (struct wait_place){0, 0}, edges), 1);
    assert_string_equal(edges[0].text,
                        "node 0: circuit 1>4 (step 2) waits for its turn on link 0>4, "
                        "which is that of circuit 3>4 (step 0)");
    assert_int_equal(edges[0].to.actor, 3);
    assert_int_equal(edges[0].to.at, WAIT_OWN);
    expect_lines(made.sim, lines, 1, 0);
    sim_free(made.sim);
}

/* Its way round: circuit 1>12 waits in node 0 for link 0>12, which circuit 3>12 takes first. That
 * one goes 3 -> 0 -> 12 over the ends of both dimensions, and cannot begin: link 3>0 is dead. */
TEST(the_next_turn_is_found_on_the_ways_of_a_torus)
{
    enum { RIGHT, LEFT, UP, DOWN };
    struct sim_options options = simulation(3, SIM_RANDOM, 100);
    struct wait_edge edges[WAIT_EDGES_MAX];

    options.network = network_of("torus:4x4");
    struct made made = {.sim = sim_make(&options)};
    assert_non_null(made.sim);
    make_open_to(made.packets[0], 1, 12, 2, STEP_OF_1, 1);
    make_open_to(made.packets[1], 3, 12, 2, 0, 0);
    make_held(router_at(&made, 0), RIGHT, DOWN, made.packets[0]);
    make_own(router_at(&made, 3), RIGHT, SOURCE_WAITING, made.packets[1]);
    router_at(&made, 3)->ports[RIGHT].channel.state = LINK_DEAD;
    assert_int_equal(wait_edges(made.sim, (struct wait_place){0, RIGHT}, edges), 1);
    assert_string_equal(edges[0].text,
                        "node 0: circuit 1>12 (step 2) waits for its turn on link 0>12, "
                        "which is that of circuit 3>12 (step 0)");
    assert_int_equal(edges[0].to.actor, 3);
    assert_int_equal(edges[0].to.at, WAIT_OWN);
    sim_free(made.sim);
}

/* Node 4 in its step waits for node 6 as before; node 6 has not entered, for it waits for node 4.
 */
TEST(programs_and_circuits_wait_for_each_other)
{
    static const char *const lines[] = {
        "node 4 waits in step 0 of exchange for the circuit of node 6, which has not "
        "begun it",
        "node 6 waits for node 4 to enter exchange"};
    struct made made = made_by_hand();

    make_holder(&made);
    make_receiver(made.sim, 4, 6, 0);
    make_receiver(made.sim, 6, 0, 0);
    router_at(&made, 6)->id = 6;
    router_at(&made, 6)->network = *sim_network(made.sim);
    sim_node(made.sim, 6)->engine.stage = ENGINE_ENTRY;
    sim_node(made.sim, 6)->engine.entering.joined = UINT32_MAX; /* so it waits for its parent */
    expect_lines(made.sim, lines, 2, 2);
    sim_free(made.sim);
}
