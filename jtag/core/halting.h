/*
 * halting.h - tasks that halt a processor, let it go on, reset it, and tell the emulator of points.
 *
 * Each is the step of one task: it wants operations, or changes the unit's state, and returns the
 * task that is next. The same one: it is called again when what it wanted has been done.
 * DEBUG_IDLE: it has ended. DEBUG_FAILED: in vain.
 *
 * Context  any; pure
 * Source   ARM DDI 0406C, C3 (debug events) and C5 (entry to and exit from debug state)
 */
#pragma once

#include "jtag/core/debug_state.h"

enum debug_task halting_halt(struct debug_unit *unit);

/* What the debugger has changed reaches the processor, then it runs, or makes one step. */
enum debug_task halting_restart(struct debug_unit *unit);

/* A running processor is halted for it. */
enum debug_task halting_points(struct debug_unit *unit);

/* DEBUG_RESTART follows, unless the debugger catches resets. */
enum debug_task halting_reset(struct debug_unit *unit);
