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
#include "include/ecube/called.h"
#include "include/ecube/ecube.h"

/* SVC with number in r7 and two or three arguments; returns r0. */
int32_t ecube_call(uint32_t number, uintptr_t first, uintptr_t second);
int32_t ecube_call_three(uint32_t number, uintptr_t first, uintptr_t second, uintptr_t third);

/* Ends the program as by a signal; the kernel tells where. */
_Noreturn void ecube_signal(int signal);
/* Ends it by an error of a call; the kernel tells of which, and where (called.h). */
_Noreturn void ecube_error_trap(int status, uint32_t number, const struct ecube_called *called);

/* What a call of ecube.h returns. An error ends the program instead, unless it has asked for errors
 * (ecube_errors). E_CANCELLED is none: the program has asked for it. */
int ecube_returns(const struct ecube_called *called, int status);

/* Ends a request that is open: its working memory goes back to the heap. Returns its status, below
 * 0 also when there is no such request; `called` has its result. */
int ecube_request_wait(struct ecube_called *called, struct ecube_request *request,
                       struct ecube_status *status);

/* Writes what standard error has said of a line that has not ended. */
void ecube_error_line_flush(void);

/* What the kernel said about this node at the program's start. */
const struct ecube_abi_info *ecube_program_info(void);

/* Asks the kernel once; crt0 calls it before anything else. */
void ecube_program_info_load(void);
