/*
 * owed_test.c - what a node must say once, and has no slot for when it comes up: it is said when
 * there is one again, in its order, and nothing that comes later overtakes it.
 *
 * Node 2 takes no packets while its neighbour 0 has all slots full of them; the host takes none
 * either until the mesh settles.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/circuit.h"
#include "router/router.h"
#include "tests/mesh/neighbour.h"
#include "tests/unit/testing.h"

enum { TO_2 = 1, TEXT_BYTES = 8, EXIT_STATUS = 3, OFFERED = 5, ACKNOWLEDGED_US = 100000 };

static const struct fault null_pointer = {.kind = FAULT_DATA,
                                          .address = 4,
                                          .status_register = 0x805,
                                          .registers = {1, [15] = 0x40100000}};

/* All that is owed is said: what the host has heard of it. */
static const struct mesh_event *told(struct neighbours *all, uint8_t kind)
{
    const struct mesh_event *found = NULL;

    assert_int_equal(mesh_count_events(all->mesh, kind), 0);
    mesh_settle(all->mesh);
    all->mesh->now_us += ACKNOWLEDGED_US; /* the last packets of those that had the slots */
    mesh_settle(all->mesh);
    for (unsigned i = 0; i < all->mesh->event_count; i++)
        if (all->mesh->events[i].kind == kind) {
            assert_null(found);
            found = &all->mesh->events[i];
        }
    assert_non_null(found);
    assert_int_equal(found->src, 0);
    return found;
}

static int32_t exit_status(const struct mesh_event *event)
{
    struct exit_body told = {0};

    assert_true(exit_unpack(event->body, event->bytes, &told));
    return told.status;
}

static void expect_null_pointer(const struct mesh_event *event)
{
    struct fault_body fault;

    assert_true(fault_unpack(event->body, event->bytes, &fault));
    assert_int_equal(fault.kind, FAULT_DATA);
    assert_int_equal(fault.address, 4);
    assert_int_equal(fault.status_register, 0x805);
    assert_int_equal(fault.registers[0], 1);
    assert_int_equal(fault.registers[15], 0x40100000);
}

static void node_faults(struct neighbours *all, const struct fault *fault)
{
    node_fault(all->node, all->mesh->now_us, fault);
    neighbours_turn_without_2(all);
}

static void node_exits(struct neighbours *all)
{
    uint32_t arguments[4] = {EXIT_STATUS};
    int32_t result;

    assert_int_equal(node_call(all->node, all->mesh->now_us, ECUBE_CALL_EXIT, arguments, &result),
                     NODE_END);
    neighbours_turn_without_2(all);
}

static void a_fault_is_told_when_there_is_a_slot_again(void **state)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    node_faults(all, &null_pointer);
    assert_false(node_program_runs(all->node));
    expect_null_pointer(told(all, PACKET_FAULT));
}

static void an_exit_is_told_when_there_is_a_slot_again(void **state)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    node_exits(all);
    assert_int_equal(exit_status(told(all, PACKET_EXIT)), EXIT_STATUS);
}

static void a_fault_comes_behind_the_text_of_its_program(void **state)
{
    struct neighbours *all = *state;
    uint32_t arguments[4] = {MESH_DATA, TEXT_BYTES};
    unsigned texts = 0;
    int32_t result;

    all->mesh->event_count = 0;
    while (node_call(all->node, all->mesh->now_us, ECUBE_CALL_WRITE, arguments, &result) ==
           NODE_RESUME)
        texts++;
    assert_true(texts >= SLOTS_MAX - REPLY_SLOTS);
    node_faults(all, &null_pointer);
    told(all, PACKET_FAULT);
    assert_int_equal(mesh_count_events(all->mesh, PACKET_CONSOLE), texts);
    assert_int_equal(all->mesh->events[all->mesh->event_count - 1].kind, PACKET_FAULT);
}

static void a_failed_kernel_tells_how_its_program_ended_and_that_it_failed(void **state)
{
    struct neighbours *all = *state;
    struct fault check = {.kind = FAULT_CHECK, .line = 17, .text = "a.c"};

    node_fills_slots(all);
    node_exits(all);
    node_faults(all, &check);
    const struct mesh_event *event = told(all, PACKET_FAULT);
    struct fault_body fault;
    assert_true(fault_unpack(event->body, event->bytes, &fault));
    assert_int_equal(fault.kind, FAULT_CHECK);
    assert_int_equal(fault.line, 17);
    assert_int_equal(fault.tail_bytes, 3);
    assert_memory_equal(fault.tail, "a.c", 3);
    assert_int_equal(mesh_count_events(all->mesh, PACKET_EXIT), 1);
    for (unsigned i = 0; i < all->mesh->event_count; i++)
        if (all->mesh->events[i].kind == PACKET_EXIT)
            assert_int_equal(exit_status(&all->mesh->events[i]), EXIT_STATUS);
}

/* No other event follows that would bring the node to look again. */
static void what_is_owed_is_told_in_the_step_in_which_a_dead_link_frees_slots(void **state)
{
    struct neighbours *all = *state;
    struct channel *channel = &all->node->router.ports[TO_2].channel;

    channel->control_limit = channel->control_sent; /* what others send through has had the rest */
    node_fills_slots(all);
    node_faults(all, &null_pointer);
    assert_int_equal(all->node->owed, OWED_FAULT);
    router_kill_port(&all->node->router, TO_2, DEAD_CARRIER);
    node_step(all->node, all->mesh->now_us);
    assert_int_equal(all->node->owed | all->node->dead_owed, 0);
    expect_null_pointer(told(all, PACKET_FAULT));
}

static void an_offer_is_put_off_until_the_end_of_the_last_program_has_been_told(void **state)
{
    struct neighbours *all = *state;
    uint8_t body[OFFER_BYTES];
    struct notice offer = {.kind = NOTICE_PACKET,
                           .packet_kind = PACKET_OFFER,
                           .src = 1,
                           .body = body,
                           .bytes = sizeof body};

    offer_pack(body, &(struct offer_body){.name = OFFERED});
    node_fills_slots(all);
    node_faults(all, &null_pointer);
    all->node->router.slots_free |= (1u << REPLY_SLOTS) - 1; /* small ones: none for the report */
    assert_int_equal(all->node->owed, OWED_FAULT);
    load_offer(all->node, &offer);
    neighbours_turn_without_2(all);
    assert_int_equal(neighbours_expect(all, PACKET_RETRY, 1)->name, OFFERED);
}

static void two_who_disagree_are_told_when_there_is_a_slot_again(void **state)
{
    struct neighbours *all = *state;
    struct ecube_abi_collective arguments = {.operation = ECUBE_BARRIER};
    struct enter_body other = {.epoch = 1, .operation = ECUBE_BROADCAST, .bytes = 16};
    int32_t request = mesh_collective(all->mesh, 0, &arguments);

    neighbours_turn(all);
    neighbours_expect(all, PACKET_ENTER, 1);
    neighbour_answers(all, 1, PACKET_QUEUED, 0, 0); /* it acknowledges the ENTER: no slot is left */
    neighbours_turn(all);
    node_fills_slots(all);
    neighbour_enters(all, 1, &other, 0);
    neighbours_turn_without_2(all);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_ENTER, 2)->status, E_MISMATCH);
    other.status = E_MISMATCH;
    neighbour_enters(all, 2, &other, 1);
    neighbours_turn(all);
    node_is_done_with(all, request, E_MISMATCH);
    const struct mesh_event *event = told(all, PACKET_DISAGREE);
    struct disagree_body disagree;
    assert_true(disagree_unpack(event->body, event->bytes, &disagree));
    assert_int_equal(disagree.neighbour, 1);
    assert_int_equal(disagree.other.bytes, 16);
    assert_int_equal(disagree.own.operation, ECUBE_BARRIER);
    assert_int_equal(disagree.other.operation, ECUBE_BROADCAST);
}

static void each_ready_for_a_message_that_is_no_more_is_told_gone_once(void **state)
{
    struct neighbours *all = *state;

    node_fills_slots(all);
    for (unsigned i = 0; i < CANCELS_MAX + 1; i++) {
        for (unsigned twice = 0; twice < 2; twice++) {
            neighbour_answers(all, 1, PACKET_CTS, 0x10501, 100 + i);
            neighbours_turn_without_2(all);
        }
    }
    assert_int_equal(all->node->cancel_count, CANCELS_MAX);
    neighbours_turn(all);
    neighbours_turn(all);
    for (unsigned i = 0; i < CANCELS_MAX; i++)
        assert_int_equal(neighbours_expect(all, PACKET_CANCEL, 1)->name, 100 + i);
    neighbours_expect_no_more(all);
    assert_int_equal(all->node->dropped_requests, 2);
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, neighbours_begin, neighbours_end)

TEST_MAIN(NODE_TEST(a_fault_is_told_when_there_is_a_slot_again),
          NODE_TEST(an_exit_is_told_when_there_is_a_slot_again),
          NODE_TEST(a_fault_comes_behind_the_text_of_its_program),
          NODE_TEST(a_failed_kernel_tells_how_its_program_ended_and_that_it_failed),
          NODE_TEST(what_is_owed_is_told_in_the_step_in_which_a_dead_link_frees_slots),
          NODE_TEST(an_offer_is_put_off_until_the_end_of_the_last_program_has_been_told),
          NODE_TEST(two_who_disagree_are_told_when_there_is_a_slot_again),
          NODE_TEST(each_ready_for_a_message_that_is_no_more_is_told_gone_once))
