/*
 * circuit_test.c - OPENs and answers that a neighbour may not send; turns; circuits that pass.
 *
 * Node 0 stands between 1 and 2. What no router says is queued on the neighbour's link by hand, and
 * the neighbour then hears nothing any more.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/packet.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"
#include "router/segment.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum {
    TO_1 = 0,
    TO_2 = 1,
    TO_2_FROM_2 = 1, /* the same cable, as node 2 has it */
    LENGTH = 8,
    FRAMES = 8,
    DATA_SEGMENTS = 2,           /* of a short message: header and bytes */
    HOPS_MAX = OPEN_HOPS_MAX + 1 /* that packets of a small network may have */
};

/* An OPEN from 1 as it should be, but for what a test changes. */
struct open {
    uint8_t kind, flags;
    uint16_t hops;
    uint32_t dst, length, inlined, cut; /* bytes behind it, and that it lacks */
    unsigned listed, entries;           /* hops as its list says, and that are there */
    struct open_hop next;               /* all of them */
};

static uint8_t frames[FRAMES][FRAME_HEADER_BYTES + FRAME_CONTROL_MAX];

/* Node 0 gets this packet from 1. */
static void get_packet(struct neighbours *all, unsigned number, uint32_t bytes)
{
    struct router *router = &all->fabric->nodes[1].node->router;

    packet_queue(router, TO_1, frames[number], bytes)->owner = OWNER_NONE;
    router_flush(router);
    for (unsigned round = 0; round < 8; round++) {
        neighbours_step(all, 0);
    }
}

static void get_open(struct neighbours *all, unsigned number, struct open open)
{
    uint8_t *packet = frames[number] + FRAME_HEADER_BYTES;
    struct open_hop hops[OPEN_HOPS_MAX];
    uint32_t bytes = OPEN_BYTES + open.inlined - open.cut;

    for (unsigned i = 0; i < open.entries; i++) {
        hops[i] = open.next;
    }
    if (open.flags & (OPEN_SCHEDULE | OPEN_ROUTE)) {
        bytes += hop_list_pack(packet + OPEN_BYTES, hops, open.entries);
    }
    packet[OPEN_BYTES] = (uint8_t)open.listed;
    packet_pack(packet, open.kind ? open.kind : PACKET_OPEN, bytes - PACKET_HEADER_BYTES, 1,
                open.dst);
    packet_set_hops(packet, open.hops ? open.hops : 1);
    open_pack(packet, &(struct open_body){.length = open.length,
                                          .flags = open.flags,
                                          .generation = all->fabric->runs});
    get_packet(all, number, bytes);
}

TEST_WITH(impossible_opens_end_the_link, neighbours_begin, neighbours_end)
{
    enum { EAGER = OPEN_EAGER | OPEN_INLINE, ENDS = 0, TAKEN, REFUSED };
    static const struct {
        struct open open;
        int outcome;
    } cases[] = {
        {{.flags = EAGER, .length = LENGTH, .inlined = LENGTH}, TAKEN},
        {{.flags = EAGER}, TAKEN},
        {{.length = LENGTH}, REFUSED}, /* no receive waits for it */
        {{.flags = EAGER, .length = LENGTH, .inlined = LENGTH, .hops = HOPS_MAX - 1}, TAKEN},
        {{.dst = 7, .length = LENGTH}, REFUSED},
        {{.dst = 3, .length = LENGTH}, REFUSED}, /* it would go back */
        {{.flags = EAGER, .length = LENGTH, .inlined = LENGTH, .hops = HOPS_MAX}, ENDS},
        {{.flags = EAGER, .length = LENGTH, .inlined = LENGTH - 1}, ENDS},
        {{.flags = EAGER, .length = LENGTH, .inlined = LENGTH + 1}, ENDS},
        {{.flags = EAGER, .length = OPEN_INLINE_MAX, .inlined = OPEN_INLINE_MAX}, TAKEN},
        {{.flags = EAGER, .length = OPEN_INLINE_MAX + 1, .inlined = OPEN_INLINE_MAX + 1}, ENDS},
        {{.length = LENGTH, .inlined = LENGTH}, ENDS},
        {{.length = 0}, ENDS},
        {{.flags = EAGER, .cut = 1}, ENDS},
        {{.flags = OPEN_ROUTE, .dst = 2, .length = LENGTH, .listed = 1, .entries = 1}, REFUSED},
        {{.flags = OPEN_ROUTE, .length = LENGTH}, ENDS},
        {{.flags = OPEN_ROUTE, .length = LENGTH, .cut = 1}, ENDS}, /* no list */
        {{.flags = OPEN_ROUTE, .length = LENGTH, .listed = 1}, ENDS},
        {{.flags = OPEN_ROUTE, .length = LENGTH, .listed = 2, .entries = 2, .cut = 1}, ENDS},
        {{.flags = OPEN_ROUTE, .length = LENGTH, .listed = 1, .entries = 2}, ENDS},
        {{.flags = OPEN_ROUTE, .length = LENGTH, .listed = OPEN_HOPS_MAX, .entries = OPEN_HOPS_MAX},
         REFUSED},
        {{.flags = OPEN_ROUTE | OPEN_INLINE,
          .length = HOP_BYTES,
          .inlined = HOP_BYTES,
          .listed = OPEN_HOPS_MAX + 1,
          .entries = OPEN_HOPS_MAX},
         ENDS},
        {{.kind = 4, .length = LENGTH}, ENDS},
        {{.kind = PACKET_ACCEPT, .length = LENGTH}, ENDS},
        {{.kind = PACKET_REFUSE, .length = UINT32_MAX}, ENDS},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct neighbours *all = *state;
        unsigned refused = node_said(all, TO_1)->packets[PACKET_REFUSE];
        get_open(all, 0, cases[i].open);
        assert_int_equal(node_link(all, TO_1), cases[i].outcome == ENDS ? LINK_DEAD : LINK_UP);
        assert_int_equal(router_dead_reason(&all->node->router, TO_1),
                         cases[i].outcome == ENDS ? DEAD_PROTOCOL : 0);
        assert_int_equal(node_said(all, TO_1)->packets[PACKET_REFUSE] - refused,
                         cases[i].outcome == REFUSED);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

/* A second circuit before the first one's answer: only messages to one node follow each other. Node
 * 2 does not answer here. */
TEST_WITH(only_messages_to_one_node_follow_each_other, neighbours_begin, neighbours_end)
{
    static const struct {
        struct open first, second;
        bool possible;
    } cases[] = {
        {{.dst = 2, .length = LENGTH}, {.dst = 2, .length = LENGTH}, true},
        {{.dst = 2, .length = LENGTH}, {.dst = 0, .length = LENGTH}, false},
        {{.dst = 2, .length = LENGTH}, {.dst = 2, .length = LENGTH, .flags = OPEN_IMAGE}, false},
        {{.dst = 2, .length = LENGTH, .flags = OPEN_IMAGE}, {.dst = 2, .length = LENGTH}, false},
        {{.dst = 2, .length = LENGTH},
         {.dst = 2, .flags = OPEN_INLINE, .length = LENGTH, .inlined = LENGTH},
         false},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct neighbours *all = *state;
        get_open(all, 0, cases[i].first);
        assert_int_equal(node_link(all, TO_1), LINK_UP);
        get_open(all, 1, cases[i].second);
        assert_int_equal(node_link(all, TO_1), cases[i].possible ? LINK_UP : LINK_DEAD);
        for (unsigned k = 2; cases[i].possible && k <= CIRCUITS_MAX; k++) {
            get_open(all, k, cases[i].second);
            assert_int_equal(node_link(all, TO_1), k < CIRCUITS_MAX ? LINK_UP : LINK_DEAD);
        }
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

/* Who sends circuits and does not acknowledge the answers gets so many. */
TEST_WITH(answers_that_are_not_acknowledged_are_few, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    unsigned said = node_said(all, TO_1)->packets[PACKET_ACCEPT];
    struct open open = {.flags = OPEN_EAGER | OPEN_INLINE, .length = LENGTH, .inlined = LENGTH};

    for (unsigned i = 0; i <= CIRCUITS_MAX; i++) {
        get_open(all, i, open);
        assert_int_equal(node_link(all, TO_1), LINK_UP);
        assert_int_equal(node_said(all, TO_1)->packets[PACKET_ACCEPT] - said,
                         i < CIRCUITS_MAX ? i + 1 : CIRCUITS_MAX);
    }
    get_open(all, CIRCUITS_MAX + 1, open); /* before the answer that is owed */
    assert_int_equal(node_link(all, TO_1), LINK_DEAD);
}

/* Circuits that were accepted, whose bytes do not come. */
TEST_WITH(open_circuits_are_few, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    unsigned said = node_said(all, TO_1)->packets[PACKET_ACCEPT];

    for (unsigned i = 0; i < CIRCUITS_MAX; i++) {
        get_open(all, i, (struct open){.dst = 2, .length = LENGTH});
        for (unsigned round = 0; round < 8; round++) {
            neighbours_step(all, 2);
            neighbours_step(all, 0);
        }
        assert_int_equal(node_said(all, TO_1)->packets[PACKET_ACCEPT] - said, i + 1);
    }
    assert_int_equal(node_link(all, TO_1), LINK_UP);
    get_open(all, CIRCUITS_MAX, (struct open){.dst = 2, .length = LENGTH});
    assert_int_equal(node_link(all, TO_1), LINK_DEAD);
}

/* A REFUSE says why. */
TEST_WITH(a_refusal_without_a_reason_ends_the_link, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct circuit_source source = {.dst = 1,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};

    assert_int_equal(router_open(&all->node->router, &source), E_OK);
    neighbours_step(all, 0);
    get_open(all, 0, (struct open){.kind = PACKET_REFUSE, .length = E_OK});
    assert_int_equal(node_link(all, TO_1), LINK_DEAD);
}

/* A circuit from a node to 2, by way of 0; and it goes as far as it can. */
static void begin_to_2(struct neighbours *all, unsigned rank, uint8_t flags, uint16_t epoch,
                       uint16_t turn)
{
    struct open_hop hops[] = {{HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, turn}};
    uint8_t list[HOP_LIST_BYTES + 2 * HOP_BYTES];
    struct circuit_source source = {.dst = 2,
                                    .match = 100u * epoch + turn,
                                    .flags = flags,
                                    .epoch = epoch,
                                    .hops = list,
                                    .data = {fabric_at(all->fabric, rank, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};
    struct router *router = &all->fabric->nodes[rank].node->router;

    hop_list_pack(list, rank == 1 ? hops : hops + 1, rank == 1 ? 2 : 1);
    if (rank != 0 && flags & OPEN_SCHEDULE) {
        router_reset_clocks(router); /* the neighbour minds no turn */
    }
    assert_int_equal(router_open(router, &source), E_OK);
    if (rank != 0) {
        neighbours_step(all, rank);
    }
}

static void open_to_2(struct neighbours *all, unsigned rank, uint8_t flags, uint16_t epoch,
                      uint16_t turn)
{
    begin_to_2(all, rank, flags, epoch, turn);
    neighbours_turn(all);
}

TEST_WITH(circuits_of_a_schedule_pass_in_their_turn_or_never, neighbours_begin, neighbours_end)
{
    enum { FLAGS = OPEN_SCHEDULE | OPEN_INLINE };
    struct neighbours *all = *state;

    open_to_2(all, 1, FLAGS, 4, 1);
    neighbours_expect_no_more(all);
    open_to_2(all, 0, FLAGS, 4, 0);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, 400);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, 401);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    open_to_2(all, 1, FLAGS, 4, 1); /* has been */
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_FORMAT);
    open_to_2(all, 1, FLAGS, 3, 2); /* of an earlier schedule */
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_FORMAT);
    open_to_2(all, 1, FLAGS, 5, 0); /* the count begins anew */
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, 500);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
}

/* What a list says that no hop can do. 0 is the port that the OPEN has come by. */
TEST_WITH(a_circuit_whose_list_leads_nowhere_is_refused, neighbours_begin, neighbours_end)
{
    static const uint8_t ports[] = {TO_1, 3, 17, PORT_NONE, PORT_LOCAL, HOP_DIMENSION_ORDER - 1};

    for (unsigned i = 0; i <= sizeof ports; i++) {
        struct neighbours *all = *state;
        bool over = i == sizeof ports; /* the list ends before the path */
        unsigned refused = node_said(all, TO_1)->packets[PACKET_REFUSE];
        get_open(all, 0,
                 (struct open){.flags = OPEN_ROUTE | OPEN_INLINE,
                               .dst = 2,
                               .listed = over ? 1 : 2,
                               .entries = over ? 1 : 2,
                               .next = {over ? HOP_DIMENSION_ORDER : ports[i], 0}});
        assert_int_equal(node_link(all, TO_1), LINK_UP);
        assert_int_equal(node_said(all, TO_1)->packets[PACKET_REFUSE], refused + 1);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

/* Rule 2: it may close a circle of those that wait. */
TEST_WITH(a_circuit_with_a_route_of_its_own_does_not_wait_for_a_busy_link, neighbours_begin,
          neighbours_end)
{
    static const struct open_hop hops[] = {{TO_1, 0}, {TO_2, 0}};
    struct neighbours *all = *state;
    uint8_t list[HOP_LIST_BYTES + 2 * HOP_BYTES];
    struct circuit_source source = {.dst = 2,
                                    .hops = list,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};
    struct router *sender = &all->fabric->nodes[1].node->router;

    hop_list_pack(list, hops, 2);
    assert_int_equal(router_open(&all->node->router, &source), E_OK);
    neighbours_turn_without_2(all);
    source.flags = OPEN_ROUTE;
    assert_int_equal(router_open(sender, &source), E_OK);
    neighbours_turn_without_2(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_REFUSED);
    source.flags = 0;
    assert_int_equal(router_open(sender, &source), E_OK);
    neighbours_turn_without_2(all);
    neighbours_expect_no_more(all);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 2);
    neighbours_expect(all, PACKET_OPEN, 2);
    source.flags = OPEN_ROUTE;
    neighbours_expect(all, PACKET_ACCEPT, 1);
    assert_int_equal(router_open(sender, &source), E_OK);
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 2);
    neighbours_expect(all, PACKET_ACCEPT, 1);
}

/* Rule 5, and that parts of a download are no messages. */
TEST_WITH(messages_from_behind_a_collective_wait_and_images_do_not, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    struct router *sender = &all->fabric->nodes[1].node->router;

    struct router *receiver = &all->fabric->nodes[2].node->router;

    router_schedule_done(sender, 2);
    router_schedule_done(receiver, 2);
    router_schedule_done(&all->node->router, 1);
    open_to_2(all, 1, 0, 0, 0);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_BUSY);
    open_to_2(all, 1, OPEN_IMAGE, 0, 7);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, 7);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    router_schedule_done(&all->node->router, 2);
    router_schedule_done(receiver, 1);
    open_to_2(all, 1, 0, 0, 8);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_BUSY);
    router_schedule_done(receiver, 2);
    open_to_2(all, 1, 0, 0, 9);
    assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, 9);
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
}

/* Or its answer would be taken for the other one's. */
TEST_WITH(a_message_does_not_follow_one_of_another_node, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct circuit_source source = {.dst = 2,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};

    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    assert_int_equal(router_open(&all->node->router, &source), E_OK);
    neighbours_step(all, 0);
    source.match = 1;
    assert_int_equal(router_open(&all->fabric->nodes[1].node->router, &source), E_OK);
    neighbours_turn_without_2(all);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened + 1);
    neighbours_turn(all);
    for (uint32_t match = 0; match < 2; match++) {
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, match);
    }
    neighbours_expect(all, PACKET_ACCEPT, 1);
    neighbours_expect_no_more(all);
}

/* Node 2 reads what has come, and answers nothing. */
static void node_2_reads(struct neighbours *all)
{
    router_step(&all->fabric->nodes[2].node->router, all->fabric->now_us);
}

/* Messages to one node follow each other, but not ahead of an older one that waits for the same
 * link; one that came later, or waits for another link, keeps none of them. */
TEST_WITH(messages_that_follow_each_other_do_not_keep_an_older_one_out, neighbours_begin,
          neighbours_end)
{
    enum { OLDER, RETRY, ELSEWHERE, CASES, OWN = 7 };

    for (unsigned when = OLDER; when < CASES; when++) {
        struct neighbours *all = *state;
        struct router *router = &all->node->router;
        struct circuit_source own = {.dst = when == ELSEWHERE ? 1 : 2,
                                     .match = OWN,
                                     .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                     .bytes = {LENGTH},
                                     .token = token_make(TOKEN_REQUEST, 0, 1)};
        node_takes_places(all, 1, CIRCUITS_MAX);
        node_takes_places(all, 2, CIRCUITS_MAX - 1);
        get_open(all, 0, (struct open){.dst = 2, .length = LENGTH});
        if (when != RETRY) {
            assert_int_equal(router_open(router, &own), E_OK);
        }
        get_open(all, 1, (struct open){.dst = 2, .length = LENGTH});
        if (when == RETRY) {
            assert_int_equal(router_open(router, &own), E_OK);
        }
        unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
        node_2_reads(all);
        neighbours_step(all, 0);
        assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN] - opened, when != OLDER);
        for (unsigned round = 0; round < 20; round++) { /* 1 hears nothing any more */
            neighbours_step(all, 0);
            neighbours_step(all, 2);
        }
        for (unsigned i = 0; i < (when == ELSEWHERE ? 2 : 3); i++) {
            assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match,
                             i == (when == OLDER ? 1 : 2) ? OWN : 0);
        }
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

/* Not before bytes of one have gone on from the next node, and then in the step that says so: no
 * other may follow. */
TEST_WITH(a_fifth_circuit_waits_until_one_of_four_has_drained, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct memory_end *cable = &all->fabric->nodes[0].ends[TO_2];
    struct circuit_source source = {.dst = 2,
                                    .match = 55,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};

    node_takes_places(all, 2, CIRCUITS_MAX);
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    for (unsigned i = 0; i < 2; i++, source.match++) {
        assert_int_equal(router_open(&all->node->router, &source), E_OK);
    }
    neighbours_turn_without_2(all);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened);
    memory_link_hold(cable, DATA_SEGMENTS);
    node_2_reads(all);
    router_step(&all->node->router, all->fabric->now_us);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened + 1);
    neighbours_turn(all);
    for (uint32_t match = 55; match < 57; match++) {
        assert_int_equal(neighbours_expect(all, PACKET_OPEN, 2)->match, match);
    }
}

/* How many of the circuits of node 0's own it hears of that are refused. */
static unsigned refused(struct router *router)
{
    const struct notice *notice;
    unsigned count = 0;

    while ((notice = router_notice(router))) {
        count += notice->kind == NOTICE_REFUSED && notice->status == E_LINK_DEAD;
    }
    return count;
}

/* Of those that follow each other, one is on its way and the others not yet. */
TEST_WITH(circuits_of_this_node_all_end_with_their_link, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    struct router *router = &all->node->router;
    struct circuit_source own = {.dst = 2,
                                 .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                 .bytes = {LENGTH},
                                 .token = token_make(TOKEN_REQUEST, 0, 1)};

    node_takes_places(all, 2, CIRCUITS_MAX - 1);
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(router_open(router, &own), E_OK);
    }
    neighbours_step(all, 0);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened + 1);
    router_kill_port(router, TO_2, DEAD_CARRIER);
    assert_int_equal(router_open(router, &own), E_OK);
    router_move(router, all->fabric->now_us); /* those that wait are refused first */
    assert_int_equal(refused(router), 2);
    router_flush(router);
    assert_int_equal(refused(router), 1);
    router_step(router, all->fabric->now_us);
    assert_true(router_quiet(router));
    own.dst = 1; /* it would follow none that has no answer */
    assert_int_equal(router_open(router, &own), E_OK);
}

/* Node 2's link turns out to lead elsewhere, and node 0 does not end it: so it is in the boot. */
static void link_to_2_is_crossed(struct neighbours *all)
{
    struct router *router = &all->node->router;

    fabric_misname(all->fabric, 2, TO_2_FROM_2, 1);
    router_step(router, all->fabric->now_us);
    assert_int_equal(node_link(all, TO_2), LINK_CROSSED);
    while (router_notice(router)) {
    }
}

/* Nothing of it remains, though bytes of a schedule's circuit need no answer. */
TEST_WITH(a_crossed_link_takes_no_circuit, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    link_to_2_is_crossed(all);
    open_to_2(all, 1, 0, 0, 0);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_LINK_DEAD);
    open_to_2(all, 0, OPEN_SCHEDULE, 4, 0);
    assert_true(router_quiet(&all->node->router));
    open_to_2(all, 0, OPEN_SCHEDULE, 4, 0); /* one without an answer would keep it out */
    neighbours_expect_no_more(all);
}

/* It waits for the answer to another's set-up, which will not come. */
TEST_WITH(a_circuit_that_waits_for_a_link_that_turns_out_crossed_is_refused, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    struct circuit_source on = {.dst = 2,
                                .data = {fabric_at(all->fabric, 1, FABRIC_DATA)},
                                .bytes = {LENGTH},
                                .token = token_make(TOKEN_REQUEST, 0, 1)};

    assert_int_equal(router_open(&all->node->router, &on), E_OK);
    neighbours_step(all, 0);
    unsigned opened = node_said(all, TO_2)->packets[PACKET_OPEN];
    unsigned refused = node_said(all, TO_1)->packets[PACKET_REFUSE];
    assert_int_equal(router_open(&all->fabric->nodes[1].node->router, &on), E_OK);
    neighbours_turn_without_2(all);
    assert_int_equal(node_said(all, TO_2)->packets[PACKET_OPEN], opened);
    assert_int_equal(node_said(all, TO_1)->packets[PACKET_REFUSE], refused);
    link_to_2_is_crossed(all);
    assert_int_equal(node_said(all, TO_1)->packets[PACKET_REFUSE], refused + 1);
    neighbours_step(all, 1);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_LINK_DEAD);
}

/* Those that are here already as soon as it is refused. */
TEST_WITH(bytes_of_a_circuit_that_is_refused_are_thrown_away, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;
    const struct memory_said *said = node_said(all, TO_1);
    uint32_t read = said->last.data_credit;

    open_to_2(all, 1, OPEN_SCHEDULE, 4, 1); /* not its turn */
    neighbours_expect_no_more(all);
    assert_int_equal(all->fabric->nodes[1].ends[TO_1].said.frames[FRAME_DATA], 1);
    memory_link_cut(&all->fabric->nodes[0].ends[TO_2]);
    neighbours_step(all, 0);
    neighbours_step(all, 0);
    assert_int_equal(said->last.data_credit - read, LENGTH);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_LINK_DEAD);
    for (unsigned i = 0; i < CIRCUITS_MAX; i++) { /* it keeps no place */
        open_to_2(all, 1, 0, 0, 0);
        assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_LINK_DEAD);
    }
    assert_int_equal(node_link(all, TO_1), LINK_UP);
}

/* Those of a schedule follow their OPEN in any case. */
TEST_WITH(bytes_may_come_after_their_circuit_has_been_refused_farther_on, neighbours_begin,
          neighbours_end)
{
    struct neighbours *all = *state;
    struct memory_end *cable = &all->fabric->nodes[1].ends[TO_1];
    uint32_t read = node_said(all, TO_1)->last.data_credit;

    all->refusal = E_PEER_GONE;
    begin_to_2(all, 1, OPEN_SCHEDULE, 4, 0);
    memory_link_hold(cable, 1); /* the OPEN */
    neighbours_turn(all);
    neighbours_expect(all, PACKET_OPEN, 2);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    assert_int_equal(node_said(all, TO_1)->last.data_credit, read);
    memory_link_let_go(cable);
    neighbours_turn(all);
    assert_int_equal(node_link(all, TO_1), LINK_UP);
    assert_int_equal(node_said(all, TO_1)->last.data_credit - read, LENGTH);
    assert_int_equal(all->received, 0);
    assert_true(router_quiet(&all->fabric->nodes[1].node->router));
}
