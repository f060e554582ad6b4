/*
 * division.h - the smallest integer divided by -1, which is a fault here and none on a node.
 *
 * idiv faults when its quotient has no room: for a divisor of 0, and for the smallest integer and
 * -1. On a node the quotient is then the smallest integer again, and nothing remains; so it is here
 * when whoever handles the fault mends it.
 *
 * Source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, 2.1 (format of
 *          instructions), IDIV; Arm ARM, ARMv7-A, A8.8.165 (SDIV)
 * Context  a handler of SIGFPE
 */
#pragma once

#include <stdbool.h>
#include <ucontext.h>

/* Completes the division of 32 or 64 bits that `registers` are at, of a sign-extended dividend, as
 * C divides; false: it is one by zero, or none. */
bool division_mend(greg_t *registers);
