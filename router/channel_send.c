/*
 * channel_send.c - frames on their way out: the ring of segments, and the frames beside it.
 *
 * A frame's header is written when the frame is queued. When an acknowledgement has become due
 * since, the first one that waits is written anew and says it, in place of an ACK of its own.
 * Frames without a number (HELLO, ACK, NAK) have memory of their own and go between numbered ones,
 * never inside one: the far end takes the link for one stream of bytes.
 */
#include "router/channel_send.h"

#include <stddef.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel.h"
#include "router/segment.h"
#include "wire/crc.h"
#include "wire/frame.h"

static struct segment *segment_at(const struct channel *channel, uint16_t index)
{
    return &channel->segments[index & (channel->places - 1)];
}

bool channel_room(const struct channel *channel, unsigned segments)
{
    return channel->state == LINK_UP &&
           (uint16_t)(channel->end - channel->first) + segments <= channel->ring;
}

uint32_t channel_data_credit(const struct channel *channel)
{
    int32_t left = (int32_t)(channel->data_limit - channel->data_sent);

    return left > 0 ? (uint32_t)left : 0;
}

uint32_t channel_control_credit(const struct channel *channel)
{
    int16_t left = (int16_t)(channel->control_limit - channel->control_sent);

    return left > 0 ? (uint32_t)left : 0;
}

/* Where no byte is lost credit comes by itself. */
void channel_short(struct channel *channel, struct channel_due *due)
{
    if (!channel->checked || channel->short_us != UINT64_MAX || channel->state != LINK_UP) {
        return;
    }
    channel->short_us = due->now_us + RETRY_US;
    if (channel->short_us < channel->wake_us) {
        channel->wake_us = channel->short_us;
    }
    channel_due_by(due, channel->short_us);
}

/* The ring is used from its beginning, no farther than what is under way needs: a node of many
 * links keeps that much in the cache. */
void channel_grow(struct channel *channel, unsigned placed)
{
    uint16_t before = channel->places, end = (uint16_t)(channel->end + placed);

    CHECK(before < channel->ring);
    channel->places = (uint16_t)(2 * before);
    for (uint16_t i = channel->first; i != end; i++) {
        *segment_at(channel, i) = channel->segments[i & (before - 1)];
    }
}

/* Back to a few places, when at most one segment is left. */
static void shrink(struct channel *channel)
{
    channel->segments[0] = *segment_at(channel, channel->first);
    channel->places = PLACES_MIN;
    channel->next = (uint16_t)(channel->next - channel->first);
    channel->end = (uint16_t)(channel->end - channel->first);
    channel->first = 0;
}

/* The header of a frame that goes out now; what it acknowledges need not be told again. */
static inline void write_header(struct channel *channel, uint8_t *bytes, struct frame *frame)
{
    frame->ack = channel->seq_expected;
    frame->incarnation = channel->peer_incarnation;
    frame->control_credit = channel->control_consumed;
    frame->data_credit = channel->data_consumed;
    frame_pack(bytes, frame);
    channel->seq_reported = channel->seq_expected;
    channel->control_reported = channel->control_consumed;
    channel->data_reported = channel->data_consumed;
    channel->data_acknowledged = channel->data_received;
    channel->ack_us = UINT64_MAX;
    channel->owes &= (uint8_t)~OWES_ACK;
}

void channel_queue(struct channel *channel, struct channel_due *due, uint8_t type, uint8_t flags,
                   uint32_t payload, unsigned count)
{
    CHECK(count > 0 && channel_room(channel, count));
    if (channel->first == channel->end) {
        channel_progress(channel, due);
    }
    struct frame frame = {
        .type = type, .flags = flags, .length = payload, .seq = channel->seq_next};
    write_header(channel, (uint8_t *)(uintptr_t)segment_at(channel, channel->end)->data, &frame);
    segment_at(channel, (uint16_t)(channel->end + count - 1))->last = true;
    channel->end = (uint16_t)(channel->end + count);
    channel->seq_next++;
    channel_wake(channel, due);
    channel->frames_sent++;
    if (type == FRAME_DATA) {
        channel->data_sent += payload;
    }
}

/* True when no frame is half handed to the link. */
static bool between_frames(const struct channel *channel)
{
    return channel->next == channel->first ||
           segment_at(channel, (uint16_t)(channel->next - 1))->last;
}

static int hand_over(struct channel *channel, const void *data, uint32_t bytes)
{
    int status = channel->link->ops->send(channel->link, data, bytes);

    if (status == E_OK) {
        channel->handed++;
        channel->kick_due = true;
    }
    return status;
}

/* Their memory is taken in turn, and is free when the link has sent the frame that was in it. */
bool channel_send_raw(struct channel *channel, uint8_t type, uint8_t flags,
                      const struct hello *hello)
{
    unsigned index = channel->raw_next;
    uint8_t *bytes = channel->raw[index];
    uint32_t length = hello ? HELLO_BYTES : 0;
    uint32_t total = FRAME_HEADER_BYTES + length + (hello ? FRAME_CHECK_BYTES : 0);
    uint32_t done = channel->link->ops->sent(channel->link);

    if (!between_frames(channel) || (int32_t)(done - channel->raw_handed[index]) < 0) {
        return false;
    }
    struct frame frame = {
        .type = type, .flags = flags, .length = length, .seq = hello ? channel->incarnation : 0};
    write_header(channel, bytes, &frame);
    if (hello) {
        hello_pack(bytes + FRAME_HEADER_BYTES, hello);
        frame_put_check(
            bytes + FRAME_HEADER_BYTES + length,
            crc32_add(frame_payload_start(frame.seq), bytes + FRAME_HEADER_BYTES, length));
    }
    if (hand_over(channel, bytes, total) != E_OK) {
        channel->owes |= OWES_ACK;
        return false;
    }
    channel->raw_handed[index] = channel->handed;
    channel->raw_next = (uint8_t)((index + 1) % RAW_FRAMES);
    return true;
}

/* After a retransmission the link may still be reading a copy of what waits. */
bool channel_tell_with_frame(struct channel *channel)
{
    uint16_t index = channel->next;

    if (channel->resent) {
        return false;
    }
    if (!between_frames(channel)) {
        while (index != channel->end && !segment_at(channel, index++)->last) {
            ;
        }
    }
    if (index == channel->end) {
        return false;
    }
    uint8_t *bytes = (uint8_t *)(uintptr_t)segment_at(channel, index)->data;
    struct frame frame = {.type = frame_type(bytes),
                          .flags = frame_flags(bytes),
                          .length = frame_length(bytes),
                          .seq = frame_seq(bytes)};
    write_header(channel, bytes, &frame);
    return true;
}

/* Everything from the oldest on (go-back-N): the far end has thrown away what came behind the gap.
 */
void channel_resend(struct channel *channel, const struct channel_due *due)
{
    if (!between_frames(channel)) {
        return;
    }
    channel->owes &= (uint8_t)~OWES_AGAIN;
    channel->retry_us = due->now_us + RETRY_US;
    if (channel->first == channel->next) {
        return;
    }
    channel->next = channel->first;
    channel->resent = true;
    channel->counters.retransmissions++;
}

void channel_hand_over(struct channel *channel)
{
    while (channel->next != channel->end) {
        struct segment *segment = segment_at(channel, channel->next);
        if (hand_over(channel, segment->data, segment->bytes) != E_OK) {
            break;
        }
        segment->handed = channel->handed;
        channel->next++;
    }
}

/* Acknowledged means ours again: the neighbour has the bytes, so the device has read them. Only
 * after a retransmission is the device asked too, for a second copy may still be on its way out of
 * the same memory. On a dead link all is given back. */
bool channel_take_done(struct channel *channel, struct segment *segment)
{
    if (channel->first == channel->end) {
        return false;
    }
    const struct segment *oldest = segment_at(channel, channel->first);
    if (channel->state != LINK_DEAD) {
        if (channel->seq_released == channel->seq_acknowledged || channel->first == channel->next) {
            return false;
        }
        /* One copy that the neighbour has is one the device has read; with two, ask the device. */
        if (channel->resent &&
            (int32_t)(channel->link->ops->sent(channel->link) - oldest->handed) < 0) {
            return false;
        }
    }
    *segment = *oldest;
    if (segment->last) {
        channel->seq_released++;
    }
    if (channel->first == channel->next) {
        channel->next++;
    }
    channel->first++;
    if (channel->places > PLACES_MIN && (uint16_t)(channel->end - channel->first) <= 1) {
        shrink(channel);
    }
    return true;
}
