/*
 * need.h - what a task must know of the processor before it goes on.
 *
 * A task is begun again from its start with each thing that has become known, so it asks for
 * everything before it changes anything, and ends after a bounded number of operations.
 *
 * Context  any; pure
 */
#pragma once

#include "jtag/core/debug_state.h"

/* Whether the registers of the present mode are known; else they are asked for. */
bool debug_need_frame(struct debug_unit *unit);

/* Whether a register is known; else it is asked for. One that cannot be had is zero. No SPSR: that
 * takes an instruction (native.h). */
bool debug_need(struct debug_unit *unit, enum register_number number);
