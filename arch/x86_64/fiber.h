/*
 * fiber.h - stacks that a thread goes back and forth between.
 *
 * A fiber is entered by a call and left by another, each of which returns when the other is made.
 * Nothing is kept but what a function may expect of any call: no signal mask and no thread-local
 * storage, for a fiber may be entered by one thread and then by another. A signal handler may leave
 * the fiber that it has interrupted; that one must not be entered again.
 *
 * Source   System V ABI, AMD64 supplement, 3.2.1 (registers that calls keep), 3.2.3 (arguments)
 * Context  a fiber is entered by one thread at a time
 */
#pragma once

#include <stdint.h>

struct fiber {
    void *stack, *outside; /* stack pointers: its own while it is left, of who has entered it */
    void *announced, *outside_announced; /* the same as a thread sanitizer knows them */
};

/* A fiber that calls entry(first, second, third) when it is entered first; that must not return.
 * `top` of its stack is 16-aligned. fiber_end gives back what a sanitizer keeps of it. */
void fiber_make(struct fiber *fiber, void *top, uintptr_t entry, uintptr_t first, uintptr_t second,
                uintptr_t third);
void fiber_end(struct fiber *fiber);

void fiber_enter(struct fiber *fiber);
/* Called on the fiber's stack. */
void fiber_leave(struct fiber *fiber);
