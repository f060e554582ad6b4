/*
 * channel.h - frames in order and undamaged over one link: numbering, retransmission, credits,
 * HELLO.
 *
 * Nothing is copied: a segment waits in the ring by reference until the neighbour has acknowledged
 * it, and received data stays in the link's buffers as pieces until it has been passed on. Go-
 * back-N: everything not acknowledged is sent again, in order, on a NAK or a timeout; on a link
 * that cannot lose bytes neither ever happens.
 *
 * Damaged input is counted and skipped up to the next good header. A frame that has lost bytes
 * takes what comes next in their place; if nothing more comes for PART_US, what has come is given
 * up, or a long payload could swallow all that is said again for as long as a link may be silent. A
 * link is dead when its carrier is lost, when dead_after_ms pass without an acknowledgement that is
 * owed, when a checked header says impossible things, or when the other end has started anew.
 *
 * Units    bytes, us
 * Source   go-back-N: Tanenbaum & Wetherall, Computer Networks 5th ed., 3.4.2
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/link.h"
#include "router/channel_due.h"
#include "router/channel_state.h"
#include "wire/frame.h"

enum {
    RETRY_US = 400 * 1000,
    /*
     * Less than the longest silence between things that are said every RETRY_US while nobody is
     * heard: what is not acknowledged, a question for credit, and answers to both of the other
     * end's. That is at least a quarter of it.
     */
    PART_US = RETRY_US / 8,
    ACK_DELAY_US = 40 * 1000,
    HELLO_RETRY_US = 250 * 1000,
    DEAD_AFTER_MS = 15 * 1000, /* unless the host says another time */
    DEAD_AFTER_MS_MIN = 1000
};

struct channel_config {
    struct link *link;
    struct segment *segments;
    struct piece *pieces;
    uint16_t ring;        /* places in each: a power of two, more than FRAME_SEGMENTS_MAX */
    uint16_t incarnation; /* wire/frame.h: another one each time that this end starts; 0: none */
    bool checked;
    uint32_t dead_after_ms;
    uint32_t due_bit; /* in struct channel_due */
};

/* A channel whose link has said nothing yet. */
void channel_init(struct channel *channel, struct channel_due *due,
                  const struct channel_config *config);

/* Asks the owner to call channel_flush. */
static inline void channel_wake(struct channel *channel, struct channel_due *due)
{
    due->flush_due |= channel->due_bit;
}

/* An acknowledgement has moved, or the first unacknowledged frame goes. */
static inline void channel_progress(struct channel *channel, const struct channel_due *due)
{
    channel->progress_us = due->now_us;
    if (channel->checked) {
        channel->retry_us = due->now_us + RETRY_US;
    }
}

/* Silence begins anew. */
static inline void channel_forgive(struct channel *channel, uint64_t now_us)
{
    channel->progress_us = now_us;
    channel->asked_us = channel->asked_us ? now_us : 0;
}

/* Has an acknowledgement sent with the next channel_flush. */
static inline void channel_acknowledge(struct channel *channel, struct channel_due *due)
{
    channel->owes |= OWES_ACK;
    channel_wake(channel, due);
}

/* Has channel_greets say yes, whatever the other end has been told. */
static inline void channel_greet_soon(struct channel *channel, struct channel_due *due)
{
    channel->owes |= OWES_HELLO;
    channel_wake(channel, due);
}

/* How much of the other end is known: nothing, part, or all (it hears us and has a number). */
uint8_t channel_heard(const struct channel *channel);

/* Whether both ends know all of each other, and each that the other does: nothing to greet for. */
static inline bool channel_acquainted(const struct channel *channel, uint32_t id)
{
    return channel->state == LINK_UP && channel->announced_id == id &&
           channel->announced_heard == HEARD_ALL && channel->peer_known &&
           !(channel->owes & OWES_HELLO);
}

/* Whether channel_greet has something to say for a node with this number. */
bool channel_greets(const struct channel *channel, const struct channel_due *due, uint32_t id);
/* Sends a HELLO; when no raw frame is free it stays due. */
void channel_greet(struct channel *channel, struct channel_due *due, const struct hello *hello);

/* Hands queued segments, and the acknowledgements that are due, to the link. */
void channel_flush(struct channel *channel, struct channel_due *due);

/* When something must be looked at though nothing arrives. What is due already has just been tried:
 * the link took nothing. */
uint64_t channel_deadline(const struct channel *channel, const struct channel_due *due);

/* Whether channel_flush has nothing to do until something happens. */
static inline bool channel_settled(const struct channel *channel, uint32_t id)
{
    return (channel->next == channel->end && channel->owes == 0 && channel->announced_id == id) ||
           channel->state == LINK_DEAD || channel->link->carrier != CARRIER_UP;
}

/* Remembers what has been sent by now; and whether all of what was remembered last has come to the
 * neighbour. */
static inline void channel_mark(struct channel *channel)
{
    channel->seq_marked = channel->seq_next;
}

static inline bool channel_delivered(const struct channel *channel)
{
    return channel->state != LINK_UP ||
           (int16_t)(channel->seq_acknowledged - channel->seq_marked) >= 0;
}

/* Its state (enum link_state); why it is dead (enum dead_reason, 0: it is not). */
static inline uint8_t channel_state(const struct channel *channel)
{
    return channel->state;
}

static inline uint8_t channel_dead_reason(const struct channel *channel)
{
    return channel->dead_reason;
}

/* Declares the link dead. */
void channel_kill(struct channel *channel, struct channel_due *due, uint8_t reason);
