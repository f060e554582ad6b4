/*
 * core.h - what a debug unit can have a processor do.
 *
 * The debug unit (debug_unit.h) says what shall be done next; the back end (jtag/stub/emulator.h)
 * does it through the emulator and fills in the results. Operations of one processor are done one
 * after another.
 *
 * Units    bytes; registers by the names that the emulator's target description has: r0 to r12, sp,
 *          lr, pc, cpsr, d0 to d31, fpscr, fpexc, and system registers such as SCTLR, DFSR
 * Errors   failed: it could not be done; nothing has changed then, but where it is said
 * Source   QEMU 7.2 gdbstub.c, target/arm/gdbstub.c, softmmu/qtest.c
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CORE_WORD_BYTES = 4 }; /* of a register, and of an ARM instruction */

enum core_op_kind {
    CORE_HALT,           /* stops it; holds it for the debugger. Fails when another one has it */
    CORE_RESUME,         /* runs on. Unless `keep`, nobody holds it any more */
    CORE_STEP,           /* one instruction, interrupts not taken; a sleeping one wakes up */
    CORE_RESET,          /* resets the node; it is halted then, at its first instruction */
    CORE_READ_FRAME,     /* frame := r0 to r12, sp, lr, pc, cpsr as they are in the present mode */
    CORE_READ_REGISTER,  /* value := register `name` */
    CORE_WRITE_REGISTER, /* register `name` := value; a mode in cpsr switches the banked ones, but
                          * from user mode the emulator leaves the mode as it is */
    CORE_READ_MEMORY,    /* value := `bytes` (1, 2, 4) at an address as the program sees it (MMU) */
    CORE_WRITE_MEMORY,
    CORE_READ_BUS, /* the same at a physical address; also while it runs */
    CORE_WRITE_BUS,
    CORE_ADD_POINT, /* stop at `address`, `bytes` long, for `point` */
    CORE_REMOVE_POINT
};

/* As GDB's Z packets number them. */
enum core_point { CORE_POINT_CODE = 1, CORE_POINT_WRITE, CORE_POINT_READ, CORE_POINT_ACCESS };

enum { CORE_FRAME_REGISTERS = 17, CORE_FRAME_CPSR = 16, CORE_FRAME_PC = 15 };

struct core_op {
    enum core_op_kind kind;
    const char *name; /* of a register; a string that lives for ever */
    uint32_t address;
    uint8_t bytes;
    enum core_point point;
    bool keep; /* CORE_RESUME: a point may stop it, so it stays held */
    uint64_t value;
    bool failed;
    uint32_t frame[CORE_FRAME_REGISTERS];
};

/* Why a processor has stopped by itself. */
enum core_stop { CORE_STOP_CODE, CORE_STOP_DATA, CORE_STOP_OTHER };
