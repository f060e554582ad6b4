/*
 * loop.h - the rounds and clocks, as the other files of the simulator use them.
 *
 * Context  while no partition runs; sim_wake and sim_look also the thread of the actor's partition,
 *          and a simulation with faults has one partition (partitions_count)
 */
#pragma once

#include <stdint.h>

#include "sim/parallel/worker_pool.h"
#include "sim/result.h"

struct sim;

enum { HOLD_EPOCH_NS = 20 * 1000 * 1000 /* wall time passes a withheld frame for at most two */ };

/* Every partition does its share. */
void sim_all_partitions(struct sim *sim, worker_pool_work *work);
/* An actor is to be stepped. */
void sim_wake(struct sim *sim, uint32_t actor);
/* A slow actor looks now. */
void sim_look(struct sim *sim, uint32_t actor);
/* Ends the simulation. */
void sim_end(struct sim *sim, enum sim_verdict verdict);
/* Something has gone wrong at this event, of which a line will tell. */
void sim_note_trouble(struct sim *sim);
/* Adds a line that says what went wrong. */
void sim_trouble(struct sim *sim, struct sim_about about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What it is about: no node, or one. */
static inline struct sim_about about(enum sim_trouble_kind kind)
{
    return (struct sim_about){.kind = kind};
}
static inline struct sim_about about_node(enum sim_trouble_kind kind, uint32_t node)
{
    return (struct sim_about){.kind = kind, .nodes = {node}, .node_count = 1};
}
/* ... one and its error, or one and its neighbour. */
static inline struct sim_about about_error(enum sim_trouble_kind kind, uint32_t node, int error)
{
    return (struct sim_about){.kind = kind, .nodes = {node}, .node_count = 1, .error = error};
}
static inline struct sim_about about_link(enum sim_trouble_kind kind, uint32_t node, uint32_t peer)
{
    return (struct sim_about){.kind = kind, .nodes = {node, peer}, .node_count = 2};
}
