/*
 * mesh.h - a hypercube of real nodes and a host router in one process, in simulated time.
 *
 * A simulation is made from options, advanced until it is over, asked for its result and freed.
 * The same options give the same events on every machine: all chance comes from the seed, and no
 * clock is read. README.md says how the two simulated times go together.
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

#include "include/ecube/abi.h"
#include "router/clock.h"
#include "sim/fault.h"
#include "sim/trace.h"

enum {
    SIM_DIMS_MAX = 16,
    SIM_SIZES_MAX = 32,
    SIM_TEXT_MAX = 400,
    SIM_TROUBLES_MAX = 24,
    SIM_WAITS_MAX = 16, /* lines on who waits for whom */
    SIM_HISTORY_MAX = 32
};

enum sim_scenario {
    SIM_EXCHANGE,
    SIM_BROADCAST,
    SIM_SCATTER,
    SIM_GATHER,
    SIM_BARRIER,
    SIM_LOAD,        /* the download alone; sizes are those of the image */
    SIM_RANDOM,      /* messages of random sizes, 1 to the given one, to random nodes */
    SIM_TRANSPOSE,   /* messages to the node whose number has its halves exchanged */
    SIM_BITREVERSAL, /* messages to the node whose number is read backwards */
    SIM_HOTSPOT,     /* messages of all nodes to node 0 */
    SIM_SCENARIOS
};

enum sim_verdict {
    SIM_RUNS,
    SIM_GOOD,  /* all programs ended well, with the right bytes where they are checked */
    SIM_WRONG, /* wrong bytes, and nothing told of it */
    SIM_ERROR, /* ended with a named error; the troubles say which */
    SIM_STUCK, /* programs wait and nothing will happen any more */
    SIM_STOPPED
};

/* What content memory has: SIM_AUTO keeps and checks bytes when they fit. */
enum sim_contents { SIM_AUTO, SIM_CHECKED, SIM_SHARED };

struct sim_options {
    unsigned dims;
    struct profile profile;
    enum sim_scenario scenario;
    uint32_t sizes[SIM_SIZES_MAX]; /* bytes */
    unsigned size_count;
    uint32_t messages; /* of each node, in the message scenarios */
    uint64_t seed;
    uint64_t shuffle;     /* not 0: events of one time happen in an order drawn from it */
    bool payload_checked; /* set by itself when faults can damage bytes */
    bool scrub;           /* overwrite buffers that are given back */
    uint8_t contents;     /* enum sim_contents */
    uint32_t image_bytes; /* of the program that is downloaded before the scenario */
    unsigned download_x;  /* dimension of the smallest subcube of the download */
    uint64_t stop_at;     /* end at this event; 0: never */
    bool history;         /* keep the last frames for sim_history */
    bool traced;          /* write a timeline to trace_fd (trace.h) */
    int trace_fd;
    struct sim_faults faults;
};

/* One measurement. */
struct sim_line {
    uint32_t bytes;
    uint32_t steps;
    uint64_t model_ns, predicted_ns, bound_ns; /* predicted 0: there is no closed form */
    uint64_t wrong;
    uint32_t nodes; /* that have measured it; all: it is complete */
};

struct sim_result {
    enum sim_verdict verdict;
    struct sim_line lines[SIM_SIZES_MAX];
    unsigned line_count;
    uint64_t events;      /* what the loop has dispatched: deliveries, timers, wake-ups */
    uint64_t link_events; /* frames handed to links */
    uint64_t steps;       /* calls of node_step and router_step */
    uint64_t requests;    /* links that circuits of messages have asked for */
    uint64_t late;        /* of these, later than their model time said (README.md) */
    uint64_t digest[2];
    uint64_t model_ns;       /* how far model time has come */
    uint64_t wall_ns;        /* simulated wall time */
    uint64_t clock_base_ns;  /* model time at which programs started */
    uint64_t download_ns;    /* model time of the download before the scenario */
    uint64_t download_bytes; /* that the host sent in it */
    unsigned receipts;
    bool checked;              /* contents were kept and checked */
    uint64_t node_bytes;       /* memory of one node, all told, on average */
    uint64_t damaged;          /* frames that faults have touched */
    uint32_t hit_from, hit_to; /* nodes, or ID_HOST: the frame of faults.fail_event */
    char troubles[SIM_TROUBLES_MAX][SIM_TEXT_MAX];
    unsigned trouble_count; /* may be more than are kept */
    uint64_t trouble_event; /* at which the first was known */
    unsigned questions;     /* times that nothing moved for so long that the host asked all nodes */
};

struct sim;

/* Memory that a simulation takes, and what contents it then has. */
uint64_t sim_need(const struct sim_options *options, enum sim_contents contents);

/* NULL: the system does not give the memory. */
struct sim *sim_make(const struct sim_options *options);
void sim_free(struct sim *sim);

/* Lets up to `events` happen, fewer when a line is complete; false when the simulation is over. */
bool sim_advance(struct sim *sim, uint64_t events);

void sim_result(const struct sim *sim, struct sim_result *result);
/* The number of events so far. */
uint64_t sim_events(const struct sim *sim);

/* Completes the timeline of a simulation, which need not be over; it is not advanced any more. */
struct trace_result sim_trace_end(struct sim *sim);
/* The same for a handler of SIGABRT: the file is then whole as far as it goes. */
void sim_trace_abandon(const struct sim *sim);

/* How a node's program ended: E_OK, a negative status, or E_TIMEOUT when it still waits. */
int sim_node_status(const struct sim *sim, uint32_t rank);
/* True when the node was killed. */
bool sim_node_dead(const struct sim *sim, uint32_t rank);

/* True when its program did not end by itself: STOP did not reach it, and the host has given it up. */
bool sim_node_given_up(const struct sim *sim, uint32_t rank);

/* The phase that it is in, or has ended in. */
enum sim_phase sim_phase(const struct sim *sim);

/* How far the present phase is: of how many nodes, and its name. */
const char *sim_progress(const struct sim *sim, uint32_t *done, uint32_t *total);

/* Takes a fault into the present phase, `at_ns` from now. */
void sim_inject(struct sim *sim, const struct sim_fault *fault);

/* The scenario's name, and the scenario of a name; SIM_SCENARIOS when there is none. */
const char *sim_scenario_name(enum sim_scenario scenario);
enum sim_scenario sim_scenario_named(const char *name);
/* The heading of its table. */
const char *sim_scenario_title(enum sim_scenario scenario);
/* The largest cube it can run on. */
unsigned sim_scenario_dims(enum sim_scenario scenario);

/* Writes who waits for what, one line each, up to `lines`; returns how many wait. */
unsigned sim_waits(const struct sim *sim, char (*text)[SIM_TEXT_MAX], unsigned lines);

/* Writes the last frames that were shown to a receiver, oldest first; returns how many. */
unsigned sim_history(const struct sim *sim, char (*text)[SIM_TEXT_MAX], unsigned lines);
