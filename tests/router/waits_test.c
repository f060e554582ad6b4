/*
 * waits_test.c - what a router says of its circuits: for what they wait, and who has the link.
 *
 * On mesh:3x3 circuits go from 0 and from 2 over node 1 to node 4, which does not answer.
 *
 *     0 --- 1 --- 2
 *           |
 *           4
 */
#include "router/waits.h"

#include <string.h>

#include "drivers/status.h"
#include "router/port.h"
#include "router/router.h"
#include "tests/fabric/routers.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { BYTES = 100, EPOCH = 1 };

static const struct memory_fault no_fault;
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static uint8_t data[BYTES], sink[BYTES];

static struct router *router_of(struct routers *all, uint32_t rank)
{
    return &all->nodes[rank].router;
}

static void take(struct routers *all, uint32_t rank, const struct notice *notice)
{
    (void)all, (void)rank, (void)notice;
}

static struct routers *begun(void)
{
    struct routers *all = routers_make("mesh:3x3", 1, no_fault, ipsc860);

    all->take = take;
    return all;
}

static void opens(struct routers *all, uint32_t from, const uint8_t *hops)
{
    struct circuit_source source = {.dst = 4,
                                    .flags = hops ? OPEN_SCHEDULE : 0,
                                    .epoch = hops ? EPOCH : 0,
                                    .hops = hops,
                                    .data = {data},
                                    .bytes = {BYTES}};

    assert_int_equal(router_open(router_of(all, from), &source), E_OK);
}

static void accepts(struct routers *all, uint32_t from)
{
    router_accept(router_of(all, 4), routers_port(all, 4, from),
                  &(struct circuit_sink){.data = sink, .room = BYTES});
    routers_settle(all);
}

/* At the in-port from a neighbour; from a node itself: its own. */
static void expect(struct routers *all, uint32_t rank, uint32_t from, enum router_wait_kind kind,
                   unsigned out, uint32_t src)
{
    unsigned in = from == rank ? (unsigned)PORT_LOCAL : routers_port(all, rank, from);
    struct router_wait wait = router_waits(router_of(all, rank), in);

    assert_int_equal(wait.kind, kind);
    assert_int_equal(wait.out, out);
    assert_int_equal(packet_src(wait.open), src);
    assert_int_equal(packet_dst(wait.open), 4);
}

static void expect_none(struct routers *all, uint32_t rank, uint32_t from)
{
    unsigned in = from == rank ? (unsigned)PORT_LOCAL : routers_port(all, rank, from);
    struct router_wait wait = router_waits(router_of(all, rank), in);

    assert_int_equal(wait.kind, ROUTER_WAITS_NOT);
    assert_null(wait.open);
}

TEST(a_circuit_waits_for_its_owner_and_its_source_for_the_answer)
{
    struct routers *all = begun();

    expect_none(all, 0, 0);
    opens(all, 0, NULL);
    assert_int_equal(packet_dst(router_own(router_of(all, 0), SOURCE_WAITING)), 4);
    assert_null(router_own(router_of(all, 0), SOURCE_OPENED));
    routers_settle(all);
    expect(all, 0, 0, ROUTER_WAITS_ANSWER, routers_port(all, 0, 1), 0);
    assert_int_equal(packet_dst(router_own(router_of(all, 0), SOURCE_OPENED)), 4);
    expect_none(all, 1, 0);
    expect(all, 4, 1, ROUTER_WAITS_OWNER, PORT_LOCAL, 0);
    accepts(all, 1);
    expect_none(all, 0, 0);
    expect_none(all, 4, 1);
    routers_free(all);
}

TEST(its_way_is_found_from_hop_to_hop)
{
    struct routers *all = begun();
    unsigned out = routers_port(all, 1, 4), in = routers_port(all, 1, 0);

    opens(all, 0, NULL);
    routers_settle(all);
    assert_int_equal(router_holder(router_of(all, 0), routers_port(all, 0, 1)), PORT_LOCAL);
    assert_int_equal(router_holder(router_of(all, 1), out), in);
    assert_int_equal(router_onward(router_of(all, 1), in), out);
    assert_int_equal(router_onward(router_of(all, 4), routers_port(all, 4, 1)), PORT_NONE);
    accepts(all, 1);
    assert_int_equal(router_holder(router_of(all, 1), out), PORT_NONE);
    assert_int_equal(router_onward(router_of(all, 1), in), PORT_NONE);
    routers_free(all);
}

TEST(circuits_wait_for_a_link_over_which_another_is_set_up)
{
    struct routers *all = begun();
    unsigned out = routers_port(all, 1, 4);

    opens(all, 0, NULL);
    routers_settle(all);
    opens(all, 2, NULL);
    routers_settle(all);
    opens(all, 1, NULL);
    routers_settle(all);
    expect(all, 1, 2, ROUTER_WAITS_SETUP, out, 2);
    expect(all, 1, 1, ROUTER_WAITS_SETUP, out, 1);
    assert_int_equal(router_holder(router_of(all, 1), out), routers_port(all, 1, 0));
    accepts(all, 1);
    expect_none(all, 1, 2);
    expect(all, 1, 1, ROUTER_WAITS_SETUP, out, 1);
    assert_int_equal(router_holder(router_of(all, 1), out), routers_port(all, 1, 2));
    routers_free(all);
}

/* That of node 0 is the second on link 1>4. */
TEST(a_schedules_circuit_waits_for_its_turn)
{
    static const struct open_hop second[] = {{HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, 1}};
    static const struct open_hop first[] = {{HOP_DIMENSION_ORDER, 0}};
    static uint8_t lists[2][HOP_LIST_BYTES_MAX];
    struct routers *all = begun();
    unsigned out = routers_port(all, 1, 4);

    hop_list_pack(lists[0], first, 1);
    hop_list_pack(lists[1], second, 2);
    opens(all, 0, lists[1]);
    routers_settle(all);
    expect(all, 1, 0, ROUTER_WAITS_TURN, out, 0);
    assert_int_equal(router_holder(router_of(all, 1), out), PORT_NONE);
    assert_int_equal(router_turn(router_of(all, 1), out, EPOCH), 0);
    opens(all, 1, lists[0]);
    routers_settle(all);
    accepts(all, 1);
    assert_int_equal(router_turn(router_of(all, 1), out, EPOCH), 1);
    assert_int_equal(router_turn(router_of(all, 1), out, EPOCH + 1), 0);
    expect(all, 4, 1, ROUTER_WAITS_OWNER, PORT_LOCAL, 0);
    routers_free(all);
}

/* Before its router has stepped. */
TEST(a_link_may_be_dead_or_full)
{
    struct routers *all = begun();
    unsigned out = routers_port(all, 1, 4);
    struct port *port = &router_of(all, 1)->ports[out];

    opens(all, 1, NULL);
    expect(all, 1, 1, ROUTER_WAITS_ROOM, out, 1);
    port->order_count = CIRCUITS_MAX;
    expect(all, 1, 1, ROUTER_WAITS_PLACE, out, 1);
    port->channel.state = LINK_DEAD;
    expect(all, 1, 1, ROUTER_WAITS_DEAD, out, 1);
    routers_free(all);
}
