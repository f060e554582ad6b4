/*
 * debug_unit.h - the ARMv7-A debug registers of one node, and what they make its processor do.
 *
 * A state machine without waits: an access comes in, it has the processor do some operations one
 * after another, and then the access is complete.
 *
 *     debug_unit_access(unit, client, access)
 *     while ((op = debug_unit_wants(unit)) != NULL) { have it done; debug_unit_did(unit); }
 *     access->value, access->failed are right now
 *
 * While the node is halted its registers are kept here: what a debugger changes reaches the
 * processor when it goes on, so a debugger that dies has changed nothing. Breakpoint instructions
 * that a debugger writes into memory are kept here too, and become points of the emulator.
 *
 * One client has a node: the first that halts it, resets it or sets a point. To the others it looks
 * as if it ran, and what they write is refused, until that one has let it go on without points, or
 * has left.
 *
 * Context  any; pure
 * Source   ARM DDI 0406C, chapters C6 (debug state), C8 (DCC, ITR), C11 (registers)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/access.h"
#include "jtag/core/core.h"
#include "jtag/core/debug_state.h"

void debug_unit_init(struct debug_unit *unit, const struct debug_board *board);

/* Begins an access; none may be under way. `client` is any address that tells clients apart. */
void debug_unit_access(struct debug_unit *unit, const void *client, struct access *access);

/* What the processor shall do now; NULL: nothing, and the access is complete. The same one until
 * debug_unit_did. */
struct core_op *debug_unit_wants(struct debug_unit *unit);

/* That has been done, or has failed. */
void debug_unit_did(struct debug_unit *unit);

/* The processor has stopped by itself, at a point: address is that of the data, of a data point. */
void debug_unit_stopped(struct debug_unit *unit, enum core_stop why, uint32_t address);

/* The node was reset by somebody else, or by a debugger that is not ours. */
void debug_unit_was_reset(struct debug_unit *unit);

/* The node, which is nobody's, is now a debugger's that is not ours: here it counts as running. */
void debug_unit_give_up(struct debug_unit *unit);

/* A client has gone: its points go, a halted node stays halted and is nobody's. Not while an access
 * is under way; there may be operations wanted then. */
void debug_unit_leave(struct debug_unit *unit, const void *client);

/* Who has the node; NULL: nobody. */
const void *debug_unit_owner(const struct debug_unit *unit);

bool debug_unit_halted(const struct debug_unit *unit);

/* It was told to run where there is no memory: it stands, and debuggers are told that it runs. */
bool debug_unit_lost(const struct debug_unit *unit);
