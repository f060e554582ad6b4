/*
 * gather_plan.h - which ranges of nodes send what their programs have left to the host, in which
 * order, and the model time of it.
 *
 * The ranges are those of a download, backwards: in the order of ranks, each collected by its first
 * node, as network.h halves. Their sizes come from two numbers: the range of node 0 (of the first
 * node of each range with a host link, if there are several) is halved `chain` times, every other
 * one until it is `depth` halvings deep. With depth 0 that is
 * decremental scattering backwards, and with enough of both each node is a range by itself.
 *
 *     cube:3, chain 2, depth 0    {0,1}, {2,3}, {4..7}
 *             chain 2, depth 2    {0,1}, {2,3}, {4,5}, {6,7}
 *
 * Of the ranges for which each collecting node has room those are taken that come from the least
 * depth, and of these the ones that take the least time by replay: the same steps as the nodes and
 * their routers go through (clock.h), in the same order. Circuits whose order is left open, because
 * they belong to different ranges, share no link: a range is collected along the links of its own
 * part of a dimension, and its message passes the parts of ranges that have sent theirs.
 *
 * A gather is planned by replay, not by formula: outputs differ in size, and so does the room of
 * those that collect. The digests are the owner's to compare: it has the bytes, and SHA-256.
 *
 * Units    bytes; ns of model time
 * Context  any; pure
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III; backwards, and room, are ours
 * Names    x of the paper is the halvings in all less `chain`
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "network/network.h"
#include "router/clock.h"

struct gather_plan {
    unsigned chain, depth;
    uint64_t predicted_ns; /* by replay */
};

/* What is known of a node, and scratch of the replay. */
struct gather_node {
    uint32_t bytes, room;
    uint64_t held_bytes, ready_ns;
};

/* Memory for all nodes: a struct gather_node for each, which the caller fills, and what a replay
 * notes of links. */
size_t gather_scratch_bytes(const struct network *network);

/* The ranks of the range that begins with `rank`. */
uint32_t gather_range(const struct network *network, const struct gather_plan *plan, uint32_t rank);

/* The time of a plan by replay; UINT64_MAX: a node has no room for its range. */
uint64_t gather_replay(const struct network *network, const struct profile *profile,
                       const struct gather_plan *plan, struct gather_node *nodes);

/* The best plan for what the nodes have. There is always one. */
struct gather_plan gather_plan_make(const struct network *network, const struct profile *profile,
                                    struct gather_node *nodes);

/*
 * The same in closed form, on a cube, where each of 2^d nodes has `bytes`, whole elements, and
 * depth is 0:
 *
 *     T(x) = beta_host + (2^d - 1) L + max(x beta + 2^x L, (d - 1) beta),   L = elements * element
 *
 * For a subcube of 2^j is together after j beta + (2^j - 1) L, and the host takes in one after the
 * other: either it waits for the first alone, or for the last. With all ports at once it waits for
 * the last in any case; then this is not it.
 */
uint64_t gather_cube_ns(const struct profile *profile, unsigned dims, unsigned x, uint32_t bytes);
