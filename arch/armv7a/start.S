/*
 * start.S - reset, vectors, and the way into C and back. Nothing here decides anything.
 *
 * A frame is 17 words: r0..r12, sp, lr, pc, cpsr (struct trap_frame). The supervisor stack is kept
 * one word off its 8-byte alignment while a program runs, so that a frame on it leaves C an aligned
 * stack.
 *
 * A debugger that stops in the kernel finds the frame by .cfi; its backtrace goes on in the
 * program.
 *
 * Source: ARM DDI 0406C, B1.8 (exceptions), B4.1 (system control registers)
 */
#include "arch/armv7a/trap_numbers.h"

    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .fpu neon-vfpv4
    .arm

    .equ MODE_SUPERVISOR, 0x13
    .equ MODE_ABORT, 0x17
    .equ MODE_UNDEFINED, 0x1b
    .equ MODE_USER, 0x10
    .equ CPSR_THUMB, 0x20
    .equ CPSR_FIQ_MASKED, 0x40
    .equ FRAME_BYTES, 4 * FRAME_WORDS + 4 /* one more keeps the alignment */
    .equ SCTLR_MMU_CACHES, 0x1805   /* I, Z, C, M */
    .equ CPACR_FLOAT, 0x00f00000    /* coprocessors 10 and 11 for everybody */
    .equ FPEXC_ENABLE, 0x40000000

    .section .vectors, "ax"
    .balign 32
vectors:
    b _start
    b undefined_entry
    b call_entry
    b prefetch_entry
    b data_entry
    b .                             /* unused on this profile */
    b interrupt_entry
    b .                             /* FIQ stays masked */

    .global _start
    .type _start, %function
_start:
    .cfi_startproc
    .cfi_undefined lr               /* here a backtrace ends */
    cpsid aif, #MODE_SUPERVISOR
    mrc p15, 0, r0, c1, c0, 0       /* a loader may have left the MMU or caches on */
    ldr r1, =SCTLR_MMU_CACHES
    bic r0, r0, r1
    mcr p15, 0, r0, c1, c0, 0
    isb

    ldr r0, =kernel_fault_stack_top
    cps #MODE_ABORT
    mov sp, r0
    cps #MODE_UNDEFINED
    mov sp, r0
    cps #MODE_SUPERVISOR
    ldr sp, =kernel_stack_top

    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0      /* VBAR */

    ldr r0, =kernel_bss_start
    ldr r1, =kernel_bss_end
    mov r2, #0
    mov r3, #0
1:  cmp r0, r1
    strdlo r2, r3, [r0], #8
    blo 1b

    ldr r0, =CPACR_FLOAT
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #FPEXC_ENABLE
    vmsr fpexc, r0

    bl kernel_main
    b trap_halt
    .cfi_endproc

/* The registers of what was interrupted, for a debugger; the frame's address is already told. */
    .macro describe_frame
    .cfi_signal_frame
    .cfi_return_column pc
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .cfi_offset \r, 4 * \r
    .endr
    .endm

/* A system call or interrupt of a program: the frame goes onto the supervisor stack. */
    .macro save_program
    srsdb sp!, #MODE_SUPERVISOR     /* pc, cpsr */
    cps #MODE_SUPERVISOR
    sub sp, sp, #FRAME_PC
    stmia sp, {r0-r12}
    add r0, sp, #FRAME_SP
    stmia r0, {sp, lr}^
    mov r0, sp
    .endm

call_entry:
    .cfi_startproc
    .cfi_def_cfa sp, 0
    describe_frame
    save_program
    bl trap_call
    b return_to_program
    .cfi_endproc

interrupt_entry:
    .cfi_startproc
    .cfi_def_cfa sp, 0
    describe_frame
    sub lr, lr, #4
    save_program
    bl trap_interrupt

return_to_program:
    clrex
    add r0, sp, #FRAME_SP
    ldmia r0, {sp, lr}^
    nop
    ldmia sp, {r0-r12}
    add sp, sp, #FRAME_PC
    rfeia sp!
    .cfi_endproc

/*
 * A fault of a program or of the kernel: the frame goes onto the fault stack, because the kernel's
 * own may be the reason. A program's fault is then handled on the empty supervisor stack, a
 * kernel's below the frame.
 */
    .macro save_fault kind
    sub sp, sp, #FRAME_BYTES
    stmia sp, {r0-r12}
    str lr, [sp, #FRAME_PC]
    mrs r2, spsr
    str r2, [sp, #FRAME_CPSR]
    mov r1, #\kind
    .endm

undefined_entry:
    save_fault TRAP_KIND_UNDEFINED
    tst r2, #CPSR_THUMB
    sub lr, lr, #2
    subeq lr, lr, #2
    str lr, [sp, #FRAME_PC]
    b fault

/* Where a page of the program was absent, whoever touched it goes on with the same instruction. */
    .macro touch address_register
    push {r0-r3, r12, lr}
    mrc p15, 0, r0, c6, c0, \address_register
    bl mmu_touch
    cmp r0, #0
    pop {r0-r3, r12, lr}
    clrex
    movsne pc, lr
    .endm

prefetch_entry:
    sub lr, lr, #4
    touch 2                         /* IFAR */
    save_fault TRAP_KIND_PREFETCH
    b fault

data_entry:
    sub lr, lr, #8
    touch 0                         /* DFAR */
    save_fault TRAP_KIND_DATA

fault:
    .cfi_startproc
    .cfi_escape 0x0f, 3, 0x7d, 0, 6 /* DW_CFA_def_cfa_expression: breg13 0, deref: the word at sp */
    describe_frame
    mov r0, sp
    add sp, sp, #FRAME_BYTES        /* this mode's own stack pointer is ready for the next fault */
    add r3, r0, #FRAME_SP
    and r2, r2, #0x1f
    cmp r2, #MODE_USER
    stmiaeq r3, {sp, lr}^
    cps #MODE_SUPERVISOR
    strne sp, [r3]
    strne lr, [r3, #4]
    movne sp, r0
    ldreq sp, =kernel_stack_top
    stmdb sp!, {r0, r1}             /* the frame's address */
    bl trap_fault
    b trap_halt
    .cfi_endproc

    .global trap_enter
    .type trap_enter, %function
trap_enter:
    ldr sp, =kernel_stack_top
    sub sp, sp, #4
    mov r5, #MODE_USER | CPSR_FIQ_MASKED
    tst r0, #1
    orrne r5, r5, #CPSR_THUMB
    bic r4, r0, #1
    stmdb sp!, {r4, r5}             /* what rfe takes: pc, cpsr */
    mov r4, r1
    mov r5, #0
    stmdb sp, {r4, r5}              /* the program's sp and lr: a return from its entry faults */
    sub r6, sp, #8
    ldmia r6, {sp, lr}^
    nop
    vmsr fpscr, r5
    .irp q, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmov.i32 q\q, #0
    .endr
    mov r0, r2
    mov r1, r3
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    mov r\r, #0
    .endr
    clrex
    rfeia sp!

    .global trap_restart
    .type trap_restart, %function
trap_restart:
    .cfi_startproc
    .cfi_undefined lr
    ldr sp, =kernel_stack_top
    blx r0
    b trap_halt
    .cfi_endproc

    .global trap_halt
    .type trap_halt, %function
trap_halt:
    cpsid aif
1:  wfi
    b 1b
