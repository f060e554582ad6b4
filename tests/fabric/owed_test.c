/*
 * owed_test.c - what a node must say once, and has no slot for when it comes up: it is said when
 * there is one again, in its order, and nothing that comes later overtakes it.
 *
 * Node 2 takes no packets while its neighbour 0 has all slots full of them; the host takes none
 * either until the fabric settles.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/circuit.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum {
    TO_2 = 1,
    TO_HOST = 2,
    TEXT_BYTES = 8,
    EXIT_STATUS = 3,
    OFFERED = 5,
    ACKNOWLEDGED_US = 100000
};

static const struct fault null_pointer = {.kind = FAULT_DATA,
                                          .address = 4,
                                          .status_register = 0x805,
                                          .registers = {1, [15] = 0x20100000}};

/* All that is owed is said: what the host has heard of it. */
static const struct fabric_event *told(struct neighbours *all, uint8_t kind)
{
    const struct fabric_event *found = NULL;

    assert_int_equal(fabric_count_events(all->fabric, kind), 0);
    fabric_settle(all->fabric);
    all->fabric->now_us += ACKNOWLEDGED_US; /* the last packets of those that had the slots */
    fabric_settle(all->fabric);
    for (unsigned i = 0; i < all->fabric->event_count; i++) {
        if (all->fabric->events[i].kind == kind) {
            assert_null(found);
            found = &all->fabric->events[i];
        }
    }
    assert_non_null(found);
    assert_int_equal(found->src, 0);
    return found;
}

static int32_t exit_status(const struct fabric_event *event)
{
    struct exit_body told = {0};

    assert_true(exit_unpack(event->body, event->bytes, &told));
    return told.status;
}

static void expect_null_pointer(const struct fabric_event *event)
{
    struct fault_body fault;

    assert_true(fault_unpack(event->body, event->bytes, &fault));
    assert_int_equal(fault.kind, FAULT_DATA);
    assert_int_equal(fault.address, 4);
    assert_int_equal(fault.status_register, 0x805);
    assert_int_equal(fault.registers[0], 1);
    assert_int_equal(fault.registers[15], 0x20100000);
}

static void node_faults(struct neighbours *all, const struct fault *fault)
{
    node_fault(all->node, all->fabric->now_us, fault);
    neighbours_turn_without_2(all);
}

static void node_exits(struct neighbours *all)
{
    uint32_t arguments[4] = {EXIT_STATUS};
    int32_t result;

    assert_int_equal(node_call(all->node, all->fabric->now_us, ECUBE_CALL_EXIT, arguments, &result),
                     NODE_END);
    neighbours_turn_without_2(all);
}

TEST_WITH(a_fault_is_told_when_there_is_a_slot_again, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    node_faults(all, &null_pointer);
    assert_false(node_program_runs(all->node));
    expect_null_pointer(told(all, PACKET_FAULT));
}

TEST_WITH(an_exit_is_told_when_there_is_a_slot_again, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    node_exits(all);
    assert_int_equal(exit_status(told(all, PACKET_EXIT)), EXIT_STATUS);
}

TEST_WITH(a_fault_comes_behind_the_text_of_its_program, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    uint32_t arguments[4] = {FABRIC_DATA, TEXT_BYTES};
    unsigned texts = 0;
    int32_t result;

    all->fabric->event_count = 0;
    while (node_call(all->node, all->fabric->now_us, ECUBE_CALL_WRITE, arguments, &result) ==
           NODE_RESUME) {
        texts++;
    }
    assert_true(texts >= SLOTS_MAX - REPLY_SLOTS);
    node_faults(all, &null_pointer);
    told(all, PACKET_FAULT);
    assert_int_equal(fabric_count_events(all->fabric, PACKET_CONSOLE), texts);
    assert_int_equal(all->fabric->events[all->fabric->event_count - 1].kind, PACKET_FAULT);
}

TEST_WITH(a_failed_kernel_tells_how_its_program_ended_and_that_it_failed, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    struct fault check = {.kind = FAULT_CHECK, .line = 17, .text = "a.c"};

    node_fills_slots(all);
    node_exits(all);
    node_faults(all, &check);
    const struct fabric_event *event = told(all, PACKET_FAULT);
    struct fault_body fault;
    assert_true(fault_unpack(event->body, event->bytes, &fault));
    assert_int_equal(fault.kind, FAULT_CHECK);
    assert_int_equal(fault.line, 17);
    assert_int_equal(fault.tail_bytes, 3);
    assert_memory_equal(fault.tail, "a.c", 3);
    assert_int_equal(fabric_count_events(all->fabric, PACKET_EXIT), 1);
    for (unsigned i = 0; i < all->fabric->event_count; i++) {
        if (all->fabric->events[i].kind == PACKET_EXIT) {
            assert_int_equal(exit_status(&all->fabric->events[i]), EXIT_STATUS);
        }
    }
}

/* Node 1 says a word to node 2 that takes none: by way of node 0. */
static void neighbour_answers_2(struct neighbours *all)
{
    uint8_t word[RTS_REPLY_BYTES] = {0};

    assert_int_equal(
        router_send(&all->fabric->nodes[1].node->router, PACKET_QUEUED, 2, word, sizeof word),
        E_OK);
}

/* No other event follows that would bring the node to look again. */
TEST_WITH(what_is_owed_is_told_in_the_step_in_which_a_dead_link_frees_slots, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    const struct memory_said *to_host = node_said(all, TO_HOST);
    unsigned faults = to_host->packets[PACKET_FAULT], dead = to_host->packets[PACKET_LINK_DEAD];

    for (unsigned i = 0; i < CONTROL_WINDOW; i++) { /* so all slots wait, and none is on its way */
        neighbour_answers_2(all);
        neighbours_turn_without_2(all);
    }
    node_fills_slots(all);
    node_faults(all, &null_pointer);
    assert_int_equal(to_host->packets[PACKET_FAULT], faults);
    router_kill_port(&all->node->router, TO_2, DEAD_CARRIER);
    node_step(all->node, all->fabric->now_us);
    assert_int_equal(to_host->packets[PACKET_FAULT], faults + 1);
    assert_int_equal(to_host->packets[PACKET_LINK_DEAD], dead + 1);
    expect_null_pointer(told(all, PACKET_FAULT));
}

/* A report needs a large slot; for the answer to an offer a small one does. */
TEST_WITH(an_offer_is_put_off_until_the_end_of_the_last_program_has_been_told, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    struct router *router = &all->node->router;
    unsigned faults = node_said(all, TO_HOST)->packets[PACKET_FAULT];
    uint8_t large[SLOT_BODY_MAX + 1] = {0}, offer[OFFER_BYTES];

    while (router_send(router, PACKET_CONSOLE, 2, large, sizeof large) == E_OK) {
    }
    assert_int_equal(router_slots_free(router), SLOTS_MAX);
    node_faults(all, &null_pointer);
    assert_int_equal(node_said(all, TO_HOST)->packets[PACKET_FAULT], faults);
    offer_pack(offer, &(struct offer_body){.name = OFFERED, .digest = large});
    assert_int_equal(
        router_send(&all->fabric->nodes[1].node->router, PACKET_OFFER, 0, offer, sizeof offer),
        E_OK);
    neighbours_turn_without_2(all);
    assert_int_equal(neighbours_expect(all, PACKET_RETRY, 1)->name, OFFERED);
    assert_int_equal(node_said(all, TO_HOST)->packets[PACKET_FAULT], faults);
}

TEST_WITH(two_who_disagree_are_told_when_there_is_a_slot_again, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct ecube_abi_collective arguments = {.operation = ECUBE_ALIGN};
    int32_t request = node_enters(all, &arguments);
    struct enter_body other = neighbour_same(all, 1), same = neighbour_same(all, 2);

    other.first = (struct entry){.operation = ECUBE_BROADCAST, .bytes = 16};
    neighbour_enters(all, 2, &same);
    neighbours_turn(all);
    node_fills_slots(all);
    neighbour_enters(all, 1, &other);
    neighbours_turn_without_2(all);
    neighbours_expect_no_more(all);
    neighbours_turn(all);
    node_is_done_with(all, request, E_MISMATCH);
    const struct fabric_event *event = told(all, PACKET_DISAGREE);
    struct disagree_body disagree;
    assert_true(disagree_unpack(event->body, event->bytes, &disagree));
    assert_int_equal(disagree.first_rank, 0);
    assert_int_equal(disagree.other_rank, 1);
    assert_int_equal(disagree.other.bytes, 16);
    assert_int_equal(disagree.first.operation, ECUBE_ALIGN);
    assert_int_equal(disagree.other.operation, ECUBE_BROADCAST);
}

TEST_WITH(each_ready_for_a_message_that_is_no_more_is_told_gone_once, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    for (unsigned i = 0; i < CANCELS_MAX + 1; i++) {
        for (unsigned twice = 0; twice < 2; twice++) {
            neighbour_answers(all, 1, PACKET_CTS, 0x10501, 100 + i);
            neighbours_turn_without_2(all);
        }
    }
    neighbours_expect_no_more(all);
    neighbours_turn(all);
    neighbours_turn(all);
    for (unsigned i = 0; i < CANCELS_MAX; i++) {
        assert_int_equal(neighbours_expect(all, PACKET_CANCEL, 1)->name, 100 + i);
    }
    neighbours_expect_no_more(all);
    assert_int_equal(node_state(all).counters[COUNTER_REQUESTS_DROPPED], 2);
}
