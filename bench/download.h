/*
 * download.h - a program of 1 MiB and 4 MiB of data on their way to the nodes, and the data back,
 * beside one bare link's time for as many bytes as the busiest link carries.
 *
 * The busiest link is that of the host over which half of the nodes get theirs, or give theirs
 * back. Digests and copies are those of all nodes at once, of as many bytes as each holds: a
 * program does them as the kernel does, on the same machine.
 *
 * Units    ms
 * Errors   a run that fails is said on stderr and shows as failed
 */
#pragma once

#include <jansson.h>

#include "bench/figure.h"
#include "bench/raw_run.h"

enum { DOWNLOAD_RATIOS = 4 };

/* One maker's links. */
struct download_bench {
    const char *maker; /* "shared" */
    struct raw_bench *raw;
};

/* Measures over the links of two makers, prints the table and appends its figures to `measured`,
 * fills the ratios. */
void download_run(const char *build, const struct download_bench benches[2], json_t *measured,
                  struct ratio ratios[DOWNLOAD_RATIOS]);
