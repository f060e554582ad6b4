/*
 * native_rank.h - a rank, as the files of native programs share it.
 *
 *     native.c         memory, its file, turns
 *     native_faults.c  signals that end a rank, or leave it
 *     native_calls.c   where it was then
 *
 * Units    bytes
 * Context  the thread of the rank's partition, unless said
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/fiber.h"
#include "include/ecube/gate.h"
#include "sim/core/partition.h"
#include "sim/programs/native.h"
#include "sim/programs/program.h"

enum {
    FAULT_SP = 13, /* where the report of a fault has a program's stack pointer, */
    FAULT_PC = 15  /* and where it was */
};

/* What the program knows of it is the gate, which comes first. */
struct rank {
    struct ecube_gate gate;
    struct fiber fiber;
    uint8_t *window;
    uint32_t stack_base;
    int32_t result; /* of its last call */
    struct program_step step;
    struct fault fault;
    bool loaded;             /* its file is mapped over what was downloaded */
    bool left;               /* it was interrupted */
    atomic_int thread;       /* that runs it; 0: none */
    atomic_bool computes;    /* ... and native_interrupt has seen that */
    uintptr_t pc, sp, frame; /* where it was then, or at its fault */
};

/* What native_calls knows of a rank of another process. */
struct far_calls {
    uint32_t rank, count;
    uint32_t addresses[NATIVE_CALLS_MAX];
};

struct native {
    const struct native_program *program;
    void *map; /* of the windows */
    size_t map_bytes;
    uint8_t *plans;             /* memory for them, of all nodes */
    int images[PARTITIONS_MAX]; /* what their nodes are sent; -1: each keeps its own */
    struct rank *ranks;
    uint32_t count;
    struct far_calls *far; /* where ranks of other processes were */
    uint32_t far_count;
    int taken_file;                     /* where the system says what the process has taken */
    uint32_t unwatched[PARTITIONS_MAX]; /* entries of ranks until that is read again */
};

static const uint64_t window_bytes = UINT64_C(1) << 32;

static inline bool rank_has(const struct rank *rank, uintptr_t address)
{
    return address - (uintptr_t)rank->window < window_bytes;
}

/* From here on signals that come while a rank runs are faults of that; until native_faults_end. */
void native_faults_begin(struct native *native);
void native_faults_end(void);

/* Lets a rank go on until it calls, faults or is left: its step says which. */
void native_enter(struct rank *rank);
