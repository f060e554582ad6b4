/*
 * mutants.h - exported plans, changed at random. What the proof accepts of them is executed by
 * simulated nodes, and must be what was proved and predicted.
 *
 * A number stands for one mutant: network, operation, algorithm, size and changes are drawn from
 * it.
 *
 * Example  struct mutants_tally tally = mutants_run(1, 100);
 * Errors   failures are printed, each with its number and its file, and counted
 */
#pragma once

#include <stdint.h>

struct mutants_tally {
    uint64_t drawn, accepted, failed;
};

/* Draws mutants from `first` on until so many have been accepted. */
struct mutants_tally mutants_run(uint64_t first, uint64_t accepted);
