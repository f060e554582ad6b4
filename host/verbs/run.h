/*
 * run.h - what `ecube run` is told, for others that run programs: the bench, and `ecube agent`.
 */
#pragma once

#include <jansson.h>

#include "host/command/options.h"
#include "host/plan/plan_list.h"

/* The values of an option that may be given more than once; read when the network is known. */
struct run_words {
    const char *words[INJECTIONS_MAX];
    unsigned count;
};

struct run_arguments {
    struct machine_arguments machine;
    struct load_arguments load;
    struct run_words cuts, kills, crossings;
    struct plan_list plans;
};

extern const struct option_row run_options[]; /* sets a struct run_arguments */

/* Finds places for the nodes of a machine on other computers, when all else has been found right.
 */
struct run_place {
    void *context;
    int (*find)(void *context, struct machine_options *options, struct target *target,
                struct message *message);
};

/* Runs as `ecube run` does, with nodes on other computers; returns the exit status. */
int run_placed(const struct run_arguments *arguments, const struct run_place *place);

/* Boots a machine, runs a program that reports load->reports lines, and ends the machine, as
 * `ecube run` does, but prints no table. Returns the exit status; *result is the object of --json,
 * NULL after bad input, which has been told. */
int run_own(const struct machine_arguments *machine, const struct load_arguments *load,
            json_t **result);
