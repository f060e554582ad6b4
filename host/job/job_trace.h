/*
 * job_trace.h - the timeline of a run (--trace): fetched from the nodes when the run is over, and
 * written as it comes (trace/timeline.h).
 *
 * Opened before anything starts, so that a file that cannot be written is told then. Of what does
 * not come, and of what nodes have lost for want of room, a line says so; what has come is written.
 *
 * Units    ns of model time
 * Errors   exit status 2: the file cannot be written
 * Context  the thread of the owner's loop
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "host/console/message.h"
#include "host/console/tell.h"
#include "network/network.h"
#include "trace/timeline.h"

enum {
    JOB_TRACE_RECORDS = 131072, /* that a node is asked to keep, as far as it has memory */
    JOB_TRACE_FAULTS = 64       /* the first ones are on the timeline */
};

enum { JOB_TRACE_READ = 100 /* beside enum fetch_end: out of the node's memory */ };

struct job_trace_node {
    uint64_t lost, came;
    uint8_t end; /* enum fetch_end; 0: nothing is known of it */
};

/* What has gone wrong in the run: a node or link has died, a program has failed. */
struct job_trace_fault {
    enum event_kind kind;
    uint32_t node, peer;
    uint64_t wall_us; /* since the run began */
};

struct job_trace {
    char *path; /* NULL: none is wanted */
    int fd;
    bool made;                     /* it did not exist before */
    const struct network *network; /* the owner's, with its map, when it has begun */
    struct timeline *timeline;     /* while it is written */
    struct job_trace_node *nodes;
    uint32_t damaged;            /* records and packets */
    uint64_t base_ns, loaded_ns; /* of the download */
    uint64_t loaded_us;
    struct job_trace_fault faults[JOB_TRACE_FAULTS];
    unsigned fault_count;
    struct trace_result result;
    bool written;
};

/* Whether it can be a file, so that this is told before anything starts; NULL: none is wanted. */
int job_trace_check(const char *path, struct message *message);

/* Opens it; on failure nothing is held. */
int job_trace_open(struct job_trace *trace, const char *path, struct message *message);
/* Removes the file if it was made here, and nothing was written. */
void job_trace_free(struct job_trace *trace);

static inline bool job_trace_wanted(const struct job_trace *trace)
{
    return trace->path != NULL;
}

/* The records will come: false when there is no memory. */
bool job_trace_begin(struct job_trace *trace, const struct network *network,
                     const struct profile *profile);
/* EVENT_LOADED, what goes wrong in the run, EVENT_RECORDS and EVENT_RECORDS_END. */
void job_trace_take(struct job_trace *trace, const struct controller_event *event, uint64_t now_us);
/* Whether a node does not answer; its records, out of its memory. */
bool job_trace_lacks(const struct job_trace *trace, uint32_t node);
void job_trace_remember(struct job_trace *trace, uint32_t node, const uint8_t *records,
                        uint32_t count, uint64_t lost);
/* All that comes has come: completes the file, and tells what is missing. Returns the exit status
 * that it makes. */
int job_trace_end(struct job_trace *trace, uint64_t boot_us, uint64_t load_us, uint64_t run_us,
                  struct teller *teller);

/* The member "trace" of --json. */
json_t *job_trace_describe(const struct job_trace *trace);
