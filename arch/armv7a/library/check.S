/*
 * check.S - remembers where a program calls the functions of lib/check/remembered.h; the trap that
 * tells what was found; and the note that says that a program has these checks.
 *
 * Such a function goes to the library's own by a jump, with its arguments untouched. Calls
 * from inside the library, which lies below program_own_code, are not the program's.
 *
 * Source   ld manual, --wrap; Procedure Call Standard for the Arm Architecture, 6.1.1 (ip);
 *          System V ABI, note section
 */
#include "arch/armv7a/trap_numbers.h"
#include "lib/check/remembered.h"

    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .thumb

    .macro remembered names:vararg
    .irp name, \names
    .section .text.__wrap_\name, "ax", %progbits
    .global __wrap_\name
    .type __wrap_\name, %function
    .thumb_func
__wrap_\name:
    .cfi_startproc
    movw ip, #:lower16:program_own_code
    movt ip, #:upper16:program_own_code
    cmp lr, ip
    ittt hs
    movwhs ip, #:lower16:ecube_check_place
    movths ip, #:upper16:ecube_check_place
    strhs lr, [ip]
    b __real_\name
    .cfi_endproc
    .size __wrap_\name, . - __wrap_\name
    .endr
    .endm

    remembered REMEMBERED_MEMORY
    remembered REMEMBERED_CALLS
    remembered REMEMBERED_STARTS

    .section .bss.ecube_check_place, "aw", %nobits
    .balign 4
    .global ecube_check_place
    .type ecube_check_place, %object
ecube_check_place:
    .space 4
    .size ecube_check_place, . - ecube_check_place

    .section .text.ecube_check_trap, "ax", %progbits
    .global ecube_check_trap
    .type ecube_check_trap, %function
    .thumb_func
ecube_check_trap:           /* (list, count, all, at_end); does not return */
    .cfi_startproc
    udf #TRAP_FINDING
    .cfi_endproc
    .size ecube_check_trap, . - ecube_check_trap

    .section .note.ecube, "", %note
    .word 6, 0, 1           /* bytes of the name and of the rest; NOTE_CHECKED of wire/finding.h */
    .asciz "ecube"
    .balign 4
