/*
 * simulation.h - the same complete exchange on SimGrid and on `ecube sim`: wall time, memory, time
 * that each says it takes.
 *
 * Runs of the two alternate, one of SimGrid and as many of ours as take about as long, 8 at most.
 * The ratios are those of medians. Each computes the same every time, so the fastest runs are shown
 * beside: what makes another one longer is other work of the machine.
 *
 * Errors   a run that fails is said on stderr and shows as "-", its ratio as missed
 */
#pragma once

#include <jansson.h>

#include "bench/figure.h"

enum { SIMULATION_RATIOS = 4 };

/* Measures, prints the table, fills the ratios; the table's rows. `build` holds both programs. */
json_t *simulation_run(const char *build, struct ratio ratios[SIMULATION_RATIOS]);
