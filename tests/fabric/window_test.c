/*
 * window_test.c - two channels over a link in memory: both windows full, and the stream cut in any
 * way. Nothing is lost, and the link always has a buffer left to receive into, so control passes.
 */
#include <string.h>

#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/port.h"
#include "router/segment.h"
#include "tests/fabric/pair.h"
#include "tests/testing.h"
#include "wire/crc.h"
#include "wire/packet.h"

enum {
    PLACES = 256, /* of frames under way: more than there are segments */
    ROUNDS = 2,   /* in the second the positions in ring and window are others */
    LOOKS_MAX = 1000
};

/* What a sends: frames of data of so many bytes, and before every `every`th a packet; 0: of random
 * length. Four of them end a circuit. */
struct flow {
    uint32_t cut, frame, packet, every;
    bool checked, long_chunks;
};

static struct pair pair;
static uint8_t source[DATA_WINDOW];
static uint8_t places[PLACES][FRAME_HEADER_BYTES + FRAME_CONTROL_MAX + FRAME_CHECK_BYTES];
static unsigned next_place;

static uint32_t draw(uint32_t fixed, uint32_t least, uint32_t most)
{
    return fixed ? fixed : least + memory_random(&pair.seed) % (most - least + 1);
}

static void look(void)
{
    pair_look(&pair, &pair.a);
    pair_look(&pair, &pair.b);
    assert_int_equal(pair_link(&pair.a), LINK_UP);
    assert_int_equal(pair_link(&pair.b), LINK_UP);
}

static uint8_t *place_frame(void)
{
    for (unsigned looks = 0; !channel_room(&pair.a.channel, 3); looks++) {
        assert_true(looks < LOOKS_MAX);
        look();
    }
    return places[next_place++ % PLACES];
}

static void send_data(const struct flow *flow, const uint8_t *data, uint32_t bytes, bool last)
{
    uint8_t *header = place_frame(), *check = header + FRAME_HEADER_BYTES;
    struct channel *channel = &pair.a.channel;
    unsigned count = 0;

    *channel_place(channel, count++) =
        (struct segment){.data = header, .bytes = FRAME_HEADER_BYTES};
    *channel_place(channel, count++) = (struct segment){.data = data, .bytes = bytes};
    if (flow->checked) {
        frame_put_check(check, crc32_add(frame_payload_start(channel->seq_next), data, bytes));
        *channel_place(channel, count++) =
            (struct segment){.data = check, .bytes = FRAME_CHECK_BYTES};
    }
    uint8_t flags = (uint8_t)((last ? FLAG_LAST : 0) | (flow->checked ? FLAG_CHECKED : 0));
    channel_queue(channel, pair_agenda(&pair, &pair.a), FRAME_DATA, flags, bytes, count);
}

/* A packet of nothing but its kind and its number. */
static void send_packet(const struct flow *flow, uint8_t type, uint8_t number)
{
    uint32_t bytes = draw(flow->packet, PACKET_HEADER_BYTES, FRAME_CONTROL_MAX);
    uint8_t *frame = place_frame(), *packet = frame + FRAME_HEADER_BYTES;

    packet_pack(packet, type, bytes - PACKET_HEADER_BYTES, number, number);
    memset(packet + PACKET_HEADER_BYTES, number, bytes - PACKET_HEADER_BYTES);
    frame_put_check(packet + bytes,
                    crc32_add(frame_payload_start(pair.a.channel.seq_next), packet, bytes));
    uint32_t check = flow->checked ? FRAME_CHECK_BYTES : 0;
    *channel_place(&pair.a.channel, 0) =
        (struct segment){.data = frame, .bytes = FRAME_HEADER_BYTES + bytes + check};
    channel_queue(&pair.a.channel, pair_agenda(&pair, &pair.a), FRAME_PACKET,
                  check ? FLAG_CHECKED : 0, bytes, 1);
    if (type >= PACKET_ROUTED) {
        channel_use_credit(&pair.a.channel);
    }
}

/* b lets go of the packet that it holds at `index`; all its bytes are still what they were. */
static void release(unsigned index)
{
    struct arrival *held = &pair.b.held[index];
    bool routed = packet_kind(held->packet) >= PACKET_ROUTED;

    const uint8_t *body = packet_body(held->packet);
    uint32_t number = packet_src(held->packet), bytes = held->bytes - PACKET_HEADER_BYTES;

    assert_int_equal(packet_dst(held->packet), number);
    assert_int_equal(packet_body_bytes(held->packet), bytes);
    for (uint32_t i = 0; i < bytes; i++) {
        assert_int_equal(body[i], number);
    }
    channel_release(&pair.b.channel, &pair.b.due, held->buffer,
                    routed ? CREDIT_CONTROL : CREDIT_NONE, 0);
    *held = pair.b.held[--pair.b.held_count];
}

static unsigned held(bool routed)
{
    unsigned count = 0;

    for (unsigned i = 0; i < pair.b.held_count; i++) {
        count += (packet_kind(pair.b.held[i].packet) >= PACKET_ROUTED) == routed;
    }
    return count;
}

static void release_any(bool routed)
{
    unsigned at;

    do {
        at = memory_random(&pair.seed) % pair.b.held_count;
    } while ((packet_kind(pair.b.held[at].packet) >= PACKET_ROUTED) != routed);
    release(at);
}

/* One more packet. b holds as many as it may, and lets go of any of that kind for it; its neighbour
 * hears of the credit when half of it is back. */
static void pass_packet(const struct flow *flow, uint8_t number)
{
    bool routed = memory_random(&pair.seed) % 4;

    look();
    if (held(routed) == (routed ? (unsigned)CONTROL_WINDOW : (unsigned)CIRCUITS_MAX)) {
        release_any(routed);
    }
    for (unsigned looks = 0; routed && !channel_control_credit(&pair.a.channel); looks++) {
        assert_true(looks < LOOKS_MAX);
        if (held(routed) > CONTROL_WINDOW / 2) {
            release_any(routed);
        }
        look();
    }
    send_packet(flow, routed ? PACKET_ROUTED : PACKET_OPEN, number);
}

/* Fills the window with data, and with packets in between. */
static void fill(const struct flow *flow)
{
    uint32_t at = 0;

    for (unsigned i = 0; at < DATA_WINDOW; i++) {
        uint32_t bytes = draw(flow->frame, 1, 20000), before = at;
        if (flow->every && i % flow->every == 0) {
            pass_packet(flow, (uint8_t)i);
        }
        if (bytes > DATA_WINDOW - at) {
            bytes = DATA_WINDOW - at;
        }
        at += bytes;
        assert_true(channel_data_credit(&pair.a.channel) >= bytes);
        send_data(flow, source + before, bytes,
                  before * CIRCUITS_MAX / DATA_WINDOW != at * CIRCUITS_MAX / DATA_WINDOW);
    }
    for (unsigned i = 0; i < 4; i++) {
        look();
    }
    assert_int_equal(channel_data_credit(&pair.a.channel), 0);
    assert_int_equal(pair.a.end.first, pair.a.end.end); /* b has all of it, and none is taken */
}

/* All credit for packets is used, and no more OPENs may come. */
static void fill_control(const struct flow *flow)
{
    while (channel_control_credit(&pair.a.channel)) {
        send_packet(flow, PACKET_ROUTED, 1);
        look();
    }
    for (unsigned count = held(false); count < CIRCUITS_MAX; count++) {
        send_packet(flow, PACKET_OPEN, 2);
        look();
    }
}

static unsigned buffers_left(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < pair.b.end.buffer_count; i++) {
        count += !pair.b.end.taken[i];
    }
    return count;
}

/* Takes the data as a router does, and compares all of it. */
static void take_data(void)
{
    uint32_t at = 0;

    for (struct piece *piece; (piece = channel_piece(&pair.b.channel)) != NULL;) {
        struct piece whole = *piece;
        assert_memory_equal(whole.data, source + at, whole.bytes);
        at += whole.bytes;
        channel_drop_piece(&pair.b.channel);
        channel_release(&pair.b.channel, &pair.b.due, whole.buffer, CREDIT_DATA, whole.bytes);
    }
    assert_int_equal(at, DATA_WINDOW);
}

static void show_flow(const struct flow *flow)
{
    print_message("cut %u, frames of %u, packets of %u before every %u, %schecked, %s chunks\n",
                  (unsigned)flow->cut, (unsigned)flow->frame, (unsigned)flow->packet,
                  (unsigned)flow->every, flow->checked ? "" : "not ",
                  flow->long_chunks ? "long" : "short");
}

static void windows_fill(const struct flow *flow)
{
    show_flow(flow);
    pair.long_chunks = flow->long_chunks;
    pair_begin(&pair, flow->checked);
    pair.b.end.cut = flow->cut;
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(flow);
        fill_control(flow);
        assert_true(buffers_left() > 0);
        for (unsigned i = 0; i < 3 * (CONTROL_WINDOW + CIRCUITS_MAX); i++) {
            unsigned heard = pair.b.heard_count;
            pass_packet(flow, (uint8_t)i);
            look();
            assert_int_equal(pair.b.heard_count, heard + 1);
            assert_true(buffers_left() > 0);
        }
        take_data();
        while (pair.b.held_count) {
            release(0);
        }
        for (unsigned i = 0; i < 4; i++) {
            look();
        }
        assert_int_equal(channel_data_credit(&pair.a.channel), DATA_WINDOW);
        assert_true(buffers_left() >= pair.b.end.buffer_count - 1);
        /* What says when to pack: a little wrong, it would let buffers run out after days only. */
        assert_int_equal(buffers_left() + pair.b.channel.held, pair.b.end.buffer_count);
    }
    pair_end(&pair);
}

static void fill_source(void)
{
    uint64_t seed = 7;

    for (uint32_t i = 0; i < DATA_WINDOW; i++) {
        source[i] = (uint8_t)memory_random(&seed);
    }
}

static int set_up(void **state __attribute__((unused)))
{
    fill_source();
    return 0;
}

TEST_WITH(control_passes_both_windows_full_however_the_stream_is_cut, set_up, NULL)
{
    static const uint32_t cuts[] = {
        1, 25, 1000, 2049, 3000, 4095, LINK_CHUNK_MAX, 5000, 9000, 16383, LINK_LONG_CHUNK_MAX, 0};

    for (unsigned i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            if (cuts[i] <= LINK_CHUNK_MAX || kind & 2) {
                windows_fill(&(struct flow){.cut = cuts[i],
                                            .frame = 0,
                                            .every = 4,
                                            .checked = kind & 1,
                                            .long_chunks = kind & 2});
            }
        }
    }
}

TEST_WITH(control_passes_whatever_the_frames_are, set_up, NULL)
{
    static const uint32_t frames[] = {1, 100, 2030, 4072, 65536};

    for (unsigned i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        for (uint32_t packet = 0; packet <= FRAME_CONTROL_MAX; packet += FRAME_CONTROL_MAX) {
            for (unsigned is_long = 0; is_long < 2; is_long++) {
                windows_fill(&(struct flow){.cut = is_long ? LINK_LONG_CHUNK_MAX : LINK_CHUNK_MAX,
                                            .frame = frames[i],
                                            .packet = packet,
                                            .every = frames[i] < 1000 ? 64 : 1,
                                            .long_chunks = is_long});
            }
        }
    }
}
