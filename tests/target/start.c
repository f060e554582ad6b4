/*
 * start.c - a test image from reset to exit: MMU on as the kernel has it, the tests, the exit code.
 *
 * A fault ends the image, with its kind and address on the output.
 */
#include "board/platform.h"
#include "arch/armv7a/trap.h"
#include "drivers/semihosting.h"
#include "tests/testing.h"

enum { EXIT_FAULT = 3 };

int kernel_main(void)
{
    (void)platform_init(); /* no links: only the memory map matters */
    semihosting_exit((uint32_t)testing_run());
}

void trap_call(struct trap_frame *frame)
{
    (void)frame;
    semihosting_exit(EXIT_FAULT);
}

void trap_interrupt(struct trap_frame *frame)
{
    (void)frame;
    semihosting_exit(EXIT_FAULT);
}

void trap_fault(const struct trap_frame *frame, uint32_t kind)
{
    testing_note_number("fault of kind ", kind);
    testing_note_number("at address ", frame->registers[15]);
    semihosting_exit(EXIT_FAULT);
}
