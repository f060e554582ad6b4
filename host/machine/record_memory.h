/*
 * record_memory.h - the records of a node (wire/record.h) out of its memory, by its debugger, where
 * no link leads to it.
 *
 * Units    bytes
 * Errors   message: what the debugger says; that there are no records of this program
 * Context  any thread; blocks
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "host/console/message.h"

struct record_memory {
    uint32_t node;
    uint8_t *records; /* RECORD_BYTES each, the oldest first; to be freed */
    uint32_t count;
    uint64_t lost; /* older ones, for which there was no room */
};

/* Reads those of memory->node, noted for the program of this generation; the node is halted
 * meanwhile. On failure, and soon after `stop` has become true, nothing is held. */
int record_memory_read(struct record_memory *memory, const char *rundir, uint8_t generation,
                       const atomic_bool *stop, struct message *message);
