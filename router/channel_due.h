/*
 * channel_due.h - what the channels of one owner share: its time, and which of them are due: the
 * owner must look at them.
 *
 * A channel that has something to do puts its bit here, or the time at which it will have; its
 * owner then looks at no other. It is passed with every call and no channel points at it,
 * so an owner that is copied to another place goes on there.
 *
 * Units    us
 * Context  the router's step
 */
#pragma once

#include <stdint.h>

struct channel_due {
    uint64_t now_us;    /* of the present step */
    uint64_t wake_us;   /* no channel wants to be looked at earlier, but those in flush_due */
    uint32_t flush_due; /* bits of the channels for which channel_flush has something to do */
};

/* A channel wants to be looked at by then, though nothing arrives. */
static inline void channel_due_by(struct channel_due *due, uint64_t wake_us)
{
    if (wake_us < due->wake_us) {
        due->wake_us = wake_us;
    }
}
