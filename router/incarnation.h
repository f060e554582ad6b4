/*
 * incarnation.h - the number of an end's next incarnation (wire/frame.h).
 *
 * A clock of ms that each start pushes on: another number than the last one however soon an end
 * starts again, which under a debugger may be in the same ms; and where the last one is not known
 * but any value, most likely another one too.
 *
 * Nodes can be reset while cables hold half a frame, or a HELLO and the frames behind it: without
 * the number they would be taken for the beginning. What is for another incarnation is passed over
 * without trust in its length. Not told apart are frames cut short when only their sender is reset:
 * who is reset alone breaks the machine, and the host says so. In the simulator nobody starts
 * twice: 0, which tells none apart.
 *
 * Context  any; pure
 * Source   Kulkarni et al. 2014, "Logical Physical Clocks", OPODIS: the rule for a local event;
 *          numbers that wrap: RFC 1982
 */
#pragma once

#include <stdint.h>

enum { INCARNATION_US = 1000 };

static inline uint16_t incarnation_next(uint16_t last, uint64_t now_us)
{
    uint16_t next = (uint16_t)(now_us / INCARNATION_US);

    if ((int16_t)(next - last) <= 0) {
        next = (uint16_t)(last + 1);
    }
    return next ? next : 1; /* 0 is none */
}
