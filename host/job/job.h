/*
 * job.h - a program to load: image, private blocks with the arguments, the messages that download
 * it, the digests that nodes must answer with, and what its nodes have reported.
 *
 * The memory of a job that was begun stays while any circuit may still read it (machine.h): nodes
 * may say that they hold it all and never acknowledge it.
 *
 * Units    model time in ns, wall time in us
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "host/program/image.h"
#include "host/console/message.h"
#include "host/console/report.h"
#include "host/job/outputs.h"
#include "controller/download.h"
#include "network/network.h"
#include "router/clock.h"
#include "wire/run.h"

/* A program to load. Paths and arguments are copied. */
struct job_request {
    const char *path;
    const char *const *arguments;
    unsigned argument_count;
    enum strategy strategy;
    int x;
    uint32_t timeout_ms;
    struct outputs_request outputs;
};

struct job {
    char *path;
    struct image image;
    uint8_t *blocks; /* one private block per node, in rank order */
    uint32_t block_bytes;
    uint8_t (*digests)[DIGEST_BYTES]; /* of each node's block and the image */
    struct download_plan plan;
    uint32_t timeout_ms;
    uint64_t start_us, wall_us, model_ns; /* of the download; the times when it is complete */
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
    bool advised; /* what finds wrong uses of memory has been told */
    struct report_table reports;
};

/* Whether a request's arguments fit a machine of so many nodes; the bytes of each node's block of
 * them. */
int job_check_arguments(const struct job_request *request, uint32_t nodes, uint32_t *block_bytes,
                        struct message *message);

/* The same with an image that has been read, which it takes over: on failure, too. */
int job_make_of(struct job *job, struct image *image, const struct job_request *request,
                const struct network *network, const struct profile *profile,
                struct message *message);
/* Reads the program and plans its download. On failure nothing is held. */
int job_make(struct job *job, const struct job_request *request, const struct network *network,
             const struct profile *profile, struct message *message);
void job_free(struct job *job);

/* What the controller is to download; its memory is the job's. */
struct controller_program job_program(const struct job *job);

/* The member "download" of --json. */
json_t *job_describe_download(const struct job *job, uint32_t nodes);
