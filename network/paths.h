/*
 * paths.h - paths between two nodes that share no link, for one message over several of them.
 *
 * No two of the paths use one link in the same direction, and none comes to a node twice. A path is
 * a list of runs: so many hops over one port, then so many over the next.
 *
 *     torus:5x5, 0 to 6 (one step in both dimensions); ports 0 and 1 are dimension 0, + and -
 *     SHORT    +0 +2      +2 +0        -0 +2 -0 -0 -0        -2 +0 -2 -2 -2        2, 2, 5, 5 hops
 *     EVEN     +0 +0 +2 -0     -0 +2 +0 +0     +2 +2 +0 -2     -2 +0 +2 +2         4, 4, 4, 4 hops
 *
 * With h dimensions to correct, and `way` for the least hops:
 *
 *   h paths of `way`     correct one of these dimensions after the other, each path beginning at
 *                        another and going round; in a cube these are the h node-disjoint ones
 *   way + 2              a step aside in a dimension that is right, all others, and the step back;
 *                        in a cube the other d - h
 *   way + n - 2 s        in a ring of n, s steps of which are the short way: the long way round
 *   way + 4              a step back in one dimension, one too many in another (not round a ring)
 *   way + 8              of one dimension: a step back, two aside, and past the end, then back
 *
 * EVEN makes the longest shorter where two dimensions and more are to be corrected: in a dimension
 * whose long way is 3 hops and more longer one path goes a step too far, and one begins with a step
 * back: way + 2 both. Of one dimension, where the others are right, it takes the lengths way,
 * way + 2, way + 4, way + 6 between neighbours, and way + 2, way + 4, way + 4, way + 4 else.
 *
 * Any number of SHORT ones has the fewest hops in all that so many disjoint paths can have; of all
 * paths of a pair one of the two kinds has, on a torus up to one hop more.
 *
 * Units    hops; ports of the node that a hop leaves
 * Errors   none; both nodes must lie inside the network; no path leads from one to itself
 * Context  any; pure
 * Source   Ozveren, "Communication aspects of parallel processing" (1987), 2.2.1, in whose first
 *          torus case "aligned" must be "not aligned", and whose lengths hold for paths that share
 *          nodes; Saad & Schultz 1988, IEEE Trans. Computers C-37(7):867-872 (cubes)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

enum { NETWORK_PATHS_MAX = NETWORK_PORTS_MAX, NETWORK_RUNS_MAX = NETWORK_DIMS_MAX + 6 };

enum network_paths_kind {
    NETWORK_PATHS_SHORT, /* the fewest hops in all, the shortest first */
    NETWORK_PATHS_EVEN   /* the longest as short as may be */
};

struct network_path {
    uint32_t hops;
    uint8_t run_count;
    uint8_t port[NETWORK_RUNS_MAX];
    uint16_t steps[NETWORK_RUNS_MAX];
};

/* Makes at most `most` of the disjoint paths of a kind, sorted by their length; returns how many:
 * as many as there can be, if `most` is large enough. */
unsigned network_paths(const struct network *network, uint32_t from, uint32_t to,
                       enum network_paths_kind kind, unsigned most,
                       struct network_path paths[NETWORK_PATHS_MAX]);

/* The port of a path's hop, from 0 on; below path->hops. */
unsigned network_path_port(const struct network_path *path, uint32_t hop);
