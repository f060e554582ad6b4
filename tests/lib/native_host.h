/*
 * native_host.h - runs one program for this computer as the simulator runs one: in a window of its
 * own, through a gate (include/ecube/gate.h).
 *
 * It is a node with rank 0 of 1, which knows the calls of a program that is alone: INFO, WRITE,
 * CLOCK, ADVANCE, EXIT, ABORT. It shares no code with the simulator's loader.
 *
 * Context  tests
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/gate.h"

enum { NATIVE_TEXT_MAX = 1 << 16 };

struct native_run {
    char fault[200]; /* what is wrong with the file; empty: it has run */
    bool trapped;
    int status;        /* of its exit, or the kind of its trap */
    uint32_t words[4]; /* of a trap */
    /* What a trap by an error points to: the number of the call. */
    uint32_t called;
    uint32_t refused; /* the last call that was refused: its number */
    char output[NATIVE_TEXT_MAX], errors[NATIVE_TEXT_MAX];
};

/* Runs it to its end; NULL ends the arguments, the first of which is the program's name. */
void native_run(struct native_run *run, const char *path, const char *const *arguments);
