/*
 * options.h - what a simulation is made from: machine, scenario, sizes, faults.
 *
 * Units    bytes, ns
 * Context  any
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"
#include "network/network.h"
#include "router/clock.h"
#include "sim/core/fault.h"

enum { SIM_SIZES_MAX = 32, SIM_WHY_MAX = 1536 };

/* A collective has the number of its operation; those that have a name here are used by it. */
enum sim_scenario {
    SIM_BARRIER = ECUBE_BARRIER,
    SIM_BROADCAST = ECUBE_BROADCAST,
    SIM_SCATTER = ECUBE_SCATTER,
    SIM_GATHER = ECUBE_GATHER,
    SIM_EXCHANGE = ECUBE_EXCHANGE,
    SIM_ALLGATHER = ECUBE_ALLGATHER,
    SIM_REDUCE = ECUBE_REDUCE,
    SIM_LOAD = ECUBE_OPERATIONS, /* the download alone; sizes are those of the image */
    SIM_RANDOM,                  /* messages of random sizes, 1 to the given one, to random nodes */
    SIM_TRANSPOSE,               /* messages to the node whose number has its halves exchanged */
    SIM_BITREVERSAL,             /* messages to the node whose number is read backwards */
    SIM_HOTSPOT,                 /* messages of all nodes to node 0 */
    SIM_ENDING,                  /* those before end; SIM_CIRCLE does not */
    SIM_CIRCLE = SIM_ENDING, /* every node receives from the next one before it sends: a deadlock */
    SIM_SCENARIOS,
    SIM_NATIVE /* no scenario: a program of people's own (options.native) */
};

/* What content memory has: SIM_AUTO keeps and checks bytes when they fit. */
enum sim_contents { SIM_AUTO, SIM_CHECKED, SIM_SHARED };

struct sim_plans; /* plans.h */
struct plan;
struct plan_cache;
struct native_program; /* programs/native.h */
struct ranks;          /* parallel/ranks.h */
struct controller;
struct controller_event;

/* Is told what the controller tells, in the thread of sim_advance. */
struct sim_listener {
    void (*event)(void *context, const struct controller *controller,
                  const struct controller_event *event);
    void *context;
};

struct sim_options {
    struct network network;
    struct profile profile;
    uint8_t paths; /* that long messages go over, 0: as programs say */
    enum sim_scenario scenario;
    const char *algorithm;         /* that makes the plans; NULL: the cheapest */
    uint32_t sizes[SIM_SIZES_MAX]; /* bytes */
    unsigned size_count;
    bool asked;        /* root counts; else it is the operation's usual one */
    uint32_t root;     /* of a collective, or what stands in its place */
    uint8_t type;      /* enum ecube_type of what is reduced; 0: int32 */
    uint8_t operator_; /* enum ecube_operator; 0: sum */
    uint32_t messages; /* of each node, in the message scenarios */
    uint64_t seed;
    uint64_t shuffle; /* not 0: events of one time happen in an order drawn from it */
    unsigned threads; /* at most so many do the work; the result is the same (partitions_count) */
    bool payload_checked;          /* set by itself when faults can damage bytes */
    bool scrub;                    /* overwrite buffers that are given back */
    uint8_t contents;              /* enum sim_contents */
    uint32_t image_bytes;          /* of the program that is downloaded before the scenario */
    unsigned download_x;           /* halvings that the last block of the download needs */
    uint64_t stop_at;              /* end with the round of this event; 0: never */
    const struct sim_plans *plans; /* NULL: sim_make makes them */
    struct plan *const *written;   /* plans that are used in place of the planner's */
    unsigned written_count;
    const struct native_program *native; /* SIM_NATIVE */
    bool outputs;                        /* SIM_NATIVE: fetch what its programs have left */
    struct plan_cache *cache;            /* SIM_NATIVE: makes the plans that its nodes ask for */
    struct ranks *ranks;                 /* processes that make the simulation; NULL: this one */
    struct sim_listener listener;        /* event NULL: none */
    bool history;                        /* keep the last frames for sim_history */
    bool links;                          /* count what links carry, for sim_traffic */
    bool traced;                         /* write a timeline to trace_fd (trace.h) */
    int trace_fd;
    struct sim_faults faults;
};

/* The scenario's name, and the scenario of a name; SIM_SCENARIOS when there is none. */
const char *sim_scenario_name(enum sim_scenario scenario);
enum sim_scenario sim_scenario_named(const char *name);
/* The heading of its table. */
const char *sim_scenario_title(enum sim_scenario scenario);
/* Whether it can run on a network; if not, `why` says in words what it needs. */
bool sim_scenario_fits(enum sim_scenario scenario, const struct network *network,
                       char why[SIM_WHY_MAX]);
