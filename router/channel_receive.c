/*
 * channel_receive.c - from a link's chunks to packets and pieces.
 *
 * A chunk is cut anywhere. A header, or a whole control frame, that begins in one chunk and ends in
 * the next is joined in the next one's headroom; payloads stay where they are, as pieces:
 *
 *     chunk   | header | payload ......... | header | packet | header | payl...
 *              consumed  piece               consumed  arrival  consumed  piece
 *
 * Frames come in order or not at all: a number that is too high is a gap, for which one NAK goes
 * out, and one that is too low has come twice, which is acknowledged again, for the word may have
 * been lost. A payload with a check is believed only when its last byte has come ([commit, end) of
 * the pieces is rolled back if it is wrong); others are passed on as they arrive.
 *
 * Buffers are few, so short data is joined: a run is copied behind the one before it when it fits
 * whole, and when more buffers are held than full windows need (held_max) all pieces are packed. So
 * DATA_WINDOW bytes always fit the link's buffers, however the stream is cut and whatever lies
 * between, and control has one left. Refused: filling each buffer on arrival, which copies more in
 * every relay and still leaves holes where packets were.
 */
#include "router/channel_receive.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel.h"
#include "router/port.h"
#include "wire/crc.h"
#include "wire/frame.h"
#include "wire/packet.h"

enum {
    WINDOW_MAX = 1024 * 1024, /* no neighbour is believed to have more */
    UNACKNOWLEDGED_MAX = 4,   /* numbered frames that may go unacknowledged without a delay */
    PATIENCE_MAX = 4,         /* chunks: a wake-up costs about as much as taking that many */
    PACKED_OTHER =
        LINK_HEADROOM - FRAME_HEADER_BYTES, /* with the longest chunk: data in a buffer */
    /*
     * Buffers that may be held when the pieces have been packed, so that the link always has some
     * to receive into, and control never waits for data, however the stream is cut. 192 KiB take 38
     * buffers, or 12 long ones; each of 4 circuits that end between them, and a frame that is not
     * checked yet, may leave one more that is not full: 43, or 17. Packets that are held, 12 routed
     * ones and 4 OPENs, may lie in one buffer each: 59, or 33. What is being read lies in the last
     * one, or two: 61, or 35.
     */
    HELD_OTHER = CIRCUITS_MAX + 1 + CONTROL_WINDOW + CIRCUITS_MAX + 2,
    HELD_MAX = DATA_WINDOW / (PACKED_OTHER + LINK_CHUNK_MAX) + 1 + HELD_OTHER,
    HELD_LONG_MAX = DATA_WINDOW / (PACKED_OTHER + LINK_LONG_CHUNK_MAX) + 1 + HELD_OTHER
};

_Static_assert(HELD_MAX < (int)LINK_BUFFERS_MAX && HELD_LONG_MAX < (int)LINK_LONG_BUFFERS,
               "a buffer is left to receive into");

static inline unsigned held_max(const struct channel *channel)
{
    return channel->link->long_chunks ? HELD_LONG_MAX : HELD_MAX;
}

/* Whether the sender is to be told now how many packets have been consumed: when it may go on with
 * half a window at once. In a ring also when by what it knows fewer than two may go, for there the
 * last free place must not be one that nobody knows of (rule 6 of README.md). */
static bool control_owed(const struct channel *channel)
{
    uint16_t known = (uint16_t)(channel->control_received - channel->control_reported);

    return (uint16_t)(channel->control_consumed - channel->control_reported) >=
               CONTROL_WINDOW / 2 ||
           (channel->in_ring && known > CONTROL_WINDOW - 2);
}

void channel_release(struct channel *channel, struct channel_due *due, uint16_t buffer,
                     enum credit credit, uint32_t bytes)
{
    channel_drop(channel, buffer);
    if (credit == CREDIT_CONTROL) {
        channel->control_consumed++;
        if (control_owed(channel)) {
            channel_acknowledge(channel, due);
        }
    } else if (credit == CREDIT_DATA) {
        channel->data_consumed += bytes;
        bool closed = channel->data_consumed == channel->data_received &&
                      channel->payload_left == 0 && channel->payload_flags & FLAG_LAST;
        if (channel->data_consumed - channel->data_reported >= channel->data_window / 4 || closed) {
            channel_acknowledge(channel, due);
        }
    }
}

static void drop_chunk(struct channel *channel)
{
    channel->chunk_held = false;
    channel_drop(channel, channel->chunk.buffer);
}

/* Consumes bytes of the present chunk, and lets go of it when it is used up. */
static void advance(struct channel *channel, uint32_t bytes)
{
    channel->chunk.data += bytes;
    channel->chunk.bytes -= bytes;
    if (channel->chunk.bytes == 0) {
        drop_chunk(channel);
    }
}

/* The same for a packet that stays: what is left of the chunk needs a hold of its own. */
static void pass_hold(struct channel *channel, uint32_t bytes)
{
    if (channel->chunk.bytes == bytes) {
        channel->chunk_held = false;
        return;
    }
    channel_hold(channel, channel->chunk.buffer);
    advance(channel, bytes);
}

static uint16_t piece_count(const struct channel *channel)
{
    return (uint16_t)(channel->piece_end - channel->piece_first);
}

/* Puts bytes behind those of a piece. */
static void add_bytes(struct piece *piece, const uint8_t *data, uint32_t bytes)
{
    memmove(piece->data + piece->bytes, data, bytes);
    piece->bytes = (uint16_t)(piece->bytes + bytes);
    piece->room = (uint16_t)(piece->room - bytes);
}

/* Whether a buffer holds nothing but the piece `index` and those that follow it. */
static bool alone(const struct channel *channel, uint16_t index)
{
    uint16_t buffer = channel_piece_at(channel, index)->buffer;
    unsigned count = 0;

    while (index != channel->piece_end && channel_piece_at(channel, index)->buffer == buffer) {
        index++, count++;
    }
    return channel->refs[buffer] == count;
}

/* Moves a piece to the front of its buffer, where a header still fits before it. */
static void slide(const struct channel *channel, struct piece *piece)
{
    uint32_t free =
        PACKED_OTHER + link_chunk_max(channel->link) - (uint32_t)piece->bytes - piece->room;

    memmove(piece->data - free, piece->data, piece->bytes);
    piece->data -= free;
    piece->room = (uint16_t)(piece->room + free);
    piece->split = false;
}

/* Moves bytes from the front of one piece behind those of another, which lies before it: as many as
 * there is room for, which within a buffer is for all. */
static void pull(struct piece *to, struct piece *from)
{
    uint16_t bytes = from->bytes;

    if (from->buffer != to->buffer && bytes > to->room) {
        bytes = to->room;
    }
    add_bytes(to, from->data, bytes);
    from->data += bytes;
    from->bytes = (uint16_t)(from->bytes - bytes);
}

/*
 * Packs the pieces into as few buffers as hold them. A buffer in which nothing else lies is filled,
 * headroom included, with the bytes that follow; one with a packet in it, or with bytes that are
 * being sent, stays as it is, and so does what ends a circuit, or may have to be thrown away.
 *
 * a 100 bytes at the end of a buffer | b 4,096 | c 3,000, a packet behind it | d 2,000
 * a 5,224: of b 4,096, of c 1,028 | c the other 1,972, and the packet | d 2,000
 */
static void pack(struct channel *channel)
{
    uint16_t kept = channel->piece_first, commit = channel->piece_commit;
    struct piece *to = NULL; /* is to be filled */

    for (uint16_t i = channel->piece_first; i != channel->piece_end; i++) {
        struct piece from = *channel_piece_at(channel, i);
        if (i == commit) {
            channel->piece_commit = kept;
            to = NULL;
        }
        if (to) {
            pull(to, &from);
        }
        if (from.bytes == 0) {
            to->flags = from.flags;
            channel_drop(channel, from.buffer);
        } else {
            struct piece *place = channel_piece_at(channel, kept++);
            to = alone(channel, i) ? place : NULL;
            if (to) {
                slide(channel, &from);
            }
            *place = from;
        }
        if (from.flags & FLAG_LAST) {
            to = NULL;
        }
    }
    if (commit == channel->piece_end) {
        channel->piece_commit = kept;
    }
    channel->piece_end = kept;
}

static inline bool next_chunk(struct channel *channel, struct link_chunk *chunk)
{
    if (!channel->link->ops->receive(channel->link, chunk)) {
        return false;
    }
    CHECK(chunk->buffer < LINK_BUFFERS_MAX && chunk->bytes <= link_chunk_max(channel->link));
    if (channel->checked) {
        channel->part_us = UINT64_MAX;
    }
    channel->refs[chunk->buffer] = 1;
    channel->chunk_end = chunk->data + link_chunk_max(channel->link);
    if (++channel->held > held_max(channel)) {
        pack(channel);
    }
    return true;
}

/* Joins what is left of the present chunk to the next ones, which go on where it ends. */
static bool gather_more(struct channel *channel, uint32_t bytes)
{
    while (channel->chunk.bytes < bytes) {
        struct link_chunk chunk;
        uint32_t kept = channel->chunk.bytes;

        CHECK(kept <= LINK_HEADROOM);
        if (!next_chunk(channel, &chunk)) {
            return false;
        }
        chunk.data -= kept;
        chunk.bytes += kept;
        memcpy(chunk.data, channel->chunk.data, kept);
        channel_drop(channel, channel->chunk.buffer);
        channel->chunk = chunk;
    }
    return true;
}

/* Makes at least `bytes` contiguous in the present chunk; false when they have not arrived yet. */
static inline bool gather(struct channel *channel, uint32_t bytes)
{
    return channel->chunk.bytes >= bytes || gather_more(channel, bytes);
}

/* One NAK per gap: all frames behind it are out of order too. */
static void owe_nak(struct channel *channel, struct channel_due *due)
{
    if (!channel->nak_sent) {
        channel->owes |= OWES_NAK;
    }
    channel->nak_sent = true;
    channel_wake(channel, due);
}

/* An acknowledgement may wait for a frame to carry it, but not for long, and not while the sender's
 * window fills. */
static void owe_ack(struct channel *channel, struct channel_due *due)
{
    if (channel->ack_us == UINT64_MAX) {
        channel->ack_us = due->now_us + ACK_DELAY_US;
        if (channel->ack_us < channel->wake_us) {
            channel->wake_us = channel->ack_us;
        }
        channel_due_by(due, channel->ack_us);
    }
    if ((uint16_t)(channel->seq_expected - channel->seq_reported) >= UNACKNOWLEDGED_MAX ||
        channel->data_received - channel->data_acknowledged >= channel->data_window / 4) {
        channel_acknowledge(channel, due);
    }
}

static void accept_frame(struct channel *channel, struct channel_due *due)
{
    channel->seq_expected++;
    if (channel->nak_sent) {
        channel->nak_sent = false;
        channel->owes &= (uint8_t)~OWES_NAK;
    }
    channel->frames_received++;
    owe_ack(channel, due);
}

/* What every good header carries: acknowledgement and credits. Impossible ones are ignored and
 * counted. */
static inline void take_credits(struct channel *channel, const struct frame *frame,
                                struct channel_due *due)
{
    uint16_t moved = (uint16_t)(frame->ack - channel->seq_acknowledged);
    uint16_t outstanding = (uint16_t)(channel->seq_next - channel->seq_acknowledged);

    if (moved > 0 && moved <= outstanding) {
        channel_progress(channel, due);
        channel->seq_acknowledged = frame->ack;
    }
    uint32_t data_limit = frame->data_credit + channel->peer_data_window;
    bool more = false;
    if ((int32_t)(data_limit - channel->data_limit) > 0 &&
        (int32_t)(frame->data_credit - channel->data_sent) <= 0) {
        channel->data_limit = data_limit;
        more = true;
    }
    uint16_t control_limit = (uint16_t)(frame->control_credit + channel->peer_control_window);
    if ((int16_t)(control_limit - channel->control_limit) > 0 &&
        (int16_t)(frame->control_credit - channel->control_sent) <= 0) {
        channel->control_limit = control_limit;
        more = true;
    }
    if (channel->checked) {
        channel->asked_us = 0;
        if (more) {
            channel->short_us = UINT64_MAX;
        }
    }
}

/* Whether a frame is for this incarnation. Who says HELLO may not know it yet. */
static inline bool is_for_us(const struct channel *channel, const struct frame *frame)
{
    return channel->incarnation == 0 || frame->incarnation == channel->incarnation ||
           (frame->incarnation == 0 && frame->type == FRAME_HELLO);
}

/* Only the first HELLO of an incarnation settles the windows, for credits are counted from there.
 * One of another incarnation on a link that has carried frames says that the other end has
 * forgotten everything. */
static void take_hello(struct channel *channel, struct channel_due *due, const struct frame *frame,
                       const uint8_t *payload)
{
    bool knows_us = channel->incarnation == 0 || frame->incarnation == channel->incarnation;
    bool anew = channel->incarnation != 0 && frame->seq != channel->peer_incarnation;
    struct hello hello;

    if (!hello_unpack(payload, frame->length, &hello) || hello.version != PROTOCOL_VERSION) {
        channel_kill(channel, due, DEAD_VERSION);
        return;
    }
    if (hello.data_window > WINDOW_MAX || hello.control_window > CONTROL_WINDOW * 64) {
        channel_kill(channel, due, DEAD_PROTOCOL);
        return;
    }
    if (anew && channel->state == LINK_UP) {
        if (channel->frames_sent || channel->frames_received) {
            channel_kill(channel, due, DEAD_RESTARTED);
            return;
        }
        channel->state = LINK_HEARD; /* they had only greeted each other */
    }
    channel->peer_incarnation = frame->seq;
    if (anew) {
        channel_greet_soon(channel, due);
    }
    if (channel->state == LINK_SILENT || (anew && channel->state == LINK_HEARD)) {
        channel->state = LINK_HEARD;
        /* The windows are settled by its first HELLO: credits count on them. */
        channel->data_limit = channel->peer_data_window = hello.data_window;
        channel->control_limit = channel->peer_control_window = hello.control_window;
    }
    if (hello.heard != HEARD_ALL && due->now_us - channel->hello_us >= HELLO_RETRY_US / 2) {
        channel_greet_soon(channel, due); /* it asks again: what we said was lost */
    }
    channel->peer = hello;
    channel->peer_known = hello.id != ID_UNKNOWN;
    channel->hello_new = true;
    if (hello.heard != HEARD_NOTHING && knows_us && channel->state == LINK_HEARD) {
        channel->state = LINK_UP;
    }
    if (channel_heard(channel) != channel->announced_heard) {
        channel_greet_soon(channel, due);
    }
}

static void take_unnumbered(struct channel *channel, struct channel_due *due,
                            const struct frame *frame, const uint8_t *payload)
{
    if (frame->type == FRAME_HELLO) {
        take_hello(channel, due, frame, payload);
    } else if (frame->type == FRAME_NAK) {
        channel->owes |= OWES_AGAIN;
        channel_wake(channel, due);
    } else if (frame->flags & FLAG_ASK) {
        channel_acknowledge(channel, due);
    }
}

/* Says whether a numbered frame is the next one; if not, what is owed to the sender. */
static bool in_order(struct channel *channel, struct channel_due *due, const struct frame *frame)
{
    if (channel->state == LINK_SILENT) {
        return false; /* its HELLO was lost; it sends this again */
    }
    if (channel->state == LINK_HEARD) {
        channel->state = LINK_UP; /* who sends numbered frames has heard us */
    }
    if (frame->seq == channel->seq_expected) {
        return true;
    }
    if ((int16_t)(frame->seq - channel->seq_expected) < 0) {
        channel_acknowledge(channel, due);
    } else {
        channel->counters.gaps++;
        owe_nak(channel, due);
    }
    return false;
}

static bool payload_good(const struct frame *frame, const uint8_t *payload)
{
    return !(frame->flags & FLAG_CHECKED) ||
           frame_payload_check(payload + frame->length) ==
               crc32_add(frame_payload_start(frame->seq), payload, frame->length);
}

static bool take_packet(struct channel *channel, const struct frame *frame, struct channel_due *due,
                        struct arrival *arrival)
{
    uint8_t *packet = channel->chunk.data + FRAME_HEADER_BYTES;

    if (!in_order(channel, due, frame)) {
        return false;
    }
    if (packet_kind(packet) >= PACKET_ROUTED) {
        if (channel_control_held(channel) >= CONTROL_WINDOW) {
            channel_kill(channel, due, DEAD_PROTOCOL);
            return false;
        }
        channel->control_received++;
    }
    accept_frame(channel, due);
    if (frame->flags & FLAG_ASK) {
        channel_acknowledge(channel, due);
    }
    *arrival = (struct arrival){packet, frame->length, channel->chunk.buffer};
    return true;
}

/* What does not come in order is skipped as it flows by: its length is believed, its header was. */
static void begin_data(struct channel *channel, struct channel_due *due, const struct frame *frame)
{
    channel->payload_flags = frame->flags;
    channel->payload_left = frame->length;
    channel->payload_skip = !in_order(channel, due, frame);
    channel->crc = frame_payload_start(frame->seq);
    channel->crc_received = 0;
    channel->crc_left = frame->flags & FLAG_CHECKED ? FRAME_CHECK_BYTES : 0;
    if (!channel->payload_skip &&
        channel->data_received + frame->length - channel->data_consumed > channel->data_window) {
        channel_kill(channel, due, DEAD_PROTOCOL);
    }
}

/* The control frames' total length that must be contiguous; 0: the header is impossible. */
static uint32_t control_bytes(const struct channel *channel, const struct frame *frame)
{
    uint32_t check = frame->flags & FLAG_CHECKED ? FRAME_CHECK_BYTES : 0;

    switch (frame->type) {
    case FRAME_HELLO:
        return frame->length == HELLO_BYTES && check ? FRAME_HEADER_BYTES + HELLO_BYTES + check : 0;
    case FRAME_ACK:
    case FRAME_NAK: return frame->length == 0 && !check ? FRAME_HEADER_BYTES : 0;
    case FRAME_PACKET:
        if (frame->length < PACKET_HEADER_BYTES || frame->length > FRAME_CONTROL_MAX ||
            (channel->checked && !check)) {
            return 0;
        }
        return FRAME_HEADER_BYTES + frame->length + check;
    default: return 0;
    }
}

static bool data_possible(const struct channel *channel, const struct frame *frame)
{
    return frame->type == FRAME_DATA && frame->length > 0 && frame->length <= FRAME_DATA_MAX &&
           (!channel->checked || frame->flags & FLAG_CHECKED);
}

/* Skips to the next place where a header may begin. What comes before the link is up may be left
 * from an earlier incarnation: it is no damage. */
static void hunt(struct channel *channel, struct channel_due *due)
{
    uint32_t skip = 1;

    if (channel->incarnation == 0 || channel->state >= LINK_UP) {
        channel->counters.damaged += !channel->hunting;
        owe_nak(channel, due);
    }
    channel->hunting = true;
    while (skip < channel->chunk.bytes && channel->chunk.data[skip] != (FRAME_SYNC & 0xff)) {
        skip++;
    }
    advance(channel, skip);
}

/* For an earlier incarnation: its payload may have been cut short when that ended, so what is
 * behind the header is hunted through. The sender may not know yet that this end has started anew.
 */
static void pass_stray(struct channel *channel, struct channel_due *due)
{
    channel->counters.strays++;
    channel->hunting = true;
    if (due->now_us - channel->hello_us >= HELLO_RETRY_US / 2) {
        channel_greet_soon(channel, due);
    }
    advance(channel, FRAME_HEADER_BYTES);
}

/* One frame's header, and all of it unless it is data. */
static enum arrival_kind take_frame(struct channel *channel, struct channel_due *due,
                                    struct arrival *arrival)
{
    struct frame frame;

    if (!gather(channel, FRAME_HEADER_BYTES)) {
        return ARRIVAL_NONE;
    }
    if (!frame_unpack(channel->chunk.data, &frame)) {
        hunt(channel, due);
        return ARRIVAL_PROGRESS;
    }
    if (!is_for_us(channel, &frame)) {
        pass_stray(channel, due);
        return ARRIVAL_PROGRESS;
    }
    if (data_possible(channel, &frame)) {
        channel->hunting = false;
        take_credits(channel, &frame, due);
        begin_data(channel, due, &frame);
        advance(channel, FRAME_HEADER_BYTES);
        return ARRIVAL_PROGRESS;
    }
    uint32_t bytes = control_bytes(channel, &frame);
    if (bytes == 0) {
        hunt(channel, due);
        return ARRIVAL_PROGRESS;
    }
    if (!gather(channel, bytes)) {
        return ARRIVAL_NONE;
    }
    channel->hunting = false;
    take_credits(channel, &frame, due);
    if (!payload_good(&frame, channel->chunk.data + FRAME_HEADER_BYTES)) {
        channel->counters.damaged++;
        owe_nak(channel, due);
    } else if (frame.type != FRAME_PACKET) {
        take_unnumbered(channel, due, &frame, channel->chunk.data + FRAME_HEADER_BYTES);
    } else if (take_packet(channel, &frame, due, arrival)) {
        pass_hold(channel, bytes);
        return ARRIVAL_PACKET;
    }
    advance(channel, bytes);
    return ARRIVAL_PROGRESS;
}

/* Adds a few bytes to the newest piece, when its buffer has room behind it; so buffers and pieces
 * stay few. */
static bool join_piece(struct channel *channel, uint32_t bytes)
{
    struct piece *last = channel_piece_at(channel, (uint16_t)(channel->piece_end - 1));
    uint16_t oldest =
        channel->payload_flags & FLAG_CHECKED ? channel->piece_commit : channel->piece_first;

    if (channel->piece_end == oldest || last->flags & FLAG_LAST) {
        return false;
    }
    if (last->buffer != channel->chunk.buffer) {
        if (bytes > last->room || channel->refs[last->buffer] > 1) {
            return false; /* it does not fit, or something else may lie there */
        }
    } else if (channel->chunk.data - (last->data + last->bytes) >
               FRAME_HEADER_BYTES + FRAME_CHECK_BYTES) {
        return false; /* a packet that is still in use may lie between */
    }
    add_bytes(last, channel->chunk.data, bytes);
    return true;
}

/* Keeps bytes of the present chunk as a piece; false when there are too many pieces. */
static bool keep_piece(struct channel *channel, uint32_t bytes)
{
    if (join_piece(channel, bytes)) {
        return true;
    }
    if (piece_count(channel) == channel->ring) {
        pack(channel);
    }
    if (piece_count(channel) == channel->ring) {
        return false;
    }
    uint32_t room = (uint32_t)(channel->chunk_end - channel->chunk.data) - bytes;
    *channel_piece_at(channel, channel->piece_end++) =
        (struct piece){.data = channel->chunk.data,
                       .bytes = (uint16_t)bytes,
                       .room = (uint16_t)room,
                       .buffer = channel->chunk.buffer};
    channel_hold(channel, channel->chunk.buffer);
    return true;
}

/* Throws away the pieces of a frame that turned out bad. */
static void roll_back(struct channel *channel)
{
    while (channel->piece_end != channel->piece_commit) {
        struct piece *piece = channel_piece_at(channel, --channel->piece_end);
        channel->data_received -= piece->bytes;
        channel_drop(channel, piece->buffer);
    }
}

/* No room for another piece: a checked frame is sent again later, any other cannot be. */
static void lose_payload(struct channel *channel, struct channel_due *due)
{
    if (!(channel->payload_flags & FLAG_CHECKED)) {
        channel_kill(channel, due, DEAD_PROTOCOL);
    }
    roll_back(channel);
    channel->payload_skip = true;
    owe_nak(channel, due);
}

/* The last byte of a data frame has come. */
static void end_data(struct channel *channel, struct channel_due *due)
{
    if (channel->payload_skip) {
        return;
    }
    if (channel->payload_flags & FLAG_CHECKED && channel->crc != channel->crc_received) {
        channel->counters.damaged++;
        roll_back(channel);
        owe_nak(channel, due);
        return;
    }
    if (channel->payload_flags & FLAG_LAST) {
        struct piece *last = channel_piece_at(channel, (uint16_t)(channel->piece_end - 1));
        last->flags = channel->payload_flags & (FLAG_LAST | FLAG_ABORT);
    }
    if (channel->payload_flags & (FLAG_LAST | FLAG_ASK)) {
        channel_acknowledge(channel, due);
    }
    channel->piece_commit = channel->piece_end;
    accept_frame(channel, due);
}

/* Takes what the present chunk has of a data frame, or one byte of its check. */
static void take_payload(struct channel *channel, struct channel_due *due)
{
    if (channel->payload_left) {
        uint32_t bytes = channel->payload_left;
        if (bytes > channel->chunk.bytes) {
            bytes = channel->chunk.bytes;
        }
        if (channel->payload_flags & FLAG_CHECKED && !channel->payload_skip) {
            channel->crc = crc32_add(channel->crc, channel->chunk.data, bytes);
        }
        if (!channel->payload_skip && !keep_piece(channel, bytes)) {
            lose_payload(channel, due);
        }
        if (!channel->payload_skip) {
            channel->data_received += bytes;
            if (!(channel->payload_flags & FLAG_CHECKED)) {
                channel->piece_commit = channel->piece_end;
            }
        }
        channel->payload_left -= bytes;
        advance(channel, bytes);
    } else {
        unsigned shift = 8u * (unsigned)(FRAME_CHECK_BYTES - channel->crc_left--);
        channel->crc_received |= (uint32_t)channel->chunk.data[0] << shift;
        advance(channel, 1);
    }
    if (channel->payload_left == 0 && channel->crc_left == 0) {
        end_data(channel, due);
    }
}

/* Chunks without which the frame under way cannot be complete bring nothing but its middle. Where
 * bytes may be lost, they are not counted on. */
uint16_t channel_coalesce(const struct channel *channel)
{
    uint32_t chunks = (channel->payload_left + LINK_CHUNK_MAX - 1) / LINK_CHUNK_MAX;

    if (channel->checked) {
        chunks = 1;
    }
    return (uint16_t)(chunks < PATIENCE_MAX ? chunks : PATIENCE_MAX);
}

/* Whether a frame has begun to come, and what there is of it has been taken. */
static bool in_frame(const struct channel *channel)
{
    return channel->payload_left || channel->crc_left || channel->chunk_held;
}

/* Where bytes may be lost, the rest of a frame is waited for, but not for long. */
static void watch_part(struct channel *channel, struct channel_due *due)
{
    if (!channel->checked || channel->part_us != UINT64_MAX || !in_frame(channel)) {
        return;
    }
    channel->part_us = due->now_us + PART_US;
    if (channel->part_us < channel->wake_us) {
        channel->wake_us = channel->part_us;
    }
    channel_due_by(due, channel->part_us);
}

/* What lies behind a header that is given up is looked at when more has come: whoever has said it
 * says it again. */
void channel_give_up(struct channel *channel, struct channel_due *due)
{
    channel->part_us = UINT64_MAX;
    if (channel->payload_left == 0 && channel->crc_left == 0) {
        hunt(channel, due);
        return;
    }
    roll_back(channel);
    channel->payload_left = 0;
    channel->crc_left = 0;
    channel->hunting = true;
    channel->counters.damaged++;
    owe_nak(channel, due);
}

/* On a dead link whatever comes is given back. */
static void drain(struct channel *channel)
{
    roll_back(channel);
    if (channel->chunk_held) {
        drop_chunk(channel);
    }
    while (next_chunk(channel, &channel->chunk)) {
        channel_drop(channel, channel->chunk.buffer);
    }
}

enum arrival_kind channel_receive(struct channel *channel, struct channel_due *due,
                                  struct arrival *arrival)
{
    if (channel->state == LINK_DEAD) {
        drain(channel);
        return ARRIVAL_NONE;
    }
    if (!channel->chunk_held) {
        if (!next_chunk(channel, &channel->chunk)) {
            watch_part(channel, due);
            return ARRIVAL_NONE;
        }
        channel->chunk_held = true;
    }
    if (channel->payload_left == 0 && channel->crc_left == 0) {
        enum arrival_kind kind = take_frame(channel, due, arrival);
        if (kind == ARRIVAL_NONE) {
            watch_part(channel, due);
        }
        return kind;
    }
    take_payload(channel, due);
    return ARRIVAL_PROGRESS;
}

void channel_drop_piece(struct channel *channel)
{
    CHECK(channel->piece_first != channel->piece_commit);
    channel->piece_first++;
    if (channel->piece_first == channel->piece_end) {
        channel->piece_first = channel->piece_commit = channel->piece_end = 0;
    }
}
