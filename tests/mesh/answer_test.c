/*
 * answer_test.c - announcements and their answers in orders that only lost frames, full slots or
 * ended programs bring about: one that overtakes another, comes twice, too late, or from elsewhere.
 */
#include <string.h>

#include "drivers/status.h"
#include "tests/mesh/neighbour.h"
#include "tests/unit/testing.h"

enum { ROUNDS = 40, DATA_2 = MESH_DATA + 65536 };

static int32_t send_to(struct neighbours *all, int32_t peer)
{
    int32_t request =
        mesh_message(all->mesh, 0, ECUBE_CALL_SEND, peer, NEIGHBOUR_TAG, MESH_DATA, NEIGHBOUR_ROOM);

    assert_true(request >= 0);
    return request;
}

static int32_t receive_from(struct neighbours *all, int32_t peer, uint32_t address)
{
    int32_t request = mesh_message(all->mesh, 0, ECUBE_CALL_RECEIVE, peer, NEIGHBOUR_TAG, address,
                                   NEIGHBOUR_ROOM);

    assert_true(request >= 0);
    return request;
}

/* Node 0 sends to 1 and has announced it: the announcement's name. */
static uint32_t announced(struct neighbours *all)
{
    neighbours_turn(all);
    return neighbours_expect(all, PACKET_WANT, 1)->name;
}

static const struct request *request_of(const struct neighbours *all, int32_t number)
{
    return &all->node->requests[number];
}

static void is_done(const struct neighbours *all, int32_t number, int status)
{
    assert_int_equal(request_of(all, number)->state, STATE_DONE);
    assert_int_equal(request_of(all, number)->status, status);
}

static void ready_is_believed_at_once_whatever_was_said_before(void **state)
{
    struct neighbours *all = *state;
    static const uint8_t before[][2] = {{0, 0},
                                        {PACKET_LATER, 0},
                                        {PACKET_QUEUED, 0},
                                        {PACKET_LATER, PACKET_QUEUED},
                                        {PACKET_QUEUED, PACKET_LATER}};

    for (unsigned i = 0; i < sizeof before / sizeof before[0]; i++) {
        int32_t request = send_to(all, 1);
        uint32_t want = announced(all);
        for (unsigned k = 0; k < 2 && before[i][k]; k++)
            neighbour_answers(all, 1, before[i][k], want, 0);
        neighbours_turn(all);
        neighbours_expect_no_more(all);
        neighbour_answers(all, 1, PACKET_READY, want, 77);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        is_done(all, request, E_OK);
    }
}

static void what_is_said_after_ready_changes_nothing(void **state)
{
    struct neighbours *all = *state;
    int32_t request = send_to(all, 1);
    uint32_t want = announced(all);

    neighbour_answers(all, 1, PACKET_READY, want, 77);
    neighbour_answers(all, 1, PACKET_LATER, want, 0);
    neighbour_answers(all, 1, PACKET_QUEUED, want, 0);
    neighbour_answers(all, 1, PACKET_READY, want, 78);
    neighbour_answers(all, 1, PACKET_GONE, want, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
    is_done(all, request, E_OK);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
}

static void ready_for_a_message_that_is_over_is_answered_gone(void **state)
{
    struct neighbours *all = *state;
    int32_t request = send_to(all, 1), receive;
    uint32_t want = announced(all);

    neighbour_answers(all, 1, PACKET_READY, want, 77);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 1);
    is_done(all, request, E_OK);
    neighbour_answers(all, 1, PACKET_READY, want, 78);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_GONE, 1)->name, 78);
    receive = receive_from(all, 1, MESH_DATA); /* its name is no message's */
    neighbour_answers(all, 1, PACKET_READY, request_name(all->node, request_of(all, receive)), 79);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_GONE, 1)->name, 79);
    neighbours_expect_no_more(all);
    assert_int_equal(request_of(all, receive)->state, STATE_QUEUED);
}

static void only_the_receiver_answers_an_announcement(void **state)
{
    struct neighbours *all = *state;
    static const uint8_t kinds[] = {PACKET_READY, PACKET_GONE, PACKET_QUEUED, PACKET_LATER};
    int32_t request = send_to(all, 1);
    uint32_t want = announced(all);

    for (unsigned i = 0; i < sizeof kinds; i++) {
        neighbour_answers(all, 2, kinds[i], want, 66);
        neighbours_turn(all);
        neighbours_pass_ms(all, 10);
        neighbours_expect_no_more(all);
        assert_int_equal(request_of(all, request)->state, STATE_ASKED);
    }
    neighbour_answers(all, 1, PACKET_GONE, want, 0);
    neighbours_turn(all);
    is_done(all, request, E_PEER_GONE);
}

static void an_announcement_is_repeated_until_it_is_stored(void **state)
{
    struct neighbours *all = *state;
    send_to(all, 1);
    uint32_t want = announced(all);

    neighbours_pass_ms(all, 290);
    neighbours_expect_no_more(all);
    neighbours_pass_ms(all, 20);
    assert_int_equal(neighbours_expect(all, PACKET_WANT, 1)->name, want);
    neighbour_answers(all, 1, PACKET_LATER, want, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 1);
    neighbours_expect_no_more(all);
    neighbours_pass_ms(all, 2);
    assert_int_equal(neighbours_expect(all, PACKET_WANT, 1)->name, want);
    neighbour_answers(all, 1, PACKET_QUEUED, want, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 1000);
    neighbours_expect_no_more(all);
}

static void an_announcement_behind_another_is_made_once_until_that_one_is_known(void **state)
{
    struct neighbours *all = *state;
    send_to(all, 1);
    send_to(all, 1);
    uint32_t first = announced(all), second = announced(all);

    assert_int_equal(all->heard[0].behind, 0);
    assert_int_equal(all->heard[1].behind, first);
    neighbour_answers(all, 1, PACKET_LATER, second, 0);
    neighbours_turn(all);
    neighbours_pass_ms(all, 10);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_QUEUED, first, 0);
    neighbours_turn(all);
    const struct heard *again = neighbours_expect(all, PACKET_WANT, 1);
    assert_int_equal(again->name, second);
    assert_int_equal(again->behind, 0);
    neighbours_expect_no_more(all);
}

static void a_circuit_that_was_refused_is_tried_again_for_the_same_receive(void **state)
{
    struct neighbours *all = *state;
    static const int refusals[] = {E_REFUSED, E_BUSY};

    for (unsigned i = 0; i < 2; i++) {
        int32_t request = send_to(all, 1);
        uint32_t want = announced(all);
        all->refusal = refusals[i];
        neighbour_answers(all, 1, PACKET_READY, want, 77);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        neighbours_pass_ms(all, 3);
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 1)->match, 77);
        neighbours_expect_no_more(all);
        is_done(all, request, E_OK);
    }
}

static void an_announcement_that_comes_again_is_stored_once(void **state)
{
    struct neighbours *all = *state;
    for (unsigned i = 0; i < 3; i++) {
        neighbour_announces(all, 1, 11, 0);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 11);
        assert_int_equal(all->node->want_count, 1);
    }
    neighbour_announces(all, 2, 11, 0); /* the same name, of another node */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 2)->name, 11);
    assert_int_equal(all->node->want_count, 2);
    for (unsigned rank = 1; rank <= 2; rank++) {
        receive_from(all, ECUBE_ANY, MESH_DATA);
        neighbours_turn(all);
        assert_int_equal(neighbours_expect(all, PACKET_READY, rank)->name, 11);
    }
    receive_from(all, ECUBE_ANY, MESH_DATA);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
}

static void an_announcement_that_comes_again_is_told_ready_again_until_its_circuit_comes(
    void **state)
{
    struct neighbours *all = *state;
    int32_t request = receive_from(all, 1, DATA_2), other = receive_from(all, 2, MESH_DATA);
    uint32_t match = 0;

    for (unsigned i = 0; i < 3; i++) {
        neighbour_announces(all, 1, 11, 0);
        neighbours_turn(all);
        const struct heard *ready = neighbours_expect(all, PACKET_READY, 1);
        assert_int_equal(ready->name, 11);
        assert_true(i == 0 || ready->match == match);
        match = ready->match;
    }
    neighbour_announces(all, 2, 11, 0); /* the same name, of another node */
    neighbours_turn(all);
    const struct heard *ready = neighbours_expect(all, PACKET_READY, 2);
    assert_int_equal(ready->match, request_name(all->node, request_of(all, other)));
    memset(mesh_at(all->mesh, 1, MESH_DATA), 0x5a, NEIGHBOUR_ROOM);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbours_step(all, 1);
    neighbours_step(all, 0); /* it has accepted, and waits for the bytes */
    assert_true(request_of(all, request)->accepted);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
    is_done(all, request, E_OK);
    assert_memory_equal(mesh_at(all->mesh, 0, DATA_2), mesh_at(all->mesh, 1, MESH_DATA),
                        NEIGHBOUR_ROOM);
}

static void a_message_that_is_gone_frees_its_receive_for_the_next_one(void **state)
{
    struct neighbours *all = *state;
    int32_t request = receive_from(all, ECUBE_ANY, MESH_DATA);
    uint32_t match = request_name(all->node, request_of(all, request));

    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_READY, 1)->match, match);
    neighbour_announces(all, 2, 21, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 2)->name, 21);
    neighbour_answers(all, 2, PACKET_GONE, match, 0); /* it is not for node 2 to say */
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_GONE, match, 0);
    neighbours_turn(all);
    const struct heard *ready = neighbours_expect(all, PACKET_READY, 2);
    assert_int_equal(ready->name, 21);
    assert_int_equal(ready->match, match);
    neighbours_expect_no_more(all);
}

static void a_receive_whose_circuit_has_come_is_not_freed(void **state)
{
    struct neighbours *all = *state;
    int32_t request = receive_from(all, ECUBE_ANY, MESH_DATA);
    uint32_t match = request_name(all->node, request_of(all, request));

    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_READY, 1);
    neighbour_announces(all, 2, 21, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_QUEUED, 2);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbours_step(all, 1);
    neighbours_step(all, 0);
    assert_true(request_of(all, request)->accepted);
    neighbour_answers(all, 1, PACKET_GONE, match, 0); /* to a READY that was repeated */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
    is_done(all, request, E_OK);
    assert_int_equal(request_of(all, request)->result_peer, 1);
}

static void an_announcement_behind_one_that_is_not_known_is_put_off(void **state)
{
    struct neighbours *all = *state;
    neighbour_announces(all, 1, 12, 11);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_LATER, 1)->name, 12);
    neighbour_announces(all, 2, 11, 0); /* of another node */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_QUEUED, 2);
    neighbour_announces(all, 1, 12, 11);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_LATER, 1)->name, 12);
    neighbour_announces(all, 1, 11, 0);
    neighbour_announces(all, 1, 12, 11); /* behind a stored one */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 11);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 12);
    receive_from(all, 1, MESH_DATA);
    receive_from(all, 1, MESH_DATA);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_READY, 1)->name, 11);
    assert_int_equal(neighbours_expect(all, PACKET_READY, 1)->name, 12);
    neighbour_announces(all, 1, 13, 12); /* behind one that a receive waits for */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 13);
    neighbours_expect_no_more(all);
}

static void an_announcement_without_room_is_put_off(void **state)
{
    struct neighbours *all = *state;
    for (uint32_t i = 0; i <= WANTS_MAX; i++) {
        neighbour_announces(all, 1, 100 + i, 0);
        neighbours_turn(all);
        assert_int_equal(
            neighbours_expect(all, i < WANTS_MAX ? PACKET_QUEUED : PACKET_LATER, 1)->name, 100 + i);
    }
    assert_int_equal(all->node->want_count, WANTS_MAX);
}

/* Packets to node 2, which takes none, have all slots. */
static void an_announcement_without_a_slot_for_its_answer_is_forgotten(void **state)
{
    struct neighbours *all = *state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (router_send(&all->node->router, PACKET_CONSOLE, 2, "", 0) == E_OK) {
        }
        neighbours_step(all, 0);
    }
    neighbour_announces(all, 1, 11, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        neighbours_step(all, 1);
        neighbours_step(all, 0);
    }
    assert_int_equal(all->node->dropped_requests, 1);
    assert_int_equal(all->node->want_count, 0);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_QUEUED, 1)->name, 11);
}

static void a_circuit_that_no_receive_waits_for_is_refused(void **state)
{
    struct neighbours *all = *state;
    int32_t request = receive_from(all, 1, MESH_DATA);
    uint32_t match = request_name(all->node, request_of(all, request));

    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM); /* it was not told READY */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_READY, 1);
    neighbour_opens(all, 2, match, 0, NEIGHBOUR_ROOM); /* nor was this node */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 2)->status, E_PEER_GONE);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM); /* once is enough */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    is_done(all, request, E_OK);
    neighbour_opens(all, 1, 0, OPEN_EAGER, NEIGHBOUR_ROOM);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_FORMAT);
    neighbours_expect_no_more(all);
}

#define ANSWER_TEST(f) cmocka_unit_test_setup_teardown(f, neighbours_begin, neighbours_end)

TEST_MAIN(ANSWER_TEST(ready_is_believed_at_once_whatever_was_said_before),
          ANSWER_TEST(what_is_said_after_ready_changes_nothing),
          ANSWER_TEST(ready_for_a_message_that_is_over_is_answered_gone),
          ANSWER_TEST(only_the_receiver_answers_an_announcement),
          ANSWER_TEST(an_announcement_is_repeated_until_it_is_stored),
          ANSWER_TEST(an_announcement_behind_another_is_made_once_until_that_one_is_known),
          ANSWER_TEST(a_circuit_that_was_refused_is_tried_again_for_the_same_receive),
          ANSWER_TEST(an_announcement_that_comes_again_is_stored_once),
          ANSWER_TEST(an_announcement_that_comes_again_is_told_ready_again_until_its_circuit_comes),
          ANSWER_TEST(a_message_that_is_gone_frees_its_receive_for_the_next_one),
          ANSWER_TEST(a_receive_whose_circuit_has_come_is_not_freed),
          ANSWER_TEST(an_announcement_behind_one_that_is_not_known_is_put_off),
          ANSWER_TEST(an_announcement_without_room_is_put_off),
          ANSWER_TEST(an_announcement_without_a_slot_for_its_answer_is_forgotten),
          ANSWER_TEST(a_circuit_that_no_receive_waits_for_is_refused))
