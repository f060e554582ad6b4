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
#include "jtag/core/points.h"
#include "jtag/core/registers.h"
#include "jtag/core/script.h"

/* What the debug unit must know of a board. */
struct debug_board {
    /* Where instructions can lie: elsewhere the emulator would abort. */
    uint32_t ram_base, ram_bytes;
};

struct debug_unit; /* drawn up below */

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

/* Its parts; none of them is for others to touch. */

enum debug_state { DEBUG_RUNNING, DEBUG_HALTED, DEBUG_LOST };

/* What is being done; the step of each is called again when the operations it wanted are done. */
enum debug_task {
    DEBUG_IDLE,
    DEBUG_BUS,     /* memory by physical address */
    DEBUG_REFRESH, /* the registers of a processor that has stopped by itself */
    DEBUG_HALT,
    DEBUG_EXECUTE, /* an instruction of DBGITR */
    DEBUG_RESTART,
    DEBUG_POINTS, /* the emulator is told of points while the node runs, or stands */
    DEBUG_RESET
};

/* The processor away from where it stands: in another mode, or on a planted instruction. */
struct mode_visit {
    bool open;
    bool entered; /* it is in a mode from which it can go to all others */
    bool planted; /* memory at `place` is not `saved` */
    bool moved;   /* registers may be others */
    bool stepped; /* the planted instruction may have run */
    bool judged;  /* `frame` is what it left */
    uint32_t place, saved;
    enum processor_mode mode;
    uint32_t frame[CORE_FRAME_REGISTERS];
};

enum native_result {
    NATIVE_IDLE,
    NATIVE_WAITS,
    NATIVE_DONE,
    NATIVE_UNDEFINED,
    NATIVE_ABORTED,
    NATIVE_FAILED /* it could not be run */
};

struct debug_unit {
    struct debug_board board;
    const void *owner, *last; /* whose points these are */
    enum debug_state state;
    bool held;      /* the back end holds the processor for us */
    bool was_reset; /* since DBGPRSR was read */
    bool stopped;   /* by itself, for `stop`; what else there is to tell of it is not known yet */
    enum core_stop stop;

    uint32_t dscr; /* what is stored of it: written bits, sticky ones, why it was halted */
    uint32_t itr, dtrrx, dtrtx;
    bool rx_full, tx_full;
    uint32_t wfar, vcr, dsccr, dsmcr;
    struct points points;
    struct registers registers;

    struct access *access;
    const void *client; /* whose access it is */
    enum debug_task task;
    unsigned stage; /* of the task */
    bool halted;    /* the task has halted it */
    bool broke;     /* an operation failed: the task ends */
    bool restoring; /* an operation that fails now keeps none from being done */
    uint32_t *undo; /* a register that has its old value again if the task fails */
    uint32_t undo_value;
    uint32_t instruction; /* under way */
    bool loaded, load_failed;
    uint32_t load_value;
    enum register_number tried; /* asked of the processor: if it is not known now, it is zero */
    struct point wanted;
    unsigned slot;
    struct script script;
    struct mode_visit visit;
    enum native_result native;
    bool native_again; /* at its second place */
};
