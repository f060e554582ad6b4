/*
 * stream_test.c - bytes that are fewer or more than their circuit's OPEN has announced, that no
 * circuit has announced, or that stop coming: at the node that they are for, and on their way.
 *
 * Node 0 stands between 1 and 2. What 1 says is queued on its link by hand.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/packet.h"
#include "router/port.h"
#include "router/router.h"
#include "router/segment.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { TO_1 = 0, TO_2 = 1, LENGTH = 100, FRAMES = 4, ROOM = 256, HERE = 0, ON = 2 };

static uint8_t frames[FRAMES][FRAME_HEADER_BYTES + ROOM];

/* Neighbour 1 says nothing any more but what a test says. */
static void go_on(struct neighbours *all)
{
    router_flush(&all->fabric->nodes[1].node->router);
    for (unsigned round = 0; round < 20; round++) {
        all->fabric->now_us++;
        neighbours_step(all, 0);
        neighbours_step(all, 2);
    }
}

static void get_open(struct neighbours *all, uint32_t dst, uint32_t match, uint8_t flags)
{
    static const struct open_hop hops[] = {{HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, 0}};
    uint8_t *packet = frames[0] + FRAME_HEADER_BYTES;
    uint32_t bytes = OPEN_BYTES;

    packet_pack(packet, PACKET_OPEN, OPEN_BODY_BYTES, 1, dst);
    packet_set_hops(packet, 1);
    open_pack(packet, &(struct open_body){.length = LENGTH,
                                          .match = match,
                                          .epoch = flags & OPEN_SCHEDULE ? 1 : 0,
                                          .flags = flags});
    if (flags & OPEN_SCHEDULE) {
        bytes += hop_list_pack(packet + OPEN_BYTES, hops, 2);
    }
    packet_queue(&all->fabric->nodes[1].node->router, TO_1, frames[0], bytes)->owner = OWNER_NONE;
    go_on(all);
}

static void get_data(struct neighbours *all, unsigned number, uint32_t bytes, uint8_t flags)
{
    /* What no router says goes by its channel. */
    struct router *router = &all->fabric->nodes[1].node->router;
    struct channel *channel = &router->ports[TO_1].channel;

    memset(frames[number] + FRAME_HEADER_BYTES, 0x77, bytes);
    *channel_place(channel, 0) = (struct segment){
        .data = frames[number], .bytes = FRAME_HEADER_BYTES + bytes, .owner = OWNER_NONE};
    channel_queue(channel, &router->due, FRAME_DATA, flags, bytes, 1);
    go_on(all);
}

/* A circuit from 1 that has been accepted: here, where a receive waits for it, or by 2. Its
 * request. */
static int32_t circuit_stands(struct neighbours *all, uint32_t dst)
{
    int32_t request = 0;
    uint32_t match = 0;

    if (dst == HERE) {
        request = node_receives(all, 1, FABRIC_DATA);
        neighbour_announces(all, 1, 11, 0);
        neighbours_turn(all);
        match = neighbours_expect(all, PACKET_CTS, 1)->match;
    }
    unsigned accepted = node_said(all, TO_1)->packets[PACKET_ACCEPT];
    get_open(all, dst, match, 0);
    assert_int_equal(node_said(all, TO_1)->packets[PACKET_ACCEPT], accepted + 1);
    return request;
}

/* What the receiver has been told, and whether the link that the bytes came by lives: nothing of
 * the circuit is left then, and as many as may be can come. */
static void ends(struct neighbours *all, uint32_t dst, int32_t request, int status, bool lives)
{
    if (dst == HERE) {
        node_is_done_with(all, request, status);
    } else {
        assert_int_equal(all->received, 1);
        assert_int_equal(all->received_status, status);
    }
    assert_int_equal(node_link(all, TO_1), lives ? LINK_UP : LINK_DEAD);
    assert_true(router_quiet(&all->node->router));
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    for (unsigned i = 0; lives && i < CIRCUITS_MAX; i++) {
        get_open(all, ON, 0, 0);
    }
    if (lives) {
        assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened + CIRCUITS_MAX);
    }
}

/* All circuits that may share node 0's link to 2 go out over it. */
static void link_to_2_is_free(struct neighbours *all)
{
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    struct circuit_source source = {.dst = 2,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};

    for (unsigned i = 0; i < CIRCUITS_MAX; i++) {
        assert_int_equal(router_open(&all->node->router, &source), E_OK);
    }
    neighbours_step(all, 0);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened + CIRCUITS_MAX);
}

/* How many bytes node 0 has read of what 1 has sent in circuits, as the next header says. */
static uint32_t bytes_read(struct neighbours *all)
{
    go_on(all);
    assert_int_equal(router_send(&all->node->router, PACKET_QUEUED, 1, NULL, 0), E_OK);
    go_on(all);
    return node_said(all, TO_1)->last.data_credit;
}

TEST_WITH(bytes_must_be_as_many_as_announced, neighbours_begin, neighbours_end)
{
    static const struct {
        uint32_t first, second;
        uint8_t flags; /* of the last */
        int status;
        bool lives;
    } cases[] = {
        {LENGTH, 0, FLAG_LAST, E_OK, true},
        {LENGTH - 1, 1, FLAG_LAST, E_OK, true},
        {LENGTH - 1, 0, FLAG_LAST, E_LINK_DEAD, false},
        {LENGTH - 2, 1, FLAG_LAST, E_LINK_DEAD, false},
        {LENGTH + 1, 0, FLAG_LAST, E_LINK_DEAD, false},
        {LENGTH, 1, 0, E_LINK_DEAD, false},
        {LENGTH - 1, 0, FLAG_LAST | FLAG_ABORT, E_LINK_DEAD, true},
        {LENGTH - 1, 1, FLAG_LAST | FLAG_ABORT, E_LINK_DEAD, true}, /* a byte that only says so */
    };

    for (unsigned i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct neighbours *all = *state;
        uint32_t dst = i % 2 ? ON : HERE, second = cases[i / 2].second;
        int32_t request = circuit_stands(all, dst);
        get_data(all, 1, cases[i / 2].first, second ? 0 : cases[i / 2].flags);
        if (second) {
            get_data(all, 2, second, cases[i / 2].flags);
        }
        ends(all, dst, request, cases[i / 2].status, cases[i / 2].lives);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

TEST_WITH(bytes_without_a_circuit_end_the_link, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    get_data(all, 1, LENGTH, FLAG_LAST);
    assert_int_equal(node_link(all, TO_1), LINK_DEAD);
    assert_int_equal(router_dead_reason(&all->node->router, TO_1), DEAD_PROTOCOL);
    for (unsigned i = 0; i < LINK_BUFFERS_MAX; i++) { /* nor are they kept */
        assert_false(all->fabric->nodes[0].ends[TO_1].taken[i]);
    }
}

/* A message's bytes wait for the answer. */
TEST_WITH(bytes_before_the_answer_end_the_link, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    bool taken[LINK_BUFFERS_MAX];

    node_takes_places(all, 2, CIRCUITS_MAX); /* none may pass */
    memory_link_stop(&all->fabric->nodes[2].ends[1], taken);
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    get_open(all, ON, 0, 0);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened);
    assert_int_equal(node_link(all, TO_1), LINK_UP);
    get_data(all, 1, LENGTH, FLAG_LAST);
    assert_int_equal(node_link(all, TO_1), LINK_DEAD);
}

TEST_WITH(who_waits_for_bytes_hears_when_their_link_is_cut, neighbours_begin, neighbours_end)
{
    for (unsigned i = 0; i < 4; i++) {
        struct neighbours *all = *state;
        uint32_t dst = i % 2 ? ON : HERE;
        int32_t request = circuit_stands(all, dst);
        if (i / 2) {
            get_data(all, 1, LENGTH / 2, 0);
        }
        memory_link_cut(&all->fabric->nodes[0].ends[TO_1]);
        go_on(all);
        ends(all, dst, request, E_LINK_DEAD, false);
        link_to_2_is_free(all);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

/* The bytes that still come are thrown away, and the link that brings them is free for others. */
TEST_WITH(bytes_for_a_link_that_is_cut_are_thrown_away, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    uint32_t before = bytes_read(all);
    circuit_stands(all, ON);
    hold_bytes(all, 0, TO_2, true); /* they wait here */
    get_data(all, 1, LENGTH / 2, 0);
    assert_int_equal(bytes_read(all), before);
    memory_link_cut(&all->fabric->nodes[0].ends[TO_2]);
    assert_int_equal(bytes_read(all) - before, LENGTH / 2);
    get_data(all, 2, LENGTH - LENGTH / 2, FLAG_LAST);
    assert_int_equal(bytes_read(all) - before, LENGTH);
    assert_int_equal(node_link(all, TO_1), LINK_UP);
    get_open(all, ON, 0, OPEN_SCHEDULE); /* its bytes, refused or not, are the next one's */
    get_data(all, 3, LENGTH, FLAG_LAST);
    assert_int_equal(bytes_read(all) - before, 2 * LENGTH);
    assert_int_equal(node_link(all, TO_1), LINK_UP);
}

/* Neither one that has bytes to send nor one that drains. Private fields, for no packet shows it:
 * nothing goes over a dead link any more. The simulator looks there to say who waits for whom. */
TEST_WITH(a_link_that_is_cut_keeps_no_circuit, neighbours_begin, neighbours_end)
{
    for (unsigned drains = 0; drains < 2; drains++) {
        struct neighbours *all = *state;
        const struct port *cut = &all->node->router.ports[TO_2];

        if (drains) {
            node_takes_places(all, 2, 1);
        } else {
            circuit_stands(all, ON);
        }
        assert_int_equal(cut->order_count, 1 - drains);
        assert_int_equal(cut->draining_count, drains);
        memory_link_cut(&all->fabric->nodes[0].ends[TO_2]);
        go_on(all);
        assert_int_equal(cut->order_count + cut->draining_count, 0);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

TEST_WITH(a_message_whose_link_is_cut_has_failed, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    int32_t request = node_sends(all, 2);

    hold_bytes(all, 0, TO_2, true); /* its bytes wait here */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 2);
    assert_int_equal(node_request(all, request)->state, STATE_MOVING);
    memory_link_cut(&all->fabric->nodes[0].ends[TO_2]);
    go_on(all);
    node_is_done_with(all, request, E_LINK_DEAD);
    assert_true(router_quiet(&all->node->router));
}

/* A broadcast of node 1. */
TEST_WITH(a_collective_whose_bytes_were_cut_short_has_failed, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct ecube_abi_collective arguments = {.operation = ECUBE_BROADCAST,
                                             .root = 1,
                                             .block_bytes = LENGTH,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA};
    int32_t request = node_enters(all, &arguments);

    neighbours_enter(all);
    neighbours_turn(all);
    struct state_body says = node_state(all);
    assert_int_equal(says.stage, COLLECTIVE_STEPS);
    assert_int_equal(says.partner, 1);
    get_open(all, HERE, says.step - 1u, OPEN_SCHEDULE);
    get_data(all, 1, LENGTH / 2, FLAG_LAST | FLAG_ABORT);
    node_is_done_with(all, request, E_LINK_DEAD);
}
