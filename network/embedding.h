/*
 * embedding.h - one network, the guest, in another of as many nodes, the host: which node stands
 * for which rank, and how far the guest's neighbours are apart there.
 *
 *     gray     rings of 2^d nodes, and meshes and tori whose sides are powers of two, in a cube:
 *              each coordinate along a Gray code of its own bits. Neighbours stay neighbours
 *     cycle    a ring along a Hamiltonian cycle of any network that has one, or a line along a
 *              Hamiltonian path (hamilton.h). Neighbours stay neighbours
 *     rows     rank r at node r: of two meshes or tori the row-major order of one is that of the
 *              other
 *
 *     tree     a binary tree: rank r has the children 2 r + 1 and 2 r + 2. In a cube the last
 *              rank, of 2^d, is no part of it but a second root: all neighbours stay neighbours,
 *              but for ranks 0 and 2, which are two hops apart, with that root between. Elsewhere
 *              the nodes of a subtree are cut in two across their longest side, as their numbers
 *              want it, with the root in the middle of the cut; neighbours are a quarter of a side
 *              apart near the root of all, and next to each other below
 *
 *     ring:8 in cube:3, gray   rank  0 1 2 3 4 5 6 7        G(r) = r xor r / 2
 *                              node  0 1 3 2 6 7 5 4
 *
 *     a tree in mesh:3x3  ranks  7 8 5      0 is in the middle of the cut: 1, 3, 4, 7 and 8 lie on
 *                                3 0 2      its left and above, 2, 5 and 6 on its right and below;
 *                                1 4 6      both halves are cut again
 *
 *     a tree in cube:3    ranks      0        nodes      1         rank 7, at node 5, lies between
 *                                  1   2               0   7       ranks 0 and 2
 *                                 3 4 5 6             2 4 6 3
 *
 * A guest's link is used in both directions; each goes in the host over the way that messages take.
 * Dilation is the longest of these ways; congestion is how many of them use the same directed link
 * of the host, at most.
 *
 * Units    ranks of the guest, nodes of the host, hops
 * Context  any; pure; memory is the caller's
 * Source   Ozveren, LIDS-P-1721 (1987), 2.1.1 (rings in meshes), 2.1.3 (rings and meshes in cubes);
 *          Bhatt & Ipsen, Yale DCS RR-443 (1985) (double-rooted trees in cubes); Bentley, CACM
 *          18(9), 1975 (cuts by turns: k-d trees);
 *          Gilbert, Bell System Tech. J. 37 (1958), 815-826 (Gray codes as cycles of cubes)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

enum embedding { EMBEDDING_GRAY, EMBEDDING_CYCLE, EMBEDDING_ROWS, EMBEDDING_TREE, EMBEDDINGS };

/* Whether a network is a cube, whatever its name: no dimension has more than two nodes. */
bool embedding_is_cube(const struct network *network);

/* Whether it is a line or a ring: at most one dimension has more than one node. */
bool embedding_is_line(const struct network *network);
bool embedding_is_ring(const struct network *network);

/* Writes the node of each rank; false: there is no such embedding of these two. */
bool embedding_make(enum embedding embedding, const struct network *host,
                    const struct network *guest, uint32_t *node_of);

/* The inverse: the rank at each node. False: it is no permutation of the nodes below `nodes`. */
bool embedding_invert(uint32_t nodes, const uint32_t *node_of, uint32_t *rank_of);

struct embedding_cost {
    uint32_t links; /* of the guest */
    unsigned dilation;
    uint32_t hops; /* of the ways of all its links in one direction: the mean is hops / links */
    uint32_t congestion;
};

/* `load` has room for the host's nodes times its ports: the ways over each directed link. */
struct embedding_cost embedding_measure(const struct network *host, const struct network *guest,
                                        const uint32_t *node_of, uint32_t *load);

/* The same of the tree's links, whatever the guest. */
struct embedding_cost embedding_measure_tree(const struct network *host, const uint32_t *node_of,
                                             uint32_t *load);
