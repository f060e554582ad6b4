/*
 * stalls.h - how many bare streams stand still because QEMU has left memory barriers out, and how
 * many with the board's -smp 1,maxcpus=2, which makes it keep them (its README.md).
 *
 * Errors   as in raw_run.h; a run that fails in another way is said and counts as a run
 */
#pragma once

#include <jansson.h>

#include "bench/raw_run.h"

enum { STALLS_RUNS = 100 };

/* For each of `count` benches, which differ in their links: runs a bare stream `runs` times with
 * the board's options, and over serial lines as often without its -smp, all in turn; prints the
 * counts and returns them as an array. `raw` is not changed. */
json_t *stalls_run(const struct raw_bench *raw, unsigned count, unsigned runs);
