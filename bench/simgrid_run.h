/*
 * simgrid_run.h - collectives and programs on SimGrid: a hypercube with e-cube routes, and SMPI on
 * it.
 *
 * The platform is a torus of two nodes in each dimension: SimGrid routes it in dimension order,
 * lowest first, over one directed link per node and dimension, without a table of routes. A message
 * of k bytes over i hops costs  start-up + i latency + (k + 16) / bandwidth: SMPI adds an envelope
 * of 16 bytes to every message. So that this is the profile's xi + i tau + (i + k - 1) element,
 *
 *   latency = tau + element    bandwidth = 1 / element    start-up = xi - element - 16 element
 *
 * Example: ipsc860 has latency 10 us, 2.35 MB/s and start-up 58.2 us: 1000 bytes over 3 hops take
 * 58.2 + 30 + 1016 * 0.425 = 520 us = 65 + 10 * 3 + 0.425 * 1000.
 *
 * A message to the own rank takes no time but the start-up.
 *
 * Units    us of simulated time, seconds and MiB of the run
 * Errors   false after a message on stderr
 * Source   SimGrid 3.32: "Configuring SimGrid" (options), torus cluster, alltoall "pair"
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench/timed_run.h"
#include "planner/closed_form.h"

struct simgrid_bench {
    const char *build; /* holds bench/alltoall.so, collectives.so, smpi/; files of runs: bench/ */
    const struct profile *profile;
};

/* Exchanges `bytes` between each pair of 2^dims nodes. */
bool simgrid_run(const struct simgrid_bench *bench, unsigned dims, unsigned bytes,
                 struct timed_run *run, double *simulated_us);

/* One collective of 2^dims nodes with several sizes, by what a library's selector selects
 * (smpi/coll-selector). us[i] is -1 where there is no time: SimGrid ended before, which is said on
 * stderr, or the operation copies too much. */
void simgrid_collective(const struct simgrid_bench *bench, unsigned dims, const char *selector,
                        const char *name, const uint32_t *sizes, unsigned count, double *us);

/* A program of bench/smpi/ (its name, and an argument or NULL) on 2^dims nodes, with an option of
 * SimGrid's or NULL; what it prints goes to the file `output`. Privatized, as smpirun does it
 * unasked: each rank has variables of its own; else all ranks have the same. */
bool simgrid_program(const struct simgrid_bench *bench, unsigned dims, const char *const words[2],
                     const char *option, bool privatized, const char *output,
                     struct timed_run *run);
