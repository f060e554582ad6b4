/*
 * trap.S - the traps that the kernel knows: a division by zero, a signal that ends the program, and
 * an error of a call of ecube.h that does.
 *
 * The compiler's division routines come here by a tail call, so lr is still in the function that
 * divided and the fault report names its line.
 *
 * Source   Run-time ABI for the Arm Architecture, section 4.3.2 (division by zero)
 */
#include "arch/armv7a/trap_numbers.h"

    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .thumb

    .section .text.divide_by_zero, "ax", %progbits
    .global __aeabi_idiv0
    .global __aeabi_ldiv0
    .type __aeabi_idiv0, %function
    .type __aeabi_ldiv0, %function
    .thumb_func
__aeabi_idiv0:
    .thumb_func
__aeabi_ldiv0:
    udf #TRAP_DIVIDE
    .size __aeabi_idiv0, . - __aeabi_idiv0
    .size __aeabi_ldiv0, . - __aeabi_ldiv0

    .section .text.ecube_signal, "ax", %progbits
    .global ecube_signal
    .type ecube_signal, %function
    .thumb_func
ecube_signal:               /* (signal); does not return */
    .cfi_startproc
    udf #TRAP_SIGNAL
    .cfi_endproc
    .size ecube_signal, . - ecube_signal

    .section .text.ecube_error_trap, "ax", %progbits
    .global ecube_error_trap
    .type ecube_error_trap, %function
    .thumb_func
ecube_error_trap:           /* (status, number, struct ecube_called *); does not return */
    .cfi_startproc
    udf #TRAP_ERROR
    .cfi_endproc
    .size ecube_error_trap, . - ecube_error_trap
