/*
 * channel_receive.h - what a channel takes from its link: packets one by one, data as pieces.
 *
 * Nothing is copied: a packet stays in its receive buffer until channel_release, data until all
 * pieces of the buffer have been dropped. Damaged input is counted and skipped up to the next good
 * header.
 *
 * Units    bytes, us
 * Context  the router's step; the rest of the channel: channel.h
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/check.h"
#include "drivers/link/link.h"
#include "router/channel_due.h"
#include "router/channel_state.h"
#include "router/segment.h"

enum arrival_kind { ARRIVAL_NONE, ARRIVAL_PACKET, ARRIVAL_PROGRESS };

/* Whether channel_receive may have something. */
static inline bool channel_has_input(const struct channel *channel)
{
    return channel->chunk_held || link_has_input(channel->link);
}

/* For how many chunks it is worth to be woken, while a payload is under way. */
uint16_t channel_coalesce(const struct channel *channel);

/* Tells the link what it need not wake its user for. */
static inline void channel_be_patient(const struct channel *channel)
{
    channel->link->coalesce = channel->payload_left ? channel_coalesce(channel) : 1;
}

/* Takes the next thing from the link: a packet, or progress of any other kind; NONE when the link
 * is empty. */
enum arrival_kind channel_receive(struct channel *channel, struct channel_due *due,
                                  struct arrival *arrival);

/* Gives up the frame of which a part has come, and then nothing for PART_US: it has lost bytes. */
void channel_give_up(struct channel *channel, struct channel_due *due);

/* Adds a hold on a receive buffer. */
static inline void channel_hold(struct channel *channel, uint16_t buffer)
{
    channel->refs[buffer]++;
}

/* Drops one hold on a receive buffer. */
static inline void channel_drop(struct channel *channel, uint16_t buffer)
{
    CHECK(channel->refs[buffer] > 0);
    if (--channel->refs[buffer] == 0) {
        channel->held--;
        channel->link->ops->release(channel->link, buffer);
    }
}

/* Routed packets of the neighbour that lie here: each takes a place of its window. */
static inline unsigned channel_control_held(const struct channel *channel)
{
    return (uint16_t)(channel->control_received - channel->control_consumed);
}

/* The same, and counts what it carried as consumed. */
void channel_release(struct channel *channel, struct channel_due *due, uint16_t buffer,
                     enum credit credit, uint32_t bytes);

static inline struct piece *channel_piece_at(const struct channel *channel, uint16_t index)
{
    return &channel->pieces[index & (channel->ring - 1)];
}

/* The oldest checked piece of data, NULL when there is none; and taking it off. */
static inline struct piece *channel_piece(const struct channel *channel)
{
    return channel->piece_first == channel->piece_commit
               ? NULL
               : channel_piece_at(channel, channel->piece_first);
}

void channel_drop_piece(struct channel *channel);
