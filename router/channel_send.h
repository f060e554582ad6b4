/*
 * channel_send.h - what is sent over a channel: frames of segments, as far as credit and ring go.
 *
 * Whoever has a frame asks for room and credit, writes its segments into their places and queues
 * them; when the neighbour has acknowledged a segment, channel_take_done gives it back. The ring
 * and its indices stand in channel_state.h.
 *
 * Units    bytes, us
 * Context  the router's step; the rest of the channel: channel.h
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/channel_due.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "wire/frame.h"

/* True when a frame of so many segments can be queued now. */
bool channel_room(const struct channel *channel, unsigned segments);

/* How many data bytes, and how many routed packets, may go now by the neighbour's credits. */
uint32_t channel_data_credit(const struct channel *channel);
uint32_t channel_control_credit(const struct channel *channel);

/* A routed packet has been queued: it will lie in one of the neighbour's places. */
static inline void channel_use_credit(struct channel *channel)
{
    channel->control_sent++;
}

/* Something waits for credit: a lossy link asks for it when none comes. */
void channel_short(struct channel *channel, struct channel_due *due);

/* Doubles the places in use; so many segments of the next frame are in theirs. */
void channel_grow(struct channel *channel, unsigned placed);

/* The place of a segment, counted from 0, of the frame that is queued next. The caller has asked
 * channel_room. */
static inline struct segment *channel_place(struct channel *channel, unsigned index)
{
    if ((uint16_t)(channel->end - channel->first) + index >= channel->places) {
        channel_grow(channel, index);
    }
    return &channel->segments[(channel->end + index) & (channel->places - 1u)];
}

/*
 * Queues one frame, whose segments are in their places. The first begins with FRAME_HEADER_BYTES
 * that are written here; `payload` is the length of the rest.
 */
void channel_queue(struct channel *channel, struct channel_due *due, uint8_t type, uint8_t flags,
                   uint32_t payload, unsigned count);

/* Whether channel_take_done may have something. */
static inline bool channel_has_done(const struct channel *channel)
{
    return channel->first != channel->end &&
           (channel->seq_released != channel->seq_acknowledged || channel->state == LINK_DEAD);
}

/* Takes the oldest segment that is done with; false when there is none. */
bool channel_take_done(struct channel *channel, struct segment *segment);

/* Hands queued segments to the link, as many as it takes. */
void channel_hand_over(struct channel *channel);

/* Has the first of the frames that wait to be handed over say what has been received and consumed
 * by now; false when none waits. */
bool channel_tell_with_frame(struct channel *channel);

/* Begins to send everything not acknowledged again, when no frame is half handed. */
void channel_resend(struct channel *channel, const struct channel_due *due);

/* Sends an unnumbered frame, a HELLO or one without payload; false when its memory or the link has
 * no room, or a frame is half handed. */
bool channel_send_raw(struct channel *channel, uint8_t type, uint8_t flags,
                      const struct hello *hello);
