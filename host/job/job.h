/*
 * job.h - what is loaded together: programs and their data, the list that says where they lie, the
 * messages that bring them, the digests that nodes must answer with, and what nodes have reported.
 *
 * It is made in two steps: job_plan finds whatever is wrong with files, nodes and sizes, and how
 * long the download takes; job_fill reads the data. The memory of a job that was begun stays while
 * any circuit may still read it (machine.h): nodes may say that they hold it all and never
 * acknowledge it.
 *
 * Units    model time in ns, wall time in us
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "controller/download.h"
#include "host/console/message.h"
#include "host/console/report.h"
#include "host/console/tell.h"
#include "host/job/job_list.h"
#include "host/job/job_trace.h"
#include "host/job/map_choice.h"
#include "host/job/outputs.h"
#include "host/job/records.h"
#include "host/job/request.h"
#include "host/program/image.h"
#include "network/network.h"
#include "router/clock.h"
#include "wire/run.h"

struct job {
    const char *path; /* of the program that stands for all */
    struct job_image *images;
    unsigned image_count;
    struct records records; /* without paths, which images have */
    struct data_file *files;
    unsigned file_count;
    struct job_list list;
    struct download_plan plan;
    enum strategy wanted; /* plan.strategy, or AUTO */
    bool explained;
    struct download_choice choices[STRATEGIES]; /* if it is */
    uint32_t timeout_ms;
    uint64_t start_us, wall_us, model_ns; /* of the download; the times when it is complete */
    uint64_t repair_ns;                   /* beside model_ns; of so many nodes: */
    uint32_t repaired;
    unsigned receipts;
    uint64_t run_start_us, run_us; /* of the programs; 0: they have not begun, or ended */
    unsigned ended;                /* programs */
    bool cancelled;                /* its end has been told: do not run it */
    int status;                    /* the worst so far, or that of whoever ended it */
    unsigned exits_told;
    bool crashed;   /* a program was ended for a fault */
    bool whole;     /* all have ended by themselves */
    int end_status; /* of the run, while its outputs come */
    struct outputs outputs;
    struct job_trace trace;
    bool counts;         /* what links have carried is wanted */
    json_t *traffic;     /* when it has come, else NULL */
    struct job_map *map; /* NULL: the machine's */
    bool advised;        /* what finds wrong uses of memory has been told */
    bool map_told;       /* what is wrong with its map */
    struct report_table reports;
};

/* Reads the programs, looks at the files, and plans the download. `image`: that of the only program
 * has been read, and is taken over, on failure too; NULL: it has not. On failure nothing is held.
 */
int job_plan(struct job *job, struct image *image, const struct job_request *request,
             const struct network *network, const struct profile *profile, struct message *message);
/* Reads the data and computes the digests, on any thread; fails soon after `stop`, if there is one,
 * has become true. The job is held, on failure too. Nobody else looks at files or list
 * meanwhile. */
int job_fill(struct job *job, uint32_t nodes, const atomic_bool *stop, struct message *message);
void job_free(struct job *job);

/* What the controller is to download; its memory is the job's. */
struct controller_load job_load(const struct job *job);

/* The number of a node's program; and what is loaded with it: data_start, data_end. */
unsigned job_program_of(const struct job *job, uint32_t rank);
struct load_program job_memory_of(const struct job *job, uint32_t rank);

/* Tells what of the data nobody gets, and what the strategies would take if the user wants to know:
 * before the first message leaves. */
void job_tell(const struct job *job, struct teller *teller);

/* The member "download" of --json. */
json_t *job_describe_download(const struct job *job, uint32_t nodes);
