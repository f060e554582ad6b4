/*
 * relay_test.c - packets that a router passes on, when the next one has nothing to say to it.
 *
 * A packet lies in the window of the port it came in by until the next router has acknowledged it.
 * An acknowledgement goes with what is sent the other way, or after 40 ms: the stream must not stop
 * for that long whenever a window is full.
 */
#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "tests/fabric/routers.h"
#include "tests/testing.h"
#include "wire/packet.h"

enum { FIRST = 0, PACKETS = 20 * CONTROL_WINDOW };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;
/* All are reached by way of node 1, over five links. Over each up to three packets lie
 * unacknowledged, for the fourth is acknowledged at once: more than a window. */
static const uint32_t last[] = {3, 5, 9, 17, 33};
enum { LAST_COUNT = sizeof last / sizeof last[0] };
static unsigned taken;

static void take(struct routers *all, uint32_t rank, const struct notice *notice)
{
    (void)all;
    if (notice->kind == NOTICE_PACKET) {
        assert_int_equal(rank & 1, 1);
        taken++;
    }
}

TEST(a_stream_of_packets_waits_for_no_timer)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct routers *all = routers_make("cube:6", seed, no_fault, ipsc860);
        unsigned sent = 0;
        all->take = take;
        taken = 0;
        uint64_t begin_us = all->now_us;
        while (taken < PACKETS && all->now_us < begin_us + ACK_DELAY_US / 2) {
            while (sent < PACKETS && router_send(&all->nodes[FIRST].router, PACKET_ROUTED,
                                                 last[sent % LAST_COUNT], NULL, 0) == E_OK) {
                sent++;
            }
            routers_round(all);
        }
        assert_int_equal(taken, PACKETS);
        routers_free(all);
    }
}
