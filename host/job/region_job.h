/*
 * region_job.h - what is scattered into a region of running programs, or gathered from it: whose
 * part is what, where it lies, whether it is right, and the file that it becomes.
 *
 * What a region takes is known only when all programs wait there: region_job_fits and
 * region_job_give come then. Reading, comparing and writing may be done on any thread, one of them
 * at a time.
 *
 * Units    bytes; model time in ns, wall time in us
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "host/console/message.h"
#include "host/job/data.h"
#include "host/job/request.h"
#include "network/network.h"

/* What a user wants. */
struct region_request {
    enum ecube_region_way way;
    const char *region;
    struct job_data data; /* to be scattered */
    const char *output;   /* the file of what is gathered */
    uint32_t timeout_ms;
};

struct region_job {
    enum ecube_region_way way;
    char region[ECUBE_NAME_MAX];
    uint32_t nodes, timeout_ms;
    const struct network *network; /* with its map: the owner's */
    struct data_file file;
    char *output;
    struct controller_part *parts;
    void *scratch;                                   /* as in struct controller_rendezvous */
    uint8_t *memory;                                 /* of what is gathered */
    uint64_t bytes, model_ns, predicted_ns, wall_us; /* of the first sending, and in all */
    uint32_t repaired;                               /* nodes to which that was not right */
};

/* Fails when a name cannot be a region's. */
int region_name_check(const char *name, struct message *message);

/* With whole paths, for a process in another directory. NULL: a path is no UTF-8. */
json_t *region_request_to_json(const struct region_request *request);
/* The texts are the JSON's. False: it is malformed. */
bool region_request_from_json(const json_t *json, struct region_request *request);

/* Looks at the file. On failure nothing is held. */
int region_job_make(struct region_job *job, const struct region_request *request,
                    const struct network *network, struct message *message);
void region_job_free(struct region_job *job);

/* Reads what is to be scattered, and computes the digests; fails soon after `stop` is true. */
int region_job_fill(struct region_job *job, const atomic_bool *stop, struct message *message);
/* Whether each part fits into its region. */
int region_job_fits(const struct region_job *job, struct message *message);
/* Memory for what is gathered: all of each region. */
int region_job_give(struct region_job *job, struct message *message);
/* Wants again those parts that have come damaged; returns how many. */
uint32_t region_job_compare(struct region_job *job);
/* Writes the file; fails soon after `stop`, if there is one, is true. */
int region_job_write(const struct region_job *job, const atomic_bool *stop,
                     struct message *message);

/* The object of --json. */
json_t *region_job_describe(const struct region_job *job);
