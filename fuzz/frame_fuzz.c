/*
 * frame_fuzz.c - one channel, fed with any bytes in any chunks.
 *
 * The input's first byte sets the channel up, then each operation takes what it needs. What the
 * channel delivers and counts is compared with reference.c; what it sends is judged by pipe.c; in
 * the end the carrier is lost and every buffer and segment must have come back.
 */
#include <string.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "fuzz/neighbour.h"
#include "fuzz/reference.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "wire/packet.h"

enum {
    FLAG_CHANNEL_CHECKED = 1,
    FLAG_LAZY = 2, /* what was delivered is kept for a while, so that windows fill */
    FLAG_INCARNATION = 4,
    FLAG_LONG_CHUNKS = 8,
    INCARNATION = 7,
    HELD_MAX = 64,
    OUT_BYTES = 64
};

enum operation {
    DO_RAW,
    DO_FRAME,
    DO_HELLO,
    DO_DATA,
    DO_CHUNK,
    DO_RECEIVE,
    DO_TIME,
    DO_QUEUE,
    DO_GIVE_BACK,
    DO_STALL,
    DO_COUNT
};

struct state {
    struct channel channel;
    struct pipe pipe;
    struct neighbour neighbour;
    struct reference reference;
    struct segment segments[RING_MAX];
    struct piece pieces[RING_MAX];
    struct channel_due due;
    bool lazy;
    bool diverged; /* a full window made the channel refuse what the reference takes */
    uint32_t packets_seen, data_seen; /* items of the reference */
    uint32_t data_offset;             /* bytes seen of the present data item */
    struct arrival held[HELD_MAX];
    unsigned held_count;
    uint8_t out[RING_MAX][OUT_BYTES];
    uint16_t out_next, out_done;
};

static struct state state;

/* How far the channel has read. */
static uint32_t consumed(const struct state *s)
{
    return s->pipe.in_first - (s->channel.chunk_held ? s->channel.chunk.bytes : 0);
}

static void follow(struct state *s)
{
    reference_read(&s->reference, s->pipe.in_end, consumed(s));
    if (s->lazy &&
        (s->reference.seq_expected != s->channel.seq_expected || s->channel.state == LINK_DEAD)) {
        s->diverged = true;
    }
}

static void see_packet(struct state *s, const struct arrival *arrival)
{
    const struct reference *r = &s->reference;

    if (s->diverged) {
        return;
    }
    CHECK(s->packets_seen < r->packet_count);
    const struct reference_item *item = &r->packets[s->packets_seen++];
    CHECK(item->bytes == arrival->bytes);
    CHECK(memcmp(r->string + item->at, arrival->packet, item->bytes) == 0);
}

/* Every byte that is delivered, and the end of a circuit, is what the reference expects next. */
static void see_data(struct state *s, const struct piece *piece)
{
    const struct reference *r = &s->reference;
    uint8_t flags = 0;

    for (uint32_t i = 0; i < piece->bytes && !s->diverged;) {
        CHECK(s->data_seen < r->data_count);
        const struct reference_item *item = &r->data[s->data_seen];
        uint32_t bytes = item->bytes - s->data_offset;
        if (bytes > piece->bytes - i) {
            bytes = piece->bytes - i;
        }
        CHECK(flags == 0 &&
              memcmp(piece->data + i, r->string + item->at + s->data_offset, bytes) == 0);
        i += bytes;
        s->data_offset += bytes;
        if (s->data_offset == item->bytes) {
            if (item->flags & FLAG_LAST) {
                flags = item->flags & (FLAG_LAST | FLAG_ABORT);
            }
            s->data_seen++;
            s->data_offset = 0;
        }
    }
    CHECK(s->diverged || piece->flags == flags);
}

static void take_pieces(struct state *s)
{
    struct piece *piece;

    while ((piece = channel_piece(&s->channel)) != NULL) {
        struct piece taken = *piece;
        see_data(s, &taken);
        channel_drop_piece(&s->channel);
        channel_release(&s->channel, &s->due, taken.buffer, CREDIT_DATA, taken.bytes);
    }
}

static void give_back_packets(struct state *s)
{
    for (unsigned i = 0; i < s->held_count; i++) {
        const struct arrival *arrival = &s->held[i];
        bool routed = packet_kind(arrival->packet) >= PACKET_ROUTED;
        channel_release(&s->channel, &s->due, arrival->buffer,
                        routed ? CREDIT_CONTROL : CREDIT_NONE, 0);
    }
    s->held_count = 0;
}

/* Receives at most `count` things; true when there was nothing more. */
static bool receive(struct state *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct arrival arrival;
        enum arrival_kind kind = channel_receive(&s->channel, &s->due, &arrival);
        follow(s);
        if (kind == ARRIVAL_PACKET) {
            see_packet(s, &arrival);
            s->held[s->held_count++] = arrival;
            if (!s->lazy || s->held_count == HELD_MAX) {
                give_back_packets(s);
            }
        }
        if (!s->lazy) {
            take_pieces(s);
        }
        if (kind == ARRIVAL_NONE) {
            return true;
        }
    }
    return false;
}

/* What has begun to come, and does not go on, is given up where bytes may be lost. */
static bool gives_up(const struct state *s)
{
    const struct channel *channel = &s->channel;
    bool begun = channel->payload_left || channel->crc_left || channel->chunk_held;

    if (channel->state == LINK_DEAD || channel->part_us == UINT64_MAX) {
        return false;
    }
    CHECK(channel->checked && begun);
    return channel->part_us <= s->due.now_us;
}

static void flush(struct state *s)
{
    struct segment segment;
    bool given_up = gives_up(s);

    channel_flush(&s->channel, &s->due);
    if (given_up && s->channel.state != LINK_DEAD) {
        CHECK(!s->channel.payload_left && !s->channel.crc_left);
        reference_give_up(&s->reference, consumed(s));
    }
    while (channel_take_done(&s->channel, &segment)) {
        CHECK(segment.owner == OWNER_SLOT && segment.number == s->out_done);
        s->out_done++;
    }
    CHECK(s->channel.state != LINK_DEAD || s->out_done == s->out_next);
}

static struct lie read_lie(struct input *input)
{
    return lie_read(input, input_u8(input));
}

static void push_frame(struct state *s, struct input *input)
{
    uint8_t type = input_u8(input), flags = input_u8(input);
    struct lie lie = read_lie(input);
    uint32_t bytes;
    const uint8_t *payload = input_bytes(input, input_u8(input), &bytes);

    neighbour_frame(&s->neighbour, type % 8, flags, payload, bytes, &lie);
}

static void push_hello(struct state *s, struct input *input)
{
    uint8_t what = input_u8(input);
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .id = input_u8(input),
                          .heard = what & 3,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .dead_after_ms = DEAD_AFTER_MS};

    if (what & 4) {
        hello.data_window = input_u32(input);
    }
    if (what & 8) {
        hello.control_window = input_u16(input);
    }
    if (what & 16) {
        hello.version = input_u16(input);
    }
    s->neighbour.incarnation =
        (uint16_t)(s->neighbour.incarnation + (what >> 5 & 1)); /* it starts anew */
    if (what & 64) {
        neighbour_first_hello(&s->neighbour, &hello);
    } else {
        neighbour_hello(&s->neighbour, &hello);
    }
}

/* A data frame of a length that an input need not hold. */
static void push_data(struct state *s, struct input *input)
{
    static uint8_t payload[FRAME_DATA_MAX];
    uint8_t flags = input_u8(input), first = input_u8(input);
    struct lie lie = read_lie(input);
    uint32_t bytes = input_u16(input) + 1u;

    if (flags & 128) { /* seldom: it takes long */
        bytes = bytes < FRAME_DATA_MAX ? bytes : FRAME_DATA_MAX;
    } else {
        bytes = bytes % 5000 + 1;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        payload[i] = (uint8_t)(first + i * 7);
    }
    neighbour_frame(&s->neighbour, FRAME_DATA, flags & 7, payload, bytes, &lie);
}

/* Frames of this side, so that acknowledgements and credits have something to be about. */
static void queue(struct state *s, struct input *input)
{
    uint32_t payload = 16 + input_u8(input) % (OUT_BYTES - FRAME_HEADER_BYTES - 16u + 1);
    bool data = input_u8(input) & 1;

    if (!channel_room(&s->channel, 1) || !(data ? channel_data_credit(&s->channel) >= payload
                                                : channel_control_credit(&s->channel))) {
        return;
    }
    *channel_place(&s->channel, 0) = (struct segment){.data = s->out[s->out_next % RING_MAX],
                                                      .bytes = FRAME_HEADER_BYTES + payload,
                                                      .owner = OWNER_SLOT,
                                                      .number = s->out_next};
    channel_queue(&s->channel, &s->due, data ? FRAME_DATA : FRAME_PACKET, 0, payload, 1);
    s->channel.control_sent = (uint16_t)(s->channel.control_sent + !data);
    s->out_next++;
    s->reference.sent = true;
}

static void operate(struct state *s, struct input *input)
{
    uint32_t bytes;
    const uint8_t *raw;

    switch (input_u8(input) % DO_COUNT) {
    case DO_RAW:
        raw = input_bytes(input, input_u8(input), &bytes);
        pipe_push(&s->pipe, raw, bytes);
        break;
    case DO_FRAME: push_frame(s, input); break;
    case DO_HELLO: push_hello(s, input); break;
    case DO_DATA: push_data(s, input); break;
    case DO_CHUNK:
        bytes = input_u16(input);
        s->pipe.chunk_bytes = 1 + bytes % link_chunk_max(&s->pipe.link);
        break;
    case DO_RECEIVE: receive(s, input_u8(input) + 1u); break;
    case DO_TIME:
        s->due.now_us += (uint64_t)input_u16(input) * 1000;
        flush(s);
        break;
    case DO_QUEUE: queue(s, input); break;
    case DO_GIVE_BACK:
        take_pieces(s);
        give_back_packets(s);
        break;
    default:
        s->pipe.stalled = !s->pipe.stalled;
        if (!s->pipe.stalled) {
            pipe_drain(&s->pipe);
        }
        break;
    }
}

/* All that was sent has been read, and counted as the reference counts it. */
static void compare(struct state *s)
{
    const struct reference *r = &s->reference;
    const struct channel *channel = &s->channel;

    if (channel->state == LINK_DEAD) {
        CHECK(s->lazy || channel->dead_reason == DEAD_TIMEOUT ||
              channel->dead_reason == r->dead_reason);
        return;
    }
    CHECK(s->lazy || !r->dead_reason);
    if (s->diverged) {
        return;
    }
    CHECK(pipe_waiting(&s->pipe) == 0 || s->lazy);
    CHECK(s->packets_seen == r->packet_count);
    CHECK(channel->counters.damaged == r->damaged && channel->counters.gaps == r->gaps);
    CHECK(channel->frames_received == r->frames && channel->counters.strays == r->strays);
    CHECK(channel->seq_expected == r->seq_expected);
    if (!s->lazy) { /* of an unchecked frame a part may be missing */
        CHECK(s->data_seen == r->data_count || s->data_seen + 1 == r->data_count);
    }
}

static void finish(struct state *s)
{
    while (!receive(s, 1000)) {
    }
    compare(s);
    s->pipe.link.carrier = CARRIER_LOST;
    flush(s);
    CHECK(s->channel.state == LINK_DEAD);
    receive(s, 1);
    take_pieces(s);
    give_back_packets(s);
    CHECK(s->pipe.taken_count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct state *s = &state;
    uint8_t setup = input_u8(&input);
    bool checked = setup & FLAG_CHANNEL_CHECKED;
    uint16_t incarnation = setup & FLAG_INCARNATION ? INCARNATION : 0;

    pipe_init(&s->pipe);
    if (setup & FLAG_LONG_CHUNKS) {
        pipe_lengthen(&s->pipe);
    }
    reference_init(&s->reference, s->pipe.in, checked, incarnation);
    struct channel_config config = {.link = &s->pipe.link,
                                    .segments = s->segments,
                                    .pieces = s->pieces,
                                    .ring = RING_MAX,
                                    .incarnation = incarnation,
                                    .checked = checked,
                                    .dead_after_ms = DEAD_AFTER_MS,
                                    .due_bit = 1};
    channel_init(&s->channel, &s->due, &config);
    s->neighbour = (struct neighbour){.pipe = &s->pipe, .channel = &s->channel, .incarnation = 1};
    s->lazy = setup & FLAG_LAZY;
    s->diverged = false;
    s->due.now_us = 1000000;
    s->packets_seen = s->data_seen = s->data_offset = 0;
    s->held_count = 0;
    s->out_next = s->out_done = 0;
    while (input.left > 0) {
        operate(s, &input);
    }
    finish(s);
    return 0;
}
