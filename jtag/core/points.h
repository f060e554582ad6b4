/*
 * points.h - where a node shall stop: breakpoint and watchpoint registers, breakpoint instructions
 * written into memory, and which of them the emulator has been told.
 *
 * A breakpoint instruction that a debugger writes is kept here while memory keeps what it had, for
 * the emulator would not stop at it. Its address counts as virtual and as physical.
 *
 * Units    bytes
 * Limits   context matches count as none; an address match that is linked to one counts alone;
 *          watchpoints of more than 128 bytes are not set
 * Context  any; pure
 * Source   ARM DDI 0406C, C11.11.2-3 (DBGBCR, DBGBVR), C11.11.44-45 (DBGWCR, DBGWVR),
 *          A8.8.24 (BKPT)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/core.h"

enum { DEBUG_BREAKPOINTS = 6, DEBUG_WATCHPOINTS = 4, DEBUG_WRITTEN_MAX = 64 };
enum { POINT_SLOTS = DEBUG_BREAKPOINTS + DEBUG_WATCHPOINTS + DEBUG_WRITTEN_MAX };

struct point {
    bool set;
    bool refused; /* by the emulator: it counts as set, but is not there */
    uint8_t bytes;
    enum core_point kind;
    uint32_t address;
};

/* A breakpoint instruction in memory as a debugger sees it. */
struct written_point {
    uint8_t bytes; /* 0: none */
    uint32_t address, code;
};

struct points {
    uint32_t bvr[DEBUG_BREAKPOINTS], bcr[DEBUG_BREAKPOINTS];
    uint32_t wvr[DEBUG_WATCHPOINTS], wcr[DEBUG_WATCHPOINTS];
    struct written_point written[DEBUG_WRITTEN_MAX];
    struct point told[POINT_SLOTS]; /* what the emulator has */
};

/* The first slot in which the emulator has not what it shall have; POINT_SLOTS: none. What is
 * wanted goes into *wanted. */
unsigned points_next_difference(const struct points *points, struct point *wanted);

/* Whether there is such a slot. */
bool points_differ(const struct points *points);

/* Whether the emulator has any. */
bool points_any_told(const struct points *points);

/* Whether a breakpoint register is set to stop anywhere but at its address: a single step. */
bool points_step(const struct points *points);

/* Whether a breakpoint instruction has been written at an address. */
bool points_written_at(const struct points *points, uint32_t address);

/* Whether a debugger that writes so sets a point. */
bool points_is_breakpoint(uint32_t address, uint8_t bytes, uint32_t value);

/* A debugger writes memory. True: it was a breakpoint instruction, and memory stays as it is.
 * *full: there is no room for another one. Those that it overwrites are gone. */
bool points_write(struct points *points, uint32_t address, uint8_t bytes, uint32_t value,
                  bool *full);

/* What a debugger finds in memory, given what memory has. */
uint32_t points_read(const struct points *points, uint32_t address, uint8_t bytes, uint32_t value);

/* All registers and instructions are cleared; what the emulator was told stays noted. */
void points_clear(struct points *points);
