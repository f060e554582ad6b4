/*
 * native_host.h - runs one program for this computer as the simulator runs one: in a window of its
 * own, through a gate (include/ecube/gate.h).
 *
 * It is a node with rank 0 of 1, which knows the calls of a program that is alone: INFO, WRITE,
 * CLOCK, ADVANCE, OUTPUT, EXIT, ABORT. It shares no code with the simulator's loader. At each call
 * it looks whether what the program leaves could be fetched now.
 *
 * Context  tests
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/gate.h"

enum { NATIVE_TEXT_MAX = 1 << 16, NATIVE_LEFT_MAX = 1 << 20 };

/* An entry of the block; a list of them ends with kind 0. */
struct native_given {
    uint32_t kind; /* enum block_kind */
    const char *name;
    const void *data; /* NULL: the block names memory that there is not */
    uint32_t bytes;
};

/* All 0 is nothing of it. */
struct native_options {
    const struct native_given *given;
    uint32_t heap_bytes; /* 0: 32 MiB */
    bool no_output;      /* the kernel is one that knows no ECUBE_CALL_OUTPUT */
    /* Looks at each piece with a name at every instruction of the program: whether a file may hold
     * this now. */
    bool (*whole)(const char *name, const uint8_t *data, uint32_t bytes);
};

struct native_run {
    char fault[200]; /* what is wrong with the file; empty: it has run */
    bool trapped;
    int status;        /* of its exit, or the kind of its trap */
    uint32_t words[4]; /* of a trap */
    /* What a trap by an error points to: the number of the call. */
    uint32_t called;
    uint8_t finding;  /* of the first of a trap by findings: its kind */
    uint32_t refused; /* the last call that was refused: its number */
    char output[NATIVE_TEXT_MAX], errors[NATIVE_TEXT_MAX];
    /* All pieces of what it has left (wire/output.h), and their bytes; 0: it has left nothing. */
    uint8_t left[NATIVE_LEFT_MAX];
    uint64_t left_bytes;
};

/* Runs it to its end; NULL ends the arguments, the first of which is the program's name. */
void native_run(struct native_run *run, const char *path, const char *const *arguments);
void native_run_with(struct native_run *run, const char *path, const char *const *arguments,
                     const struct native_options *options);
