/*
 * link_load.h - how much some directed link must carry, whatever ways are taken.
 *
 * In each dimension by itself, for a way between two nodes crosses it as a way between their
 * coordinates does:
 *
 *   lines   A cut divides the nodes. What goes across it one way is shared by the lines side by
 *           side, each of which has one link there.
 *   arcs    Half of a ring is cut off by two links of each ring. What leaves it is shared by these.
 *           The sum of the shorter ways over all links says no more: it is the mean of all halves.
 *   round   A way of f links forward is one of s - f back. Let links weigh s - g forward and g
 *           back, for some g: all that goes weighs at least the sum of its lighter ways, and links
 *           that carry m each can take m times the sum of their weights.
 *
 *     mesh:2x3   from {0 1 3 4} to {2 5}: two links. Of an exchange 4 x 2 blocks go across, so one
 *                of the two carries 4 blocks.
 *     ring:6     each to the one behind the next: 2 links forward or 4 back, g = 2. Six blocks
 *                weigh 8 each, the links 6 x 4 + 6 x 2 = 36; 48 / 36: some link carries 2.
 *
 * A sum of hops over all links of all dimensions says no more: it is a mean of these. Nor does the
 * linear programme over all routings. Where everybody has a block for everybody, in dimension order
 * and half of what is opposite in a ring each way round, all links of a dimension of rings, or of a
 * cut, carry the same, and that is as much as is said here. For shifts and reversals on networks of
 * up to 64 nodes tests/planner/bound_test.c holds it against that, and up to six nodes against all
 * routings of whole blocks, of which one does with so much. Of blocks of different sizes it may say
 * more.
 *
 * Units    as added: blocks or bytes; they are not divided
 * Context  host; pure; memory from malloc
 */
#pragma once

#include <stdint.h>

#include "network/network.h"

struct link_load {
    const struct network *network;
    /* what crosses each cut, up and down; leaves and enters the half that begins at each: each
     * place says how much more than the one before it */
    uint64_t *across[NETWORK_DIMS_MAX];
    uint64_t *forward[NETWORK_DIMS_MAX]; /* of rings: how much goes so far forward */
};

struct link_load link_load_begin(const struct network *network);
/* So much must go from one node to another. */
void link_load_add(struct link_load *load, uint32_t from, uint32_t to, uint64_t amount);
/* What some link carries at least; ends the load. */
uint64_t link_load_end(struct link_load *load);

/* The same where every node has a block for every other one, in blocks. */
uint64_t link_load_of_exchange(const struct network *network);
