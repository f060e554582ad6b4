/*
 * fiber_switch.S - leaves one stack and enters another. Assembly, because C has no word for it.
 *
 * Source   System V ABI, AMD64 supplement, 3.2.1: calls keep rbx, rbp, r12 to r15, and the control
 *          bits of mxcsr and of the x87
 */
    .text
    .global fiber_switch
    .type fiber_switch, @function
fiber_switch:                   /* (where the stack that is left is noted, the one entered) */
    .cfi_startproc
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    sub $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    add $8, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .cfi_endproc
    .size fiber_switch, . - fiber_switch

    .global fiber_begin
    .type fiber_begin, @function
fiber_begin:                    /* the first that runs on a stack: rbx(r12, r13, r14) */
    .cfi_startproc
    .cfi_undefined rip          /* a debugger's backtrace ends here */
    mov %r12, %rdi
    mov %r13, %rsi
    mov %r14, %rdx
    call *%rbx
    ud2                         /* it does not return */
    .cfi_endproc
    .size fiber_begin, . - fiber_begin

    .section .note.GNU-stack, "", @progbits
