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

/* Ends the program as a signal would; the kernel reports the place. */
_Noreturn void ecube_signal(int signal);
/* Ends it by an error of a call; the kernel reports the call and the place (called.h). */
_Noreturn void ecube_error_trap(int status, uint32_t number, const struct ecube_called *called);

/* Returns the status of a call of ecube.h, or ends the program if that is an error and the program
 * has not asked for errors (ecube_errors). E_CANCELLED is no error: the program has asked for
 * it. */
int ecube_returns(const struct ecube_called *called, int status);

/* Ends an open request: its working memory goes back to the heap. Returns its status, or
 * E_ARGUMENT when there is no such request; `called` gets its result. */
int ecube_request_wait(struct ecube_called *called, struct ecube_request *request,
                       struct ecube_status *status);

/* Writes the unfinished line of standard error. */
void ecube_error_line_flush(void);

/* What the kernel said about this node at the program's start. */
const struct ecube_abi_info *ecube_program_info(void);

/* Asks the kernel once; crt0 calls it before anything else. */
void ecube_program_info_load(void);
