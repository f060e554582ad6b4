/*
 * result.h - what a simulation has come to: a line per size, counts, and what went wrong, in words.
 *
 * Units    bytes, ns
 * Context  any
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/options.h"

enum { SIM_TEXT_MAX = 400, SIM_TROUBLES_MAX = 24 };

/* What a trouble is about; sim_trouble_name tells its name. */
enum sim_trouble_kind {
    SIM_TROUBLE_NODE_DIED,
    SIM_TROUBLE_NODE_SILENT,
    SIM_TROUBLE_NODE_UNREACHABLE,
    SIM_TROUBLE_LINK_MISSING,
    SIM_TROUBLE_LINK_DIED,
    SIM_TROUBLE_HOST_LINK_DIED,
    SIM_TROUBLE_DOWNLOAD_FAILED,
    SIM_TROUBLE_DOWNLOAD_WRONG,
    SIM_TROUBLE_DOWNLOAD_REFUSED,
    SIM_TROUBLE_DISAGREE,
    SIM_TROUBLE_COLLECTIVE_FAILED,
    SIM_TROUBLE_NO_PLAN,
    SIM_TROUBLE_PROGRAM_FAILED,
    SIM_TROUBLE_ABORTED,
    SIM_TROUBLE_BOOT_FAILED,
    SIM_TROUBLE_HOST_DIED,
    SIM_TROUBLE_NO_PROGRESS,
    SIM_TROUBLE_WAITS,
    SIM_TROUBLE_NO_MEMORY,
    SIM_TROUBLE_OUTPUTS_FAILED,
    SIM_TROUBLE_KINDS
};

struct sim_about {
    enum sim_trouble_kind kind;
    uint32_t nodes[2];
    unsigned node_count;
    int error; /* E_*; 0: none */
};

enum sim_verdict {
    SIM_RUNS,
    SIM_GOOD,  /* all programs ended well, with the right bytes where they are checked */
    SIM_WRONG, /* wrong bytes, and nothing told of it */
    SIM_ERROR, /* ended with a named error; the troubles say which */
    SIM_STUCK, /* programs wait for ever */
    SIM_NO_MEMORY,
    SIM_STOPPED
};

/* One measurement. */
struct sim_line {
    uint32_t bytes;
    uint32_t steps;
    uint64_t start_ns;                         /* model time at which it began */
    uint64_t model_ns, predicted_ns, bound_ns; /* predicted 0: nothing is */
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
    uint64_t late;        /* of these, later than their model time said (doc/simulation.md) */
    uint64_t digest[2];
    uint64_t model_ns;       /* how far model time has come */
    uint64_t wall_ns;        /* simulated wall time */
    uint64_t clock_base_ns;  /* model time at which programs started */
    uint64_t download_ns;    /* model time of the download before the scenario */
    uint64_t download_bytes; /* that the host sent in it, */
    uint32_t download_sends; /* in so many messages */
    uint32_t repaired;       /* nodes that were sent wrong bytes again */
    unsigned receipts;
    unsigned threads;          /* that have done the work */
    bool checked;              /* contents were kept and checked */
    uint64_t node_bytes;       /* memory of one node, all told, on average */
    uint64_t damaged;          /* frames that faults have touched */
    unsigned faults_happened;  /* of faults.list */
    uint32_t hit_from, hit_to; /* nodes, or ID_HOST: the frame of faults.fail_event */
    char troubles[SIM_TROUBLES_MAX][SIM_TEXT_MAX];
    struct sim_about abouts[SIM_TROUBLES_MAX]; /* of the troubles */
    unsigned trouble_count;                    /* may be more than are kept */
    uint64_t trouble_event;                    /* at which the first was known */
    unsigned questions; /* nodes that were asked, for nothing moved for long, and have answered */
};

/* What programs have left, when it was asked for (sim_outputs). */
struct sim_outputs {
    bool here; /* all of it has come */
    uint64_t bytes;
    const uint8_t *table; /* wire/gather.h: OUTPUT_ROW_BYTES for each rank */
    const uint8_t *data;  /* of all ranks, in their order */
    uint64_t model_ns, predicted_ns;
};

/* A name that stays, "node-died". */
const char *sim_trouble_name(enum sim_trouble_kind kind);
