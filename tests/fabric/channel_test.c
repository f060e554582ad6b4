/*
 * channel_test.c - two channels over a link in memory: gaps, a device without room, memory that is
 * given back, words of the neighbour that are not to be believed.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "tests/fabric/pair.h"
#include "tests/testing.h"
#include "wire/crc.h"

static struct pair pair;

static void heard_packets(unsigned count)
{
    assert_int_equal(pair.b.held_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pair.b.held[i].packet[PACKET_HEADER_BYTES], i);
    }
}

static void release_all(struct pair_side *side)
{
    for (unsigned i = 0; i < side->held_count; i++) {
        channel_release(&side->channel, &side->due, side->held[i].buffer, CREDIT_CONTROL, 0);
    }
    side->held_count = 0;
}

/* Takes all data that has come: how many bytes. */
static uint32_t take_data(struct pair_side *side)
{
    uint32_t bytes = 0;

    for (struct piece *piece; (piece = channel_piece(&side->channel)) != NULL;) {
        struct piece whole = *piece;
        bytes += whole.bytes;
        channel_drop_piece(&side->channel);
        channel_release(&side->channel, &side->due, whole.buffer, CREDIT_DATA, whole.bytes);
    }
    return bytes;
}

/* A frame of data of a's, in two segments. */
static void send_in_two(uint32_t bytes)
{
    uint8_t *frame = pair.a.frames[0], *payload = frame + FRAME_HEADER_BYTES;

    memset(payload, 1, bytes);
    frame_put_check(payload + bytes,
                    crc32_add(frame_payload_start(pair.a.channel.seq_next), payload, bytes));
    *channel_place(&pair.a.channel, 0) =
        (struct segment){.data = frame, .bytes = FRAME_HEADER_BYTES};
    *channel_place(&pair.a.channel, 1) =
        (struct segment){.data = payload, .bytes = bytes + FRAME_CHECK_BYTES};
    channel_queue(&pair.a.channel, pair_agenda(&pair, &pair.a), FRAME_DATA,
                  FLAG_LAST | FLAG_CHECKED, bytes, 2);
}

/* A says something that is lost, then a packet that shows it. */
static void leave_gap(unsigned number)
{
    pair_packet(&pair, &pair.a, number);
    channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
    pair_lose(&pair.a);
    pair_packet(&pair, &pair.a, number + 1);
}

TEST(every_gap_is_told_at_once)
{
    pair_begin(&pair, true);
    for (unsigned gap = 0; gap < 3; gap++) {
        leave_gap(2 * gap);
        pair_pass_us(&pair, RETRY_US / 4);
        heard_packets(2 * gap + 2);
        assert_int_equal(pair.b.end.said.frames[FRAME_NAK], gap + 1);
    }
    assert_int_equal(pair.a.end.said.frames[FRAME_PACKET], 3 * 2 * 2); /* each twice */
    release_all(&pair.b);
    pair_end(&pair);
}

/* Otherwise a would call the link dead. */
TEST(what_comes_again_is_acknowledged_again)
{
    pair_begin(&pair, true);
    pair_packet(&pair, &pair.a, 0);
    pair_look(&pair, &pair.a);
    pair_look(&pair, &pair.b);
    pair.now_us += 2 * ACK_DELAY_US;
    pair_look(&pair, &pair.b);
    pair_lose(&pair.b);
    pair_pass_us(&pair, 2 * RETRY_US);
    assert_int_equal(pair.a.done_count, 1);
    heard_packets(1);
    release_all(&pair.b);
    pair_end(&pair);
}

/* Nothing else makes it look again. */
TEST(a_channel_that_owes_an_acknowledgement_wants_to_run_when_it_is_due)
{
    for (unsigned checked = 0; checked < 2; checked++) {
        pair_begin(&pair, checked);
        pair_packet(&pair, &pair.a, 0);
        pair_look(&pair, &pair.a);
        uint64_t due_us = pair.now_us + ACK_DELAY_US;
        pair_look(&pair, &pair.b);
        heard_packets(1);
        pair.now_us += ACK_DELAY_US / 2;
        channel_flush(&pair.b.channel, pair_agenda(&pair, &pair.b));
        assert_true(pair.b.due.wake_us == due_us);
        unsigned said = pair.b.end.said.frames[FRAME_ACK];
        pair.now_us = due_us;
        pair_look(&pair, &pair.b);
        assert_int_equal(pair.b.end.said.frames[FRAME_ACK], said + 1);
        release_all(&pair.b);
        pair_end(&pair);
    }
}

/* One that waits for its turn on the link is written anew: it says what has come since. */
TEST(an_acknowledgement_goes_with_a_frame_that_waits)
{
    for (unsigned count = 0; count < 3; count++) {
        pair_begin(&pair, false);
        for (unsigned i = 0; i < count; i++) {
            pair_packet(&pair, &pair.b, i);
        }
        pair_data(&pair, &pair.a, 0, 100, FLAG_LAST); /* asks for it */
        pair_look(&pair, &pair.a);
        pair_look(&pair, &pair.b);
        assert_int_equal(pair.b.end.said.frames[FRAME_PACKET], count);
        assert_int_equal(pair.b.end.said.frames[FRAME_ACK], count == 0);
        pair_look(&pair, &pair.a);
        assert_int_equal(pair.a.held_count, count);
        assert_true(pair_is_acknowledged(&pair.a));
        pair_end(&pair);
    }
}

/* Where a copy of it may still be read it stays as it is. */
TEST(a_frame_that_goes_again_is_not_written_anew)
{
    pair_begin(&pair, true);
    pair_packet(&pair, &pair.b, 0);
    pair_look(&pair, &pair.b);
    pair_lose(&pair.b);
    pair.now_us += RETRY_US;
    pair_data(&pair, &pair.a, 0, 100, FLAG_LAST);
    pair_look(&pair, &pair.a);
    uint16_t before = pair.b.end.said.last.ack;
    pair_look(&pair, &pair.b);
    assert_int_equal(pair.b.end.said.frames[FRAME_PACKET], 2);
    assert_int_equal(pair.b.end.said.frames[FRAME_ACK], 1);
    assert_int_equal(pair.b.end.said.last.ack, before + 1);
    pair_end(&pair);
}

TEST(damage_is_told_at_once)
{
    for (unsigned at = 0; at < FRAME_HEADER_BYTES + PAIR_PACKET_BYTES; at += 13) {
        pair_begin(&pair, true);
        pair_packet(&pair, &pair.a, 0);
        pair.a.frames[0][at] ^= 0x10;
        channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
        pair_look(&pair, &pair.b);
        pair.a.frames[0][at] ^= 0x10;
        assert_int_equal(pair.b.held_count, 0);
        pair_pass_us(&pair, RETRY_US / 4);
        heard_packets(1);
        release_all(&pair.b);
        pair_end(&pair);
    }
}

/* A packet of a's with number `seq` and so many bytes in all, as it goes over the link. */
static uint32_t frame_of(uint8_t *frame, uint16_t seq)
{
    uint8_t *packet = frame + FRAME_HEADER_BYTES;
    struct frame head = {
        .type = FRAME_PACKET, .flags = FLAG_CHECKED, .length = PACKET_HEADER_BYTES + 4, .seq = seq};

    frame_pack(frame, &head);
    packet_pack(packet, PACKET_ROUTED, 4, seq, seq);
    memset(packet + PACKET_HEADER_BYTES, 0x5a, 4);
    frame_put_check(packet + head.length, crc32_add(frame_payload_start(seq), packet, head.length));
    return FRAME_HEADER_BYTES + head.length + FRAME_CHECK_BYTES;
}

/* A header is 20 bytes and their check: it must not be taken for a payload of 20 bytes when that
 * was lost and the frame comes again. Nor may another frame's payload of the same length be. */
TEST(what_follows_a_lost_payload_is_not_taken_for_it)
{
    for (uint16_t next = 0; next < 2; next++) {
        uint8_t said[FRAME_HEADER_BYTES + 64], other[64];
        pair_begin(&pair, true);
        frame_of(said, 0);
        uint32_t bytes = frame_of(other, next), skip = next ? FRAME_HEADER_BYTES : 0;
        memcpy(said + FRAME_HEADER_BYTES, other + skip, bytes - skip);
        bytes += FRAME_HEADER_BYTES - skip;
        struct link *link = &pair.a.end.link;
        assert_int_equal(link->ops->send(link, said, bytes), E_OK);
        link->ops->kick(link);
        pair_look(&pair, &pair.b);
        assert_int_equal(pair.b.held_count, 0);
        assert_int_equal(pair.b.end.said.frames[FRAME_NAK], 1);
        pair_end(&pair);
    }
}

TEST(data_that_is_damaged_comes_again_once)
{
    pair_begin(&pair, true);
    pair_data(&pair, &pair.a, 1, 1000, FLAG_LAST);
    pair.a.frames[1][FRAME_HEADER_BYTES + 500] ^= 1;
    channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
    pair_look(&pair, &pair.b);
    assert_null(channel_piece(&pair.b.channel));
    pair.a.frames[1][FRAME_HEADER_BYTES + 500] ^= 1;
    pair_pass_us(&pair, RETRY_US / 4);
    assert_int_equal(take_data(&pair.b), 1000);
    pair_pass_us(&pair, RETRY_US);
    assert_int_equal(channel_data_credit(&pair.a.channel), DATA_WINDOW);
    /* B has counted them once, too: it takes a whole window more. */
    for (uint32_t i = 0; i < DATA_WINDOW / PAIR_ROOM; i++) {
        pair_data(&pair, &pair.a, i % CONTROL_WINDOW, PAIR_ROOM, 0);
        pair_pass_us(&pair, ACK_DELAY_US);
    }
    assert_int_equal(channel_data_credit(&pair.a.channel), 0);
    assert_int_equal(pair_link(&pair.b), LINK_UP);
    pair_end(&pair);
}

/* Of the segment that a said last so many bytes vanish from its end. */
static void cut_short(uint32_t bytes)
{
    pair.a.end.segments[(pair.a.end.end - 1) % MEMORY_SEGMENTS].bytes -= bytes;
}

/* B has a long frame, and of its second copy only the beginning. What a says from then on is short:
 * b must not take all of it for the rest. */
TEST(the_rest_of_a_frame_is_not_waited_for_long)
{
    for (unsigned heard = 0; heard < 2; heard++) { /* the first copy */
        pair_begin(&pair, true);
        pair_data(&pair, &pair.a, 1, PAIR_ROOM, FLAG_LAST);
        pair_look(&pair, &pair.a);
        if (heard) {
            pair_look(&pair, &pair.b);
            pair_lose(&pair.b);
            assert_int_equal(take_data(&pair.b), PAIR_ROOM);
            pair.now_us += RETRY_US;
            pair_look(&pair, &pair.a);
        }
        cut_short(PAIR_ROOM - 100);
        pair_look(&pair, &pair.b);
        pair_look(&pair, &pair.a);
        assert_int_equal(pair_is_acknowledged(&pair.a), heard);
        pair_packet(&pair, &pair.a, 0);
        pair_pass_us(&pair, RETRY_US);
        heard_packets(1);
        assert_int_equal(take_data(&pair.b), heard ? 0 : PAIR_ROOM);
        release_all(&pair.b);
        pair_end(&pair);
    }
}

/* The same of a packet, and of a header: nothing else is ever said. */
TEST(a_packet_without_its_end_is_given_up)
{
    for (uint32_t left = 1; left < FRAME_HEADER_BYTES + PAIR_PACKET_BYTES; left += 7) {
        pair_begin(&pair, true);
        pair_packet(&pair, &pair.a, 0);
        pair_look(&pair, &pair.a);
        cut_short(FRAME_HEADER_BYTES + PAIR_PACKET_BYTES + FRAME_CHECK_BYTES - left);
        pair_look(&pair, &pair.b);
        pair_pass_us(&pair, RETRY_US / 2);
        heard_packets(1);
        assert_int_equal(pair.b.end.said.frames[FRAME_NAK], 1);
        release_all(&pair.b);
        pair_end(&pair);
    }
}

static int no_room(struct link *link, const void *data, uint32_t bytes)
{
    (void)link;
    (void)data;
    (void)bytes;
    return E_FULL;
}

/* The device of b has no room just when the acknowledgement is due: a must hear of it all the same,
 * for it does not send again where nothing can be lost. */
TEST(an_acknowledgement_without_room_goes_later)
{
    pair_begin(&pair, false);
    const struct link_ops *ops = pair.b.end.link.ops;
    struct link_ops full = *ops;
    full.send = no_room;
    pair_packet(&pair, &pair.a, 0);
    channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
    pair_look(&pair, &pair.b);
    pair.b.end.link.ops = &full;
    pair.now_us += 2 * ACK_DELAY_US;
    pair_look(&pair, &pair.b);
    pair.b.end.link.ops = ops;
    pair_pass_us(&pair, 4 * ACK_DELAY_US);
    assert_int_equal(pair.a.done_count, 1);
    release_all(&pair.b);
    pair_end(&pair);
}

static unsigned room; /* of a's device, in segments */
static const struct link_ops *roomy;

static int little_room(struct link *link, const void *data, uint32_t bytes)
{
    return room && roomy->send(link, data, bytes) == E_OK ? (room--, E_OK) : E_FULL;
}

/* A's device takes half a frame, and then a is to send everything again, or acknowledge. */
TEST(nothing_comes_between_the_halves_of_a_frame)
{
    enum { BYTES = 100 };

    for (unsigned late = 0; late < 2; late++) {
        pair_begin(&pair, true);
        struct link_ops ops = *pair.a.end.link.ops;
        roomy = pair.a.end.link.ops;
        ops.send = little_room;
        pair.a.end.link.ops = &ops;
        send_in_two(BYTES);
        pair_packet(&pair, &pair.b, 0);
        room = 1;
        pair_look(&pair, &pair.a);
        pair_look(&pair, &pair.b);
        pair_look(&pair, &pair.a);
        assert_int_equal(pair.a.held_count, 1);
        pair.now_us += late ? RETRY_US : ACK_DELAY_US;
        pair_look(&pair, &pair.a);
        room = 100;
        pair_look(&pair, &pair.a);
        pair_look(&pair, &pair.b);
        assert_int_equal(pair.b.end.said.frames[FRAME_NAK], 0); /* nothing was damaged */
        assert_int_equal(take_data(&pair.b), BYTES);
        release_all(&pair.a);
        pair_end(&pair);
    }
}

/* Of two copies one is acknowledged while the device has not read the other. */
TEST(memory_is_given_back_when_the_device_has_read_all_copies)
{
    pair_begin(&pair, true);
    pair_packet(&pair, &pair.a, 0);
    pair_look(&pair, &pair.a);
    pair_look(&pair, &pair.b); /* it has it, and says so after a while */
    pair.now_us += RETRY_US;
    pair_look(&pair, &pair.a);
    assert_int_equal(pair.a.end.said.frames[FRAME_PACKET], 2);
    channel_flush(&pair.b.channel, pair_agenda(&pair, &pair.b));
    pair_look(&pair, &pair.a);
    assert_int_equal(pair.b.end.said.last.ack, 1);
    assert_int_equal(pair.a.done_count, 0);
    pair_look(&pair, &pair.b);
    pair_look(&pair, &pair.a);
    assert_int_equal(pair.a.done_count, 1);
    heard_packets(1);
    release_all(&pair.b);
    pair_end(&pair);
}

/* A packet that is still in use lies between two runs of data in the same buffer. */
TEST(data_is_not_joined_over_a_packet_that_is_in_use)
{
    for (unsigned run = 0; run < 20; run++) { /* a link cuts at random */
        pair_begin(&pair, run % 2);
        pair.seed = run + 1;
        pair_data(&pair, &pair.a, 1, 50, 0);
        pair_packet(&pair, &pair.a, 0);
        pair_data(&pair, &pair.a, 2, 50, FLAG_LAST);
        channel_flush(&pair.a.channel, pair_agenda(&pair, &pair.a));
        pair_look(&pair, &pair.b);
        assert_int_equal(pair.b.held_count, 1);
        for (unsigned i = 1; i < PAIR_PACKET_BYTES - PACKET_HEADER_BYTES; i++) {
            assert_int_equal(pair.b.held[0].packet[PACKET_HEADER_BYTES + i], 0);
        }
        uint32_t at = 0;
        for (struct piece *piece; (piece = channel_piece(&pair.b.channel)) != NULL;) {
            struct piece whole = *piece;
            for (uint32_t i = 0; i < whole.bytes; i++, at++) {
                assert_int_equal(whole.data[i], at < 50 ? 1 : 2);
            }
            assert_int_equal((whole.flags & FLAG_LAST) != 0, at == 100);
            channel_drop_piece(&pair.b.channel);
            channel_release(&pair.b.channel, &pair.b.due, whole.buffer, CREDIT_DATA, whole.bytes);
        }
        assert_int_equal(at, 100);
        release_all(&pair.b);
        pair_end(&pair);
    }
}

/* Credits count on the first one's windows. */
TEST(a_later_hello_changes_no_window)
{
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .id = 1,
                          .heard = HEARD_ALL,
                          .data_window = 1 << 20,
                          .control_window = 2 * CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN};

    pair_begin(&pair, true);
    uint32_t window = channel_data_credit(&pair.a.channel);
    channel_greet(&pair.b.channel, pair_agenda(&pair, &pair.b), &hello);
    pair_pass_us(&pair, RETRY_US);
    pair_packet(&pair, &pair.b, 0); /* its header carries credit */
    pair_pass_us(&pair, RETRY_US);
    assert_int_equal(channel_data_credit(&pair.a.channel), window);
    for (unsigned i = 0; i < CONTROL_WINDOW; i++) {
        assert_true(channel_control_credit(&pair.a.channel));
        pair_packet(&pair, &pair.a, i);
    }
    assert_false(channel_control_credit(&pair.a.channel));
    release_all(&pair.a);
    pair_end(&pair);
}

TEST(who_sends_without_credit_is_dead)
{
    for (unsigned data = 0; data < 2; data++) {
        pair_begin(&pair, true);
        uint32_t fitting = data ? DATA_WINDOW / PAIR_ROOM : (uint32_t)CONTROL_WINDOW;
        for (uint32_t i = 0; i <= fitting; i++) {
            assert_int_equal(pair_link(&pair.b), LINK_UP);
            if (data) {
                pair_data(&pair, &pair.a, i % CONTROL_WINDOW, PAIR_ROOM, 0);
            } else {
                pair_packet(&pair, &pair.a, i % CONTROL_WINDOW);
            }
            pair_pass_us(&pair, ACK_DELAY_US);
        }
        assert_int_equal(pair_link(&pair.b), LINK_DEAD);
        assert_int_equal(pair_dead_reason(&pair.b), DEAD_PROTOCOL);
        pair_end(&pair);
    }
}

/* Bit n of `lost`: what is said n steps after the begin does not arrive. */
TEST(ends_meet_whatever_greetings_are_lost)
{
    enum { STEPS = 7 };

    for (unsigned lost = 0; lost < 1u << STEPS; lost++) {
        struct pair_side *sides[] = {&pair.a, &pair.b};
        pair_wire(&pair, true);
        for (unsigned i = 0; i < STEPS; i++) {
            pair_look(&pair, sides[i % 2]);
            if (lost >> i & 1) {
                pair_lose(sides[i % 2]);
            }
            pair.now_us += HELLO_RETRY_US / 8;
        }
        pair_pass_us(&pair, 4 * HELLO_RETRY_US);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(channel_acquainted(&sides[i]->channel, i));
        }
        uint32_t said = pair.a.end.end, answered = pair.b.end.end;
        pair_pass_us(&pair, 8 * HELLO_RETRY_US);
        assert_int_equal(pair.a.end.end, said); /* and then are silent */
        assert_int_equal(pair.b.end.end, answered);
        pair_end(&pair);
    }
}

TEST(who_sends_packets_has_heard_us)
{
    pair_wire(&pair, true);
    pair_look(&pair, &pair.b);
    pair_look(&pair, &pair.a);
    pair_look(&pair, &pair.b);
    assert_int_equal(pair_link(&pair.a), LINK_HEARD);
    assert_int_equal(pair_link(&pair.b), LINK_UP);
    pair_lose(&pair.b); /* the greeting that says so */
    pair_packet(&pair, &pair.b, 0);
    pair_look(&pair, &pair.b);
    pair_look(&pair, &pair.a);
    assert_int_equal(pair_link(&pair.a), LINK_UP);
    assert_int_equal(pair.a.held_count, 1);
    release_all(&pair.a);
    pair_end(&pair);
}
