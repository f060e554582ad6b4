/*
 * trap.h - the seam between start.S and C: the register frame of whatever was interrupted, and who
 * is called with it.
 *
 * The kernel runs on one supervisor stack with interrupts masked. A program's stack pointer never
 * reaches it: every entry from user mode finds the supervisor stack empty, so leaving a program for
 * good is a reset of that stack.
 *
 * Context  kernel, interrupts masked
 * Source   ARM DDI 0406C, B1.8 (exception handling)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/armv7a/trap_numbers.h"

struct trap_frame {
    uint32_t registers[16]; /* r0..r12, sp, lr, pc */
    uint32_t cpsr;
};

/* Called by start.S when memory is cleared: what the image does. It is not named `main`, so that a
 * debugger with the symbols of kernel and program knows one of that name. */
int kernel_main(void);

/* Called by start.S. The first two return to the program; a change of the frame is a change of its
 * registers. */
void trap_call(struct trap_frame *frame);
void trap_interrupt(struct trap_frame *frame);
/* The kinds are TRAP_KIND_*; the frame's pc is the instruction at fault. */
_Noreturn void trap_fault(const struct trap_frame *frame, uint32_t kind);

/* Whether a program was interrupted, not the kernel. */
bool trap_is_program(const struct trap_frame *frame);

/* What a data or prefetch abort was about, and the processor's word on why. */
uint32_t trap_fault_address(uint32_t kind);
uint32_t trap_fault_status(uint32_t kind);

/* Which TRAP_ an undefined instruction of a program, whose memory is given, is; 0: none of them. */
uint32_t trap_number(const struct trap_frame *frame, uintptr_t start, uintptr_t end);

/* Starts a program in user mode: r0 and r1 as given, all other registers and the floating-point
 * state zero. */
_Noreturn void trap_enter(uint32_t entry, uint32_t stack_top, uint32_t r0, uint32_t r1);

/* Empties the supervisor stack and continues there. */
_Noreturn void trap_restart(void (*continuation)(void));

/* Stops this CPU for good. */
_Noreturn void trap_halt(void);

/* Whether an interrupt is pending, masked or not. */
static inline bool trap_interrupt_pending(void)
{
    enum { ISR_IRQ = 1 << 7 };
    uint32_t status;

    __asm__ volatile("mrc p15, 0, %0, c12, c1, 0" : "=r"(status)::"memory"); /* ISR */
    return (status & ISR_IRQ) != 0;
}

/* Sleeps until an interrupt is pending, masked or not; devices have seen all that was written. */
static inline void trap_wait(void)
{
    __asm__ volatile("dsb\n\twfi" ::: "memory");
}
