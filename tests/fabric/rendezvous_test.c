/*
 * rendezvous_test.c - requests to send that come to a node: again, behind one that it does not
 * know, without room or slots; circuits that no receive waits for, or that are not what was asked
 * for.
 */
#include <string.h>

#include "drivers/status.h"
#include "tests/fabric/neighbour.h"
#include "tests/unit/testing.h"

enum { DATA_2 = FABRIC_DATA + 65536 };

static void an_announcement_that_comes_again_is_stored_once(void **state)
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

static void an_announcement_that_comes_again_is_told_ready_again_until_its_circuit_comes(
    void **state)
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

static void a_message_that_is_gone_frees_its_receive_for_the_next_one(void **state)
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

static void a_ready_for_a_message_that_is_no_more_is_told_gone_when_slots_are_full(void **state)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    neighbour_answers(all, 1, PACKET_CTS, 0x10501, 77);
    neighbours_turn_without_2(all);
    for (int i = 0; i < 20; i++)
        neighbours_pass_ms(all, 500); /* node 2 takes packets again: slots are free */
    const struct heard *cancel = neighbours_expect(all, PACKET_CANCEL, 1);
    assert_int_equal(cancel->name, 77);
}

/* An announcement that came twice, late, was told CTS twice, and each CTS is told CANCEL. */
static void a_message_that_is_gone_twice_does_not_free_the_receive_of_the_next_one(void **state)
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

static void a_receive_whose_circuit_has_come_is_not_freed(void **state)
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

static void an_announcement_behind_one_that_is_not_known_is_put_off(void **state)
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

static void an_announcement_without_room_is_put_off(void **state)
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

static void an_announcement_without_a_slot_for_its_answer_is_forgotten(void **state)
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

static void a_circuit_that_no_receive_waits_for_is_refused(void **state)
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

static void a_receive_without_a_slot_for_its_answer_is_told_later(void **state)
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

static void without_room_for_announcements_no_short_message_is_taken(void **state)
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

static void with_all_announcements_stored_one_whose_receive_is_posted_is_taken(void **state)
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
static void a_message_shorter_than_announced_is_as_long_as_it_is(void **state)
{
    struct neighbours *all = *state;
    int32_t request = node_receives(all, 1, FABRIC_DATA);

    uint32_t match = neighbour_is_taken(all, 1, 11);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM / 2);
    neighbours_turn(all);
    node_is_done_with(all, request, E_OK);
    assert_int_equal(node_request(all, request)->result_bytes, NEIGHBOUR_ROOM / 2);
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, neighbours_begin, neighbours_end)

TEST_MAIN(NODE_TEST(an_announcement_that_comes_again_is_stored_once),
          NODE_TEST(an_announcement_that_comes_again_is_told_ready_again_until_its_circuit_comes),
          NODE_TEST(a_message_that_is_gone_frees_its_receive_for_the_next_one),
          NODE_TEST(a_ready_for_a_message_that_is_no_more_is_told_gone_when_slots_are_full),
          NODE_TEST(a_message_that_is_gone_twice_does_not_free_the_receive_of_the_next_one),
          NODE_TEST(a_receive_whose_circuit_has_come_is_not_freed),
          NODE_TEST(an_announcement_behind_one_that_is_not_known_is_put_off),
          NODE_TEST(an_announcement_without_room_is_put_off),
          NODE_TEST(an_announcement_without_a_slot_for_its_answer_is_forgotten),
          NODE_TEST(a_circuit_that_no_receive_waits_for_is_refused),
          NODE_TEST(a_receive_without_a_slot_for_its_answer_is_told_later),
          NODE_TEST(without_room_for_announcements_no_short_message_is_taken),
          NODE_TEST(with_all_announcements_stored_one_whose_receive_is_posted_is_taken),
          NODE_TEST(a_message_shorter_than_announced_is_as_long_as_it_is))
