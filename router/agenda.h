/*
 * agenda.h - what the channels of one owner share: its time, and which of them it must look at.
 *
 * A channel that has something to do puts its bit here, or the time at which it will have; its
 * owner then looks at no other. The agenda is passed with every call and no channel points at it,
 * so an owner that is copied to another place goes on there.
 *
 * Units    us
 * Context  the router's step
 */
#pragma once

#include <stdint.h>

struct agenda {
    uint64_t now_us;    /* of the present step */
    uint64_t wake_us;   /* no channel wants to be looked at earlier, but those in flush_due */
    uint32_t flush_due; /* bits of the channels for which channel_flush has something to do */
};

/* A channel wants to be looked at by then, though nothing arrives. */
static inline void agenda_by(struct agenda *agenda, uint64_t wake_us)
{
    if (wake_us < agenda->wake_us)
        agenda->wake_us = wake_us;
}
