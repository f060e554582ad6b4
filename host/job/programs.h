/*
 * programs.h - the programs of a machine while a job runs: what they print and report, how they
 * end, and with what status all of it does.
 *
 * Their machine may be processes or be simulated: its owner has a controller, and gives each of its
 * events to programs_take, which keeps what they say and tells it (troubles.h).
 *
 * Units    us of any one clock, ns of model time
 * Context  the thread of the owner's loop; never from within the teller
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/operation.h"
#include "controller/controller.h"
#include "controller/state.h"
#include "host/console/tell.h"
#include "host/console/text_lines.h"
#include "host/job/job.h"
#include "host/program/errors.h"
#include "host/program/findings.h"

/* A node, and its program. */
struct program_node {
    bool dead;       /* its process has ended */
    bool receipted;  /* it holds what was sent */
    bool running;    /* its program was started and has not ended */
    bool exited;     /* ... has ended by itself */
    int exit_status; /* when it has exited */
    int exit_untold; /* status other than 0 that the user has not been told of */
    unsigned report_count;
    struct state_body state; /* its last answer */
    struct text_lines text;
};

enum { HALTED_TEXT_MAX = 160 };

/* What only the owner of a machine knows; each may be NULL. */
struct programs_owner {
    void *context;
    /* Whether a debugger holds a node, and in words how: "halted by gdb (process 77)". */
    bool (*halted)(void *context, uint32_t rank, char text[HALTED_TEXT_MAX]);
    /* As fault.h has it. */
    unsigned (*calls)(void *context, uint32_t rank, uint32_t *addresses, unsigned room);
};

struct programs {
    struct programs_owner owner;
    const struct network *network;
    const struct controller *controller;
    struct teller *teller;
    struct job *job;    /* the present one */
    const char *kernel; /* of the nodes: an ELF file; NULL: they have none of their own */
    bool verbose;       /* registers of faults are told */
    bool interrupted;   /* the run is cut short by whoever runs it, not by --timeout */
    struct program_node *nodes;
    struct fault_symbols *symbols; /* of each of the job's programs */
    struct findings findings;      /* of the checks in programs */
    struct errors errors;          /* of the calls of programs */
    unsigned faults_told;
};

/* What stands before `nodes` is the owner's, and stays. False: out of memory. */
bool programs_init(struct programs *programs);
void programs_free(struct programs *programs);

/* A download begins; the nodes hold nothing of it yet. */
void programs_load(struct programs *programs);
/* They start; job_number is that of the receipts for what they print. */
void programs_begin(struct programs *programs, uint32_t job_number);
/* The run is over: what was begun is told. */
void programs_end(struct programs *programs);
/* Nodes have started anew: all but who is dead is forgotten. */
void programs_forget(struct programs *programs);

/* Takes an event of the controller, and tells what a user is to know of it; what concerns the
 * machine is its owner's. */
void programs_take(struct programs *programs, const struct controller_event *event,
                   uint64_t now_us);

/* What a node runs: of whom places in the source are looked up. */
struct fault_code programs_code(const struct programs *programs, uint32_t rank);

/* Time has passed: what can be told is told, when nothing has come for a while. */
void programs_pass(struct programs *programs, uint64_t now_us);

/* The exit status of a run that has ended so (EVENT_ENDED); `cut` is that of whoever has cut it
 * short. */
int programs_status(const struct programs *programs, const struct controller_event *event, int cut);

/* The members "exits" and "plans" of --json: null is the status of a program that has not ended by
 * itself; the plans that nodes have been given. */
json_t *programs_describe_exits(const struct programs *programs, bool held);
json_t *programs_describe_plans(struct plan_cache *cache);

/* The plans of a network: written ones, of which the owner stays, and for each operation those of
 * one algorithm, if it is named. NULL: out of memory. */
struct plan_cache *programs_make_cache(const struct network *network, const struct profile *profile,
                                       struct plan *const *plans, unsigned plan_count,
                                       const char *const algorithms[OPERATIONS]);
