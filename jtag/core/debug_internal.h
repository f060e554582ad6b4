/*
 * debug_internal.h - what the files of the debug unit share.
 *
 * A task is a function that is called until it ends: it wants operations of the processor (they go
 * into the script) and is called again when they are done, or changes the unit's state and ends.
 * What it needs to know of the processor it asks for with debug_need; each call finds more of it
 * known, so that every task ends after a bounded number of operations.
 *
 * Context  any; pure
 */
#pragma once

#include "jtag/core/debug_unit.h"

enum { WORD = 4 }; /* bytes of a register, and of an ARM instruction */

/* What becomes of an operation's result. */
enum debug_then {
    THEN_NOTHING,
    THEN_ACCESS,   /* it is the access's */
    THEN_HALTED,   /* the processor is held now */
    THEN_FRAME,    /* the registers are known */
    THEN_BANK,     /* those of another mode too */
    THEN_REGISTER, /* that of the subject is known */
    THEN_WRITTEN,  /* the processor has the register of the subject as the debugger wrote it */
    THEN_LOADED,   /* what a load or a store of an instruction found */
    THEN_POINT,    /* the emulator has the point of `slot` as wanted */
    THEN_SAVED,    /* the word where an instruction will be planted */
    THEN_PLANTED,
    THEN_VERIFIED, /* the subject lies there */
    THEN_ENTERED,  /* a mode from which all others can be reached */
    THEN_UNPLANTED,
    THEN_STEP,   /* the planted instruction may run */
    THEN_STEPPED /* what it left */
};

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

/* What the processor has in its CPSR; the registers are known. */
static inline uint32_t debug_real_cpsr(const struct debug_unit *unit)
{
    return (uint32_t)unit->registers.real[REGISTER_CPSR];
}

/* One operation more. */
struct script_step *debug_want(struct debug_unit *unit, enum core_op_kind kind,
                               enum debug_then then);
void debug_want_register(struct debug_unit *unit, const char *name, uint64_t value);
void debug_want_memory(struct debug_unit *unit, enum core_op_kind kind, uint32_t address,
                       uint32_t value, enum debug_then then);

/* Whether the registers of the present mode are known; else they are asked for. */
bool debug_need_frame(struct debug_unit *unit);

/* Whether a register is known; else it is asked for. One that cannot be had is zero. */
bool debug_need(struct debug_unit *unit, enum register_number number);

/* debug_unit.c: a task begins; its first step follows. */
void debug_begin(struct debug_unit *unit, enum debug_task task);

/* Whether no other client has the node; and makes it a client's, false: it is another's. */
bool debug_may_touch(const struct debug_unit *unit, const void *client);
bool debug_claim(struct debug_unit *unit, const void *client);

/* debug_registers.c: unit->access is of a register; what it needs the processor for begins a task.
 */
void debug_begin_read(struct debug_unit *unit);
void debug_begin_write(struct debug_unit *unit);

/* What a register holds, as far as it is known; `mine`: for the client that may have the node. */
uint32_t debug_read_register(struct debug_unit *unit, uint32_t address, bool mine);

/* mode_visit.c */

/* Leads the processor into a mode; it comes back by mode_visit_close. The registers are known. */
void mode_visit_open(struct debug_unit *unit, enum processor_mode mode);

/* Wants what puts everything back. */
void mode_visit_close(struct debug_unit *unit);

/* Runs an instruction with the registers as the debugger has them in a mode, but r0 as given.
 * NATIVE_WAITS until it is done; then visit.frame is what it left. */
enum native_result native_run(struct debug_unit *unit, uint32_t code, enum processor_mode mode,
                              uint32_t r0);

/* A step of these has been done. */
void mode_visit_did(struct debug_unit *unit, const struct script_step *step);

/* execute.c: unit->instruction; true: it is done. */
bool debug_execute(struct debug_unit *unit);

/* halting.c: tasks. */
void debug_step_restart(struct debug_unit *unit);
void debug_step_points(struct debug_unit *unit);
void debug_step_reset(struct debug_unit *unit);
void debug_step_halt(struct debug_unit *unit);

/* Whether the emulator is to be told of points. */
bool debug_points_differ(const struct debug_unit *unit);

/* Goes on with DEBUG_POINTS if that is so and the node runs, and else ends the task. */
void debug_update_points(struct debug_unit *unit);

/* The task has ended, in vain. */
void debug_fail(struct debug_unit *unit);
