/*
 * mpi.h - the programs of mpi/ on SimGrid and as native programs of `ecube sim`: the same source on
 * as many ranks; wall time and memory.
 *
 * Runs alternate: one of SimGrid as smpirun does it unasked, with variables for each rank
 * (privatized), one of SimGrid with the same variables for all ranks, one of ours, where each rank
 * has its own. A run counts only when what it prints is right. `nothing` shows what starts take.
 *
 * Errors   a run that fails is said on stderr and shows as "-", its ratio as missed
 */
#pragma once

#include <jansson.h>

#include "bench/figure.h"

enum { MPI_RATIOS = 9 };

/* Measures, prints the table, fills the ratios; the table's rows. */
json_t *mpi_run(const char *build, struct ratio ratios[MPI_RATIOS]);
