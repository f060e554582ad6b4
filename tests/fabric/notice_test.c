/*
 * notice_test.c - what a router has no room to tell of it tells when there is room again, though
 * nothing else happens.
 */
#include "drivers/status.h"
#include "router/channel.h"
#include "router/notice.h"
#include "router/router.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum { TO_1 = 0, TO_2 = 1, LENGTH = 8, OWN = 1 };

static void fill_notices(struct router *router)
{
    while (notice_room(router)) {
        *notice_add(router) = (struct notice){.kind = NOTICE_IDENTITY};
    }
}

static void take_notices(struct router *router)
{
    while (router_notice(router)) {
    }
}

/* Node 0's router moves what it can, in vain, and then again. */
static void is_told_later(struct neighbours *all, enum notice_kind kind, int status)
{
    struct router *router = &all->node->router;

    fill_notices(router);
    router_move(router, all->fabric->now_us);
    router_flush(router);
    assert_false(notice_room(router));
    take_notices(router);
    router_move(router, all->fabric->now_us);
    router_flush(router);
    const struct notice *notice = router_notice(router);
    assert_non_null(notice);
    assert_int_equal(notice->kind, kind);
    assert_int_equal(notice->status, status);
}

static void node_opens(struct neighbours *all, uint32_t dst)
{
    struct circuit_source source = {.dst = dst,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {LENGTH},
                                    .token = token_make(TOKEN_REQUEST, 0, OWN)};

    assert_int_equal(router_open(&all->node->router, &source), E_OK);
}

TEST_WITH(a_circuit_that_comes_is_told_of_later, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    neighbour_opens(all, 1, 0, OPEN_EAGER | OPEN_INLINE, LENGTH);
    neighbours_step(all, 1);
    router_take(&all->node->router, all->fabric->now_us);
    is_told_later(all, NOTICE_OPEN, E_OK);
}

TEST_WITH(the_end_of_bytes_is_told_of_later, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_receives(all, 1, FABRIC_DATA);
    neighbour_announces(all, 1, 11, 0);
    neighbours_turn(all);
    neighbour_opens(all, 1, neighbours_expect(all, PACKET_CTS, 1)->match, 0, LENGTH);
    neighbours_step(all, 1);
    neighbours_step(all, 0);
    neighbours_step(all, 1);
    router_take(&all->node->router, all->fabric->now_us);
    is_told_later(all, NOTICE_RECEIVED, E_OK);
}

TEST_WITH(bytes_that_the_neighbour_has_are_told_of_later, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    node_opens(all, 2);
    neighbours_step(all, 0);
    neighbours_step(all, 2);
    neighbours_step(all, 2); /* the answer */
    neighbours_step(all, 0);
    neighbours_step(all, 2);
    router_take(&all->node->router, all->fabric->now_us);
    is_told_later(all, NOTICE_SENT, E_OK);
}

TEST_WITH(a_circuit_that_has_no_way_is_told_of_later, neighbours_begin, neighbours_end)
{
    struct neighbours *all = *state;

    router_kill_port(&all->node->router, TO_2, DEAD_CARRIER);
    neighbours_step(all, 0);
    node_opens(all, 2);
    is_told_later(all, NOTICE_REFUSED, E_LINK_DEAD);
}

/* The port's state is written here. A link's change is taken only when there is room for its
 * notice, and to fill that room in the same step takes changes of more links than these have. */
TEST_WITH(what_becomes_of_a_link_is_told_later, neighbours_begin, neighbours_end)
{
    static const struct {
        enum link_state link;
        uint8_t told;
        enum notice_kind kind;
    } cases[] = {{LINK_UP, 0, NOTICE_UP},
                 {LINK_CROSSED, REPORTED_UP, NOTICE_CROSSED},
                 {LINK_DEAD, REPORTED_UP, NOTICE_DEAD}};

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct neighbours *all = *state;
        struct port *port = &all->node->router.ports[TO_1];
        port->channel.state = (uint8_t)cases[i].link;
        port->reported = cases[i].told;
        channel_wake(&port->channel, &all->node->router.due);
        is_told_later(all, cases[i].kind, 0);
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}
