/*
 * thread.S - where the variables of the one thread lie (_Thread_local), as the linker script says.
 *
 * Source   Run-time ABI for the Arm Architecture, 6.3 (thread-local storage): r0 is the result, and
 *          no other register but ip and lr may change
 */
    .cfi_sections .debug_frame
    .syntax unified
    .arch armv7-a
    .thumb

    .section .text.__aeabi_read_tp, "ax", %progbits
    .global __aeabi_read_tp
    .type __aeabi_read_tp, %function
    .thumb_func
__aeabi_read_tp:
    .cfi_startproc
    movw r0, #:lower16:program_thread
    movt r0, #:upper16:program_thread
    bx lr
    .cfi_endproc
    .size __aeabi_read_tp, . - __aeabi_read_tp
