/*
 * trace_internal.h - what trace.c and trace_phases.c share; not for the rest of the simulator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/observe/trace.h"
#include "sim/observe/trace_file.h"

enum {
    TRACE_PROCESS_MACHINE = 1, /* 0 is a special process for viewers */
    TRACE_PROCESS_NODES = 2,
    TRACE_THREAD_PHASES = 1,
    TRACE_THREAD_MEASUREMENTS,
    TRACE_THREAD_FAULTS,
    TRACE_THREAD_NODES /* two for each node, then one for each end */
};

enum { TRACE_STEPS_OPEN = 8 };

enum trace_kind { TRACE_MESSAGE, TRACE_STEP, TRACE_IMAGE };

/* A circuit on one directed link that has no answer yet. */
struct trace_circuit {
    struct trace_circuit *next;
    uint64_t set_ns; /* model time at which it was set up over the link */
    uint32_t src, dst, bytes, step, tag;
    uint16_t epoch;
    uint8_t kind; /* enum trace_kind */
    uint8_t operation;
    uint16_t hop, hops;
};

/* A directed link, by the number of the end that sends. */
struct trace_link {
    struct trace_circuit *first, *last;
    uint64_t free_ns; /* the newest circuit's done, and its source */
    uint32_t src;
    uint16_t number; /* of the newest frame */
    bool seen, named;
};

/* A step of a node's collective: the circuits of it that have been answered so far. */
struct trace_step {
    uint32_t number, peer;
    uint64_t end_ns;
};

/* What a node's program does, and the steps that its collective is in, in their order. A node may
 * hand out its answer to a circuit some steps after it has given it: its link was full. */
struct trace_node {
    uint64_t begin_ns, step_begin_ns;
    uint32_t operation, bytes, steps; /* steps: that are over */
    uint32_t step_next;               /* no step below this is open */
    struct trace_step open[TRACE_STEPS_OPEN];
    uint8_t open_count;
    bool named, active;
};

struct trace {
    struct trace_link *links;
    size_t link_count;
    struct trace_node *nodes;
    bool *named; /* processes */
    struct trace_circuit *free;
    uint64_t messages;
    uint64_t last_ns;
    uint64_t phase_ns, phase_wall_ns; /* at which the present phase began */
    uint8_t phase;
    struct trace_file file;
};

const char *trace_actor_name(const struct sim *sim, uint32_t actor, char text[16]);
struct trace_track trace_program_track(uint32_t rank);
struct trace_track trace_step_track(uint32_t rank);
/* Names a node's tracks, once. */
void trace_name_node(const struct sim *sim, uint32_t rank);

/* A circuit of a step of this node has been answered. */
void trace_note_step(const struct sim *sim, uint32_t rank, const struct trace_circuit *circuit,
                     uint64_t done_ns);
void trace_note_unanswered(const struct sim *sim);
