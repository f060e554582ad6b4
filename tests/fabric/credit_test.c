/*
 * credit_test.c - two channels over a lossy link in memory: credit that is lost on its way.
 *
 * The neighbour has acknowledged everything and gives credit later, once, in an acknowledgement of
 * its own. When that one is lost neither side owes the other anything: only asking brings the
 * credit.
 */
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "tests/fabric/pair.h"
#include "tests/testing.h"

static struct pair pair;

/* All credit is used, all packets are acknowledged, and the acknowledgement that gives new credit
 * is lost. */
static void lose_credit(void)
{
    pair_begin(&pair, true);
    for (unsigned i = 0; i < CONTROL_WINDOW; i++) {
        pair_packet(&pair, &pair.a, i);
    }
    pair_pass_us(&pair, 1000000);
    assert_int_equal(pair.b.held_count, CONTROL_WINDOW);
    assert_true(pair_is_acknowledged(&pair.a));
    assert_false(channel_control_credit(&pair.a.channel));
    for (unsigned i = 0; i < pair.b.held_count; i++) {
        channel_release(&pair.b.channel, &pair.b.due, pair.b.held[i].buffer, CREDIT_CONTROL, 0);
    }
    pair.b.held_count = 0;
    channel_flush(&pair.b.channel, pair_agenda(&pair, &pair.b));
    assert_true(pair.b.end.end != pair.b.end.first);
    pair_lose(&pair.b);
}

TEST(credit_that_is_lost_is_asked_for)
{
    lose_credit();
    pair_pass_us(&pair, 2 * DEAD_AFTER_MS * 1000);
    assert_false(channel_control_credit(&pair.a.channel)); /* nobody says it again by himself */
    channel_short(&pair.a.channel, pair_agenda(&pair, &pair.a));
    pair_pass_us(&pair, 2 * RETRY_US);
    assert_true(channel_control_credit(&pair.a.channel));
    unsigned asked = pair.a.end.said.frames[FRAME_ACK];
    pair_pass_us(&pair, 2 * DEAD_AFTER_MS * 1000); /* an answer is owed no longer */
    assert_int_equal(pair.a.end.said.frames[FRAME_ACK], asked);
    pair_packet(&pair, &pair.a, 0);
    pair_pass_us(&pair, 2 * RETRY_US);
    assert_int_equal(pair_link(&pair.a), LINK_UP);
    pair_end(&pair);
}

TEST(a_neighbour_that_does_not_answer_is_dead_in_time)
{
    for (unsigned hours = 0; hours < 2; hours++) {
        pair.dead_after_ms = hours ? 3600 * 1000 : DEAD_AFTER_MS;
        lose_credit();
        channel_short(&pair.a.channel, pair_agenda(&pair, &pair.a));
        uint64_t alone_us = pair.now_us + RETRY_US;
        uint64_t silence_us = (uint64_t)pair.dead_after_ms * 1000;
        for (; pair.now_us < alone_us + silence_us - RETRY_US; pair.now_us += RETRY_US) {
            pair_look(&pair, &pair.a);
        }
        assert_int_equal(pair_link(&pair.a), LINK_UP);
        for (; pair.now_us < alone_us + silence_us + RETRY_US; pair.now_us += RETRY_US) {
            pair_look(&pair, &pair.a);
        }
        assert_int_equal(pair_link(&pair.a), LINK_DEAD);
        assert_int_equal(pair_dead_reason(&pair.a), DEAD_TIMEOUT);
        pair_end(&pair);
    }
    pair.dead_after_ms = DEAD_AFTER_MS;
}
