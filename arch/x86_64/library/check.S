/*
 * check.S - remembers where a program calls the functions of lib/check/remembered.h; and the note
 * that says that a program has these checks.
 *
 * Such a function goes to the library's own by a jump, with its arguments untouched. Calls from
 * inside the library, which lies below program_own_code, are not the program's. A place is the
 * lower half of the return address: so it is an address as a node has them.
 *
 * Source   ld manual, --wrap; System V ABI, AMD64 Architecture Processor Supplement, 3.2.3 (%r11 is
 *          nobody's at a call); System V ABI, note section
 */
#include "lib/check/remembered.h"

    .hidden program_own_code

    .macro remembered names:vararg
    .irp name, \names
    .section .text.__wrap_\name, "ax", @progbits
    .global __wrap_\name
    .hidden __wrap_\name
    .type __wrap_\name, @function
__wrap_\name:
    leaq program_own_code(%rip), %r11
    cmpq %r11, (%rsp)
    jb 1f
    movl (%rsp), %r11d
    movl %r11d, ecube_check_place(%rip)
1:  jmp __real_\name
    .size __wrap_\name, . - __wrap_\name
    .endr
    .endm

    remembered REMEMBERED_MEMORY
    remembered REMEMBERED_CALLS
    remembered REMEMBERED_STARTS

    .section .bss.ecube_check_place, "aw", @nobits
    .balign 4
    .global ecube_check_place
    .hidden ecube_check_place
    .type ecube_check_place, @object
ecube_check_place:
    .space 4
    .size ecube_check_place, . - ecube_check_place

    .section .note.ecube, "a", @note
    .balign 4
    .long 6, 0, 1           /* bytes of the name and of the rest; NOTE_CHECKED of wire/finding.h */
    .asciz "ecube"
    .balign 4

    .section .note.GNU-stack, "", @progbits
