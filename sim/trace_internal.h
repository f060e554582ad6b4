/*
 * trace_internal.h - what trace.c and trace_phases.c share; not for the rest of the simulator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/trace.h"
#include "sim/trace_file.h"

enum {
    TRACE_PROCESS_MESH = 1, /* 0 is a special process for viewers */
    TRACE_PROCESS_NODES = 2,
    TRACE_THREAD_PHASES = 1,
    TRACE_THREAD_MEASUREMENTS,
    TRACE_THREAD_FAULTS,
    TRACE_THREAD_NODES /* two for each node, then one for each end */
};

enum trace_kind { TRACE_MESSAGE, TRACE_STEP, TRACE_IMAGE };

/* A circuit on one directed link that has no answer yet. */
struct trace_circuit {
    struct trace_circuit *next;
    uint64_t set_ns; /* model time at which it was set up over the link */
    uint32_t src, dst, bytes, step, tag;
    uint16_t epoch;
    uint8_t kind; /* enum trace_kind */
    uint8_t operation, hop, hops;
    bool follows; /* another one had no answer when it came */
};

/* A directed link, by the number of the end that sends. */
struct trace_link {
    struct trace_circuit *first, *last;
    uint64_t free_ns;
    uint16_t number; /* of the newest frame */
    bool seen, named;
};

/* What a node's program does, and the step that its collective is in. */
struct trace_node {
    uint64_t begin_ns, step_begin_ns, step_end_ns;
    uint32_t operation, bytes, step, step_peer, steps;
    bool named, active, stepping;
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

const char *trace_operation(uint32_t operation);
const char *trace_actor_name(const struct sim *sim, uint32_t actor, char text[16]);
struct trace_track trace_program_track(uint32_t rank);
struct trace_track trace_step_track(uint32_t rank);
/* Names a node's tracks, once. */
void trace_name_node(const struct sim *sim, uint32_t rank);

/* A circuit of a step of this node has been answered. */
void trace_note_step(const struct sim *sim, uint32_t rank, const struct trace_circuit *circuit,
                     uint64_t done_ns);
void trace_note_unanswered(const struct sim *sim);
