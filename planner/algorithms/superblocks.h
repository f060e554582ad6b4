/*
 * superblocks.h - the complete exchange one dimension after the other: what the phase of one
 * dimension does with its superblocks, whichever way they go.
 *
 * In the phase of a dimension of n nodes a node has n superblocks, one for each coordinate: all
 * blocks that go there. When it is over the node has those that came, one from each coordinate.
 * Between phases they are in two buffers in scratch by turns. In a buffer slot v holds the block
 * whose destination has v's coordinates, in the dimensions that are done the source.
 *
 * A dimension that is a line is a ring as well, folded (lines.h).
 *
 * Units    ranks, slots; places on the ring of a dimension
 * Context  host
 */
#pragma once

#include "planner/build.h"

struct superblocks {
    struct plan *plan;
    const struct network_dimension *dim;
    bool first, last; /* the phase */
    uint32_t buffer;  /* of scratch, into which what comes is put if it is not the last */
};

/* The phase of dimension `number` of the `count` that have links, which are dims; in order. */
unsigned superblocks_dimensions(const struct network *network, unsigned dims[NETWORK_DIMS_MAX]);
struct superblocks superblocks_of(struct plan *plan, const unsigned dims[NETWORK_DIMS_MAX],
                                  unsigned count, unsigned number);

/* The slots of scratch that buffers take, before anything else. */
uint32_t superblocks_buffers(const struct plan *plan, unsigned count);

/* Blocks of a superblock. */
uint32_t superblocks_blocks(const struct superblocks *superblocks);

/* A node's place, and the node so many places on. */
uint32_t superblocks_place(const struct superblocks *superblocks, uint32_t node);
uint32_t superblocks_further(const struct superblocks *superblocks, uint32_t node, uint32_t places);

/* Adds the slots of the superblock for, or from, the coordinate of a node of the same line. */
void superblocks_before(const struct superblocks *superblocks, struct slots *slots, uint32_t node);
void superblocks_behind(const struct superblocks *superblocks, struct slots *slots, uint32_t node);

/* Nodes keep the superblocks for themselves. */
void superblocks_stay(const struct superblocks *superblocks, uint32_t step);
