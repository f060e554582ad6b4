/*
 * halving.h - the tree that reaches all nodes from one by halving each dimension, slowest first.
 *
 * A line of nodes along a dimension begins with one holder. The part of the line that a holder has
 * is cut in two halves, and the half without it gets the node of it that is nearest to the holder.
 * A ring is cut open opposite to the root first. When all lines of a dimension are single nodes the
 * next dimension begins, every node being the holder of its line.
 *
 *     mesh:1x8 from 2    2 -> 4 | 2 -> 1, 4 -> 6 | 1 -> 0, 2 -> 3, 4 -> 5, 6 -> 7
 *     cube:3 from 0      0 -> 4 | 0 -> 2, 4 -> 6 | 0 -> 1, 2 -> 3, 4 -> 5, 6 -> 7
 *
 * With another share than half a holder gives away that part of its line, at the end that is
 * farther from it. Then a node that was reached early has more nodes to reach: it goes on giving
 * while others are still being reached.
 *
 * No two edges of a step share a directed link. An edge is never longer than a circuit can be; a
 * half whose nearest node is farther away is grown towards the holder.
 *
 * Units    ranks, hops
 * Context  host
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.2 and figure 6; Sharma & Wagh, Decremental Scattering,
 *          section III (on cubes)
 */
#pragma once

#include "planner/planner.h"

/* Ranks in ascending order: two ranges, of which the second may be empty. */
struct ranks {
    uint32_t first[2], count[2];
};

struct edge {
    uint32_t step, from, to;
    struct ranks below; /* `to` and all that it reaches */
};

struct tree {
    struct edge *edges; /* nodes - 1, by step */
    uint32_t count, steps;
};

enum { TREE_SHARES = 16, TREE_HALF = TREE_SHARES / 2 };

/* Groups: each dimension is cut into so many parts, as equal as can be; a group is a part of each.
 * Its leader is in the middle of each part of a ring, and of a line at the end that is nearer to
 * the line's middle. */
struct groups {
    uint32_t of[NETWORK_DIMS_MAX]; /* parts of each dimension */
};

/* The coordinate of the leader of a part. */
uint32_t groups_leader(const struct network *network, unsigned dimension,
                       const struct groups *groups, uint32_t part);

/* The trees of all groups, from their leaders, as one; `below` is not set. */
struct tree tree_make_groups(const struct network *network, const struct groups *groups,
                             uint32_t share);
struct tree tree_make(const struct network *network, uint32_t root);
/* The same with a share of so many sixteenths; TREE_HALF: the same. */
struct tree tree_make_uneven(const struct network *network, uint32_t root, uint32_t share);
/* The node from which the farthest nodes are nearest. */
uint32_t tree_middle(const struct network *network);
void tree_free(struct tree *tree);
