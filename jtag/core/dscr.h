/*
 * dscr.h - the bits of DBGDSCR, and what it says of why a processor is halted.
 *
 * Source   ARM DDI 0406C, C11.11.20 (DBGDSCR)
 */
#pragma once

#include <stdint.h>

#include "jtag/core/debug_state.h"

enum dscr_bit {
    DSCR_HALTED = 1 << 0,
    DSCR_RESTARTED = 1 << 1,
    DSCR_MOE_SHIFT = 2,
    DSCR_MOE = 0xf << DSCR_MOE_SHIFT,
    DSCR_ABORT = 1 << 6,
    DSCR_UNDEFINED = 1 << 8,
    DSCR_STICKY = 7 << 6,
    DSCR_ITR_ENABLED = 1 << 13,
    DSCR_DCC_SHIFT = 20,
    DSCR_WRITABLE = 0x0030fc00,
    DSCR_COMPLETE = 1 << 24,
    DSCR_TX_LATCHED = 1 << 26,
    DSCR_RX_LATCHED = 1 << 27,
    DSCR_TX = 1 << 29,
    DSCR_RX = 1 << 30
};

/* Method of entry: why it is halted. */
enum debug_entry {
    ENTRY_REQUEST = 0,
    ENTRY_BREAKPOINT = 1,
    ENTRY_INSTRUCTION = 3,
    ENTRY_EXTERNAL = 4,
    ENTRY_VECTOR = 5,
    ENTRY_WATCHPOINT = 10
};

static inline void debug_set_entry(struct debug_unit *unit, enum debug_entry entry)
{
    unit->dscr = (unit->dscr & ~(uint32_t)DSCR_MOE) | (uint32_t)entry << DSCR_MOE_SHIFT;
}
