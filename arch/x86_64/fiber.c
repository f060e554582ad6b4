/*
 * fiber.c - what lies on a stack that has not been entered yet, and what a thread sanitizer is told
 * of each change.
 *
 * Source   gcc's and LLVM's thread sanitizer, tsan_interface.h: fibers
 */
#include "arch/x86_64/fiber.h"

#include <string.h>

/* fiber_switch.S: leaves the stack that runs, noted in *left, for another; the first on a stack. */
void fiber_switch(void **left, void *entered);
void fiber_begin(void);

/* As fiber_switch.S puts them on a stack, the lowest first. */
struct kept {
    uint32_t mxcsr;
    uint16_t x87_control, spare;
    uintptr_t r15, r14, r13, r12, rbx, rbp, rip;
    uintptr_t room[2]; /* for the stack's alignment */
};

enum {
    MXCSR_DEFAULT = 0x1f80, /* as a process begins: all exceptions masked, to nearest */
    X87_DEFAULT = 0x37f
};

#ifdef __SANITIZE_THREAD__
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#else
static void *__tsan_get_current_fiber(void)
{
    return NULL;
}

static void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    return NULL;
}

static void __tsan_destroy_fiber(void *fiber)
{
    (void)fiber;
}

static void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
    (void)fiber;
    (void)flags;
}
#endif

void fiber_make(struct fiber *fiber, void *top, uintptr_t entry, uintptr_t first, uintptr_t second,
                uintptr_t third)
{
    struct kept kept = {.mxcsr = MXCSR_DEFAULT,
                        .x87_control = X87_DEFAULT,
                        .r12 = first,
                        .r13 = second,
                        .r14 = third,
                        .rbx = entry,
                        .rip = (uintptr_t)fiber_begin};

    *fiber =
        (struct fiber){.stack = (uint8_t *)top - sizeof kept, .announced = __tsan_create_fiber(0)};
    memcpy(fiber->stack, &kept, sizeof kept);
}

void fiber_end(struct fiber *fiber)
{
    if (fiber->announced) {
        __tsan_destroy_fiber(fiber->announced);
    }
    *fiber = (struct fiber){0};
}

void fiber_enter(struct fiber *fiber)
{
    fiber->outside_announced = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->announced, 0);
    fiber_switch(&fiber->outside, fiber->stack);
}

void fiber_leave(struct fiber *fiber)
{
    __tsan_switch_to_fiber(fiber->outside_announced, 0);
    fiber_switch(&fiber->stack, fiber->outside);
}
