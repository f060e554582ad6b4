/*
 * start.S - the first and the last instructions of a program on this computer, and the notes that
 * say that it is one, and for which version of the interface.
 *
 * It is called as a function is, with (block, block_bytes, gate): include/ecube/gate.h. Assembly,
 * because the chain of frames must end here.
 *
 * Source   System V ABI, AMD64 Architecture Processor Supplement, 3.2; System V ABI, note section
 */
#include "include/ecube/version.h"

    .section .text.entry, "ax", @progbits
    .global _start
    .type _start, @function
_start:
    .cfi_startproc
    .cfi_undefined rip      /* a debugger's backtrace ends here */
    xorl %ebp, %ebp         /* the end of the chain of frames */
    subq $8, %rsp           /* a call was made: the stack is 8 bytes off its alignment to 16 */
    call ecube_native_start
    ud2                     /* it does not return */
    .cfi_endproc
    .size _start, . - _start

    .section .note.ecube, "a", @note
    .balign 4
    .long 6, 0, 2           /* bytes of the name and of the rest; ECUBE_NOTE_NATIVE of gate.h */
    .asciz "ecube"
    .balign 4
    .long 6, 4, 3           /* NOTE_VERSION of host/program/elf_file.h */
    .asciz "ecube"
    .balign 4
    .long ECUBE_ABI_VERSION

    .section .note.GNU-stack, "", @progbits
