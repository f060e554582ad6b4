/*
 * sim_program.h - a program of people's own in a simulation: what its ranks print, report and end
 * with, as `ecube run` has it (host/job/programs.h).
 *
 * Everything that a user is told comes from the controller's events, in the order of simulated
 * time: so it is the same in every run. What follows from what is told at the end.
 *
 * Context  the thread of sim_advance
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/console/view.h"
#include "host/job/programs.h"
#include "host/sim/native_file.h"
#include "sim/simulation.h"

struct sim_arguments;

struct sim_program {
    struct sim *sim;
    const struct sim_arguments *arguments;
    struct native_file file;
    struct job_request request;
    struct job job;
    struct programs programs;
    struct teller teller;
    struct view view;
    struct plan_cache *cache;
    unsigned troubles_told; /* of the simulation's own */
    bool over;              /* the programs' run is, with: */
    int status;
};

/* Reads the program and plans its download; sets what of the options is a program's. On failure
 * nothing is held. */
int sim_program_make(struct sim_program *program, struct sim_arguments *arguments,
                     struct message *message);
void sim_program_free(struct sim_program *program);

/* Whether there is memory for it; and how much its ranks may take. */
int sim_program_check_memory(struct sim_program *program, struct message *message);

/* The simulation is made, and begins. */
void sim_program_begin(struct sim_program *program, struct sim *sim);
/* The watch is over: programs are asked what they wait for, and the run ends as on nodes. Bounded
 * by the clock; what could not be asked in time is not told. */
void sim_program_time_out(struct sim_program *program);
/* ... is over, and still there: tells what has not been told. cut: --timeout or a signal has ended
 * it. Returns the exit status. */
int sim_program_end(struct sim_program *program, const struct sim_result *result, bool cut);
/* Names the plans of --plan that it did not need. */
void sim_program_tell_unused(struct sim_program *program);
