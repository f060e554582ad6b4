/*
 * any_test.c - programs that wait for any of several requests: which one they get, when, and what
 * is left.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum {
    SET = FABRIC_DATA, /* where programs keep the set and its numbers */
    NUMBERS = SET + 1024,
    BUFFERS = SET + 4096,
    BUFFER = 8192,
    DATA_BYTES = 1 << 20
};

static void put_set(struct fabric *fabric, const int32_t *numbers, uint32_t count, uint32_t poll)
{
    struct ecube_abi_set set = {
        .requests = NUMBERS, .count = count, .poll = poll, .index = UINT32_MAX};

    if (count > 0 && count <= ECUBE_REQUESTS_MAX + 1) {
        memcpy(fabric_at(fabric, 0, NUMBERS), numbers, count * sizeof numbers[0]);
    }
    memcpy(fabric_at(fabric, 0, SET), &set, sizeof set);
}

static struct ecube_abi_set get_set(struct fabric *fabric)
{
    struct ecube_abi_set set;

    memcpy(&set, fabric_at(fabric, 0, SET), sizeof set);
    return set;
}

/* Node 0 waits for any of these: what the call says. */
static int32_t waits_any(struct fabric *fabric, const int32_t *numbers, uint32_t count,
                         struct ecube_abi_set *set)
{
    put_set(fabric, numbers, count, 0);
    int32_t said = fabric_call(fabric, 0, ECUBE_CALL_WAIT_ANY, SET, 0);
    *set = get_set(fabric);
    return said;
}

static int32_t poll_any(struct fabric *fabric, const int32_t *numbers, uint32_t count,
                        struct ecube_abi_set *set)
{
    put_set(fabric, numbers, count, 1);
    int32_t said = fabric_call(fabric, 0, ECUBE_CALL_WAIT_ANY, SET, 0);
    *set = get_set(fabric);
    return said;
}

static int32_t receives(struct fabric *fabric, int32_t peer, int32_t tag, uint32_t bytes)
{
    return fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, peer, tag,
                          BUFFERS + (uint32_t)tag * BUFFER, bytes);
}

static int32_t sends(struct fabric *fabric, unsigned rank, int32_t tag, uint32_t bytes)
{
    return fabric_message(fabric, rank, ECUBE_CALL_SEND, 0, tag, BUFFERS, bytes);
}

TEST(a_set_of_no_requests_or_of_too_many_is_refused)
{
    int32_t numbers[ECUBE_REQUESTS_MAX + 1] = {0};
    struct ecube_abi_set set;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    assert_int_equal(waits_any(fabric, numbers, 0, &set), E_ARGUMENT);
    assert_int_equal(waits_any(fabric, numbers, ECUBE_REQUESTS_MAX + 1, &set), E_ARGUMENT);
    assert_int_equal(waits_any(fabric, numbers, UINT32_MAX / 4, &set), E_ARGUMENT);
    fabric_free(fabric);
}

TEST(a_number_that_is_no_request_is_named)
{
    struct ecube_abi_set set;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    int32_t open = receives(fabric, 1, 0, 10);
    static const int32_t wrong[] = {-1, ECUBE_REQUESTS_MAX, 17, INT32_MIN, INT32_MAX};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int32_t numbers[] = {open, wrong[i], open};
        assert_int_equal(waits_any(fabric, numbers, 3, &set), E_ARGUMENT);
        assert_int_equal(set.index, 1);
    }
    assert_int_equal(fabric->nodes[0].node->request_count, 1);
    fabric_free(fabric);
}

TEST(a_set_outside_of_the_programs_memory_is_refused_and_no_result_is_lost)
{
    static const uint32_t wrong[] = {0, SET + 2, FABRIC_PROGRAM - 4,
                                     FABRIC_DATA + 2 * DATA_BYTES + (1 << 26), UINT32_MAX - 3};
    struct ecube_abi_set set;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    int32_t number = receives(fabric, 1, 0, 10);
    assert_true(sends(fabric, 1, 0, 10) >= 0);
    fabric_settle(fabric);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_WAIT_ANY, wrong[i], 0), E_FAULT);
        put_set(fabric, &number, 1, 0);
        memcpy(fabric_at(fabric, 0, SET + offsetof(struct ecube_abi_set, requests)), &wrong[i],
               sizeof wrong[i]);
        assert_int_equal(fabric_call(fabric, 0, ECUBE_CALL_WAIT_ANY, SET, 0), E_FAULT);
    }
    assert_int_equal(waits_any(fabric, &number, 1, &set), 1);
    assert_int_equal(set.result.status, E_OK);
    assert_int_equal(set.result.bytes, 10);
    fabric_free(fabric);
}

/* All are complete; they come in the order of model time, not in that of the set. */
TEST(of_several_that_are_complete_the_first_in_model_time_is_taken)
{
    enum { MANY = 4 };
    static const uint32_t order[MANY] = {1, 3, 0, 2};
    int32_t numbers[MANY];
    struct ecube_abi_set set;

    struct fabric *fabric = fabric_started(3, DATA_BYTES, 1);
    for (int i = 0; i < MANY; i++) {
        numbers[i] = receives(fabric, i + 1, i, 100);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(fabric_advance(fabric, order[i] + 1, (i + 1) * UINT64_C(1000000)), E_OK);
        assert_true(sends(fabric, order[i] + 1, (int32_t)order[i], 100) >= 0);
        fabric_settle(fabric);
    }
    uint32_t left = MANY;
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(waits_any(fabric, numbers, left, &set), 1);
        uint32_t tag = order[i];
        assert_int_equal(set.result.tag, tag);
        assert_int_equal(set.result.peer, tag + 1);
        assert_int_equal(set.result.bytes, 100);
        assert_true(set.result.done_ns > (i + 1) * UINT64_C(1000000));
        assert_true(fabric_clock(fabric, 0) == set.result.done_ns);
        left--;
        memmove(&numbers[set.index], &numbers[set.index + 1],
                (left - set.index) * sizeof numbers[0]);
    }
    assert_int_equal(fabric->nodes[0].node->request_count, 0);
    fabric_free(fabric);
}

/* A program that polls sees what has ended by its own clock, although more has come. */
TEST(a_poll_takes_only_what_is_complete_by_the_model_clock)
{
    struct ecube_abi_set set;
    int32_t numbers[3];

    struct fabric *fabric = fabric_started(2, DATA_BYTES, 1);
    for (int i = 0; i < 3; i++) {
        numbers[i] = receives(fabric, i + 1, i, 100);
    }
    assert_int_equal(poll_any(fabric, numbers, 3, &set), 0);
    assert_int_equal(fabric_advance(fabric, 1, 1000000), E_OK);
    assert_true(sends(fabric, 1, 0, 100) >= 0);
    assert_int_equal(fabric_advance(fabric, 2, 9000000), E_OK);
    assert_true(sends(fabric, 2, 1, 100) >= 0);
    fabric_settle(fabric);
    assert_int_equal(poll_any(fabric, numbers, 3, &set), 0);
    assert_int_equal(waits_any(fabric, numbers, 3, &set), 1);
    assert_int_equal(set.index, 0);
    assert_int_equal(poll_any(fabric, numbers + 1, 2, &set), 0);
    assert_int_equal(fabric_advance(fabric, 0, 20000000), E_OK);
    assert_int_equal(poll_any(fabric, numbers + 1, 2, &set), 1);
    assert_int_equal(set.index, 0);
    assert_int_equal(poll_any(fabric, numbers + 2, 1, &set), 0);
    fabric_free(fabric);
}

TEST(one_that_is_complete_is_taken_from_among_those_that_are_not)
{
    struct ecube_abi_set set;
    int32_t numbers[5];

    struct fabric *fabric = fabric_started(2, DATA_BYTES, 1);
    for (int i = 0; i < 5; i++) {
        numbers[i] = receives(fabric, ECUBE_ANY, i, 100);
    }
    assert_true(sends(fabric, 3, 2, 50) >= 0);
    assert_int_equal(waits_any(fabric, numbers, 5, &set), 1);
    assert_int_equal(set.index, 2);
    assert_int_equal(set.result.bytes, 50);
    assert_int_equal(fabric->nodes[0].node->request_count, 4);
    int32_t left[] = {numbers[0], numbers[1], numbers[3], numbers[4]};
    assert_true(sends(fabric, 1, 4, BUFFER) >= 0); /* too long for its receive */
    assert_int_equal(waits_any(fabric, left, 4, &set), 1);
    assert_int_equal(set.index, 3);
    assert_int_equal(set.result.status, E_TRUNCATED);
    assert_int_equal(set.result.bytes, 100);
    fabric_free(fabric);
}

TEST(sends_receives_and_collectives_wait_in_one_set)
{
    static const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct ecube_abi_set set;
    int32_t numbers[3];

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    numbers[0] = fabric_collective(fabric, 0, &barrier);
    numbers[1] = fabric_message(fabric, 0, ECUBE_CALL_SEND, 1, 7, BUFFERS, BUFFER);
    numbers[2] = receives(fabric, 1, 1, 100);
    assert_true(sends(fabric, 1, 1, 100) >= 0);
    assert_int_equal(waits_any(fabric, numbers, 3, &set), 1);
    assert_int_equal(set.index, 2);
    assert_true(fabric_message(fabric, 1, ECUBE_CALL_RECEIVE, 0, 7, BUFFERS, BUFFER) >= 0);
    assert_int_equal(waits_any(fabric, numbers, 2, &set), 1);
    assert_int_equal(set.index, 1);
    assert_int_equal(set.result.peer, 1);
    assert_int_equal(set.result.tag, 7);
    assert_true(fabric_collective(fabric, 1, &barrier) >= 0);
    assert_int_equal(waits_any(fabric, numbers, 1, &set), 1);
    assert_int_equal(set.result.peer, ECUBE_ANY);
    assert_int_equal(set.result.status, E_OK);
    fabric_free(fabric);
}

TEST(as_many_requests_as_there_can_be_are_all_taken_once)
{
    int32_t numbers[ECUBE_REQUESTS_MAX];
    bool taken[ECUBE_REQUESTS_MAX] = {false};
    struct ecube_abi_set set;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    for (int i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        numbers[i] = fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, 1, i, BUFFERS, 100);
    }
    for (int i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        int32_t sent = sends(fabric, 1, ECUBE_REQUESTS_MAX - 1 - i, 30);
        assert_int_equal(fabric_wait(fabric, 1, sent).status, E_OK);
    }
    for (uint32_t left = ECUBE_REQUESTS_MAX; left > 0; left--) {
        assert_int_equal(waits_any(fabric, numbers, left, &set), 1);
        assert_in_range(set.result.tag, 0, ECUBE_REQUESTS_MAX - 1);
        assert_false(taken[set.result.tag]);
        taken[set.result.tag] = true;
        numbers[set.index] = numbers[left - 1];
    }
    fabric_free(fabric);
}

/* The host is told for how many; a set of one is told as what it is. */
TEST(the_host_hears_for_how_many_requests_a_program_waits)
{
    uint32_t arguments[4] = {SET};
    int32_t numbers[3], result = 0;

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    struct node *node = fabric->nodes[0].node;
    for (int i = 0; i < 3; i++) {
        numbers[i] = receives(fabric, 1, i, 100);
    }
    put_set(fabric, numbers, 3, 0);
    assert_int_equal(node_call(node, fabric->now_us, ECUBE_CALL_WAIT_ANY, arguments, &result),
                     NODE_BLOCK);
    struct state_body told = fabric_state(fabric, 0);
    assert_int_equal(told.wait, WAIT_SEVERAL);
    assert_int_equal(told.bytes, 3);
    assert_int_equal(told.peer, ECUBE_ANY);
    assert_true(sends(fabric, 1, 2, 100) >= 0);
    fabric_settle(fabric);
    assert_int_equal(node_resume(node, fabric->now_us, &result), NODE_RESUME);
    assert_int_equal(result, 1);
    put_set(fabric, numbers, 1, 0);
    assert_int_equal(node_call(node, fabric->now_us, ECUBE_CALL_WAIT_ANY, arguments, &result),
                     NODE_BLOCK);
    fabric->event_count = 0;
    told = fabric_state(fabric, 0);
    assert_int_equal(told.wait, WAIT_RECEIVE);
    assert_int_equal(told.peer, 1);
    assert_int_equal(told.tag, 0);
    fabric_free(fabric);
}
