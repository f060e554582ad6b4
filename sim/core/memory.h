/*
 * memory.h - where everything of a simulation lies: how much of it, and getting it.
 *
 * The nodes of a partition are sent their image into the same memory, as far as no byte can be
 * damaged: all get the same, and pages of their own would be cleared only to be mapped over.
 *
 * Units    bytes
 * Errors   memory_map returns false when the system does not give the memory
 * Context  while no partition runs; memory_place: the partition's own thread
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"

struct sim;
struct sim_options;

enum {
    RING_PLACES = 32, /* for what is under way on a link */
    BLOCK_BYTES = 16, /* private block of a node in the download */
    ARGUMENTS_BYTES = 128,
    PROGRAM_ADDRESS = 0x10000 /* a program's memory begins there or a little higher */
};

/* What the list of a scenario's load holds: an image for all, the blocks, and a map where ranks are
 * elsewhere. */
enum { SCENARIO_PROGRAMS = 1, SCENARIO_SEGMENTS_MAX = 3 };

static inline uint32_t scenario_segments(const struct network *network)
{
    return network->map ? SCENARIO_SEGMENTS_MAX : SCENARIO_SEGMENTS_MAX - 1;
}

/* Where a node's memory lies. */
struct layout {
    bool checked;
    /* addresses of a scenario's program: its arguments; its image, of any size up to image_room;
     * its private block; its map; where its free memory begins */
    uint32_t program_address, image_address, block_address, map_address, top;
    uint32_t image_room;
    uint64_t program_bytes; /* of all nodes */
    uint64_t window_bytes;  /* that all nodes of a partition share */
    size_t node_bytes, memory_bytes, ends_bytes, controller_bytes;
    size_t counters_bytes; /* of links; 0: they are not counted */
    size_t ports_at;       /* in a node's place: its router's ports */
    unsigned partitions;
    uint64_t total_bytes;
};

/* What a simulation of these options takes; `checked`: its contents are kept. */
struct layout layout_make(const struct sim_options *options, bool checked);
/* Maps all of it. */
bool memory_map(struct sim *sim);
/* Gives every node of a partition its place, and starts it; the ends are there. */
void memory_place(struct sim *sim, unsigned partition);
/* Gives all of it back. */
void memory_unmap(struct sim *sim);
