/*
 * lane.h - the order in which the bytes of circuits go out over one directed link.
 *
 * A circuit enters the lane when its OPEN goes out over the link, so bytes follow in the order of
 * the OPENs. The first has its turn. When its last byte has been sent it still holds its place
 * until the neighbour has read that byte: it drains. At most CIRCUITS_MAX are in a lane, whichever
 * way they are; so a link never carries more circuits than its far end has places for.
 *
 *     enter -> order: 3 | 2 | 1, whose turn it is -> close -> draining -> the neighbour has read
 *                     |                                                   all: gone
 *                     +-> leave: answered, and no bytes follow
 *
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "router/port.h"

static inline bool lane_full(const struct port *out)
{
    return out->order_count + out->draining_count == CIRCUITS_MAX;
}

/* A circuit from in-port `in` is the last from now on. The bytes of an inline one have gone with
 * its OPEN. */
static inline void lane_enter(struct port *out, unsigned in, bool is_inline)
{
    out->order[out->order_count++] = (uint8_t)(in | (is_inline ? ORDER_INLINE : 0));
}

/* Whether the circuit whose turn it is sends bytes. */
static inline bool lane_turn(const struct port *out)
{
    return out->order_count && !(out->order[0] & ORDER_INLINE);
}

/* The circuit whose turn it is has had its last byte sent. */
static inline void lane_close(struct port *out)
{
    out->order_count--;
    memmove(out->order, out->order + 1, out->order_count);
    out->draining[out->draining_count++] = out->channel.data_sent;
}

/* The newest circuit has been answered, and no bytes of it follow. A lane that has been cleared
 * since has none. */
static inline void lane_leave(struct port *out)
{
    if (out->order_count) {
        out->order_count--;
    }
}

/* Whether the neighbour has read the last byte of a circuit that drains. */
static inline bool lane_drains(const struct port *out)
{
    uint32_t consumed = out->channel.data_limit - out->channel.peer_data_window;

    return out->draining_count && (int32_t)(consumed - out->draining[0]) >= 0;
}

/* The oldest circuit that drains is gone. */
static inline void lane_drained(struct port *out)
{
    out->draining_count--;
    memmove(out->draining, out->draining + 1, out->draining_count * sizeof out->draining[0]);
}

/* The link is dead. */
static inline void lane_clear(struct port *out)
{
    out->order_count = 0;
    out->draining_count = 0;
}
