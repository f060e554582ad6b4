/*
 * trace.h - the timeline of a simulation (trace/timeline.h), from the records of its nodes and of
 * its host, which are taken as they come: none is lost.
 *
 * Nodes note what they do from the beginning on, the download included; what only a simulator
 * knows stands beside it: phases, measurements, faults, frames that they touch.
 *
 * Units    ns of model time
 * Context  the loop of one simulation; nothing here changes what happens
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/timeline.h"

struct node_config;
struct sim;
struct sim_fault;
struct trace;

/* Begins a timeline in options.trace_fd; NULL: no memory. Before the nodes are made. */
struct trace *trace_make(const struct sim *sim);
void trace_free(struct trace *trace);

/* Gives a node memory for its records, and has it note what it does; the same of the host, after
 * each of its boots. */
void trace_place(const struct sim *sim, uint32_t rank, struct node_config *config);
void trace_begin_node(const struct sim *sim, uint32_t rank);
void trace_begin_host(struct sim *sim);

/* Takes what a node, or the host, has noted since the last time. */
void trace_node(const struct sim *sim, uint32_t rank);
void trace_host(struct sim *sim);

/* A phase begins; all nodes have measured line number `line`. */
void trace_phase(const struct sim *sim);
void trace_measured(const struct sim *sim, unsigned line);

/* A fault takes effect; a fault touches the frame that is being handed over. */
void trace_fault(const struct sim *sim, const struct sim_fault *fault);
void trace_damage(const struct sim *sim, const char *what);

/* The run is over, before any program is told to stop: what is open is noted, and nothing more,
 * until a download begins. */
void trace_close(const struct sim *sim);

/* Completes the timeline, also of a simulation that is not over. */
struct trace_result trace_end(struct sim *sim);
/* The same for a handler of SIGABRT: what has been taken so far. */
void trace_abandon(const struct trace *trace);
