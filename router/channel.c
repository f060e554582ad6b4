/*
 * channel.c - a link from its first HELLO to its death.
 *
 *             first HELLO            a HELLO that says "heard", or a numbered frame
 *     SILENT -------------> HEARD ---------------------------------------------------> UP
 *
 * CROSSED: the other end says what cannot be so (identity.c); DEAD: below. Neither is ever left.
 *
 * A HELLO goes out when there is news for the other end (who this is, what has been heard of it),
 * and again every HELLO_RETRY_US until both know all: a link that cannot lose bytes may still have
 * had nobody at its other end. A node that does not know its number is silent until it is spoken
 * to, or the neighbours of a blank machine would greet each other for ever.
 *
 * A link dies of its carrier, at once; of silence while an acknowledgement or an answer about
 * credit is owed, after dead_after_ms; of a header that says the impossible; of a HELLO by another
 * incarnation. How long a silent link lives the host says, in HELLO: a debugger may stop a node.
 */
#include "router/channel.h"

#include <stddef.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/segment.h"
#include "wire/crc.h"
#include "wire/frame.h"

void channel_init(struct channel *channel, struct channel_due *due,
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
                                .part_us = UINT64_MAX,
                                .ack_us = UINT64_MAX};
    channel->announced_id = ID_UNKNOWN;
    channel->peer.id = ID_UNKNOWN;
    channel_wake(channel, due);
}

/* The owner is told with the next channel_flush, which finds it dead: who kills may be in the
 * middle of something. */
void channel_kill(struct channel *channel, struct channel_due *due, uint8_t reason)
{
    if (channel->state == LINK_DEAD) {
        return;
    }
    channel->state = LINK_DEAD;
    channel->dead_reason = reason;
    channel->wake_us = UINT64_MAX;
    channel_wake(channel, due);
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
static bool watch(struct channel *channel, struct channel_due *due)
{
    if (channel->state == LINK_DEAD) {
        return false;
    }
    if (channel->link->carrier == CARRIER_LOST) {
        channel_kill(channel, due, DEAD_CARRIER);
        return false;
    }
    if (channel->checked && channel->asked_us &&
        due->now_us - channel->asked_us >= dead_after_us(channel)) {
        channel_kill(channel, due, DEAD_TIMEOUT);
        return false;
    }
    if (channel->first == channel->end) {
        return true;
    }
    if (may_expire(channel) && due->now_us - channel->progress_us >= dead_after_us(channel)) {
        channel_kill(channel, due, DEAD_TIMEOUT);
        return false;
    }
    if (channel->checked && due->now_us >= channel->retry_us) {
        channel->owes |= OWES_AGAIN;
    }
    return true;
}

/* Whether all of the other end is known: it hears us and has a number. */
static bool knows_all(const struct channel *channel)
{
    return channel->state >= LINK_UP && channel->peer_known;
}

uint8_t channel_heard(const struct channel *channel)
{
    if (channel->state == LINK_SILENT) {
        return HEARD_NOTHING;
    }
    return knows_all(channel) ? HEARD_ALL : HEARD_PART;
}

/* Whether the other end must be asked: not before this one knows its number, or has been spoken to.
 */
static bool wants_hello(const struct channel *channel)
{
    return !knows_all(channel) &&
           (channel->announced_id != ID_UNKNOWN || channel->state != LINK_SILENT);
}

bool channel_greets(const struct channel *channel, const struct channel_due *due, uint32_t id)
{
    uint8_t heard = channel_heard(channel);
    bool changed = id != channel->announced_id || heard != channel->announced_heard;
    bool wanting = wants_hello(channel) && due->now_us - channel->hello_us >= HELLO_RETRY_US;

    return channel->state != LINK_DEAD && (channel->owes & OWES_HELLO || changed || wanting) &&
           channel->link->carrier == CARRIER_UP;
}

void channel_greet(struct channel *channel, struct channel_due *due, const struct hello *hello)
{
    if (!channel_send_raw(channel, FRAME_HELLO, FLAG_CHECKED, hello)) {
        return;
    }
    channel->owes &= (uint8_t)~OWES_HELLO;
    channel->hello_us = due->now_us;
    channel->announced_id = hello->id;
    channel->announced_heard = hello->heard;
}

static bool owes_ack(const struct channel *channel, const struct channel_due *due)
{
    return channel->owes & OWES_ACK || due->now_us >= channel->ack_us;
}

/* A NAK says all that an ACK does. */
static void tell_sender(struct channel *channel, struct channel_due *due)
{
    if (channel->owes & OWES_NAK) {
        if (channel_send_raw(channel, FRAME_NAK, 0, NULL)) {
            channel->owes &= (uint8_t)~OWES_NAK;
            channel->counters.naks++;
        }
    } else if (owes_ack(channel, due)) {
        channel->counters.acks += channel_send_raw(channel, FRAME_ACK, 0, NULL);
    }
}

/* Asks for credit that is late: the acknowledgement that brought it may be lost. */
static void ask_credit(struct channel *channel, struct channel_due *due)
{
    channel->short_us = due->now_us + RETRY_US;
    if (channel->asked_us == 0) {
        channel->asked_us = due->now_us;
    }
    channel->counters.acks += channel_send_raw(channel, FRAME_ACK, FLAG_ASK, NULL);
}

/* A dead or crossed link waits for nothing. One without a carrier waits for it: that is input. */
uint64_t channel_deadline(const struct channel *channel, const struct channel_due *due)
{
    uint64_t wake_us = UINT64_MAX;

    if (channel->state >= LINK_CROSSED || channel->link->carrier != CARRIER_UP) {
        return wake_us;
    }
    if (channel->first != channel->end && may_expire(channel)) {
        wake_us = channel->progress_us + dead_after_us(channel);
    }
    if (channel->ack_us < wake_us) {
        wake_us = channel->ack_us;
    }
    if (channel->checked) {
        if (channel->first != channel->end && channel->retry_us < wake_us) {
            wake_us = channel->retry_us;
        }
        if (channel->short_us < wake_us) {
            wake_us = channel->short_us;
        }
        if (channel->part_us < wake_us) {
            wake_us = channel->part_us;
        }
    }
    if (wants_hello(channel) && channel->hello_us + HELLO_RETRY_US < wake_us) {
        wake_us = channel->hello_us + HELLO_RETRY_US;
    }
    return wake_us > due->now_us ? wake_us : due->now_us + ACK_DELAY_US;
}

/* Frames that wait come before acknowledgements: one of them carries what is due. One kick for all.
 */
void channel_flush(struct channel *channel, struct channel_due *due)
{
    if (!watch(channel, due)) {
        return;
    }
    if (due->now_us >= channel->part_us) {
        channel_give_up(channel, due);
    }
    if (channel->owes & OWES_AGAIN) {
        channel_resend(channel, due);
    }
    if (owes_ack(channel, due)) {
        (void)channel_tell_with_frame(channel);
    }
    channel_hand_over(channel);
    tell_sender(channel, due);
    if (channel->checked && due->now_us >= channel->short_us) {
        ask_credit(channel, due);
    }
    if (channel->kick_due) {
        channel->kick_due = false;
        channel->link->ops->kick(channel->link);
    }
    channel->wake_us = channel_deadline(channel, due);
    channel_due_by(due, channel->wake_us);
}
