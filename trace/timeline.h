/*
 * timeline.h - the timeline of a run as a file (trace_file.h), from the records of its nodes
 * (wire/record.h).
 *
 * A process for each node, and one for the host; in it a track for what its program does, one for
 * its collectives, one for their steps, one for the circuits that begin and end there, and one for
 * each of its links ("0>1"). On a link a circuit begins when it takes the link and ends when it is
 * done; "reserved" inside it is the time from the link's set-up until its bytes flow. A process
 * "machine" has phases, measurements and faults.
 *
 * What was not over when the run ended waits until the end of the timeline, which is drawn a
 * sixteenth of the run behind its last moment, so that all such bars are seen. Their category is
 * "waiting", and their name says for what.
 *
 * Events of a node stand in the order in which its records come. What is the same in two runs is
 * their set: sorted by track, begin and name.
 *
 * Units    ns of model time
 * Errors   timeline_end says which write has failed
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"
#include "router/clock.h"
#include "trace/trace_file.h"
#include "wire/record.h"

struct timeline;

/* What a timeline was written with, once it is complete. */
struct trace_result {
    uint64_t events, bytes;
    uint8_t digest[32]; /* SHA-256 of the file */
    int error;          /* errno of the write that failed; 0: none */
};

/* Begins a timeline in a file; `about` is the text of a JSON object that says what was run, or
 * members of one that stand behind clock and network, and may be empty. NULL: no memory. */
struct timeline *timeline_make(int fd, const struct network *network, const struct profile *profile,
                               const char *about);
/* Completes the file. */
struct trace_result timeline_end(struct timeline *timeline);
/* Completes the file with what is there: for a handler of a signal. */
void timeline_abandon(const struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* The number of the host, among nodes. */
uint32_t timeline_host(const struct timeline *timeline);

/* A record of a node, or of the host. What waits is written with the end. */
void timeline_record(struct timeline *timeline, uint32_t node, const struct node_record *record);
/* What the machine went through, in this order; the last one is the run. */
void timeline_phase(struct timeline *timeline, const char *name, uint64_t begin_ns, uint64_t end_ns,
                    uint64_t wall_us);
void timeline_measurement(struct timeline *timeline, const char *name, uint64_t begin_ns,
                          uint64_t end_ns, uint32_t bytes, uint32_t steps);
/* Something has gone wrong, by a name that needs no escapes; `arguments` are members of a JSON
 * object. On the machine's track, or on that of a link of a node. */
void timeline_fault(struct timeline *timeline, const char *name, uint64_t at_ns,
                    const char *arguments, ...) __attribute__((format(printf, 4, 5)));
void timeline_link_fault(struct timeline *timeline, uint32_t node, unsigned port, const char *name,
                         uint64_t at_ns, const char *arguments, ...)
    __attribute__((format(printf, 6, 7)));

/* The latest moment that any record has named. */
uint64_t timeline_last_ns(const struct timeline *timeline);
