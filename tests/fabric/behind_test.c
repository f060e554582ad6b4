/*
 * behind_test.c - a message comes behind a schedule's circuits on each link, also where a node is
 * through with the schedule before its link is (rule 5).
 *
 * On mesh:3x3 a schedule has two circuits: 1 to 4, and then 0 to 7 by way of 1 and 4. All nodes but
 * 0 and 7 are through with it when the first is done; the link from 1 to 4 is not.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/clock.h"
#include "router/port.h"
#include "tests/fabric/routers.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { TOKENS = 16, BYTES = 100, EPOCH = 1, FIRST = 0, SECOND = 1, MESSAGE = 2, OTHER = 3 };

static const struct memory_fault no_fault;
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* What the owner of each circuit has been told, and its receiver. */
static struct {
    unsigned accepted, refused, received;
    int status;
    uint64_t done_ns;
} told[TOKENS];
static bool withheld;  /* the receivers accept nothing */
static uint16_t epoch; /* of the schedule's circuits */
static uint8_t data[BYTES], sink[BYTES];

static void accept_at(struct routers *all, uint32_t rank, unsigned port)
{
    struct router *router = &all->nodes[rank].router;

    router_accept(router, port,
                  &(struct circuit_sink){.data = sink,
                                         .room = BYTES,
                                         .token = open_tag(router_open_at(router, port))});
}

static void take(struct routers *all, uint32_t rank, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_OPEN:
        if (!withheld) {
            accept_at(all, rank, notice->port);
        }
        break;
    case NOTICE_ACCEPTED:
        told[notice->token].accepted++;
        told[notice->token].done_ns = notice->done_ns;
        break;
    case NOTICE_REFUSED:
        told[notice->token].refused++;
        told[notice->token].status = notice->status;
        break;
    case NOTICE_RECEIVED: told[notice->token].received++; break;
    default: break;
    }
}

static void opens(struct routers *all, uint32_t from, uint32_t to, unsigned token,
                  const uint8_t *hops)
{
    struct circuit_source source = {.dst = to,
                                    .tag = token,
                                    .flags = hops ? OPEN_SCHEDULE : 0,
                                    .epoch = epoch,
                                    .hops = hops,
                                    .data = {data},
                                    .bytes = {BYTES},
                                    .token = token};

    assert_int_equal(router_open(&all->nodes[from].router, &source), E_OK);
    routers_settle(all);
}

static void opens_first(struct routers *all)
{
    static const struct open_hop hops[] = {{HOP_DIMENSION_ORDER, 0}};
    static uint8_t list[HOP_LIST_BYTES_MAX];

    hop_list_pack(list, hops, 1);
    opens(all, 1, 4, FIRST, list);
    assert_int_equal(told[FIRST].accepted, 1);
}

static void opens_second(struct routers *all)
{
    static const struct open_hop hops[] = {
        {HOP_DIMENSION_ORDER, 0}, {HOP_DIMENSION_ORDER, 1}, {HOP_DIMENSION_ORDER, 0}};
    static uint8_t list[HOP_LIST_BYTES_MAX];

    hop_list_pack(list, hops, 3);
    opens(all, 0, 7, SECOND, list);
    assert_int_equal(told[SECOND].accepted, 1);
}

/* All are in the schedule; node 1 and those without circuits are through as soon as they can be. */
static struct routers *begun(void)
{
    struct routers *all = routers_make("mesh:3x3", 1, no_fault, ipsc860);

    memset(told, 0, sizeof told);
    withheld = false;
    epoch = EPOCH;
    all->take = take;
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        uint16_t carries[PORTS_MAX] = {0};
        if (rank == 0) {
            carries[routers_port(all, 0, 1)] = 1;
        }
        if (rank == 1) {
            carries[routers_port(all, 1, 4)] = 2;
        }
        if (rank == 4) {
            carries[routers_port(all, 4, 7)] = 1;
        }
        router_schedule_begin(&all->nodes[rank].router, EPOCH, carries);
    }
    return all;
}

static void are_through(struct routers *all, bool last)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        if (last == (rank == 0 || rank == 7)) {
            router_schedule_done(&all->nodes[rank].router, EPOCH);
        }
    }
}

/* From a node itself, and from another that has no part in the schedule. */
TEST(a_link_refuses_messages_until_it_has_carried_its_last_circuit)
{
    for (uint32_t from = 1; from <= 2; from++) {
        struct routers *all = begun();
        opens_first(all);
        are_through(all, false);
        for (unsigned i = 0; i < 3; i++) {
            opens(all, from, 4, MESSAGE, NULL);
            assert_int_equal(told[MESSAGE].accepted, 0);
            assert_int_equal(told[MESSAGE].refused, i + 1);
            assert_int_equal(told[MESSAGE].status, E_BUSY);
        }
        opens_second(all);
        opens(all, from, 4, MESSAGE, NULL);
        assert_int_equal(told[MESSAGE].accepted, 1);
        routers_free(all);
    }
}

static uint64_t transfer_ns(uint32_t hops)
{
    return clock_transfer(&ipsc860, hops, BYTES);
}

/* So the times are those of the schedule's order, whoever is faster. */
TEST(the_last_circuit_finds_the_link_as_the_schedule_says)
{
    struct routers *all = begun();
    uint64_t first_ns = ipsc860.xi_ns + ipsc860.tau_ns + transfer_ns(1);
    uint64_t second_ns = first_ns + 2 * ipsc860.tau_ns + transfer_ns(3);
    opens_first(all);
    are_through(all, false);
    opens(all, 1, 4, MESSAGE, NULL);
    opens_second(all);
    are_through(all, true);
    opens(all, 1, 4, OTHER, NULL);
    assert_int_equal(told[FIRST].done_ns, first_ns);
    assert_int_equal(told[SECOND].done_ns, second_ns);
    assert_int_equal(told[OTHER].done_ns, second_ns + ipsc860.tau_ns + transfer_ns(1));
    routers_free(all);
}

TEST(other_links_and_other_schedules_do_not_count)
{
    static const uint16_t none[PORTS_MAX];

    struct routers *all = begun();
    opens(all, 2, 4, MESSAGE, NULL); /* nobody is through: it is from before the schedule */
    assert_int_equal(told[MESSAGE].accepted, 1);
    opens_first(all);
    are_through(all, false);
    opens(all, 1, 2, OTHER, NULL);
    assert_int_equal(told[OTHER].accepted, 1);
    router_schedule_begin(&all->nodes[1].router, EPOCH + 1, none);
    opens(all, 1, 4, OTHER + 1, NULL);
    assert_int_equal(told[OTHER + 1].accepted, 1);
    routers_free(all);
}

/* Which goes over links of nodes that have not begun it. */
TEST(a_later_schedule_has_all_of_the_last_behind_it)
{
    struct routers *all = begun();
    opens_first(all);
    opens_second(all);
    are_through(all, false);
    are_through(all, true);
    epoch++;
    memset(&told[FIRST], 0, sizeof told[FIRST]);
    opens_first(all);
    opens(all, 2, 4, MESSAGE, NULL);
    assert_int_equal(told[MESSAGE].accepted, 1);
    routers_free(all);
}

/* Two messages of node 2 to 4, from before the schedule. The first is at node 4 when node 1 is
 * through; the second follows it, or its refusal would be taken for an answer to the first. */
TEST(what_follows_another_is_not_refused_ahead_of_it)
{
    struct routers *all = begun();
    opens_first(all);
    withheld = true;
    opens(all, 2, 4, MESSAGE, NULL);
    router_schedule_done(&all->nodes[1].router, EPOCH);
    opens(all, 2, 4, OTHER, NULL);
    withheld = false;
    accept_at(all, 4, routers_port(all, 4, 1));
    routers_settle(all);
    for (unsigned token = MESSAGE; token <= OTHER; token++) {
        assert_int_equal(told[token].refused, 0);
        assert_int_equal(told[token].accepted, 1);
        assert_int_equal(told[token].received, 1);
    }
    routers_free(all);
}
