/*
 * pipeline.h - the strategy `pipelined`: messages in parcels, their time, and the size of parcels.
 *
 * The blocks are those of decremental scattering (download.h), and so is the order of the host's
 * messages. But a block does not scatter by halving: its nodes are a line, in the order of ranks,
 * and the message to its root is cut into parcels (wire/parcel.h), each a circuit with its
 * start-up. Every node gives a parcel on to the next as soon as it has all of it
 * (node/pipeline.c), so the line works all at once: what all nodes have in common goes over each
 * port once, where a tree's root sends it to child after child. That is bought with a start-up for
 * each parcel, and with the time that the first one takes along the line. And nobody holds more
 * than three parcels for others.
 *
 *     cube:3, x = 3, an image of 4 parcels     host 0 1 2 3
 *                                                 0   0 1 2 3
 *                                                 1     0 1 2 3     ... and so on, to node 7
 *
 * The recurrence stands in node/pipeline.c; pipeline_replay_ns is that, with the host in front.
 *
 * The size of parcels is searched, by replays of at most 2^24 steps: no sum is right for segments
 * of any ranks. A line has up to 4,096 nodes.
 *
 * Units    bytes and ns of model time
 * Source   ours. Pipelined broadcast along a path, and the size of its packets: Johnsson & Ho 1989,
 *          Optimum broadcasting and personalized communication in hypercubes, IEEE Trans. Computers
 *          38(9):1249-1268
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/download.h"

enum {
    PARCEL_BYTES_MIN = 64,   /* that are planned */
    PARCELS_MAX = 8192,      /* of a message */
    LINE_NODES_MAX = 4096,   /* along more nodes the way is long, and so is its replay */
    LINE_STEPS_MAX = 1 << 24 /* nodes times parcels: a tenth of a second */
};

/*
 * When the last node of a message in parcels has its data; the host begins at *host_ns, which
 * becomes the time at which it has sent all. UINT64_MAX: that is certainly later than `limit_ns`.
 *
 * Each call takes as many steps as there are nodes, for each parcel.
 */
uint64_t pipeline_replay_ns(const struct download_costs *costs, const struct network *network,
                            const struct download_message *message, uint64_t *host_ns,
                            uint64_t limit_ns);

/* A node that has too little room for parcels, however small. */
struct pipeline_full {
    uint32_t rank;
    uint64_t need, room;
};

/*
 * Finds the size of parcels with which the messages take the least time, of those that all nodes
 * have room for, and sets it in those to more than one node. Returns their time; UINT64_MAX: no
 * size fits, as `full` says then (its rank else NETWORK_NO_NODE), or all take longer than
 * `limit_ns`.
 *
 * Sizes are tried by doubling and halving from where start-ups and the way along the line cost the
 * same, and then a few in between: few sizes take 3 % less. No line has more than LINE_NODES_MAX
 * nodes (CHECK).
 */
uint64_t pipeline_choose(const struct download_costs *costs, const struct network *network,
                         struct download_message *messages, unsigned count, uint64_t limit_ns,
                         struct pipeline_full *full);

/*
 * The same as a sum, for a cube of d dimensions that is one line of N nodes, all with m parcels of
 * p bytes in common and q more each. With h = hop - tau for each hop after the first, and
 *
 *     c_0 = beta_host + p tau                   the host to node 0
 *     c_r = beta + p tau + (i - 1)(h + tau)     node r - 1 to r over i hops, one more than zeros at
 *                                               the end of r: in all N - 1 - d more than N - 1
 *     q = 0   the sum of all c_r, and (m - 1) times the largest: all stages work at the same time
 *     q > 0   (m + q N) c_0, where no c_r is larger than c_0: the rest is hidden behind the host
 */
uint64_t pipeline_closed_ns(const struct download_costs *costs, unsigned dims,
                            uint32_t common_parcels, uint32_t own_parcels, uint32_t parcel_bytes);
