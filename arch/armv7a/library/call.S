/*
 * call.S - the SVC instruction. Assembly, because r7 carries the call's number and is also Thumb's
 * frame pointer.
 *
 * Source   the convention is in include/ecube/abi.h
 */
    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .thumb

    .section .text.ecube_call, "ax", %progbits
    .global ecube_call
    .global ecube_call_three
    .type ecube_call, %function
    .type ecube_call_three, %function
    .thumb_func
ecube_call:                 /* (number, first, second): the kernel reads no third */
    .thumb_func
ecube_call_three:           /* (number, first, second, third) */
    .fnstart
    .cfi_startproc
    push {r7, lr}
    .save {r7, lr}
    .cfi_def_cfa_offset 8
    .cfi_offset r7, -8
    .cfi_offset lr, -4
    mov r7, r0
    mov r0, r1
    mov r1, r2
    mov r2, r3
    svc #0
    pop {r7, pc}
    .cfi_endproc
    .fnend
    .size ecube_call, . - ecube_call
    .size ecube_call_three, . - ecube_call_three
