/*
 * tap.h - the state machine that every JTAG TAP follows, one step for each rising edge of TCK.
 *
 * All TAPs of a chain share TCK and TMS, so one state stands for all of them. Five steps with TMS
 * high reach TAP_RESET from everywhere.
 *
 * Context  any; pure
 * Source   IEEE 1149.1-2013, figure 6-1
 */
#pragma once

#include <stdbool.h>

enum tap_state {
    TAP_RESET,
    TAP_IDLE,
    TAP_SELECT_DR,
    TAP_CAPTURE_DR,
    TAP_SHIFT_DR,
    TAP_EXIT1_DR,
    TAP_PAUSE_DR,
    TAP_EXIT2_DR,
    TAP_UPDATE_DR,
    TAP_SELECT_IR,
    TAP_CAPTURE_IR,
    TAP_SHIFT_IR,
    TAP_EXIT1_IR,
    TAP_PAUSE_IR,
    TAP_EXIT2_IR,
    TAP_UPDATE_IR,
    TAP_STATES
};

/* The state after a rising edge of TCK in `state`. */
static inline enum tap_state tap_next(enum tap_state state, bool tms)
{
    static const unsigned char next[TAP_STATES][2] = {
        [TAP_RESET] = {TAP_IDLE, TAP_RESET},
        [TAP_IDLE] = {TAP_IDLE, TAP_SELECT_DR},
        [TAP_SELECT_DR] = {TAP_CAPTURE_DR, TAP_SELECT_IR},
        [TAP_CAPTURE_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
        [TAP_SHIFT_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
        [TAP_EXIT1_DR] = {TAP_PAUSE_DR, TAP_UPDATE_DR},
        [TAP_PAUSE_DR] = {TAP_PAUSE_DR, TAP_EXIT2_DR},
        [TAP_EXIT2_DR] = {TAP_SHIFT_DR, TAP_UPDATE_DR},
        [TAP_UPDATE_DR] = {TAP_IDLE, TAP_SELECT_DR},
        [TAP_SELECT_IR] = {TAP_CAPTURE_IR, TAP_RESET},
        [TAP_CAPTURE_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
        [TAP_SHIFT_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
        [TAP_EXIT1_IR] = {TAP_PAUSE_IR, TAP_UPDATE_IR},
        [TAP_PAUSE_IR] = {TAP_PAUSE_IR, TAP_EXIT2_IR},
        [TAP_EXIT2_IR] = {TAP_SHIFT_IR, TAP_UPDATE_IR},
        [TAP_UPDATE_IR] = {TAP_IDLE, TAP_SELECT_DR},
    };

    return (enum tap_state)next[state][tms];
}
