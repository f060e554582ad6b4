/*
 * credit_test.c - two channels over a lossy link in memory: credit that is lost on its way.
 *
 * The neighbour has acknowledged everything and gives credit later, once, in an acknowledgement of
 * its own. When that one is lost neither side owes the other anything: only asking brings the
 * credit.
 */
#include <string.h>

#include "router/channel.h"
#include "router/crc.h"
#include "router/packet_wire.h"
#include "tests/mesh/memory_link.h"
#include "tests/unit/testing.h"

enum { RING = 32, PACKET_BYTES = PACKET_HEADER_BYTES + 8 };

struct side {
    struct channel channel;
    struct memory_end end;
    struct segment segments[RING];
    struct piece pieces[RING];
    uint32_t due;
    uint64_t due_us;
    uint16_t held[CONTROL_WINDOW];
    unsigned held_count;
};

static struct side a, b;
static uint64_t seed, now_us;
static uint32_t dead_after_ms = DEAD_AFTER_MS;
static struct memory_fault no_fault;
static uint8_t frames[CONTROL_WINDOW][FRAME_HEADER_BYTES + PACKET_BYTES + FRAME_CHECK_BYTES];

static void begin_side(struct side *side, uint32_t id)
{
    struct channel_config config = {.link = &side->end.link,
                                    .segments = side->segments,
                                    .pieces = side->pieces,
                                    .ring = RING,
                                    .checked = true,
                                    .dead_after_ms = dead_after_ms,
                                    .due = &side->due,
                                    .due_bit = 1,
                                    .due_us = &side->due_us};

    channel_init(&side->channel, &config);
    side->channel.told_id = id;
}

static void look(struct side *side)
{
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .id = side == &b,
                          .heard = channel_heard(&side->channel),
                          .data_window = side->channel.data_window,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN};
    struct segment done;
    struct arrival arrival;
    enum arrival_kind kind;

    while ((kind = channel_receive(&side->channel, now_us, &arrival)) != ARRIVAL_NONE)
        if (kind == ARRIVAL_PACKET)
            side->held[side->held_count++] = arrival.buffer;
    if (channel_greets(&side->channel, now_us, hello.id))
        channel_greet(&side->channel, now_us, &hello);
    channel_flush(&side->channel, now_us);
    while (channel_take_done(&side->channel, &done)) {
    }
}

static void pass_us(uint64_t us)
{
    enum { STEP_US = 10000 };

    for (uint64_t end_us = now_us + us; now_us < end_us; now_us += STEP_US) {
        look(&a);
        look(&b);
    }
}

static void send_packet(unsigned number)
{
    uint8_t *frame = frames[number], *packet = frame + FRAME_HEADER_BYTES;

    memset(packet, 0, PACKET_BYTES);
    packet[0] = PACKET_ROUTED;
    put16(packet + 2, PACKET_BYTES - PACKET_HEADER_BYTES);
    put32(packet + PACKET_BYTES, crc32_add(0, packet, PACKET_BYTES));
    *channel_place(&a.channel, 0) = (struct segment){.data = frame, .bytes = sizeof frames[number]};
    channel_queue(&a.channel, now_us, FRAME_PACKET, FLAG_CHECKED, PACKET_BYTES, 1);
    a.channel.control_sent++;
}

/* All credit is used, all packets are acknowledged, and the acknowledgement that gives new credit
 * is lost. */
static void lose_credit(void)
{
    seed = now_us = 1;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memory_link_init(&a.end, &b.end, &seed, &no_fault);
    begin_side(&a, ID_UNKNOWN);
    begin_side(&b, ID_UNKNOWN);
    pass_us(1000000);
    assert_int_equal(a.channel.state, LINK_UP);
    for (unsigned i = 0; i < CONTROL_WINDOW; i++)
        send_packet(i);
    pass_us(1000000);
    assert_int_equal(b.held_count, CONTROL_WINDOW);
    assert_int_equal(a.channel.first, a.channel.end);
    assert_false(channel_control_credit(&a.channel));
    for (unsigned i = 0; i < b.held_count; i++)
        channel_release(&b.channel, b.held[i], CREDIT_CONTROL, 0);
    channel_flush(&b.channel, now_us);
    assert_true(b.end.end != b.end.first);
    b.end.first = b.end.end;
}

static void credit_that_is_lost_is_asked_for(void **state)
{
    (void)state;
    lose_credit();
    pass_us(2 * DEAD_AFTER_MS * 1000);
    assert_false(channel_control_credit(&a.channel)); /* nobody says it again by himself */
    channel_short(&a.channel, now_us);
    pass_us(2 * RETRY_US);
    assert_true(channel_control_credit(&a.channel));
    assert_int_equal(a.channel.state, LINK_UP);
    memory_link_free(&a.end, &b.end);
}

static void a_neighbour_that_does_not_answer_is_dead_in_time(void **state)
{
    (void)state;
    for (unsigned hours = 0; hours < 2; hours++) {
        dead_after_ms = hours ? 3600 * 1000 : DEAD_AFTER_MS;
        lose_credit();
        channel_short(&a.channel, now_us);
        uint64_t alone_us = now_us + RETRY_US, silence_us = (uint64_t)dead_after_ms * 1000;
        for (; now_us < alone_us + silence_us - RETRY_US; now_us += RETRY_US)
            look(&a);
        assert_int_equal(a.channel.state, LINK_UP);
        for (; now_us < alone_us + silence_us + RETRY_US; now_us += RETRY_US)
            look(&a);
        assert_int_equal(a.channel.state, LINK_DEAD);
        assert_int_equal(a.channel.dead_reason, DEAD_TIMEOUT);
        memory_link_free(&a.end, &b.end);
    }
    dead_after_ms = DEAD_AFTER_MS;
}

TEST_MAIN(cmocka_unit_test(credit_that_is_lost_is_asked_for),
          cmocka_unit_test(a_neighbour_that_does_not_answer_is_dead_in_time))
