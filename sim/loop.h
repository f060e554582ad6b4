/*
 * loop.h - the rounds and clocks, as the other files of the simulator use them.
 *
 * Context  while no part runs; sim_wake and sim_look also the thread of the actor's part, and a
 *          simulation with faults has one part (parts_count)
 */
#pragma once

#include <stdint.h>

#include "sim/crew.h"
#include "sim/result.h"

struct sim;

enum { HOLD_EPOCH_NS = 20 * 1000 * 1000 /* wall time passes a withheld frame for at most two */ };

/* Every part does its share. */
void sim_all_parts(struct sim *sim, crew_work *work);
/* An actor is to be stepped. */
void sim_wake(struct sim *sim, uint32_t actor);
/* A slow actor looks now. */
void sim_look(struct sim *sim, uint32_t actor);
/* Ends the simulation. */
void sim_end(struct sim *sim, enum sim_verdict verdict);
/* Adds a line that says what went wrong. */
void sim_trouble(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
