/*
 * debug_state.h - what a debug unit knows: its registers, the processor's, and the task under way.
 *
 * None of it is for others than the files of this folder.
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

enum debug_state { DEBUG_RUNNING, DEBUG_HALTED, DEBUG_LOST };

/* What is being done; the step of each is called again when the operations it wanted are done, and
 * says which task is next. */
enum debug_task {
    DEBUG_IDLE,
    DEBUG_BUS,     /* memory by physical address */
    DEBUG_REFRESH, /* the registers of a processor that has stopped by itself */
    DEBUG_HALT,
    DEBUG_EXECUTE, /* an instruction of DBGITR */
    DEBUG_RESTART,
    DEBUG_POINTS, /* the emulator is told of points while the node runs, or stands */
    DEBUG_RESET,
    DEBUG_FAILED /* only said by a step: its task has ended in vain */
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

/* What the processor has in its CPSR; the registers are known. */
static inline uint32_t debug_real_cpsr(const struct debug_unit *unit)
{
    return (uint32_t)unit->registers.real[REGISTER_CPSR];
}
