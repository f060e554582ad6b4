/*
 * execute.h - an instruction that a debugger has written to DBGITR.
 *
 * Context  any; pure
 * Source   ARM DDI 0406C, C5.3 (behaviour of instructions in debug state)
 */
#pragma once

#include "jtag/core/debug_state.h"

/* Goes on with unit->instruction; true: it is done. Else operations are wanted first. */
bool execute_instruction(struct debug_unit *unit);
