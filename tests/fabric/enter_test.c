/*
 * enter_test.c - how a node enters a collective, word by word: node 0 of a cube of four is real,
 * its children 1 and 2 are played. 3 is the child of 2, which speaks for it.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/circuit.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"
#include "wire/report.h"

enum { BYTES = 16, TURNS_MAX = 100 };

static int32_t enters_node(struct neighbours *all, uint32_t operation, uint32_t bytes,
                           uint32_t root)
{
    struct ecube_abi_collective arguments = {.operation = operation,
                                             .root = root,
                                             .block_bytes = bytes,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA + 4096};

    return node_enters(all, &arguments);
}

static struct enter_body with_status(struct enter_body enter, unsigned rank, int status)
{
    enter.status = (int16_t)status;
    enter.failed = rank;
    return enter;
}

static struct enter_body closed_from(unsigned epoch)
{
    return (struct enter_body){.epoch = (uint16_t)epoch,
                               .status = E_PEER_GONE,
                               .failed = ID_UNKNOWN,
                               .first_rank = ID_UNKNOWN,
                               .other_rank = ID_UNKNOWN};
}

static void enters(struct neighbours *all, unsigned rank, struct enter_body enter)
{
    neighbour_enters(all, rank, &enter);
    neighbours_turn(all);
}

/* Both children are told the result of an epoch. */
static void told(struct neighbours *all, unsigned epoch, int status)
{
    for (unsigned rank = 1; rank <= 2; rank++) {
        const struct heard *heard = neighbours_expect(all, PACKET_ENTERED, rank);
        assert_int_equal(heard->entered.epoch, epoch);
        assert_int_equal(heard->status, status);
    }
}

TEST_WITH(the_root_of_the_tree_tells_all_when_all_have_entered, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    enters(all, 2,
           (struct enter_body){.epoch = 1,
                               .failed = ID_UNKNOWN,
                               .first_rank = 2,
                               .first = {.operation = ECUBE_ALIGN},
                               .other_rank = ID_UNKNOWN,
                               .clock_ns = 777000000000});
    int32_t request = enters_node(all, ECUBE_ALIGN, 0, 0);
    neighbours_expect_no_more(all);
    assert_int_equal(node_state(all).stage, COLLECTIVE_ENTRY);
    assert_int_equal(node_state(all).partner, 1);
    struct enter_body enter = neighbour_same(all, 1);
    enter.clock_ns = 0;
    enters(all, 1, enter);
    told(all, 1, E_OK);
    node_is_done_with(all, request, E_OK);
    assert_true(node_request(all, request)->done_ns == 777000000000); /* the latest clock */
}

TEST_WITH(what_a_neighbour_may_not_say_is_dropped, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = enters_node(all, ECUBE_ALIGN, 0, 0);
    struct enter_body enter = neighbour_same(all, 1), late = enter, early = enter;
    uint8_t body[ENTERED_BYTES];

    late.epoch--;
    early.epoch++;
    enters(all, 1, late);
    enters(all, 1, early);
    enters(all, 1, closed_from(0));
    enters(all, 1, closed_from(4)); /* nobody can know that */
    enters(all, 1, with_status(enter, 1, 1));
    neighbour_enters_in_part(all, 1, &enter);
    entered_pack(body, &(struct entered_body){.epoch = 1, .generation = all->fabric->runs});
    assert_int_equal(
        router_send(&all->fabric->nodes[1].node->router, PACKET_ENTERED, 0, body, sizeof body),
        E_OK); /* a child does not decide */
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    assert_int_equal(node_state(all).partner, 1);
    enters(all, 1, enter);
    enters(all, 1, enter); /* twice is once */
    assert_int_equal(node_state(all).partner, 2);
    enters(all, 2, neighbour_same(all, 2));
    told(all, 1, E_OK);
    node_is_done_with(all, request, E_OK);
}

TEST_WITH(the_next_collective_waits_for_this_ones_result, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t first = enters_node(all, ECUBE_ALIGN, 0, 0);
    int32_t second = enters_node(all, ECUBE_ALIGN, 0, 0);

    for (unsigned epoch = 1; epoch <= 2; epoch++) {
        enters(all, 1, neighbour_same(all, 1));
        neighbours_expect_no_more(all);
        enters(all, 2, neighbour_same(all, 2));
        told(all, epoch, E_OK);
    }
    node_is_done_with(all, first, E_OK);
    node_is_done_with(all, second, E_OK);
}

/* What the host hears of a failed entry. */
static struct disagree_body host_hears(struct neighbours *all)
{
    struct disagree_body disagree = {0};

    for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
        fabric_step_host(all->fabric);
    }
    for (unsigned i = 0; i < all->fabric->event_count; i++) {
        const struct fabric_event *event = &all->fabric->events[i];
        if (event->kind == PACKET_DISAGREE) {
            assert_true(disagree_unpack(event->body, event->bytes, &disagree));
        }
    }
    all->fabric->event_count = 0;
    return disagree;
}

TEST_WITH(the_lowest_rank_that_differs_from_node_0_is_named, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    for (unsigned i = 0; i < 6; i++) {
        int32_t request = enters_node(all, ECUBE_BROADCAST, BYTES, 1);
        struct enter_body same = neighbour_same(all, 1), other = neighbour_same(all, 2);
        struct entry *differs = i == 5 ? &other.other : &other.first;
        other.other = other.first;
        other.other_rank = i == 5 ? 3 : ID_UNKNOWN; /* 2 agrees, 3 below it does not */
        differs->operation = (uint8_t)(differs->operation + (i == 0));
        differs->bytes += i == 1 || i == 5;
        differs->root += i == 2;
        differs->digest += i == 3;
        differs->type = (uint8_t)(differs->type + (i == 4));
        enters(all, 2, other);
        enters(all, 1, same);
        told(all, i + 1, E_MISMATCH);
        node_is_done_with(all, request, E_MISMATCH);
        struct disagree_body disagree = host_hears(all);
        assert_int_equal(disagree.status, E_MISMATCH);
        assert_int_equal(disagree.first_rank, 0);
        assert_int_equal(disagree.other_rank, i == 5 ? 3 : 2);
    }
}

TEST_WITH(an_error_of_another_node_is_told_as_that, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = enters_node(all, ECUBE_ALIGN, 0, 0);

    enters(all, 2, with_status(neighbour_same(all, 2), 3, E_FAULT));
    enters(all, 1, with_status(neighbour_same(all, 1), 1, E_ARGUMENT));
    told(all, 1, E_ARGUMENT); /* of the lowest rank */
    node_is_done_with(all, request, E_ELSEWHERE);
    struct disagree_body disagree = host_hears(all);
    assert_int_equal(disagree.status, E_ARGUMENT);
    assert_int_equal(disagree.first_rank, 1);
    assert_int_equal(disagree.other_rank, ID_UNKNOWN);
}

TEST_WITH(who_ends_closes_the_entry_for_good_and_word_goes_on_once, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = enters_node(all, ECUBE_ALIGN, 0, 0);

    enters(all, 1, with_status(neighbour_same(all, 1), 1, E_MISMATCH));
    enters(all, 2, closed_from(1));
    assert_int_equal(neighbours_expect(all, PACKET_ENTERED, 1)->status, E_PEER_GONE);
    node_is_done_with(all, request, E_PEER_GONE);
    enters(all, 1, closed_from(1)); /* 1 has ended as well */
    request = enters_node(all, ECUBE_ALIGN, 0, 0);
    node_is_done_with(all, request, E_PEER_GONE);
    neighbours_expect_no_more(all);
}

TEST_WITH(a_closure_of_the_next_collective_spares_this_one, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t first = enters_node(all, ECUBE_ALIGN, 0, 0), second;

    enters(all, 1, neighbour_same(all, 1));
    enters(all, 1, closed_from(2));
    neighbours_expect_no_more(all); /* who has not asked is not told */
    enters(all, 2, neighbour_same(all, 2));
    told(all, 1, E_OK);
    node_is_done_with(all, first, E_OK);
    struct enter_body next = neighbour_same(all, 2);
    next.epoch = 2;
    enters(all, 2, next);
    assert_int_equal(neighbours_expect(all, PACKET_ENTERED, 2)->status, E_PEER_GONE);
    second = enters_node(all, ECUBE_ALIGN, 0, 0);
    node_is_done_with(all, second, E_PEER_GONE);
}

TEST_WITH(who_asks_for_what_an_ended_program_had_not_begun_is_told, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    enters_node(all, ECUBE_ALIGN, 0, 0);
    neighbour_answers(all, 1, PACKET_STOP, all->fabric->runs, 0);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    enters(all, 1, neighbour_same(all, 1));
    enters(all, 2, neighbour_same(all, 2));
    told(all, 1, E_OK); /* what it has begun goes on without it */
    for (unsigned rank = 1; rank <= 2; rank++) {
        struct enter_body next = neighbour_same(all, rank);
        next.epoch = 2;
        enters(all, rank, next);
    }
    told(all, 2, E_PEER_GONE);
    neighbours_expect_no_more(all);
}

TEST_WITH(what_finds_no_slot_is_said_when_there_is_one, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    enters_node(all, ECUBE_ALIGN, 0, 0);
    neighbour_enters(all, 2, &(struct enter_body){0});
    struct enter_body one = neighbour_same(all, 1), two = neighbour_same(all, 2);
    enters(all, 1, one);
    neighbour_enters(all, 2, &two);
    neighbours_step(all, 2);
    node_fills_slots(all);
    neighbours_turn_without_2(all);
    neighbours_expect_no_more(all);
    neighbours_turn(all);
    unsigned heard = 0;
    for (unsigned i = all->taken; i < all->heard_count; i++) {
        heard += all->heard[i].kind == PACKET_ENTERED;
    }
    assert_int_equal(heard, 2);
}
