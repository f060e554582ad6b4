/*
 * divide.S - what the compiler's division routines call when the divisor is zero: the trap that the
 * kernel knows.
 *
 * They come here by a tail call, so lr is still in the function that divided and the fault report
 * names its line.
 *
 * Source   Run-time ABI for the Arm Architecture, section 4.3.2 (division by zero)
 */
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
    udf #236
    .size __aeabi_idiv0, . - __aeabi_idiv0
    .size __aeabi_ldiv0, . - __aeabi_ldiv0
