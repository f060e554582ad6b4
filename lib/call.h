/*
 * call.h - the one way from a node program into the kernel, and what lib/ remembers about the
 * program's start.
 *
 * Errors   whatever the call returns
 * Context  node programs
 */
#pragma once

#include <stdint.h>

#include "include/ecube/abi.h"

/* SVC with number in r7 and two or three arguments; returns r0. */
int32_t ecube_call(uint32_t number, uintptr_t first, uintptr_t second);
int32_t ecube_call_three(uint32_t number, uintptr_t first, uintptr_t second, uintptr_t third);

/* Ends the program as by a signal; the kernel tells where. */
_Noreturn void ecube_signal(int signal);

/* What the kernel said about this node at the program's start. */
const struct ecube_abi_info *ecube_program_info(void);

/* Asks the kernel once; crt0 calls it before anything else. */
void ecube_program_info_load(void);
