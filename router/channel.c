#include "router/channel.h"

#include <stddef.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel_send.h"
#include "router/segment.h"
#include "wire/crc.h"
#include "wire/frame.h"

static struct segment *segment_at(const struct channel *channel, uint16_t index)
{
    return &channel->segments[index & (channel->places - 1)];
}

void channel_init(struct channel *channel, struct agenda *agenda,
                  const struct channel_config *config)
{
    CHECK((config->ring & (config->ring - 1)) == 0 && config->ring > FRAME_SEGMENTS_MAX &&
          config->ring <= RING_MAX);
    *channel = (struct channel){.link = config->link,
                                .segments = config->segments,
                                .pieces = config->pieces,
                                .ring = config->ring,
                                .incarnation = config->incarnation,
                                .places = PLACES_MIN,
                                .data_window = DATA_WINDOW / RING_MAX * config->ring,
                                .checked = config->checked,
                                .dead_after_ms = config->dead_after_ms,
                                .due_bit = config->due_bit,
                                .short_us = UINT64_MAX,
                                .ack_us = UINT64_MAX};
    channel->told_id = ID_UNKNOWN;
    channel->peer.id = ID_UNKNOWN;
    channel_wake(channel, agenda);
}

void channel_kill(struct channel *channel, struct agenda *agenda, uint8_t reason)
{
    if (channel->state == LINK_DEAD)
        return;
    channel->state = LINK_DEAD;
    channel->dead_reason = reason;
    channel->wake_us = UINT64_MAX;
    channel_wake(channel, agenda);
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

void channel_short(struct channel *channel, struct agenda *agenda)
{
    if (!channel->checked || channel->short_us != UINT64_MAX || channel->state != LINK_UP)
        return;
    channel->short_us = agenda->now_us + RETRY_US;
    if (channel->short_us < channel->wake_us)
        channel->wake_us = channel->short_us;
    agenda_by(agenda, channel->short_us);
}

void channel_grow(struct channel *channel, unsigned placed)
{
    uint16_t before = channel->places, end = (uint16_t)(channel->end + placed);

    CHECK(before < channel->ring);
    channel->places = (uint16_t)(2 * before);
    for (uint16_t i = channel->first; i != end; i++)
        *segment_at(channel, i) = channel->segments[i & (before - 1)];
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
    channel->seq_told = channel->seq_expected;
    channel->control_told = channel->control_consumed;
    channel->data_told = channel->data_consumed;
    channel->data_acknowledged = channel->data_received;
    channel->ack_us = UINT64_MAX;
    channel->owes &= (uint8_t)~OWES_ACK;
}

void channel_queue(struct channel *channel, struct agenda *agenda, uint8_t type, uint8_t flags,
                   uint32_t payload, unsigned count)
{
    CHECK(count > 0 && channel_room(channel, count));
    if (channel->first == channel->end)
        channel_progress(channel, agenda);
    struct frame frame = {
        .type = type, .flags = flags, .length = payload, .seq = channel->seq_next};
    write_header(channel, (uint8_t *)(uintptr_t)segment_at(channel, channel->end)->data, &frame);
    segment_at(channel, (uint16_t)(channel->end + count - 1))->last = true;
    channel->end = (uint16_t)(channel->end + count);
    channel->seq_next++;
    channel_wake(channel, agenda);
    channel->frames_sent++;
    if (type == FRAME_DATA)
        channel->data_sent += payload;
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

/* Sends an unnumbered frame; false when its memory or the link has no room, or a frame is half
 * handed. */
static bool send_raw(struct channel *channel, uint8_t type, uint8_t flags,
                     const struct hello *hello)
{
    unsigned index = channel->raw_next;
    uint8_t *bytes = channel->raw[index];
    uint32_t length = hello ? HELLO_BYTES : 0;
    uint32_t total = FRAME_HEADER_BYTES + length + (hello ? FRAME_CHECK_BYTES : 0);
    uint32_t done = channel->link->ops->sent(channel->link);

    if (!between_frames(channel) || (int32_t)(done - channel->raw_handed[index]) < 0)
        return false;
    struct frame frame = {
        .type = type, .flags = flags, .length = length, .seq = hello ? channel->incarnation : 0};
    write_header(channel, bytes, &frame);
    if (hello) {
        hello_pack(bytes + FRAME_HEADER_BYTES, hello);
        frame_put_check(bytes + FRAME_HEADER_BYTES + length,
                        crc32_add(0, bytes + FRAME_HEADER_BYTES, length));
    }
    if (hand_over(channel, bytes, total) != E_OK) {
        channel->owes |= OWES_ACK;
        return false;
    }
    channel->raw_handed[index] = channel->handed;
    channel->raw_next = (uint8_t)((index + 1) % RAW_FRAMES);
    return true;
}

/* Begins to send everything not acknowledged again, when no frame is half handed. */
static void resend(struct channel *channel, struct agenda *agenda)
{
    if (!between_frames(channel))
        return;
    channel->owes &= (uint8_t)~OWES_AGAIN;
    channel->retry_us = agenda->now_us + RETRY_US;
    if (channel->first == channel->next)
        return;
    channel->next = channel->first;
    channel->resent = true;
    channel->counters.retransmissions++;
}

static uint64_t dead_after_us(const struct channel *channel)
{
    return (uint64_t)channel->dead_after_ms * 1000;
}

/* Whether silence says that the other end is dead. Not the host's, where no byte is lost: a person
 * may stop it, and of one that has died the carrier is lost. */
static bool may_expire(const struct channel *channel)
{
    return channel->checked || channel->peer.id != ID_HOST;
}

/* Watches the carrier and the acknowledgements; false when the link is dead. */
static bool watch(struct channel *channel, struct agenda *agenda)
{
    if (channel->state == LINK_DEAD)
        return false;
    if (channel->link->carrier == CARRIER_LOST) {
        channel_kill(channel, agenda, DEAD_CARRIER);
        return false;
    }
    if (channel->checked && channel->asked_us &&
        agenda->now_us - channel->asked_us >= dead_after_us(channel)) {
        channel_kill(channel, agenda, DEAD_TIMEOUT);
        return false;
    }
    if (channel->first == channel->end)
        return true;
    if (may_expire(channel) && agenda->now_us - channel->progress_us >= dead_after_us(channel)) {
        channel_kill(channel, agenda, DEAD_TIMEOUT);
        return false;
    }
    if (channel->checked && agenda->now_us >= channel->retry_us)
        channel->owes |= OWES_AGAIN;
    return true;
}

/* Whether all of the other end is known: it hears us and has a number. */
static bool knows_all(const struct channel *channel)
{
    return channel->state >= LINK_UP && channel->peer_known;
}

uint8_t channel_heard(const struct channel *channel)
{
    if (channel->state == LINK_SILENT)
        return HEARD_NOTHING;
    return knows_all(channel) ? HEARD_ALL : HEARD_PART;
}

/* Whether the other end must be asked: not before this one knows its number, or has been spoken to.
 */
static bool wants_hello(const struct channel *channel)
{
    return !knows_all(channel) && (channel->told_id != ID_UNKNOWN || channel->state != LINK_SILENT);
}

bool channel_greets(const struct channel *channel, const struct agenda *agenda, uint32_t id)
{
    uint8_t heard = channel_heard(channel);
    bool news = id != channel->told_id || heard != channel->told_heard;
    bool wanting = wants_hello(channel) && agenda->now_us - channel->hello_us >= HELLO_RETRY_US;

    return channel->state != LINK_DEAD && (channel->owes & OWES_HELLO || news || wanting) &&
           channel->link->carrier == CARRIER_UP;
}

void channel_greet(struct channel *channel, struct agenda *agenda, const struct hello *hello)
{
    if (!send_raw(channel, FRAME_HELLO, FLAG_CHECKED, hello))
        return;
    channel->owes &= (uint8_t)~OWES_HELLO;
    channel->hello_us = agenda->now_us;
    channel->told_id = hello->id;
    channel->told_heard = hello->heard;
}

static void tell_sender(struct channel *channel, struct agenda *agenda)
{
    if (channel->owes & OWES_NAK) {
        if (send_raw(channel, FRAME_NAK, 0, NULL)) {
            channel->owes &= (uint8_t)~OWES_NAK;
            channel->counters.naks++;
        }
    } else if (channel->owes & OWES_ACK || agenda->now_us >= channel->ack_us) {
        channel->counters.acks += send_raw(channel, FRAME_ACK, 0, NULL);
    }
}

/* Asks for credit that is late: the acknowledgement that brought it may be lost. */
static void ask_credit(struct channel *channel, struct agenda *agenda)
{
    channel->short_us = agenda->now_us + RETRY_US;
    if (channel->asked_us == 0)
        channel->asked_us = agenda->now_us;
    channel->counters.acks += send_raw(channel, FRAME_ACK, FLAG_ASK, NULL);
}

/* When something must be looked at though nothing arrives. What is due already has just been tried:
 * the link took nothing. */
static uint64_t deadline(const struct channel *channel, const struct agenda *agenda)
{
    uint64_t wake_us = UINT64_MAX;

    if (channel->state >= LINK_CROSSED || channel->link->carrier != CARRIER_UP)
        return wake_us;
    if (channel->first != channel->end && may_expire(channel))
        wake_us = channel->progress_us + dead_after_us(channel);
    if (channel->ack_us < wake_us)
        wake_us = channel->ack_us;
    if (channel->checked) {
        if (channel->first != channel->end && channel->retry_us < wake_us)
            wake_us = channel->retry_us;
        if (channel->short_us < wake_us)
            wake_us = channel->short_us;
    }
    if (wants_hello(channel) && channel->hello_us + HELLO_RETRY_US < wake_us)
        wake_us = channel->hello_us + HELLO_RETRY_US;
    return wake_us > agenda->now_us ? wake_us : agenda->now_us + ACK_DELAY_US;
}

void channel_flush(struct channel *channel, struct agenda *agenda)
{
    if (!watch(channel, agenda))
        return;
    if (channel->owes & OWES_AGAIN)
        resend(channel, agenda);
    while (channel->next != channel->end) {
        struct segment *segment = segment_at(channel, channel->next);
        if (hand_over(channel, segment->data, segment->bytes) != E_OK)
            break;
        segment->handed = channel->handed;
        channel->next++;
    }
    tell_sender(channel, agenda);
    if (channel->checked && agenda->now_us >= channel->short_us)
        ask_credit(channel, agenda);
    if (channel->kick_due) {
        channel->kick_due = false;
        channel->link->ops->kick(channel->link);
    }
    channel->wake_us = deadline(channel, agenda);
    agenda_by(agenda, channel->wake_us);
}

bool channel_take_done(struct channel *channel, struct segment *segment)
{
    if (channel->first == channel->end)
        return false;
    const struct segment *oldest = segment_at(channel, channel->first);
    if (channel->state != LINK_DEAD) {
        if (channel->seq_released == channel->seq_acknowledged || channel->first == channel->next)
            return false;
        /* One copy that the neighbour has is one the device has read; with two, ask the device. */
        if (channel->resent &&
            (int32_t)(channel->link->ops->sent(channel->link) - oldest->handed) < 0)
            return false;
    }
    *segment = *oldest;
    if (segment->last)
        channel->seq_released++;
    if (channel->first == channel->next)
        channel->next++;
    channel->first++;
    if (channel->places > PLACES_MIN && (uint16_t)(channel->end - channel->first) <= 1)
        shrink(channel);
    return true;
}
