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

/* System call with two or three arguments; returns its result. */
int32_t ecube_call(uint32_t number, uint32_t first, uint32_t second);
int32_t ecube_call_three(uint32_t number, uint32_t first, uint32_t second, uint32_t third);

/* Of a program with wide pointers: the place in its window. A pointer that does not lie there
 * becomes an address that the kernel refuses; NULL stays 0. */
uint32_t ecube_window_address(uintptr_t pointer);
void *ecube_window_pointer(uint32_t address);

/* What the kernel calls a place in memory: on a node the pointer itself. */
static inline uint32_t ecube_address(const void *pointer)
{
    return sizeof pointer == sizeof(uint32_t) ? (uint32_t)(uintptr_t)pointer
                                              : ecube_window_address((uintptr_t)pointer);
}

/* The other way round. */
static inline void *ecube_pointer(uint32_t address)
{
    return sizeof(void *) == sizeof address ? (void *)(uintptr_t)address
                                            : ecube_window_pointer(address);
}

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

/* An exchange from all to some, by what stands in the place of its root; and one that this node
 * refuses at all of them, with this error here: the others would wait for it. */
int ecube_call_movements(uint32_t root, const void *send, void *receive, uint32_t bytes,
                         uint32_t *steps);
int ecube_refuse_movements(int error);

/* Writes the unfinished line of standard error. */
void ecube_error_line_flush(void);

/* What the kernel said about this node at the program's start. */
const struct ecube_abi_info *ecube_program_info(void);

/* Asks the kernel once; crt0 calls it before anything else. */
void ecube_program_info_load(void);
