/*
 * crt0.S - the first and the last instructions of a node program, and the note that says for which
 * version of the interface it is.
 *
 * At entry r0 and r1 are address and size of the private block, sp is the top of the stack, all
 * else is undefined.
 */
#include "include/ecube/version.h"

    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .thumb

    .section .text.entry, "ax", %progbits
    .global _start
    .type _start, %function
    .thumb_func
_start:
    .cfi_startproc
    .cfi_undefined lr       /* a debugger's backtrace ends here */
    movs r7, #0             /* the end of the chain of frames */
    mov lr, r7
    mov r11, r7
    bl ecube_program_start
    udf #0                  /* it does not return */
    .cfi_endproc
    .size _start, . - _start

    .section .note.ecube, "", %note
    .word 6, 4, 3           /* bytes of the name and of the rest; NOTE_VERSION of elf_file.h */
    .asciz "ecube"
    .balign 4
    .word ECUBE_ABI_VERSION
