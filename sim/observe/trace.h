/*
 * trace.h - the timeline of a simulation, as Chrome trace JSON, from what its links carry.
 *
 * One track per directed link that circuits have taken: a process for each sending node, in it a
 * thread "0>1" for each of its links, one for what its program does and one for the steps of its
 * collectives; a process "machine" with phases, measurements and faults. Times are those of the
 * model clock. On a link a circuit begins when it takes the link and ends when it is done; a slice
 * "reserved" inside it is the time from the link's set-up until its bytes flow. README.md says
 * more.
 *
 * Units    ns of model time
 * Context  the loop of one simulation; nothing here changes what happens
 * Source   the times: router/clock.h
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;
struct sim_end;
struct sim_fault;
struct trace;

/* What a timeline was written with, once it is complete. */
struct trace_result {
    uint64_t events, bytes;
    uint8_t digest[32]; /* SHA-256 of the file */
    int error;          /* errno of the write that failed; 0: none */
};

/* Begins a timeline in options.trace_fd; NULL: no memory. */
struct trace *trace_make(const struct sim *sim);
void trace_free(struct trace *trace);

/* A frame is handed to the link that `end` sends on; `bytes` of it are there. */
void trace_frame(const struct sim *sim, const struct sim_end *end, const uint8_t *frame,
                 uint32_t bytes);

/* A program begins a collective; the request that it waits for is over. */
void trace_collective(const struct sim *sim, uint32_t rank, uint32_t operation, uint32_t bytes);
void trace_resumed(const struct sim *sim, uint32_t rank, int32_t status);

/* A phase begins; all nodes have measured line number `line`. */
void trace_phase(const struct sim *sim);
void trace_measured(const struct sim *sim, unsigned line);

/* A fault takes effect; a fault touches the frame that is being handed over. */
void trace_fault(const struct sim *sim, const struct sim_fault *fault);
void trace_damage(const struct sim *sim, const char *what);

/* Completes the timeline, also of a simulation that is not over. */
struct trace_result trace_end(const struct sim *sim);
/* The same for a handler of SIGABRT: what has been noted so far. */
void trace_abandon(const struct trace *trace);
