/*
 * state_test.c - what a node answers when the host asks what its program waits for.
 */
#include "drivers/status.h"
#include "node/state.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

enum { LONG = 50000, STOPPED = 3, PORTS = 2, ROUNDS = 40, RESULT = FABRIC_DATA };

static struct fabric *started(void)
{
    struct fabric *fabric = fabric_make(2, 4 << 20, 1, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    fabric_settle(fabric);
    return fabric;
}

/* What lies before a node that stands still stays on its way: the fabric does not settle. */
static void turn(struct fabric *fabric)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        fabric_round(fabric);
    }
}

/* The body of a node's answer, when all has gone as far as it can. */
static struct state_body ask(struct fabric *fabric, unsigned rank)
{
    turn(fabric);
    fabric->event_count = 0;
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, rank, NULL, 0), E_OK);
    turn(fabric);
    assert_int_equal(fabric->events[0].src, rank);
    assert_int_equal(fabric->events[0].bytes, STATE_BYTES);
    return fabric_heard_state(fabric);
}

/* The program waits for a request, or goes on at once. */
static enum node_verdict wait_for(struct fabric *fabric, unsigned rank, int32_t request)
{
    uint32_t arguments[4] = {(uint32_t)request, RESULT};
    int32_t result;

    assert_true(request >= 0);
    return node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_WAIT, arguments, &result);
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

TEST(a_send_tells_whether_its_receiver_knows_of_it)
{
    struct fabric *fabric = started();
    int32_t request = fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, 7, FABRIC_DATA, LONG);
    assert_int_equal(wait_for(fabric, 0, request), NODE_BLOCK);
    expect_message(ask(fabric, 0), WAIT_SEND, TRANSFER_KNOWN, 3, 7, LONG);
    int32_t wanted = fabric_message(fabric, 3, ECUBE_CALL_RECEIVE, 0, 7, FABRIC_DATA, LONG);
    assert_int_equal(fabric_wait(fabric, 3, wanted).status, E_OK);
    fabric_free(fabric);
}

TEST(a_receiver_tells_how_many_messages_it_has_not_asked_for)
{
    struct fabric *fabric = started();
    for (unsigned i = 0; i < UNEXPECTED_MAX; i++) {
        int32_t sent = fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, (int32_t)i, FABRIC_DATA, 8);
        assert_int_equal(fabric_wait(fabric, 0, sent).status, E_OK);
        assert_int_equal(ask(fabric, 3).stored, i + 1);
    }
    int32_t one_more = fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, 99, FABRIC_DATA, 8);
    assert_int_equal(wait_for(fabric, 0, one_more), NODE_BLOCK);
    expect_message(ask(fabric, 0), WAIT_SEND, TRANSFER_OPEN, 3, 99, 8);
    int32_t wanted = fabric_message(fabric, 3, ECUBE_CALL_RECEIVE, 0, 5, FABRIC_DATA, 8);
    assert_int_equal(fabric_wait(fabric, 3, wanted).status, E_OK);
    assert_int_equal(ask(fabric, 3).stored, UNEXPECTED_MAX - 1);
    assert_int_equal(ask(fabric, 0).stored, 0);
    fabric_free(fabric);
}

/* How many circuits node 0 has accepted. */
static unsigned accepted_by_0(const struct fabric *fabric)
{
    unsigned count = 0;

    for (unsigned p = 0; p < PORTS; p++) {
        count += fabric->nodes[0].ends[p].said.packets[PACKET_ACCEPT];
    }
    return count;
}

static unsigned accepted;

static bool is_matched(struct fabric *fabric)
{
    return accepted_by_0(fabric) > accepted;
}

TEST(a_receive_tells_what_was_asked_for_and_then_what_comes)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    struct fabric *fabric = started();
    int32_t request =
        fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, ECUBE_ANY, 7, FABRIC_DATA, 2 * LONG);
    assert_int_equal(fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, 8, FABRIC_DATA, 1), 1);
    assert_int_equal(wait_for(fabric, 0, request), NODE_BLOCK);
    expect_message(ask(fabric, 0), WAIT_RECEIVE, TRANSFER_OPEN, ECUBE_ANY, 7, 2 * LONG);
    assert_int_equal(fabric_heard_state(fabric).requests, 2);
    assert_true(fabric_message(fabric, STOPPED, ECUBE_CALL_SEND, 0, 7, FABRIC_DATA, LONG) >= 0);
    accepted = accepted_by_0(fabric);
    assert_true(fabric_run(fabric, is_matched));
    for (unsigned p = 0; p < PORTS; p++) { /* the answer does not reach the sender */
        memory_link_stop(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
    expect_message(ask(fabric, 0), WAIT_RECEIVE, TRANSFER_MOVES, STOPPED, 7, LONG);
    fabric_free(fabric);
}

/* A private field: a question would let the steps go on. */
static bool all_step(struct fabric *fabric)
{
    bool all = true;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        all &= fabric->nodes[rank].node->engine.stage == ENGINE_STEPS;
    }
    return all;
}

/* Whom node 0 exchanges with in a step, counted from 1. */
static uint32_t peer_of_0(unsigned number)
{
    static const uint32_t order[] = {3, 1, 2}; /* AAP: the largest subcube first */

    assert_in_range(number, 1, 3);
    return order[number - 1];
}

TEST(a_collective_tells_who_is_missing_and_then_its_step)
{
    const struct ecube_abi_collective exchange = {.operation = ECUBE_EXCHANGE,
                                                  .block_bytes = LONG,
                                                  .send = FABRIC_DATA,
                                                  .receive = FABRIC_DATA + 4 * LONG,
                                                  .choice = ecube_choice("AAP")};
    bool taken[PORTS][LINK_BUFFERS_MAX];
    int32_t requests[4];

    struct fabric *fabric = started();
    expect_collective(ask(fabric, 0), COLLECTIVE_NONE, 0, 0, 0);
    for (unsigned rank = 0; rank < STOPPED; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &exchange);
    }
    expect_collective(ask(fabric, 0), COLLECTIVE_ENTRY, 2, 0, 0); /* the program computes */
    assert_int_equal(fabric_heard_state(fabric).wait, WAIT_NOTHING);
    expect_collective(ask(fabric, 2), COLLECTIVE_ENTRY, STOPPED, 0, 0);
    assert_int_equal(fabric_heard_state(fabric).operation, ECUBE_EXCHANGE);
    assert_int_equal(fabric_heard_state(fabric).collective_bytes, LONG);
    requests[STOPPED] = fabric_collective(fabric, STOPPED, &exchange);
    assert_true(fabric_run(fabric, all_step));
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_stop(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
    assert_int_equal(wait_for(fabric, 0, requests[0]), NODE_BLOCK);
    struct state_body told = ask(fabric, 0);
    assert_int_equal(told.wait, WAIT_COLLECTIVE);
    expect_collective(told, COLLECTIVE_STEPS, peer_of_0(told.step), told.step, 3);
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_start(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
    for (unsigned rank = 1; rank < 4; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status, E_OK);
    }
    expect_collective(ask(fabric, 0), COLLECTIVE_NONE, 0, 0, 0);
    fabric_free(fabric);
}

static uint32_t progress_of(struct fabric *fabric, unsigned rank)
{
    return ask(fabric, rank).counters[COUNTER_PROGRESS];
}

/* 0 sends to 3, which is by way of 1. */
TEST(bytes_that_flow_are_progress_on_every_node_of_their_way)
{
    uint32_t before[4];

    struct fabric *fabric = started();
    for (unsigned rank = 0; rank < 4; rank++) {
        before[rank] = progress_of(fabric, rank);
    }
    int32_t request = fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, 7, FABRIC_DATA, LONG);
    int32_t wanted = fabric_message(fabric, 3, ECUBE_CALL_RECEIVE, 0, 7, FABRIC_DATA, LONG);
    assert_int_equal(fabric_wait(fabric, 3, wanted).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 0, request).status, E_OK);
    assert_in_range(progress_of(fabric, 0) - before[0], 3, UINT32_MAX);
    assert_in_range(progress_of(fabric, 1) - before[1], 2, UINT32_MAX); /* accepted, passed on */
    assert_in_range(progress_of(fabric, 3) - before[3], 3, UINT32_MAX);
    assert_int_equal(progress_of(fabric, 2), before[2]);
    fabric_free(fabric);
}

/* More messages are announced than are stored: the last is told RETRY, and repeated, for ever. */
TEST(what_is_said_again_and_again_is_no_progress)
{
    enum { MORE = UNEXPECTED_MAX / 2 + 4 };
    uint32_t before[4], frames;

    struct fabric *fabric = started();
    for (unsigned i = 0; i < MORE; i++) {
        assert_true(fabric_message(fabric, 0, ECUBE_CALL_SEND, 3, 7, FABRIC_DATA, LONG) >= 0);
        assert_true(fabric_message(fabric, 1, ECUBE_CALL_SEND, 3, 7, FABRIC_DATA, LONG) >= 0);
    }
    turn(fabric);
    fabric->now_us += 1000000;
    for (unsigned rank = 0; rank < 4; rank++) {
        before[rank] = progress_of(fabric, rank);
    }
    frames = ask(fabric, 0).counters[COUNTER_FRAMES_SENT];
    for (unsigned i = 0; i < 20; i++) {
        fabric->now_us += 100000;
        turn(fabric);
    }
    for (unsigned rank = 0; rank < 4; rank++) {
        assert_int_equal(progress_of(fabric, rank), before[rank]);
    }
    frames = ask(fabric, 0).counters[COUNTER_FRAMES_SENT] - frames;
    assert_in_range(frames, 20, UINT32_MAX);
    fabric_free(fabric);
}

TEST(a_node_tells_whether_what_it_sent_has_come_to_its_neighbours)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    struct fabric *fabric = started();
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_stop(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
    assert_true(fabric_message(fabric, 1, ECUBE_CALL_SEND, STOPPED, 7, FABRIC_DATA, LONG) >= 0);
    ask(fabric, 1); /* the first answer is the mark of the next */
    assert_false(ask(fabric, 1).flags & STATE_DELIVERED);
    assert_true(ask(fabric, 0).flags & STATE_DELIVERED);
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_start(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
    fabric->now_us += 100000;
    turn(fabric);
    assert_true(ask(fabric, 1).flags & STATE_DELIVERED);
    fabric_free(fabric);
}

TEST(a_sleeping_program_tells_how_long_it_will)
{
    struct fabric *fabric = started();
    uint64_t end_ns = (fabric->now_us + 5000000) * 1000;
    uint32_t arguments[4] = {(uint32_t)end_ns, (uint32_t)(end_ns >> 32)};
    int32_t result;
    assert_int_equal(
        node_call(fabric->nodes[1].node, fabric->now_us, ECUBE_CALL_SLEEP, arguments, &result),
        NODE_BLOCK);
    uint64_t most_us = end_ns / 1000 - fabric->now_us, left_us = ask(fabric, 1).left_us;
    assert_in_range(left_us, end_ns / 1000 - fabric->now_us, most_us);
    assert_int_equal(fabric_heard_state(fabric).wait, WAIT_SLEEP);
    fabric->now_us += 6000000; /* its time has come, and it has not been resumed */
    assert_int_equal(ask(fabric, 1).left_us, 0);
    fabric_free(fabric);
}
