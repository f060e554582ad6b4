/*
 * history.h - the last frames that were shown to a receiver (sim_history puts them in words).
 *
 * Units    bytes; model time in ns
 * Context  a simulation with history has one partition (partitions_count)
 */
#pragma once

#include <stdint.h>

struct chunk;
struct sim;
struct sim_end;

/* A frame, or a piece of one, that was shown. */
struct history {
    uint64_t event, model_ns;
    uint32_t from, to, bytes; /* actors */
    uint8_t head[40];
};

/* Notes a chunk that is shown to this end. */
void history_add(struct sim *sim, const struct sim_end *end, const struct chunk *chunk);
