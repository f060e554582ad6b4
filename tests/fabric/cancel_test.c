/*
 * cancel_test.c - receives that are given up: each is complete or cancelled, at whatever moment,
 * and no message is lost by it.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum {
    SEND_AT = FABRIC_DATA,
    FIRST_AT = FABRIC_DATA + 65536,
    SECOND_AT = FIRST_AT + 65536,
    ROOM = 6000,
    DATA_BYTES = 1 << 20,
    UNTOUCHED = 0xee
};

static int32_t posts(struct fabric *fabric, int32_t peer, int32_t tag, uint32_t at)
{
    return fabric_message(fabric, 0, ECUBE_CALL_RECEIVE, peer, tag, at, ROOM);
}

static int32_t cancel(struct fabric *fabric, int32_t request)
{
    return fabric_call(fabric, 0, ECUBE_CALL_CANCEL, (uint32_t)request, 0);
}

static bool is_filled(struct fabric *fabric, uint32_t at, uint8_t with, uint32_t bytes)
{
    const uint8_t *data = fabric_at(fabric, 0, at);

    for (uint32_t i = 0; i < bytes; i++) {
        if (data[i] != with) {
            return false;
        }
    }
    return true;
}

TEST(a_posted_receive_is_cancelled_and_its_message_goes_to_the_next)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    memset(fabric_at(fabric, 0, FIRST_AT), UNTOUCHED, ROOM);
    memset(fabric_at(fabric, 1, SEND_AT), 0x11, ROOM);
    uint64_t clock_ns = fabric_clock(fabric, 0);
    int32_t first = posts(fabric, 1, 3, FIRST_AT), second = posts(fabric, 1, ECUBE_ANY, SECOND_AT);
    assert_int_equal(cancel(fabric, first), E_OK);
    assert_true(fabric_is_done(fabric, 0, first));
    assert_true(fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, 3, SEND_AT, ROOM) >= 0);
    assert_int_equal(fabric_wait(fabric, 0, second).bytes, ROOM);
    struct ecube_abi_result result = fabric_wait(fabric, 0, first);
    assert_int_equal(result.status, E_CANCELLED);
    assert_int_equal(result.peer, 1);
    assert_int_equal(result.tag, 3);
    assert_int_equal(result.bytes, 0);
    assert_true(result.done_ns <= clock_ns);
    assert_true(is_filled(fabric, FIRST_AT, UNTOUCHED, ROOM));
    assert_true(is_filled(fabric, SECOND_AT, 0x11, ROOM));
    fabric_free(fabric);
}

TEST(a_receive_that_is_complete_stays_so)
{
    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    int32_t first = posts(fabric, 1, 3, FIRST_AT);
    assert_true(fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, 3, SEND_AT, 100) >= 0);
    fabric_settle(fabric);
    assert_int_equal(cancel(fabric, first), E_OK);
    assert_int_equal(cancel(fabric, first), E_OK);
    struct ecube_abi_result result = fabric_wait(fabric, 0, first);
    assert_int_equal(result.status, E_OK);
    assert_int_equal(result.bytes, 100);
    assert_int_equal(cancel(fabric, first), E_ARGUMENT);
    fabric_free(fabric);
}

TEST(only_receives_are_cancelled)
{
    static const struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};

    struct fabric *fabric = fabric_started(1, DATA_BYTES, 1);
    int32_t send = fabric_message(fabric, 0, ECUBE_CALL_SEND, 1, 3, SEND_AT, ROOM);
    int32_t collective = fabric_collective(fabric, 0, &barrier);
    assert_int_equal(cancel(fabric, send), E_ARGUMENT);
    assert_int_equal(cancel(fabric, collective), E_ARGUMENT);
    assert_int_equal(cancel(fabric, 40), E_ARGUMENT);
    assert_int_equal(cancel(fabric, -1), E_ARGUMENT);
    assert_int_equal(cancel(fabric, ECUBE_REQUESTS_MAX), E_ARGUMENT);
    fabric_free(fabric);
}

/* A message is under way while its receive is given up after so many rounds; another receive waits
 * for it. True: it was cancelled. */
static bool races(struct fabric *fabric, uint32_t bytes, unsigned rounds, uint8_t content)
{
    memset(fabric_at(fabric, 0, FIRST_AT), UNTOUCHED, ROOM);
    memset(fabric_at(fabric, 0, SECOND_AT), UNTOUCHED, ROOM);
    memset(fabric_at(fabric, 1, SEND_AT), content, ROOM);
    int32_t first = posts(fabric, ECUBE_ANY, 3, FIRST_AT);
    int32_t sent = fabric_message(fabric, 1, ECUBE_CALL_SEND, 0, 3, SEND_AT, bytes);
    for (unsigned i = 0; i < rounds; i++) {
        fabric_round(fabric);
    }
    assert_int_equal(cancel(fabric, first), E_OK);
    struct ecube_abi_result result = fabric_wait(fabric, 0, first);
    uint32_t at = FIRST_AT, other = SECOND_AT;
    if (result.status == E_CANCELLED) {
        assert_true(is_filled(fabric, FIRST_AT, UNTOUCHED, ROOM));
        assert_int_equal(result.bytes, 0);
        at = SECOND_AT;
        other = FIRST_AT;
        int32_t second = posts(fabric, 1, 3, SECOND_AT);
        assert_int_equal(fabric_wait(fabric, 0, second).status, E_OK);
    } else {
        assert_int_equal(result.status, E_OK);
        assert_int_equal(result.bytes, bytes);
    }
    assert_int_equal(fabric_wait(fabric, 1, sent).status, E_OK);
    assert_true(is_filled(fabric, at, content, bytes));
    assert_true(is_filled(fabric, other, UNTOUCHED, ROOM));
    assert_int_equal(fabric->nodes[0].node->request_count, 0);
    assert_int_equal(fabric->nodes[0].node->unexpected_count, 0);
    return result.status == E_CANCELLED;
}

/* In each order of steps that the seeds bring, after each number of rounds until it is too late. */
TEST(a_receive_that_is_given_up_is_complete_or_cancelled_at_every_moment)
{
    static const uint32_t sizes[] = {0, 100, 1024, 1025, ROOM};
    enum { SEEDS = 12, ROUNDS = 40 };
    unsigned cancelled = 0, complete = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fabric *fabric = fabric_started(1 + seed % 2, DATA_BYTES, seed);
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (unsigned rounds = 0; rounds < ROUNDS; rounds++) {
                bool was = races(fabric, sizes[i], rounds, (uint8_t)(rounds + 1));
                cancelled += was;
                complete += !was;
                assert_true(was || rounds > 0);
            }
        }
        fabric_free(fabric);
    }
    assert_true(cancelled > SEEDS && complete > SEEDS);
}

/* It has found a message whose program has ended since: given up, it looks for no other one. */
TEST_WITH(a_receive_that_is_given_up_looks_for_no_other_message, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, ECUBE_ANY, FABRIC_DATA);

    uint32_t match = neighbour_is_taken(all, 1, 11);
    assert_int_equal(cancel(all->fabric, request), E_OK);
    assert_int_equal(node_request(all, request)->state, STATE_MOVING);
    neighbour_is_queued(all, 2, 21);
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    node_is_done_with(all, request, E_CANCELLED);
    assert_int_equal(all->node->unexpected_count, 1);
}

/* Its CTS has found no slot, so nobody knows of it: the message is the next receive's. */
TEST_WITH(a_receive_without_a_slot_leaves_its_message_to_the_next, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    neighbour_is_queued(all, 1, 11);
    node_fills_slots(all);
    int32_t first = node_receives(all, 1, FABRIC_DATA);
    int32_t second = node_receives(all, 1, FABRIC_DATA + 65536);
    assert_int_equal(cancel(all->fabric, first), E_OK);
    node_is_done_with(all, first, E_CANCELLED);
    for (int i = 0; i < 20; i++) {
        neighbours_pass_ms(all, 500);
    }
    const struct heard *cts = neighbours_expect(all, PACKET_CTS, 1);
    assert_int_equal(cts->match, request_name(all->node, node_request(all, second)));
}
