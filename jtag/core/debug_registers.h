/*
 * debug_registers.h - the debug registers of a node: what a read gives, what a write begins.
 *
 * A register that depends on the processor's state begins a task, which is returned; DEBUG_IDLE: it
 * was read or written at once. To a client that does not have the node, a processor looks as if it
 * ran, and what would change that is refused. unit->access is the read or write.
 *
 * Context  any; pure
 * Source   ARM DDI 0406C, chapters C8 (DCC, ITR) and C11 (registers)
 */
#pragma once

#include "jtag/core/debug_state.h"

/* `mine`: for a client that may have the node. */
enum debug_task debug_registers_read(struct debug_unit *unit, bool mine);

/* What a register holds, as far as it is known. DBGPRSR forgets that the node was reset. */
uint32_t debug_registers_value(struct debug_unit *unit, uint32_t address, bool mine);

/* Whether the write is only for the one who has the node. */
bool debug_registers_is_exclusive(struct debug_unit *unit);

enum debug_task debug_registers_write(struct debug_unit *unit);
