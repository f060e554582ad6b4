/*
 * mpi_ranks.h - the ranks of a simulation (sim/parallel/ranks.h) as the processes of an MPI job.
 *
 * Errors   those of MPI end all ranks
 * Context  after MPI_Init, in the thread that has called it
 * Source   MPI: A Message-Passing Interface Standard 3.1, 3.8.2 (matching probe), 5.12
 *          (non-blocking collectives)
 */
#pragma once

#include "sim/parallel/ranks.h"

/* More than RANKS_MAX are for the caller to refuse. There is one, which stays. */
struct ranks *mpi_ranks_make(void);
