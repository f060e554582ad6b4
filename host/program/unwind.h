/*
 * unwind.h - who called whom: from the registers of a program and a piece of its stack back to
 * main.
 *
 * Registers and stack come over links and may be wrong, or what a broken program left of them. So
 * nothing is believed that does not fit: a return address counts only when a call stands before it,
 * and a stack only grows. What does not fit ends the way back, with fewer frames.
 *
 * Where the file describes a function's frame, that tells where its return address lies. Where it
 * does not, as for strlen or memcpy, and where the stack is not there, lr is the return address
 * when it follows a call of this very function; else the first word of the stack that does.
 */
#pragma once

#include <stdint.h>

#include "host/program/image.h"
#include "host/program/symbols.h"

struct unwind {
    struct symbols *symbols;
    const struct image *image;
    const uint32_t *registers; /* r0 to r15; of a program without a known stack lr and pc */
    uint32_t stack_start, stack_bytes;
    const uint8_t *stack; /* what lay there */
};

/* The addresses of the instructions that were under way, the called before the caller; how many
 * they are. The first is pc, whatever lies there. */
unsigned unwind(const struct unwind *unwind, uint32_t *addresses, unsigned room);
