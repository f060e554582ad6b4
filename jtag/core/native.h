/*
 * native.h - an instruction on the processor itself, for what can be done in no other way.
 *
 * Where the first place does not take it, it is tried at a second one, the begin of memory.
 *
 * Context  any; pure
 */
#pragma once

#include "jtag/core/debug_state.h"

/* Runs an instruction with the registers as the debugger has them in a mode, but r0 as given.
 * NATIVE_WAITS until it is done; then visit.frame is what it left. */
enum native_result native_run(struct debug_unit *unit, uint32_t code, enum processor_mode mode,
                              uint32_t r0);
