/*
 * program.h - the programs of simulated nodes: sources of system calls, and the pump that makes
 * these.
 *
 * A source is asked what its program does next: mostly it makes a system call. The pump makes it,
 * asks again after each step of the node while it is blocked, and goes on with its result. It goes
 * on only when model time has come to the program's clock, and it makes a call that asks for a link
 * when model time has come to that: so requests reach every link in the order of their model times.
 *
 * Units    ns, bytes
 * Context  the thread of the node's partition
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "node/state.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

struct program_source {
    /* Its node has been told to start it. */
    void (*begin)(struct sim *sim, uint32_t rank, const struct node_start *start);
    /* What it does next; the result of the call before is in its task. */
    struct program_step (*next)(struct sim *sim, uint32_t rank);
    /* Of STEP_FAULT: what the kernel is told. */
    struct fault (*fault)(struct sim *sim, uint32_t rank);
};

/* scenarios.c, native.c */
extern const struct program_source scenario_source, native_source;

/* After a step of the node: starts the program, or lets it go on; true when the node must be
 * stepped once more. */
bool program_look(struct sim *sim, uint32_t rank);
/* Its model event has come. */
bool program_wake(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* It ends, and with it the whole run, whatever it is at; false when it is over. */
bool program_abort(struct sim *sim, uint32_t rank);
/* The node is dead, or the program is given up: it has ended with this status. */
void program_over(struct sim *sim, uint32_t rank, int32_t status);
/* Whether it will go on by itself when time has passed. */
bool program_sleeps(const struct sim *sim, uint32_t rank);

static inline uint64_t program_clock(const struct sim *sim, uint32_t rank)
{
    return sim_node(sim, rank)->clock_ns;
}

static inline struct program_step program_step_call(uint32_t number, uint32_t first,
                                                    uint32_t second)
{
    return (struct program_step){.kind = STEP_CALL, .number = number, .arguments = {first, second}};
}

static inline struct program_step program_step_exit(int32_t status)
{
    return program_step_call(ECUBE_CALL_EXIT, (uint32_t)status, 0);
}
