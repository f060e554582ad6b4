/*
 * scenario_program.h - the programs of scenarios: small state machines, each with a piece of memory
 * in which the structures lie that its calls name.
 *
 * Units    bytes
 * Context  the thread of the node's partition
 */
#pragma once

#include "sim/programs/program.h"
#include "sim/programs/scenario.h"

enum { RESULT_AT = 64 /* in the arguments */ };

/* Where a program's step machine is. */
enum pc { PC_START, PC_BEGUN, PC_GO, PC_MESSAGES, PC_DONE };

uint64_t scenario_bytes(const struct sim_options *options, uint32_t rank);
uint32_t scenario_size_max(const struct sim_options *options);
/* Prediction and bound of the line of a size. */
void scenario_predict(const struct sim_options *options, unsigned size, struct sim_line *line);

/* messages.c: counts what every node will get; a measurement begins; what a program does next. */
void messages_prepare(struct sim *sim);
void messages_begin(struct sim *sim, uint32_t rank);
struct program_step messages_next(struct sim *sim, uint32_t rank);

/* contents.c: fills what a node sends in a collective; bytes that came to it and are wrong. */
void contents_prepare(struct sim *sim, uint32_t node);
uint64_t contents_wrong(struct sim *sim, uint32_t node);
/* Says where each block lies, of an operation that asks for it: the table's address, else 0. */
uint32_t contents_write_table(struct sim *sim, uint32_t rank);

/* The contents of a message or block: a sequence that begins with a seed. */
uint64_t pattern_seed(const struct sim *sim, uint32_t from, uint32_t to, uint32_t number);
void pattern_fill(uint8_t *data, uint32_t bytes, uint64_t word);
/* The number of bytes that are not the pattern's. */
uint64_t pattern_wrong(const uint8_t *data, uint32_t bytes, uint64_t word);

/* The structure that a program's calls take their arguments from. */
static inline uint32_t program_arguments_address(const struct sim *sim)
{
    return sim->layout.program_address;
}

static inline void *program_arguments(struct sim *sim, uint32_t rank)
{
    return sim_node(sim, rank)->config.program;
}

/* What the last wait or test has said. */
static inline const struct ecube_abi_result *program_result(struct sim *sim, uint32_t rank)
{
    return (const void *)((uint8_t *)program_arguments(sim, rank) + RESULT_AT);
}

/* The size that a program is at. */
static inline uint32_t program_size(const struct sim *sim, const struct task *task)
{
    return sim->options.sizes[task->size];
}
