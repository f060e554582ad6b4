/*
 * poll_test.c - programs that test for what they wait for: when a test rests, and until when.
 */
#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

/* Node 1 sends, node 0 receives, and tests. */
static int32_t send(struct fabric *fabric, int32_t tag, uint32_t bytes)
{
    return fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, tag, FABRIC_DATA, bytes);
}

static int32_t receive(struct fabric *fabric, int32_t tag, uint32_t bytes)
{
    return fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, tag, FABRIC_DATA, bytes);
}

/* What a test of a request says at a time: NODE_BLOCK when it rests. */
static enum node_verdict test_at(struct fabric *fabric, int32_t request, uint64_t now_us,
                                 int32_t *result)
{
    uint32_t arguments[4] = {(uint32_t)request, FABRIC_DATA};

    *result = E_TIMEOUT;
    return node_call(fabric->nodes[0].node, now_us, ECUBE_CALL_TEST, arguments, result);
}

TEST(a_test_that_is_repeated_at_once_rests_until_what_it_waits_for_comes)
{
    struct fabric *fabric = fabric_started(1, 4 << 20, 1);
    struct node *node = fabric->nodes[0].node;
    int32_t wanted = receive(fabric, 3, 50), result;
    uint64_t now_us = fabric->now_us + 1000000;
    assert_int_equal(test_at(fabric, wanted, now_us, &result), NODE_RESUME);
    assert_int_equal(result, 0);
    assert_true(node_wake_us(node) == UINT64_MAX);
    assert_int_equal(test_at(fabric, wanted, now_us + 1, &result), NODE_BLOCK);
    assert_int_equal(node_wake_us(node), now_us + 1 + REST_US);
    assert_int_equal(node_resume(node, now_us + REST_US, &result), NODE_BLOCK);
    assert_int_equal(node_resume(node, now_us + 1 + REST_US, &result), NODE_RESUME);
    assert_int_equal(result, 0);
    assert_true(node_wake_us(node) == UINT64_MAX);
    assert_int_equal(test_at(fabric, wanted, now_us + 2 + REST_US, &result), NODE_BLOCK);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, 0, NULL, 0), E_OK);
    fabric_settle(fabric);
    struct state_body told = fabric_heard_state(fabric);
    assert_int_equal(told.wait, WAIT_RECEIVE);
    assert_true(told.flags & STATE_POLLS);
    assert_true(send(fabric, 3, 50) >= 0);
    fabric_settle(fabric);
    assert_int_equal(node_resume(node, now_us + 3 + REST_US, &result), NODE_RESUME);
    assert_int_equal(result, 1);
    fabric_free(fabric);
}

TEST(a_program_that_computes_between_tests_is_not_slowed)
{
    struct fabric *fabric = fabric_started(1, 4 << 20, 1);
    int32_t wanted = receive(fabric, 3, 50), result;
    uint64_t now_us = fabric->now_us + 1000000;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(test_at(fabric, wanted, now_us, &result), NODE_RESUME);
        assert_int_equal(result, 0);
        now_us += TEST_SOON_US;
    }
    fabric_free(fabric);
}

/* A program goes round its requests: it rests when all have said "not yet", and when one has come
 * nothing keeps it from finding out which. */
TEST(a_program_that_tests_many_requests_finds_what_has_come_without_resting)
{
    enum { MANY = 5 };
    int32_t wanted[MANY], result;

    struct fabric *fabric = fabric_started(1, 4 << 20, 1);
    uint64_t now_us = fabric->now_us + 1000000;
    for (int i = 0; i < MANY; i++) {
        wanted[i] = receive(fabric, i, 50);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(test_at(fabric, wanted[i], ++now_us, &result), NODE_RESUME);
    }
    assert_int_equal(test_at(fabric, wanted[0], ++now_us, &result), NODE_BLOCK);
    assert_true(send(fabric, MANY - 1, 50) >= 0);
    fabric_settle(fabric);
    assert_int_equal(node_resume(fabric->nodes[0].node, ++now_us, &result), NODE_RESUME);
    assert_int_equal(result, 0);
    for (int i = 1; i < MANY; i++) {
        assert_int_equal(test_at(fabric, wanted[i], ++now_us, &result), NODE_RESUME);
        assert_int_equal(result, i == MANY - 1);
    }
    fabric_free(fabric);
}

/* So programs that only test, all of them, are found to stand still. */
TEST(a_call_is_progress_and_a_test_in_vain_is_not)
{
    uint32_t arguments[4] = {FABRIC_DATA};
    int32_t result;

    struct fabric *fabric = fabric_started(1, 4 << 20, 1);
    struct node *node = fabric->nodes[0].node;
    int32_t wanted = receive(fabric, 3, 50);
    uint64_t now_us = fabric->now_us + 1000000;
    uint32_t before = node->progress;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(test_at(fabric, wanted, now_us += TEST_SOON_US, &result), NODE_RESUME);
    }
    assert_int_equal(node->progress, before);
    assert_int_equal(node_call(node, now_us, ECUBE_CALL_CLOCK, arguments, &result), NODE_RESUME);
    assert_int_equal(node->progress, before + 1);
    fabric_free(fabric);
}
