/*
 * state_test.c - what a node answers when the host asks what its program waits for.
 */
#include "drivers/status.h"
#include "router/router.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct memory_fault no_fault;

enum { LONG = 50000, STOPPED = 3, PORTS = 2, ROUNDS = 40, RESULT = MESH_DATA };

static struct mesh *started(void)
{
    struct mesh *mesh = mesh_make(2, 4 << 20, 1, no_fault, ipsc860);

    assert_true(mesh_start(mesh));
    mesh_settle(mesh);
    return mesh;
}

/* What lies before a node that stands still stays on its way: the mesh does not settle. */
static void turn(struct mesh *mesh)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        mesh_round(mesh);
}

/* The body of a node's answer, when all has gone as far as it can. */
static struct state_body ask(struct mesh *mesh, unsigned rank)
{
    turn(mesh);
    mesh->event_count = 0;
    assert_int_equal(router_send(&mesh->controller.router, PACKET_QUERY, rank, NULL, 0), E_OK);
    turn(mesh);
    assert_int_equal(mesh->events[0].src, rank);
    assert_int_equal(mesh->events[0].bytes, STATE_BYTES);
    return mesh_heard_state(mesh);
}

/* The program waits for a request, or goes on at once. */
static enum node_verdict wait_for(struct mesh *mesh, unsigned rank, int32_t request)
{
    uint32_t arguments[4] = {(uint32_t)request, RESULT};
    int32_t result;

    assert_true(request >= 0);
    return node_call(mesh->nodes[rank].node, mesh->now_us, ECUBE_CALL_WAIT, arguments, &result);
}

static void expect_message(struct state_body state, enum wait_kind wait, enum transfer_stage stage,
                           int32_t peer, int32_t tag, uint32_t bytes)
{
    assert_int_equal(state.program, PROGRAM_RUNNING);
    assert_int_equal(state.wait, wait);
    assert_int_equal(state.transfer, stage);
    assert_int_equal(state.peer, peer);
    assert_int_equal(state.tag, tag);
    assert_int_equal(state.bytes, bytes);
}

static void expect_collective(struct state_body state, enum collective_stage stage, uint32_t peer,
                              unsigned step, unsigned steps)
{
    assert_int_equal(state.stage, stage);
    assert_int_equal(state.partner, peer);
    assert_int_equal(state.step, step);
    assert_int_equal(state.steps, steps);
}

static void a_send_tells_whether_its_receiver_knows_of_it(void **state)
{
    (void)state;
    struct mesh *mesh = started();
    int32_t request = mesh_message(mesh, 0, ECUBE_CALL_SEND, 3, 7, MESH_DATA, LONG);
    assert_int_equal(wait_for(mesh, 0, request), NODE_BLOCK);
    expect_message(ask(mesh, 0), WAIT_SEND, TRANSFER_KNOWN, 3, 7, LONG);
    int32_t wanted = mesh_message(mesh, 3, ECUBE_CALL_RECEIVE, 0, 7, MESH_DATA, LONG);
    assert_int_equal(mesh_wait(mesh, 3, wanted).status, E_OK);
    mesh_free(mesh);
}

static bool is_matched(struct mesh *mesh)
{
    return mesh->nodes[0].node->requests[0].state == STATE_MOVING;
}

static void a_receive_tells_what_was_asked_for_and_then_what_comes(void **state)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    (void)state;
    struct mesh *mesh = started();
    int32_t request = mesh_message(mesh, 0, ECUBE_CALL_RECEIVE, ECUBE_ANY, 7, MESH_DATA, 2 * LONG);
    assert_int_equal(mesh_message(mesh, 0, ECUBE_CALL_RECEIVE, 1, 8, MESH_DATA, 1), 1);
    assert_int_equal(wait_for(mesh, 0, request), NODE_BLOCK);
    expect_message(ask(mesh, 0), WAIT_RECEIVE, TRANSFER_OPEN, ECUBE_ANY, 7, 2 * LONG);
    assert_int_equal(mesh_heard_state(mesh).requests, 2);
    assert_true(mesh_message(mesh, STOPPED, ECUBE_CALL_SEND, 0, 7, MESH_DATA, LONG) >= 0);
    assert_true(mesh_run(mesh, is_matched));
    for (unsigned p = 0; p < PORTS; p++) /* the answer does not reach the sender */
        memory_link_stop(&mesh->nodes[STOPPED].ends[p], taken[p]);
    expect_message(ask(mesh, 0), WAIT_RECEIVE, TRANSFER_MOVES, STOPPED, 7, LONG);
    mesh_free(mesh);
}

static bool all_step(struct mesh *mesh)
{
    bool all = true;

    for (unsigned rank = 0; rank < mesh->count; rank++)
        all &= mesh->nodes[rank].node->collective.walking;
    return all;
}

/* Whom node 0 exchanges with in a step, counted from 1. */
static uint32_t peer_of_0(unsigned number)
{
    struct walk_step step = {.peer = UINT32_MAX};
    struct walk walk;

    walk_begin(&walk, ECUBE_EXCHANGE, 2, 0, 0, LONG);
    for (unsigned i = 0; i < number; i++)
        assert_true(walk_next(&walk, &step));
    return step.peer;
}

static void a_collective_tells_who_is_missing_and_then_its_step(void **state)
{
    static const struct ecube_abi_collective exchange = {
        .operation = ECUBE_EXCHANGE, .block_bytes = LONG, .send = MESH_DATA, .receive = MESH_DATA};
    bool taken[PORTS][LINK_BUFFERS_MAX];
    int32_t requests[4];

    (void)state;
    struct mesh *mesh = started();
    expect_collective(ask(mesh, 0), COLLECTIVE_NONE, 0, 0, 0);
    for (unsigned rank = 0; rank < STOPPED; rank++)
        requests[rank] = mesh_collective(mesh, rank, &exchange);
    expect_collective(ask(mesh, 0), COLLECTIVE_ENTRY, 2, 0, 0); /* the program computes */
    assert_int_equal(mesh_heard_state(mesh).wait, WAIT_NOTHING);
    expect_collective(ask(mesh, 2), COLLECTIVE_ENTRY, STOPPED, 0, 0);
    assert_int_equal(mesh_heard_state(mesh).operation, ECUBE_EXCHANGE);
    assert_int_equal(mesh_heard_state(mesh).collective_bytes, LONG);
    requests[STOPPED] = mesh_collective(mesh, STOPPED, &exchange);
    assert_true(mesh_run(mesh, all_step));
    for (unsigned p = 0; p < PORTS; p++)
        memory_link_stop(&mesh->nodes[STOPPED].ends[p], taken[p]);
    assert_int_equal(wait_for(mesh, 0, requests[0]), NODE_BLOCK);
    struct state_body told = ask(mesh, 0);
    assert_int_equal(told.wait, WAIT_COLLECTIVE);
    expect_collective(told, COLLECTIVE_STEPS, peer_of_0(told.step), told.step, 3);
    for (unsigned p = 0; p < PORTS; p++)
        memory_link_start(&mesh->nodes[STOPPED].ends[p], taken[p]);
    for (unsigned rank = 1; rank < 4; rank++)
        assert_int_equal(mesh_wait(mesh, rank, requests[rank]).status, E_OK);
    expect_collective(ask(mesh, 0), COLLECTIVE_NONE, 0, 0, 0);
    mesh_free(mesh);
}

static uint32_t progress_of(struct mesh *mesh, unsigned rank)
{
    return ask(mesh, rank).counters[COUNTER_PROGRESS];
}

/* 0 sends to 3, which is by way of 1. */
static void bytes_that_flow_are_progress_on_every_node_of_their_way(void **state)
{
    uint32_t before[4];

    (void)state;
    struct mesh *mesh = started();
    int32_t request = mesh_message(mesh, 0, ECUBE_CALL_SEND, 3, 7, MESH_DATA, LONG);
    int32_t wanted = mesh_message(mesh, 3, ECUBE_CALL_RECEIVE, 0, 7, MESH_DATA, LONG);
    for (unsigned rank = 0; rank < 4; rank++)
        before[rank] =
            mesh->nodes[rank].node->progress + router_progress(&mesh->nodes[rank].node->router);
    assert_int_equal(mesh_wait(mesh, 3, wanted).status, E_OK);
    assert_int_equal(mesh_wait(mesh, 0, request).status, E_OK);
    assert_in_range(progress_of(mesh, 0) - before[0], 3, UINT32_MAX);
    assert_in_range(progress_of(mesh, 1) - before[1], 2, UINT32_MAX); /* accepted, passed on */
    assert_in_range(progress_of(mesh, 3) - before[3], 3, UINT32_MAX);
    assert_int_equal(progress_of(mesh, 2), before[2]);
    mesh_free(mesh);
}

/* More messages are announced than are stored: the last is told RETRY, and repeated, for ever. */
static void what_is_said_again_and_again_is_no_progress(void **state)
{
    enum { MORE = UNEXPECTED_MAX / 2 + 4 };
    uint32_t before[4], frames;

    (void)state;
    struct mesh *mesh = started();
    for (unsigned i = 0; i < MORE; i++) {
        assert_true(mesh_message(mesh, 0, ECUBE_CALL_SEND, 3, 7, MESH_DATA, LONG) >= 0);
        assert_true(mesh_message(mesh, 1, ECUBE_CALL_SEND, 3, 7, MESH_DATA, LONG) >= 0);
    }
    turn(mesh);
    mesh->now_us += 1000000;
    for (unsigned rank = 0; rank < 4; rank++)
        before[rank] = progress_of(mesh, rank);
    frames = ask(mesh, 0).counters[COUNTER_FRAMES_SENT];
    for (unsigned i = 0; i < 20; i++) {
        mesh->now_us += 100000;
        turn(mesh);
    }
    for (unsigned rank = 0; rank < 4; rank++)
        assert_int_equal(progress_of(mesh, rank), before[rank]);
    frames = ask(mesh, 0).counters[COUNTER_FRAMES_SENT] - frames;
    assert_in_range(frames, 20, UINT32_MAX);
    mesh_free(mesh);
}

static void a_node_tells_whether_what_it_sent_has_come_to_its_neighbours(void **state)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    (void)state;
    struct mesh *mesh = started();
    for (unsigned p = 0; p < PORTS; p++)
        memory_link_stop(&mesh->nodes[STOPPED].ends[p], taken[p]);
    assert_true(mesh_message(mesh, 1, ECUBE_CALL_SEND, STOPPED, 7, MESH_DATA, LONG) >= 0);
    ask(mesh, 1); /* the first answer is the mark of the next */
    assert_false(ask(mesh, 1).flags & STATE_DELIVERED);
    assert_true(ask(mesh, 0).flags & STATE_DELIVERED);
    for (unsigned p = 0; p < PORTS; p++)
        memory_link_start(&mesh->nodes[STOPPED].ends[p], taken[p]);
    mesh->now_us += 100000;
    turn(mesh);
    assert_true(ask(mesh, 1).flags & STATE_DELIVERED);
    mesh_free(mesh);
}

static void a_sleeping_program_tells_how_long_it_will(void **state)
{
    (void)state;
    struct mesh *mesh = started();
    uint64_t end_ns = (mesh->now_us + 5000000) * 1000;
    uint32_t arguments[4] = {(uint32_t)end_ns, (uint32_t)(end_ns >> 32)};
    int32_t result;
    assert_int_equal(
        node_call(mesh->nodes[1].node, mesh->now_us, ECUBE_CALL_SLEEP, arguments, &result),
        NODE_BLOCK);
    uint64_t most_us = end_ns / 1000 - mesh->now_us, left_us = ask(mesh, 1).left_us;
    assert_in_range(left_us, end_ns / 1000 - mesh->now_us, most_us);
    assert_int_equal(mesh_heard_state(mesh).wait, WAIT_SLEEP);
    mesh->now_us += 6000000; /* its time has come, and it has not been resumed */
    assert_int_equal(ask(mesh, 1).left_us, 0);
    mesh_free(mesh);
}

TEST_MAIN(cmocka_unit_test(a_send_tells_whether_its_receiver_knows_of_it),
          cmocka_unit_test(a_receive_tells_what_was_asked_for_and_then_what_comes),
          cmocka_unit_test(a_collective_tells_who_is_missing_and_then_its_step),
          cmocka_unit_test(bytes_that_flow_are_progress_on_every_node_of_their_way),
          cmocka_unit_test(what_is_said_again_and_again_is_no_progress),
          cmocka_unit_test(a_node_tells_whether_what_it_sent_has_come_to_its_neighbours),
          cmocka_unit_test(a_sleeping_program_tells_how_long_it_will))
