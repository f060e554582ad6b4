/*
 * call.S - the SVC instruction. Assembly, because r7 carries the call's number and is also Thumb's
 * frame pointer.
 *
 * Source   the convention is in include/ecube/abi.h
 */
    .syntax unified
    .arch armv7-a
    .thumb

    .section .text.ecube_call, "ax", %progbits
    .global ecube_call
    .type ecube_call, %function
    .thumb_func
ecube_call:                 /* (number, first, second) */
    .fnstart
    push {r7, lr}
    .save {r7, lr}
    mov r7, r0
    mov r0, r1
    mov r1, r2
    svc #0
    pop {r7, pc}
    .fnend
    .size ecube_call, . - ecube_call
