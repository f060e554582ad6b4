#include "tests/fabric/pair.h"

#include <string.h>

#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "tests/testing.h"
#include "wire/crc.h"

enum { STEP_US = 10000, GREETINGS_US = 1000000 };

static void begin_side(struct pair *pair, struct pair_side *side)
{
    struct channel_config config = {.link = &side->end.link,
                                    .segments = side->segments,
                                    .pieces = side->pieces,
                                    .ring = PAIR_RING,
                                    .incarnation = side->incarnation,
                                    .checked = pair->checked,
                                    .dead_after_ms = pair->dead_after_ms,
                                    .due_bit = 1};

    channel_init(&side->channel, &side->due, &config);
}

struct channel_due *pair_agenda(const struct pair *pair, struct pair_side *side)
{
    side->due.now_us = pair->now_us;
    return &side->due;
}

/* As the router does: a channel is flushed when it has asked for it, or its time has come. */
static void flush(struct pair *pair, struct pair_side *side)
{
    struct channel *channel = &side->channel;
    struct channel_due *due = pair_agenda(pair, side);
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .id = side->nameless ? (uint32_t)ID_UNKNOWN : side == &pair->b,
                          .heard = channel_heard(channel),
                          .data_window = channel->data_window,
                          .control_window = CONTROL_WINDOW,
                          .peer_id = ID_UNKNOWN};

    if (due->now_us >= due->wake_us) {
        due->wake_us = UINT64_MAX;
        if (channel->wake_us <= due->now_us) {
            channel_wake(channel, due);
        } else {
            channel_due_by(due, channel->wake_us);
        }
    }
    if (!due->flush_due) {
        return;
    }
    due->flush_due = 0;
    if (channel_greets(channel, due, hello.id)) {
        channel_greet(channel, due, &hello);
    }
    channel_flush(channel, due);
    if (!channel_settled(channel, hello.id)) {
        channel_wake(channel, due);
    }
}

void pair_look(struct pair *pair, struct pair_side *side)
{
    struct segment done;
    struct arrival arrival;
    enum arrival_kind kind;
    struct channel_due *due = pair_agenda(pair, side);

    while ((kind = channel_receive(&side->channel, due, &arrival)) != ARRIVAL_NONE) {
        if (kind == ARRIVAL_PACKET) {
            assert_true(side->held_count < PAIR_HELD_MAX);
            side->held[side->held_count++] = arrival;
            side->heard_count++;
        }
    }
    flush(pair, side);
    while (channel_take_done(&side->channel, &done)) {
        side->done_count++;
    }
}

void pair_pass_us(struct pair *pair, uint64_t us)
{
    for (uint64_t end_us = pair->now_us + us; pair->now_us < end_us; pair->now_us += STEP_US) {
        pair_look(pair, &pair->a);
        pair_look(pair, &pair->b);
    }
}

void pair_wire(struct pair *pair, bool checked)
{
    uint32_t dead_after_ms = pair->dead_after_ms;
    bool long_chunks = pair->long_chunks;

    memset(pair, 0, sizeof *pair);
    pair->seed = pair->now_us = 1;
    pair->checked = checked;
    pair->long_chunks = long_chunks;
    pair->dead_after_ms = dead_after_ms ? dead_after_ms : DEAD_AFTER_MS;
    memory_link_init(&pair->a.end, &pair->b.end, &pair->seed, &pair->fault);
    if (long_chunks) {
        memory_link_lengthen(&pair->a.end);
        memory_link_lengthen(&pair->b.end);
    }
    begin_side(pair, &pair->a);
    begin_side(pair, &pair->b);
}

void pair_begin(struct pair *pair, bool checked)
{
    pair_wire(pair, checked);
    pair_pass_us(pair, GREETINGS_US);
    assert_int_equal(pair_link(&pair->a), LINK_UP);
    assert_int_equal(pair_link(&pair->b), LINK_UP);
}

uint8_t pair_link(const struct pair_side *side)
{
    return channel_state(&side->channel);
}

uint8_t pair_dead_reason(const struct pair_side *side)
{
    return channel_dead_reason(&side->channel);
}

bool pair_is_acknowledged(const struct pair_side *side)
{
    return side->done_count == side->queued_count;
}

static uint32_t take_unheard(struct memory_end *end, uint8_t *bytes, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = end->first; i != end->kicked; i++) {
        const struct memory_segment *segment = &end->segments[i % MEMORY_SEGMENTS];
        uint32_t from = i == end->first ? end->offset : 0, more = segment->bytes - from;

        if (more > most - count) {
            more = most - count;
        }
        memcpy(bytes + count, segment->data + from, more);
        count += more;
    }
    return count;
}

void pair_restart(struct pair *pair, struct pair_side *side, uint32_t left_bytes)
{
    static uint8_t unheard[PAIR_LEFT_MAX];
    struct memory_end *end = &side->end;
    uint32_t bytes = take_unheard(end, unheard, left_bytes);

    memcpy(side->left, unheard, bytes);
    end->end = end->kicked = 0;
    end->first = bytes ? UINT32_MAX : 0; /* the first segment of an incarnation is number 0 */
    end->segments[UINT32_MAX % MEMORY_SEGMENTS] = (struct memory_segment){side->left, bytes};
    end->offset = 0;
    memset(end->taken, 0, sizeof end->taken);
    side->held_count = side->done_count = side->queued_count = 0;
    side->due.wake_us = 0;
    side->incarnation = (uint16_t)(side->incarnation + 1);
    begin_side(pair, side);
}

void pair_end(struct pair *pair)
{
    memory_link_free(&pair->a.end, &pair->b.end);
}

static void queue(struct pair *pair, struct pair_side *side, unsigned number, uint8_t type,
                  uint8_t flags, uint32_t bytes)
{
    uint8_t *frame = side->frames[number], *payload = frame + FRAME_HEADER_BYTES;
    uint32_t check = pair->checked ? FRAME_CHECK_BYTES : 0;

    frame_put_check(payload + bytes,
                    crc32_add(frame_payload_start(side->channel.seq_next), payload, bytes));
    *channel_place(&side->channel, 0) =
        (struct segment){.data = frame, .bytes = FRAME_HEADER_BYTES + bytes + check};
    channel_queue(&side->channel, pair_agenda(pair, side), type,
                  (uint8_t)(flags | (check ? FLAG_CHECKED : 0)), bytes, 1);
    side->queued_count++;
}

void pair_packet(struct pair *pair, struct pair_side *side, unsigned number)
{
    uint8_t *packet = side->frames[number] + FRAME_HEADER_BYTES;

    memset(packet, (int)number, PAIR_PACKET_BYTES);
    packet_pack(packet, PACKET_ROUTED, PAIR_PACKET_BYTES - PACKET_HEADER_BYTES, 0, 0);
    queue(pair, side, number, FRAME_PACKET, 0, PAIR_PACKET_BYTES);
    channel_use_credit(&side->channel);
}

void pair_data(struct pair *pair, struct pair_side *side, unsigned number, uint32_t bytes,
               uint8_t flags)
{
    assert_true(bytes <= PAIR_ROOM);
    memset(side->frames[number] + FRAME_HEADER_BYTES, (int)number, bytes);
    queue(pair, side, number, FRAME_DATA, flags, bytes);
}

void pair_lose(struct pair_side *side)
{
    side->end.first = side->end.kicked = side->end.end;
    side->end.offset = 0;
}
