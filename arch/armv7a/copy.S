/*
 * copy.S - memcpy, memmove and memset of the kernel: long blocks through the vector registers, 256
 * bytes a turn: under emulation each turn costs a jump, which costs more than its instructions.
 *
 * C code of the kernel never touches a vector register, so that a system call need not save them;
 * those used here are the program's, and go back as they were. Any alignment. memcpy reads each 64
 * bytes, or fewer, before it writes them, so it also moves a block to a lower address that
 * overlaps.
 *
 * Source: ARM DDI 0406C, A7.7 (VLD1, VST1); AAPCS, IHI 0042F, 5.1 (r0 is the result)
 */
    .syntax unified
    .arch armv7-a
    .fpu neon-vfpv4
    .thumb

    .equ LONG_BYTES, 128            /* below this, saving the registers costs more than it saves */

    .section .text.memmove, "ax"
    .global memmove
    .type memmove, %function
    .thumb_func
memmove:
    subs r3, r0, r1                 /* forwards, unless that overwrites the end of the source */
    cmp r3, r2
    bhs memcpy                      /* unsigned: also when r0 is below r1 */
    add r1, r1, r2
    add ip, r0, r2
1:  cmp ip, r0
    beq 2f
    ldrb r3, [r1, #-1]!
    strb r3, [ip, #-1]!
    b 1b
2:  bx lr
    .size memmove, . - memmove

    .section .text.memset, "ax"
    .global memset
    .type memset, %function
    .thumb_func
memset:
    mov ip, r0
    and r1, r1, #255
    orr r1, r1, r1, lsl #8
    orr r1, r1, r1, lsl #16
    subs r2, r2, #16
    blo 2f
1:  str r1, [ip], #4
    str r1, [ip], #4
    str r1, [ip], #4
    subs r2, r2, #16
    str r1, [ip], #4
    bhs 1b
2:  adds r2, r2, #12                /* 4 less than what is left */
    blt 4f
3:  str r1, [ip], #4
    subs r2, r2, #4
    bge 3b
4:  adds r2, r2, #4
    beq 6f
5:  strb r1, [ip], #1
    subs r2, r2, #1
    bne 5b
6:  bx lr
    .size memset, . - memset

    .section .text.memcpy, "ax"
    .global memcpy
    .type memcpy, %function
    .thumb_func
memcpy:
    mov ip, r0
    cmp r2, #LONG_BYTES
    blo 3f
    vpush {d0-d7}
    subs r2, r2, #256
    blo 2f
1:
    .rept 4
    vld1.8 {d0-d3}, [r1]!
    vld1.8 {d4-d7}, [r1]!
    vst1.8 {d0-d3}, [ip]!
    vst1.8 {d4-d7}, [ip]!
    .endr
    subs r2, r2, #256
    bhs 1b
2:  adds r2, r2, #192               /* 64 less than what is left */
    blt 4f
5:
    vld1.8 {d0-d3}, [r1]!
    vld1.8 {d4-d7}, [r1]!
    vst1.8 {d0-d3}, [ip]!
    vst1.8 {d4-d7}, [ip]!
    subs r2, r2, #64
    bge 5b
4:  add r2, r2, #64
    vpop {d0-d7}
3:  subs r2, r2, #16
    blo 7f
6:
    .rept 4
    ldr r3, [r1], #4
    str r3, [ip], #4
    .endr
    subs r2, r2, #16
    bhs 6b
7:  adds r2, r2, #12                /* 4 less than what is left */
    blt 9f
8:  ldr r3, [r1], #4
    subs r2, r2, #4
    str r3, [ip], #4
    bge 8b
9:  adds r2, r2, #4
    beq 11f
10: ldrb r3, [r1], #1
    subs r2, r2, #1
    strb r3, [ip], #1
    bne 10b
11: bx lr
    .size memcpy, . - memcpy
