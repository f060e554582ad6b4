/*
 * fiber.h - stacks that one thread goes back and forth between.
 *
 * A stack is switched by a call: what a function may expect to be kept over a call is put on the
 * stack that is left, and taken from the one that is entered. Nothing else is kept, no signal mask
 * and no thread-local storage: a fiber may go on in another thread.
 *
 * Source   System V ABI, AMD64 supplement, 3.2.1 (registers that calls keep), 3.2.3 (arguments)
 * Context  a stack is entered by one thread at a time
 */
#pragma once

#include <stdint.h>

/* Leaves the stack that runs, noted in *left, and enters another. Returns when that one is left for
 * this. */
void fiber_switch(void **left, void *entered);

/* A stack that, when it is entered, calls entry(first, second, third), which must not return; `top`
 * is 16-aligned. */
void *fiber_make(void *top, uintptr_t entry, uintptr_t first, uintptr_t second, uintptr_t third);
