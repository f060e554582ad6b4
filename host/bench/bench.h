/*
 * bench.h - what the files of the verb `bench` share: what is measured, and a row of what came.
 *
 * The program that measures is examples/collectives. Its lines are the rows: one for each subject
 * and size, in their order.
 *
 * Units    bytes, us as in --json
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/command/options.h"
#include "host/command/output.h"
#include "planner/planner.h"

enum { BENCH_SIZES_MAX = 64, BENCH_SUBJECTS_MAX = 32 };

/* A collective, or a pattern of messages. */
struct bench_subject {
    const char *name;
    uint32_t operation; /* OPERATIONS: a pattern of messages */
    const char *about;  /* of those: from whom to whom */
};

struct bench_arguments {
    struct machine_arguments machine;
    bool simulated, quiet;
    uint32_t iterations, timeout_ms; /* timeout_ms 0: not given */
    const char *json, *csv, *svg, *compare;
    uint32_t sizes[BENCH_SIZES_MAX];
    unsigned size_count;
    struct bench_subject subjects[BENCH_SUBJECTS_MAX];
    unsigned subject_count;
};

/* What is known before anything begins. */
struct bench_plan {
    const struct bench_arguments *arguments;
    struct network network;
    char network_name[NETWORK_NAME_MAX];
    struct profile profile;
    char profile_name[PROFILE_NAME_MAX];
    unsigned rows;
};

struct bench_row {
    const struct bench_subject *subject;
    double bytes, steps, model_us, bound_us, wrong;
    double predicted_us, wall_us;        /* negative: nobody knows; of a simulation there is none */
    char algorithm[ALGORITHM_WORDS_MAX]; /* empty: it has none */
};

struct bench_result {
    struct bench_row *rows;
    unsigned count;
};

/* The n-th subject that there is; false: there are fewer. */
bool bench_subject_at(unsigned n, struct bench_subject *subject);
bool bench_is_messages(const struct bench_subject *subject);

/* The rows of a run, from its object of --json; what is of the bench goes into that object as
 * "bench", in place of "reports". */
void bench_take_rows(const struct bench_plan *plan, json_t *run, struct bench_result *result);
void bench_free_rows(struct bench_result *result);

/* Bytes, and a time that is as predicted, where one is. */
bool bench_row_is_good(const struct bench_row *row);
/* MB/s, of a message rate thousands of messages a second; negative: there is none. */
double bench_row_rate(const struct bench_row *row);

void bench_print(const struct bench_result *result);
/* Writes to --csv FILE; -1 and a message. */
int bench_write_csv(const struct bench_result *result, struct output *output,
                    struct message *message);

/* Reads the file of --compare and holds it against what is to be measured; *before is its object.
 * -1 and a message: it is of something else. */
int bench_compare_open(const struct bench_plan *plan, json_t **before, struct message *message);
void bench_compare_print(const struct bench_plan *plan, const struct bench_result *result,
                         const json_t *before);

/* Whether there is what draws, and the words for it. */
int bench_figure_find(const struct bench_plan *plan, struct message *message);
/* Draws to --svg FILE; -1 and a message. */
int bench_figure_draw(const struct bench_plan *plan, const struct bench_result *result,
                      struct output *output, struct message *message);
