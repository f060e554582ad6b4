/*
 * incarnation_test.c - two channels whose ends start anew while the cable holds bytes of their
 * former incarnations.
 */
#include <string.h>

#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "tests/fabric/pair.h"
#include "tests/testing.h"
#include "wire/frame.h"

enum { LOOKS_US = 1000000, ALL = PAIR_LEFT_MAX };

static struct pair pair;

static void begin_incarnations(void)
{
    pair_wire(&pair, false);
    pair_restart(&pair, &pair.a, ALL);
    pair_restart(&pair, &pair.b, ALL);
}

static void greet(void)
{
    pair_pass_us(&pair, LOOKS_US);
    assert_int_equal(pair_link(&pair.a), LINK_UP);
    assert_int_equal(pair_link(&pair.b), LINK_UP);
}

static void release_all(struct pair_side *side)
{
    for (unsigned i = 0; i < side->held_count; i++) {
        channel_release(&side->channel, &side->due, side->held[i].buffer, CREDIT_CONTROL, 0);
    }
    side->held_count = 0;
}

static void say(struct pair_side *side, unsigned number)
{
    pair_packet(&pair, side, number);
    pair_look(&pair, side);
}

/* B has heard a, a greets again and begins to send; then both start anew. What is in the cable
 * looks like the beginning of an incarnation. */
TEST(what_an_earlier_incarnation_has_begun_to_say_is_nobodys)
{
    begin_incarnations();
    for (unsigned i = 0; i < 4; i++) {
        pair_look(&pair, &pair.b);
        pair_look(&pair, &pair.a);
    }
    assert_int_equal(pair_link(&pair.a), LINK_UP);
    channel_greet_soon(&pair.a.channel, &pair.a.due);
    pair_look(&pair, &pair.a);
    for (unsigned i = 0; i < 3; i++) {
        say(&pair.a, i);
    }
    pair_restart(&pair, &pair.b, ALL);
    pair_restart(&pair, &pair.a, ALL);
    greet();
    assert_int_equal(pair.b.held_count, 0);
    say(&pair.a, 7);
    pair_look(&pair, &pair.b);
    assert_int_equal(pair.b.held_count, 1);
    assert_int_equal(pair.b.held[0].packet[PACKET_HEADER_BYTES], 7);
    assert_int_equal(pair.b.end.said.frames[FRAME_NAK], 0); /* nothing was damaged */
    release_all(&pair.b);
    pair_end(&pair);
}

/* Of a long frame only the beginning is in the cable: what comes behind it is not part of it. */
TEST(a_frame_that_was_cut_short_swallows_no_greeting)
{
    enum { FRAME_BYTES = FRAME_HEADER_BYTES + PAIR_ROOM };

    for (uint32_t left = 1; left < FRAME_BYTES; left += left < 100 ? 1 : 501) {
        begin_incarnations();
        greet();
        pair_data(&pair, &pair.a, 1, PAIR_ROOM, FLAG_LAST);
        memset(pair.a.frames[1] + FRAME_HEADER_BYTES, FRAME_SYNC & 0xff, PAIR_ROOM);
        channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
        pair_restart(&pair, &pair.a, left);
        pair_restart(&pair, &pair.b, ALL);
        greet();
        assert_null(channel_piece(&pair.b.channel));
        assert_int_equal(pair.b.end.said.frames[FRAME_NAK], 0); /* nothing was damaged */
        pair_end(&pair);
    }
}

/* Silence would say so much later, or never. */
TEST(whoever_sends_to_an_end_that_has_started_anew_hears_of_it)
{
    for (unsigned late = 0; late < 2; late++) {
        begin_incarnations();
        greet();
        if (late) {
            pair_pass_us(&pair, LOOKS_US);
        }
        say(&pair.a, 0);
        pair_restart(&pair, &pair.b, ALL);
        pair.b.nameless = true;
        say(&pair.a, 1);
        pair_pass_us(&pair, HELLO_RETRY_US);
        assert_int_equal(pair_link(&pair.a), LINK_DEAD);
        assert_int_equal(pair_dead_reason(&pair.a), DEAD_RESTARTED);
        assert_int_equal(pair.b.held_count, 0);
        /* B never speaks of them: no frame on the link shows that it has counted them. */
        assert_int_equal(pair.b.channel.counters.strays, 2);
        pair_end(&pair);
    }
}

/* Nothing is lost: nothing was said yet. */
TEST(whoever_has_only_greeted_an_end_greets_its_next_incarnation)
{
    begin_incarnations();
    for (unsigned i = 0; i < 3; i++) {
        greet();
        pair_restart(&pair, i % 2 ? &pair.a : &pair.b, ALL);
    }
    greet();
    say(&pair.a, 7);
    say(&pair.b, 8);
    pair_look(&pair, &pair.a);
    assert_int_equal(pair.a.held_count, 1);
    assert_int_equal(pair.b.held_count, 1);
    release_all(&pair.a);
    release_all(&pair.b);
    pair_end(&pair);
}

/* Each side's packets bear the number of the event that sent them, which no incarnation hears that
 * began later, and count from 0 in each. */
struct words {
    uint32_t event, number;
};

static uint32_t event, began[2];
static uint8_t counted[2];
static struct {
    unsigned count;
} heard[2];

static struct pair_side *side_of(unsigned i)
{
    return i ? &pair.b : &pair.a;
}

static void restart(unsigned i)
{
    uint32_t left = memory_random(&pair.seed) % 3 ? ALL : memory_random(&pair.seed) % 3000;

    pair_restart(&pair, side_of(i), left);
    began[i] = ++event;
    counted[i] = 0;
    heard[i].count = 0;
}

static void look(unsigned i)
{
    struct pair_side *side = side_of(i);
    struct piece *piece;

    pair_look(&pair, side);
    for (unsigned k = 0; k < side->held_count; k++) {
        struct words words;

        memcpy(&words, side->held[k].packet + PACKET_HEADER_BYTES, sizeof words);
        assert_true(words.event > began[i]);
        assert_int_equal(words.number, heard[i].count);
        heard[i].count++;
    }
    release_all(side);
    while ((piece = channel_piece(&side->channel)) != NULL) {
        struct piece whole = *piece;
        channel_drop_piece(&side->channel);
        channel_release(&side->channel, &side->due, whole.buffer, CREDIT_DATA, whole.bytes);
    }
}

static void send(unsigned i)
{
    struct pair_side *side = side_of(i);
    unsigned number = counted[i] % CONTROL_WINDOW;

    if (!channel_room(&side->channel, 1) || !pair_is_acknowledged(side) ||
        !channel_control_credit(&side->channel) || counted[i] == UINT8_MAX) {
        return;
    }
    if (memory_random(&pair.seed) % 2 && channel_data_credit(&side->channel) >= PAIR_ROOM) {
        pair_data(&pair, side, number, 1 + memory_random(&pair.seed) % PAIR_ROOM, 0);
        return;
    }
    pair_packet(&pair, side, number);
    struct words words = {.event = ++event, .number = counted[i]++};
    memcpy(side->frames[number] + FRAME_HEADER_BYTES + PACKET_HEADER_BYTES, &words, sizeof words);
}

TEST(whenever_ends_start_anew_they_hear_this_incarnation_only)
{
    enum { SEEDS = 200, EVENTS = 400, RESTART_PERCENT = 4 };

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        pair_wire(&pair, false);
        pair.seed = seed * 7919;
        pair.a.incarnation = pair.b.incarnation = 1;
        event = 0;
        restart(0);
        restart(1);
        for (unsigned i = 0; i < EVENTS; i++) {
            unsigned side = memory_random(&pair.seed) % 2;
            if (memory_random(&pair.seed) % 100 < RESTART_PERCENT) {
                restart(side);
            }
            send(memory_random(&pair.seed) % 2);
            look(side);
            pair.now_us += memory_random(&pair.seed) % HELLO_RETRY_US;
        }
        restart(0);
        restart(1);
        for (unsigned i = 0; i < 100; i++) {
            look(i % 2);
            pair.now_us += HELLO_RETRY_US / 10;
        }
        assert_int_equal(pair_link(&pair.a), LINK_UP);
        assert_int_equal(pair_link(&pair.b), LINK_UP);
        send(0);
        look(0);
        look(1);
        pair_end(&pair);
    }
}
