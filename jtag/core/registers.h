/*
 * registers.h - the registers of a halted ARMv7-A processor, all banks, as a debugger sees them and
 * as the processor has them.
 *
 * A debugger reads and writes `value`. `real` is what the processor holds while it stands; where
 * the two differ, the register is written before the processor goes on. Neither means anything
 * until the register is known.
 *
 * Numbers  0 to 7: r0 to r7, 8 to 12: r8 to r12 of all modes but FIQ, 13 and 14: sp and lr of user
 *          and system mode; then pc, cpsr, the banks, the doubles, FPSCR, the system registers
 * Context  any; pure
 * Source   ARM DDI 0406C, B1.3 (modes and banks); QEMU 7.2 target/arm/gdbstub.c (names)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jtag/core/core.h"

enum processor_mode {
    MODE_USER = 0x10,
    MODE_FIQ = 0x11,
    MODE_IRQ = 0x12,
    MODE_SUPERVISOR = 0x13,
    MODE_ABORT = 0x17,
    MODE_UNDEFINED = 0x1b,
    MODE_SYSTEM = 0x1f
};

enum cpsr_bit {
    CPSR_MODE = 0x1f,
    CPSR_THUMB = 1 << 5,
    CPSR_STATE = 0x0700fc20,     /* T, J, IT: how instructions are read */
    CPSR_FLAGS = (int)0xf80f0000 /* N, Z, C, V, Q, GE: what instructions set */
};

enum { SCTLR_MMU = 1 }; /* its bit */

enum register_number {
    REGISTER_R0 = 0,
    REGISTER_R8 = 8,
    REGISTER_SP = 13,
    REGISTER_LR = 14,
    REGISTER_PC = 15,
    REGISTER_CPSR = 16,
    REGISTER_R8_FIQ = 17, /* to r12, then sp, lr, spsr */
    REGISTER_SP_FIQ = 22, /* sp, lr, spsr, as in each bank that follows */
    REGISTER_SP_IRQ = 25,
    REGISTER_SP_SUPERVISOR = 28,
    REGISTER_SP_ABORT = 31,
    REGISTER_SP_UNDEFINED = 34,
    REGISTER_D0 = 37,
    REGISTER_FPSCR = REGISTER_D0 + 32,
    REGISTER_SCTLR, /* the system registers begin; those to IFAR may be written */
    REGISTER_DACR,
    REGISTER_DFSR,
    REGISTER_DFAR,
    REGISTER_IFSR,
    REGISTER_IFAR,
    REGISTER_VBAR,
    REGISTER_OTHER_SYSTEM, /* and so on, as in the table of registers.c */
    REGISTER_COUNT = REGISTER_OTHER_SYSTEM + 29,
    REGISTER_NONE = REGISTER_COUNT
};

enum { BANK_LR = 1, BANK_SPSR = 2 }; /* from a bank's sp */

struct registers {
    uint64_t value[REGISTER_COUNT];
    uint64_t real[REGISTER_COUNT];
    bool known[REGISTER_COUNT];
};

/* The mode in a CPSR; system mode for numbers that are none on this processor. */
enum processor_mode register_mode(uint32_t cpsr);

/* r0 to r14 and pc, `n`, as `mode` sees it. */
enum register_number register_in_mode(enum processor_mode mode, unsigned n);

/* A mode's sp, and its SPSR; REGISTER_NONE: it has none. */
enum register_number register_sp(enum processor_mode mode);
enum register_number register_spsr(enum processor_mode mode);

/* The mode by which r8 to r14 or SPSR of a bank is reached; system mode for what all modes see. */
enum processor_mode register_bank_mode(enum register_number number);

/* The emulator's name; one of a bank as it is called in its own mode. No SPSR. */
const char *register_name(enum register_number number);

/* r0 to lr, pc, cpsr: its place in a frame. Only for those in frames. */
unsigned register_in_frame(enum register_number number);

static inline bool register_is_spsr(enum register_number number)
{
    return number > REGISTER_CPSR && number < REGISTER_D0 && number >= REGISTER_SP_FIQ &&
           (number - REGISTER_SP_FIQ) % 3 == BANK_SPSR;
}

/* The system register that MRC and MCR of coprocessor 15 name so; REGISTER_NONE: not kept. */
enum register_number register_of_system(uint32_t opc1, uint32_t crn, uint32_t crm, uint32_t opc2);

/* What brings the SPSR of the present mode into r0, and r0 into all of it. */
enum { SPSR_READ = (int)0xe14f0000, SPSR_WRITE = (int)0xe16ff000 }; /* MRS, MSR */

/* MCR p15 of r0 to a system register. */
uint32_t register_system_write(enum register_number number);

/* Nothing is known any more. */
void registers_forget(struct registers *registers);

/* What the processor has now; what a debugger has written stays written. */
void registers_learn(struct registers *registers, enum register_number number, uint64_t real);

/* All of a frame, in the mode that its CPSR tells. */
void registers_learn_frame(struct registers *registers, const uint32_t frame[]);

/* r8 to lr of a frame, in the mode that its CPSR tells. */
void registers_learn_bank(struct registers *registers, const uint32_t frame[]);

/* What a debugger has written and the processor has not is undone. */
void registers_revert(struct registers *registers);

bool registers_changed(const struct registers *registers, enum register_number number);

/* System registers that are as the processor had them may have become others. */
void registers_forget_system(struct registers *registers);
