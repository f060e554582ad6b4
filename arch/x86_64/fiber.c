/*
 * fiber.c - what lies on a stack that has not been entered yet: the registers that fiber_switch.S takes
 * from it.
 */
#include "arch/x86_64/fiber.h"

#include <string.h>

void fiber_begin(void);

/* As fiber_switch.S puts them on a stack, the lowest first. */
struct kept {
    uint32_t mxcsr;
    uint16_t x87_control, spare;
    uintptr_t r15, r14, r13, r12, rbx, rbp, rip;
    uintptr_t aligns, end;
};

enum {
    MXCSR_DEFAULT = 0x1f80, /* as at the start of a process: all exceptions masked, to nearest */
    X87_DEFAULT = 0x37f
};

void *fiber_make(void *top, uintptr_t entry, uintptr_t first, uintptr_t second, uintptr_t third)
{
    struct kept kept = {.mxcsr = MXCSR_DEFAULT,
                        .x87_control = X87_DEFAULT,
                        .r12 = first,
                        .r13 = second,
                        .r14 = third,
                        .rbx = entry,
                        .rip = (uintptr_t)fiber_begin};
    uint8_t *at = (uint8_t *)top - sizeof kept;

    memcpy(at, &kept, sizeof kept);
    return at;
}
