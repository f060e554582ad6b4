/*
 * simulation.h - a machine of real nodes and a host router in one process, in simulated time.
 *
 * A simulation is made from options, advanced until it is over, asked for its result and freed.
 * The same options give the same events on every machine: all chance comes from the seed, and no
 * clock is read. doc/simulation.md says how the two simulated times go together.
 *
 * Example  struct sim *sim = sim_make(&options); while (sim_advance(sim, 1000)) {}
 *          struct sim_result result; sim_result(sim, &result); sim_free(sim);
 * Units    bytes, ns
 * Errors   sim_need says before anything is allocated whether it will fit
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/observe/trace.h"
#include "sim/options.h"
#include "sim/result.h"
#include "wire/traffic.h"

enum {
    SIM_WAITS_MAX = 16, /* lines on who waits for whom */
    SIM_HISTORY_MAX = 32
};

struct sim;

/* Memory that a simulation takes, and what contents it then has; of options with plans. */
uint64_t sim_need(const struct sim_options *options, enum sim_contents contents);

/* The most bytes of data that any of its programs has; of options with plans. */
uint64_t sim_data_bytes(const struct sim_options *options);

/* NULL: the system does not give the memory, or there is no plan. */
struct sim *sim_make(const struct sim_options *options);
void sim_free(struct sim *sim);

/* Lets up to `events` happen, fewer when a line is complete; false when the simulation is over. */
bool sim_advance(struct sim *sim, uint64_t events);

/* It is not advanced any more: the other processes that make it (options.ranks) are told, and have
 * said what they have counted. They call it, too, when sim_advance says that it is over. */
void sim_leave(struct sim *sim);

/* What each of these has come to; after sim_leave, on rank 0. NULL: there is only one. */
struct sim_rank {
    uint32_t first, nodes;
    uint64_t rounds;
    uint64_t resident_bytes; /* at most */
    uint64_t host_bytes;     /* of these, the host's: its controller, and what it sends */
    uint64_t waited_ns;      /* for others and for messages */
    uint64_t passed_ns;
};
const struct sim_rank *sim_ranks(const struct sim *sim, unsigned *count);

void sim_result(const struct sim *sim, struct sim_result *result);
/* What programs have left; it stays until sim_free. */
struct sim_outputs sim_outputs(const struct sim *sim);
/* The number of events so far. */
uint64_t sim_events(const struct sim *sim);

/* Completes the timeline of a simulation, which need not be over; it is not advanced any more. */
struct trace_result sim_trace_end(struct sim *sim);
/* The same for a handler of SIGABRT: the file is then whole as far as it goes. */
void sim_trace_abandon(const struct sim *sim);

/* How a node's program ended: E_OK, a negative status, or E_TIMEOUT when it still waits;
 * SIM_ABORT_STATUS: it has aborted. */
int sim_node_status(const struct sim *sim, uint32_t rank);
/* True when the node was killed. */
bool sim_node_dead(const struct sim *sim, uint32_t rank);

/* True when its program did not end by itself: STOP did not reach it, and the host has given it up.
 */
bool sim_node_given_up(const struct sim *sim, uint32_t rank);

/* What a node's link has carried, and the model time that the node has come to. Without
 * options.links of circuits nothing. */
struct traffic_port sim_traffic(const struct sim *sim, uint32_t rank, unsigned port);
unsigned sim_node_ports(const struct sim *sim, uint32_t rank);
uint64_t sim_node_clock_ns(const struct sim *sim, uint32_t rank);

/* The phase that it is in, or has ended in. */
enum sim_phase sim_phase(const struct sim *sim);

/* How far the present phase is: of how many nodes, and its name. */
const char *sim_progress(const struct sim *sim, uint32_t *done, uint32_t *total);

/* For how long nothing has moved, no program, no data and no boot, in ns of simulated wall time. */
uint64_t sim_quiet_ns(const struct sim *sim);

/* The user's time is over, in a run of programs: the controller asks what they wait for, and ends
 * the run (controller_time_out), which the listener hears; then the simulation is for its owner to
 * end. False: there is no run, or no host for it. */
bool sim_time_out(struct sim *sim);

/* Takes a fault into the present phase, `at_ns` from now. */
void sim_inject(struct sim *sim, const struct sim_fault *fault);

/* Writes the last frames that were shown to a receiver, oldest first; returns how many. */
unsigned sim_history(const struct sim *sim, char (*text)[SIM_TEXT_MAX], unsigned lines);
