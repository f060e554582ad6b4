/*
 * answer_test.c - answers to what a node announces, in orders that only lost frames, full slots or
 * ended programs bring about: one that overtakes another, comes twice, too late, or from elsewhere.
 * In the first half its neighbours have no room for requests, and it announces with RTS; then what
 * becomes of its requests.
 */
#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

static int begin_full(void **state)
{
    int status = neighbours_begin(state);
    struct neighbours *all = *state;

    all->full = true;
    return status;
}

/* Node 0 sends to 1 and has announced it: the announcement's name. */
static uint32_t announced(struct neighbours *all)
{
    neighbours_turn(all);
    return neighbours_expect(all, PACKET_RTS, 1)->name;
}

TEST_WITH(ready_is_believed_at_once_whatever_was_said_before, begin_full, neighbours_end)
{
    struct neighbours *all = *state;
    static const uint8_t before[][2] = {{0, 0},
                                        {PACKET_RETRY, 0},
                                        {PACKET_QUEUED, 0},
                                        {PACKET_RETRY, PACKET_QUEUED},
                                        {PACKET_QUEUED, PACKET_RETRY}};

    for (unsigned i = 0; i < sizeof before / sizeof before[0]; i++) {
        int32_t request = node_sends(all, 1);
        uint32_t name = announced(all);
        for (unsigned k = 0; k < 2 && before[i][k]; k++) {
            neighbour_answers(all, 1, before[i][k], name, 0);
        }
        neighbours_turn(all);
        neighbours_expect_no_more(all);
        neighbour_answers(all, 1, PACKET_CTS, name, 77);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        node_is_done_with(all, request, E_OK);
    }
}

TEST_WITH(what_is_said_after_ready_changes_nothing, begin_full, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);
    uint32_t name = announced(all);

    neighbour_answers(all, 1, PACKET_CTS, name, 77);
    neighbour_answers(all, 1, PACKET_RETRY, name, 0);
    neighbour_answers(all, 1, PACKET_QUEUED, name, 0);
    neighbour_answers(all, 1, PACKET_CTS, name, 78);
    neighbour_answers(all, 1, PACKET_CANCEL, name, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
    node_is_done_with(all, request, E_OK);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
}

TEST_WITH(ready_for_a_message_that_is_over_is_answered_gone, begin_full, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1), receive;
    uint32_t name = announced(all);

    neighbour_answers(all, 1, PACKET_CTS, name, 77);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 1);
    node_is_done_with(all, request, E_OK);
    neighbour_answers(all, 1, PACKET_CTS, name, 78);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_CANCEL, 1)->name, 78);
    receive = node_receives(all, 1, FABRIC_DATA); /* its name is no message's */
    neighbour_answers(all, 1, PACKET_CTS, request_name(all->node, node_request(all, receive)), 79);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_CANCEL, 1)->name, 79);
    neighbours_expect_no_more(all);
    assert_int_equal(node_request(all, receive)->state, STATE_QUEUED);
}

TEST_WITH(only_the_receiver_answers_an_announcement, begin_full, neighbours_end)
{
    struct neighbours *all = *state;
    static const uint8_t kinds[] = {PACKET_CTS, PACKET_CANCEL, PACKET_QUEUED, PACKET_RETRY};
    int32_t request = node_sends(all, 1);
    uint32_t name = announced(all);

    for (unsigned i = 0; i < sizeof kinds; i++) {
        neighbour_answers(all, 2, kinds[i], name, 66);
        neighbours_turn(all);
        neighbours_pass_ms(all, 10);
        neighbours_expect_no_more(all);
        assert_int_equal(node_request(all, request)->state, STATE_ASKED);
    }
    neighbour_answers(all, 1, PACKET_CANCEL, name, 0);
    neighbours_turn(all);
    node_is_done_with(all, request, E_PEER_GONE);
}

TEST_WITH(an_announcement_is_repeated_until_it_is_stored, begin_full, neighbours_end)
{
    struct neighbours *all = *state;
    node_sends(all, 1);
    uint32_t name = announced(all);

    neighbours_pass_ms(all, 290);
    neighbours_expect_no_more(all);
    neighbours_pass_ms(all, 20);
    assert_int_equal(neighbours_expect(all, PACKET_RTS, 1)->name, name);
    neighbour_answers(all, 1, PACKET_RETRY, name, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 1);
    neighbours_expect_no_more(all);
    neighbours_pass_ms(all, 2);
    assert_int_equal(neighbours_expect(all, PACKET_RTS, 1)->name, name);
    neighbour_answers(all, 1, PACKET_QUEUED, name, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
}

TEST_WITH(an_announcement_behind_another_is_made_once_until_that_one_is_known, begin_full,
          neighbours_end)
{
    struct neighbours *all = *state;
    node_sends(all, 1);
    node_sends(all, 1);
    uint32_t first = announced(all), second = announced(all);

    assert_int_equal(all->heard[0].behind, 0);
    assert_int_equal(all->heard[1].behind, first);
    neighbour_answers(all, 1, PACKET_RETRY, second, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 10);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_QUEUED, first, 0);
    neighbours_turn(all);
    const struct heard *again = neighbours_expect(all, PACKET_RTS, 1);
    assert_int_equal(again->name, second);
    assert_int_equal(again->behind, 0);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_circuit_that_was_refused_is_tried_again_for_the_same_receive, begin_full,
          neighbours_end)
{
    struct neighbours *all = *state;
    static const int refusals[] = {E_REFUSED, E_BUSY};

    for (unsigned i = 0; i < 2; i++) {
        int32_t request = node_sends(all, 1);
        uint32_t name = announced(all);
        all->refusal = refusals[i];
        neighbour_answers(all, 1, PACKET_CTS, name, 77);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        neighbours_pass_ms(all, 3);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        node_is_done_with(all, request, E_OK);
    }
}

TEST_WITH(announcements_leave_slots_for_answers, begin_full, neighbours_end)
{
    struct neighbours *all = *state;

    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_QUEUED, 1);
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX - 1; i++) {
        node_sends(all, 2);
    }
    neighbours_turn_without_2(all);
    node_receives(all, 1, FABRIC_DATA);
    neighbours_turn_without_2(all);
    assert_int_equal(neighbours_expect(all, PACKET_CTS, 1)->name, 11);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_short_message_without_a_place_is_announced_and_what_follows_it_waits, begin_full,
          neighbours_end)
{
    struct neighbours *all = *state;

    fabric_message(all->fabric, 0, ECUBE_CALL_SEND, 1, NEIGHBOUR_TAG, FABRIC_DATA, 8);
    node_sends(all, 1);
    all->refusal = E_FULL;
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 1);
    const struct heard *first = neighbours_expect(all, PACKET_RTS, 1);
    const struct heard *second = neighbours_expect(all, PACKET_RTS, 1);
    assert_int_equal(first->behind, 0);
    assert_int_equal(second->behind, first->name);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_short_message_waits_for_the_answer_to_one_before_it, begin_full, neighbours_end)
{
    struct neighbours *all = *state;

    node_sends(all, 1);
    fabric_message(all->fabric, 0, ECUBE_CALL_SEND, 1, NEIGHBOUR_TAG, FABRIC_DATA, 8);
    uint32_t name = announced(all);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_RETRY, name, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 3);
    neighbours_expect(all, PACKET_RTS, 1);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_QUEUED, name, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 1);
    neighbours_expect_no_more(all);
}

/* Requests ---------------------------------------------------------------------------------- */

enum { TO_1 = 0 };

/* Node 0's request has come to a neighbour. */
static const struct heard *requested(struct neighbours *all, unsigned rank)
{
    const struct heard *heard = neighbours_expect(all, PACKET_OPEN, rank);

    assert_int_equal(heard->flags & ~OPEN_BEHIND, OPEN_REQUEST);
    return heard;
}

/* Its circuit has come, for a receive. */
static void opened(struct neighbours *all, unsigned rank, uint32_t match)
{
    const struct heard *heard = neighbours_expect(all, PACKET_OPEN, rank);

    assert_int_equal(heard->flags, 0);
    assert_int_equal(heard->match, match);
}

TEST_WITH(a_request_that_is_accepted_is_all_that_is_said, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);

    neighbours_turn(all);
    assert_int_equal(requested(all, 1)->name, request_name(all->node, node_request(all, request)));
    assert_int_equal(all->received, 1);
    assert_int_equal(all->received_status, E_OK);
    node_is_done_with(all, request, E_OK);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_request_that_is_stored_waits_for_ready, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);

    all->refusal = E_STORED;
    neighbours_turn(all);
    uint32_t name = requested(all, 1)->name;
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
    assert_int_equal(node_request(all, request)->state, STATE_STORED);
    neighbour_answers(all, 1, PACKET_CTS, name, 77);
    neighbours_turn(all);
    opened(all, 1, 77);
    node_is_done_with(all, request, E_OK);
}

/* Packets and answers to circuits take different ways. */
TEST_WITH(ready_may_come_before_the_refusal, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);

    all->holds = true;
    neighbours_turn(all);
    uint32_t name = requested(all, 1)->name;
    neighbour_answers(all, 2, PACKET_CTS, name, 66); /* of another node */
    neighbour_answers(all, 1, PACKET_QUEUED, name, 0);
    neighbour_answers(all, 1, PACKET_RETRY, name, 0);
    neighbour_answers(all, 1, PACKET_CTS, name, 77);
    neighbours_turn(all);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
    all->holds = false;
    neighbour_refuses(all, 1, E_STORED);
    neighbours_turn(all);
    opened(all, 1, 77);
    node_is_done_with(all, request, E_OK);
}

TEST_WITH(so_may_word_that_the_program_there_has_ended, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);

    all->holds = true;
    neighbours_turn(all);
    uint32_t name = requested(all, 1)->name;
    neighbour_answers(all, 2, PACKET_CANCEL, name, 0);
    neighbours_turn(all);
    assert_int_equal(node_request(all, request)->state, STATE_OPENING);
    neighbour_answers(all, 1, PACKET_CANCEL, name, 0);
    neighbours_turn(all);
    node_is_done_with(all, request, E_PEER_GONE);
    neighbour_refuses(all, 1, E_STORED);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    assert_true(router_quiet(&all->node->router));
}

TEST_WITH(a_request_without_an_answer_ends_with_its_link, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 1);

    all->holds = true;
    neighbours_turn(all);
    requested(all, 1);
    memory_link_cut(&all->fabric->nodes[0].ends[TO_1]);
    neighbours_turn(all);
    node_is_done_with(all, request, E_LINK_DEAD);
}

TEST_WITH(a_refusal_for_good_ends_a_request_and_one_for_now_does_not, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    static const int passing[] = {E_REFUSED, E_BUSY};

    for (unsigned i = 0; i < 2; i++) {
        int32_t request = node_sends(all, 1);
        all->refusal = passing[i];
        neighbours_turn(all);
        uint32_t name = requested(all, 1)->name;
        neighbours_pass_ms(all, 3);
        assert_int_equal(requested(all, 1)->name, name);
        node_is_done_with(all, request, E_OK);
    }
    int32_t request = node_sends(all, 1);
    all->refusal = E_PEER_GONE;
    neighbours_turn(all);
    requested(all, 1);
    node_is_done_with(all, request, E_PEER_GONE);
}

/* The second is on its way when the first is refused. It says whom it comes behind, so the receiver
 * does not take it first; both come again in their order. */
TEST_WITH(requests_follow_each_other_and_name_the_one_before, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    node_sends(all, 1);
    node_sends(all, 1);

    all->holds = true;
    neighbours_turn(all);
    uint32_t first = requested(all, 1)->name;
    assert_int_equal(all->heard[0].behind, 0);
    neighbour_refuses(all, 1, E_REFUSED);
    neighbours_turn(all);
    const struct heard *heard = requested(all, 1);
    uint32_t second = heard->name;
    assert_int_equal(heard->behind, first);
    assert_true(second != first);
    neighbour_refuses(all, 1, E_REFUSED);
    all->holds = false;
    neighbours_turn(all);
    neighbours_pass_ms(all, 5);
    assert_int_equal(requested(all, 1)->name, first);
    neighbours_pass_ms(all, 5);
    assert_int_equal(requested(all, 1)->name, second);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_short_message_waits_for_the_answer_to_a_request, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_sends(all, 1);
    fabric_message(all->fabric, 0, ECUBE_CALL_SEND, 1, NEIGHBOUR_TAG, FABRIC_DATA, 8);
    all->holds = true;
    neighbours_turn(all);
    requested(all, 1);
    neighbours_pass_ms(all, 100);
    neighbours_expect_no_more(all);
    all->holds = false;
    neighbour_refuses(all, 1, E_STORED);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->flags, OPEN_EAGER | OPEN_INLINE);
}
