/*
 * program.h - programs as small state machines that make system calls.
 *
 * A scenario is asked what its program does next, and answers with one thing that it waits for.
 * Calls that do not wait it makes itself, through program_call. A program goes on when model time
 * has come to its clock, and it begins a message when model time has come to the end of the
 * message's start-up: so requests reach every link in the order of their model times.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"
#include "node/state.h"
#include "sim/options.h"
#include "sim/result.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

enum next_kind {
    NEXT_WAIT,  /* for task->request; task->result is its status */
    NEXT_SLEEP, /* until model time `until_ns` */
    NEXT_POLL,  /* until something happens at the node, at the latest until `until_ns` */
    NEXT_EXIT   /* with task->status */
};

struct next {
    enum next_kind kind;
    uint64_t until_ns;
};

/* scenarios.c: what the program of a node does next; bytes of memory it needs. */
struct next scenario_next(struct sim *sim, uint32_t rank);
uint64_t scenario_bytes(const struct sim_options *options, uint32_t rank);
uint32_t scenario_size_max(const struct sim_options *options);
/* Prediction and bound of the line of a size. */
void scenario_predict(const struct sim_options *options, unsigned size, struct sim_line *line);

/* A system call that does not wait; returns its result. */
int32_t program_call(struct sim *sim, uint32_t rank, uint32_t number, uint32_t argument,
                     uint32_t other);
/* The kernel's view of the structure that calls take their arguments from. */
void *program_arguments(struct sim *sim, uint32_t rank);
uint32_t program_arguments_address(const struct sim *sim);
int32_t program_collective(struct sim *sim, uint32_t rank, const struct ecube_abi_collective *call);
int32_t program_message(struct sim *sim, uint32_t rank, uint32_t call, int32_t peer, int32_t tag,
                        uint32_t data, uint32_t bytes);
/* Asks once for a request: 1 when it is over, 0 when not yet. */
int32_t program_test(struct sim *sim, uint32_t rank, int32_t request);
/* What the last wait or test has said. */
const struct ecube_abi_result *program_result(struct sim *sim, uint32_t rank);

/* After a step of the node: starts the program, or lets it go on; true when the node must be
 * stepped once more. */
bool program_look(struct sim *sim, uint32_t rank);
/* Its model event has come. */
bool program_wake(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* It ends, and with it the whole run, whatever it is at; false when it is over. */
bool program_abort(struct sim *sim, uint32_t rank);
/* The node is dead, or the program is given up: it has ended with this status. */
void program_over(struct sim *sim, uint32_t rank, int32_t status);

/* messages.c: counts what every node will get; a measurement begins; what a program does next. */
void messages_prepare(struct sim *sim);
void messages_begin(struct sim *sim, uint32_t rank);
struct next messages_next(struct sim *sim, uint32_t rank);

enum pc { PC_START, PC_GO, PC_MESSAGES, PC_DONE };

/* contents.c: fills what a node sends in a collective; bytes that came to it and are wrong. */
void contents_prepare(struct sim *sim, uint32_t rank);
uint64_t contents_wrong(struct sim *sim, uint32_t rank);
/* Says where each block lies, of an operation that asks for it: the table's address, else 0. */
uint32_t contents_write_table(struct sim *sim, uint32_t rank);

/* The contents of a message or block: a sequence that begins with a seed. */
uint64_t pattern_seed(const struct sim *sim, uint32_t from, uint32_t to, uint32_t number);
void pattern_fill(uint8_t *data, uint32_t bytes, uint64_t word);
/* The number of bytes that are not the pattern's. */
uint64_t pattern_wrong(const uint8_t *data, uint32_t bytes, uint64_t word);

static inline uint32_t scenario_nodes(const struct sim_options *options)
{
    return options->network.nodes;
}

static inline bool scenario_sends(enum sim_scenario scenario)
{
    return scenario >= SIM_RANDOM;
}

/* The size that a program is at. */
static inline uint32_t program_size(const struct sim *sim, const struct task *task)
{
    return sim->options.sizes[task->size];
}

static inline struct next program_end_with(struct task *task, int32_t status)
{
    task->status = status;
    return (struct next){.kind = NEXT_EXIT};
}

static inline uint64_t program_clock(const struct sim *sim, uint32_t rank)
{
    return sim_node(sim, rank)->clock_ns;
}
