/*
 * rendezvous_test.c - requests to send that come to a node, as RTS or as OPEN: again, behind one
 * that it does not know, without room or slots; circuits that no receive waits for, or that are not
 * what was asked for.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum { DATA_2 = FABRIC_DATA + 65536 };

TEST_WITH(an_announcement_that_comes_again_is_stored_once, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    for (unsigned i = 0; i < 3; i++) {
        neighbour_is_queued(all, 1, 11);
        assert_int_equal(all->node->unexpected_count, 1);
    }
    neighbour_is_queued(all, 2, 11); /* the same name, of another node */
    assert_int_equal(all->node->unexpected_count, 2);
    for (unsigned rank = 1; rank <= 2; rank++) {
        node_receives(all, ECUBE_ANY, FABRIC_DATA);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_CTS, rank)->name, 11);
    }
    node_receives(all, ECUBE_ANY, FABRIC_DATA);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
}

TEST_WITH(an_announcement_that_comes_again_is_told_ready_again_until_its_circuit_comes,
          neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, 1, DATA_2), other = node_receives(all, 2, FABRIC_DATA);
    uint32_t match = 0;

    for (unsigned i = 0; i < 3; i++) {
        neighbour_announces(all, 1, 11, 0);
        neighbours_turn(all);
        const struct heard *cts = neighbours_expect(all, PACKET_CTS, 1);
        assert_int_equal(cts->name, 11);
        assert_true(i == 0 || cts->match == match);
        match = cts->match;
    }
    neighbour_announces(all, 2, 11, 0); /* the same name, of another node */
    neighbours_turn(all);
    const struct heard *cts = neighbours_expect(all, PACKET_CTS, 2);
    assert_int_equal(cts->match, request_name(all->node, node_request(all, other)));
    memset(fabric_at(all->fabric, 1, FABRIC_DATA), 0x5a, NEIGHBOUR_ROOM);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbours_step(all, 1);
    neighbours_step(all, 0); /* it has accepted, and waits for the bytes */
    assert_true(node_request(all, request)->accepted);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
    node_is_done_with(all, request, E_OK);
    assert_memory_equal(fabric_at(all->fabric, 0, DATA_2), fabric_at(all->fabric, 1, FABRIC_DATA),
                        NEIGHBOUR_ROOM);
}

TEST_WITH(a_message_that_is_gone_frees_its_receive_for_the_next_one, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, ECUBE_ANY, FABRIC_DATA);
    uint32_t match = request_name(all->node, node_request(all, request));

    assert_int_equal(neighbour_is_taken(all, 1, 11), match);
    neighbour_is_queued(all, 2, 21);
    neighbour_answers(all, 2, PACKET_CANCEL, match, 0); /* it is not for node 2 to say */
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbours_turn(all);
    const struct heard *cts = neighbours_expect(all, PACKET_CTS, 2);
    assert_int_equal(cts->name, 21);
    assert_int_not_equal(cts->match, match);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_ready_for_a_message_that_is_no_more_is_told_gone_when_slots_are_full, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    neighbour_answers(all, 1, PACKET_CTS, 0x10501, 77);
    neighbours_turn_without_2(all);
    for (int i = 0; i < 20; i++) {
        neighbours_pass_ms(all, 500); /* node 2 takes packets again: slots are free */
    }
    const struct heard *cancel = neighbours_expect(all, PACKET_CANCEL, 1);
    assert_int_equal(cancel->name, 77);
}

/* An announcement that came twice, late, was told CTS twice, and each CTS is told CANCEL. */
TEST_WITH(a_message_that_is_gone_twice_does_not_free_the_receive_of_the_next_one, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, 1, FABRIC_DATA);
    uint32_t match = 0;

    for (unsigned i = 0; i < 2; i++) {
        match = neighbour_is_taken(all, 1, 11);
    }
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbour_announces(all, 1, 12, 0);
    neighbours_turn(all);
    const struct heard *cts = neighbours_expect(all, PACKET_CTS, 1);
    assert_int_equal(cts->name, 12);
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbour_is_queued(all, 1, 13);
    neighbour_opens(all, 1, cts->match, 0, NEIGHBOUR_ROOM);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
    node_is_done_with(all, request, E_OK);
}

TEST_WITH(a_receive_whose_circuit_has_come_is_not_freed, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, ECUBE_ANY, FABRIC_DATA);
    uint32_t match = request_name(all->node, node_request(all, request));

    neighbour_is_taken(all, 1, 11);
    neighbour_is_queued(all, 2, 21);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbours_step(all, 1);
    neighbours_step(all, 0);
    assert_true(node_request(all, request)->accepted);
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0); /* to a CTS that was repeated */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
    node_is_done_with(all, request, E_OK);
    assert_int_equal(node_request(all, request)->result_peer, 1);
}

TEST_WITH(an_announcement_behind_one_that_is_not_known_is_put_off, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    neighbour_announces(all, 1, 12, 11);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_RETRY, 1)->name, 12);
    neighbour_is_queued(all, 2, 11); /* of another node */
    neighbour_announces(all, 1, 12, 11);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_RETRY, 1)->name, 12);
    neighbour_announces(all, 1, 11, 0);
    neighbour_announces(all, 1, 12, 11); /* behind a stored one */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 11);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 12);
    node_receives(all, 1, FABRIC_DATA);
    node_receives(all, 1, FABRIC_DATA);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_CTS, 1)->name, 11);
    assert_int_equal(neighbours_expect(all, PACKET_CTS, 1)->name, 12);
    neighbour_announces(all, 1, 13, 12); /* behind one that a receive waits for */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 13);
    neighbours_expect_no_more(all);
}

TEST_WITH(an_announcement_without_room_is_put_off, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    for (uint32_t i = 0; i <= UNEXPECTED_MAX; i++) {
        neighbour_announces(all, 1, 100 + i, 0);
        neighbours_turn(all);
        assert_int_equal(
            neighbours_expect(all, i < UNEXPECTED_MAX ? PACKET_QUEUED : PACKET_RETRY, 1)->name,
            100 + i);
    }
    assert_int_equal(all->node->unexpected_count, UNEXPECTED_MAX);
}

TEST_WITH(an_announcement_without_a_slot_for_its_answer_is_forgotten, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    node_fills_slots(all);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn_without_2(all);
    assert_int_equal(all->node->dropped_requests, 1);
    assert_int_equal(all->node->unexpected_count, 0);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    neighbour_is_queued(all, 1, 11);
}

TEST_WITH(a_circuit_that_no_receive_waits_for_is_refused, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, 1, FABRIC_DATA);
    uint32_t match = request_name(all->node, node_request(all, request));

    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM); /* it was not told CTS */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    neighbour_is_taken(all, 1, 11);
    neighbour_opens(all, 2, match, 0, NEIGHBOUR_ROOM); /* nor was this node */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 2)->status, E_PEER_GONE);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM); /* once is enough */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    node_is_done_with(all, request, E_OK);
    neighbour_opens(all, 1, 0, OPEN_EAGER, NEIGHBOUR_ROOM);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_FORMAT);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_receive_without_a_slot_for_its_answer_is_told_later, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    neighbour_is_queued(all, 1, 11);
    node_fills_slots(all);
    int32_t request = node_receives(all, 1, FABRIC_DATA);
    neighbours_turn_without_2(all);
    neighbours_expect_no_more(all);
    assert_int_equal(node_request(all, request)->state, STATE_QUEUED);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_CTS, 1)->name, 11);
}

TEST_WITH(without_room_for_announcements_no_short_message_is_taken, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    for (uint32_t i = 0; i < UNEXPECTED_MAX; i++) {
        neighbour_announces(all, 1, 100 + i, 0);
        neighbours_turn(all);
        neighbours_expect(all, PACKET_QUEUED, 1);
    }
    neighbour_opens(all, 2, 0, OPEN_EAGER | OPEN_INLINE, 8);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 2)->status, E_FULL);
    assert_int_equal(all->node->pool_free_count, POOL_MAX);
}

TEST_WITH(with_all_announcements_stored_one_whose_receive_is_posted_is_taken, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    for (uint32_t i = 0; i < UNEXPECTED_MAX; i++) {
        neighbour_announces(all, 1, 100 + i, 0);
        neighbours_turn(all);
        neighbours_expect(all, PACKET_QUEUED, 1);
    }
    node_receives(all, 2, FABRIC_DATA);
    neighbour_is_taken(all, 2, 7);
    neighbour_announces(all, 2, 8, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_RETRY, 2)->name, 8);
    assert_int_equal(all->node->unexpected_count, UNEXPECTED_MAX);
}

/* What comes is what counts, not what was announced. */
TEST_WITH(a_message_shorter_than_announced_is_as_long_as_it_is, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, 1, FABRIC_DATA);

    uint32_t match = neighbour_is_taken(all, 1, 11);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM / 2);
    neighbours_turn(all);
    node_is_done_with(all, request, E_OK);
    assert_int_equal(node_request(all, request)->result_bytes, NEIGHBOUR_ROOM / 2);
}

/* Requests that are OPENs ------------------------------------------------------------------- */

enum { NAME = NAME_BIT | 0x0507, OTHER = NAME_BIT | 0x0208, TO_1 = 0, LONG = 3000 };

/* A neighbour requests, behind another or none, and has this answer. */
static void is_answered(struct neighbours *all, uint32_t name, uint32_t behind, uint8_t flags,
                        int status)
{
    neighbour_opens(all, 1, open_request_names(name, behind),
                    (uint8_t)(OPEN_REQUEST | flags | (behind ? OPEN_BEHIND : 0)), LONG);
    neighbours_turn(all);
    const struct heard *heard =
        neighbours_expect(all, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, 1);
    assert_int_equal(heard->status, status);
}

TEST_WITH(a_receive_that_is_posted_takes_a_request_at_once, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    uint8_t *data = fabric_at(all->fabric, 0, FABRIC_DATA);

    memset(fabric_at(all->fabric, 1, FABRIC_DATA), 0x5a, LONG);
    int32_t receive = node_receives(all, 1, FABRIC_DATA);
    is_answered(all, NAME, 0, 0, E_OK);
    neighbours_turn(all);
    node_is_done_with(all, receive, E_OK);
    assert_int_equal(node_request(all, receive)->result_bytes, LONG);
    assert_int_equal(data[0], 0x5a);
    assert_int_equal(data[LONG - 1], 0x5a);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_request_that_nobody_waits_for_is_stored_and_asked_for_later, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    is_answered(all, NAME, 0, 0, E_STORED);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
    int32_t receive = node_receives(all, 1, FABRIC_DATA);
    neighbours_turn(all);
    const struct heard *ready = neighbours_expect(all, PACKET_CTS, 1);
    assert_int_equal(ready->name, NAME);
    neighbour_opens(all, 1, ready->match, 0, LONG);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_turn(all);
    node_is_done_with(all, receive, E_OK);
}

TEST_WITH(a_request_behind_another_is_taken_when_that_one_is_known, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    node_receives(all, 1, FABRIC_DATA);
    is_answered(all, NAME, OTHER, 0, E_REFUSED);
    hold_bytes(all, 1, TO_1, true);
    is_answered(all, OTHER, 0, 0, E_OK); /* its bytes are still to come */
    is_answered(all, NAME, OTHER, 0, E_STORED);
    hold_bytes(all, 1, TO_1, false);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    assert_int_equal(all->node->unexpected_count, 1);
}

TEST_WITH(a_request_that_is_stored_may_be_named_too, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    is_answered(all, OTHER, 0, 0, E_STORED);
    is_answered(all, NAME, OTHER, 0, E_STORED);
    assert_int_equal(all->node->unexpected_count, 2);
}

TEST_WITH(a_request_that_is_known_is_not_stored_twice, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    is_answered(all, NAME, 0, 0, E_STORED);
    is_answered(all, NAME, 0, 0, E_STORED);
    assert_int_equal(all->node->unexpected_count, 1);
    node_receives(all, 1, FABRIC_DATA);
    node_receives(all, 1, FABRIC_DATA);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_CTS, 1);
    is_answered(all, NAME, 0, 0, E_STORED); /* the other receive is not for it */
    assert_int_equal(all->node->unexpected_count, 0);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_request_without_a_place_is_refused, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    for (unsigned i = 0; i < UNEXPECTED_MAX; i++) {
        is_answered(all, NAME + i, 0, 0, E_STORED);
    }
    is_answered(all, NAME - 1, 0, 0, E_FULL);
    assert_int_equal(all->node->unexpected_count, UNEXPECTED_MAX);
    /* A receive that is posted for it alone takes it all the same. */
    fabric_message(all->fabric, 0, ECUBE_CALL_RECEIVE, 1, NEIGHBOUR_TAG, FABRIC_DATA, LONG);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_CTS, 1);
    is_answered(all, NAME - 1, 0, 0, E_STORED);
}

/* Its CTS has found no slot yet. */
TEST_WITH(an_older_announcement_keeps_its_receive, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    is_answered(all, OTHER, 0, 0, E_STORED);
    node_fills_slots(all);
    int32_t receive = node_receives(all, 1, FABRIC_DATA);
    neighbours_turn_without_2(all);
    assert_int_equal(all->node->unexpected_count, 1);
    neighbour_opens(all, 1, open_request_names(NAME, 0), OPEN_REQUEST, LONG);
    neighbours_turn_without_2(all);
    const struct heard *heard = neighbours_expect(all, PACKET_REFUSE, 1);
    assert_int_equal(heard->status, E_STORED);
    assert_int_equal(all->node->unexpected_count, 2);
    assert_int_equal(node_request(all, receive)->state, STATE_QUEUED);
}

TEST_WITH(what_is_no_request_of_this_program_is_refused, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_receives(all, 1, FABRIC_DATA);
    neighbour_opens(all, 1, open_request_names(NAME, 0), OPEN_REQUEST | OPEN_INLINE, 8);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_FORMAT);
    all->fabric->runs--;
    is_answered(all, NAME, 0, 0, E_PEER_GONE);
    all->fabric->runs++;
    assert_int_equal(all->node->unexpected_count, 0);
}
