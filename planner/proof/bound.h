/*
 * bound.h - what no plan can take less than.
 *
 * Every argument below holds for any plan; the largest is the bound. k: bytes of a block or vector;
 * N: nodes; p: sends that a node can have at once (1, or with all ports its links); e: an element;
 * a = xi + tau.
 *
 *   elements    What one node must send or receive goes through its ports when a first path stands:
 *               B elements take a + B / p e; B is k of broadcast and reduce, (N - 1) k of the
 *               others.
 *   rounds      A node's sends begin at least a after each other, even if they are issued ahead,
 *               and a after its block has come. So the nodes that have a block grow by a factor of
 *               1 + p in a at most. The last begins to receive after ceil(log N) a, and takes k
 *               then. Not of gather and reduce: what a node receives may be set up side by side.
 *   distance    What comes over D hops, of the farthest pair, or the root and who is farthest from
 *               it, begins to arrive after xi + D tau, and takes D - 1 + k / p elements in all.
 *   links       Of a shift or reversal: in a dimension of rings all hops of the shorter ways,
 *               shared by its directed links, or in one of lines the blocks that cross a cut one
 *               way, shared by the lines: some link has so many of them, m, and takes a + m k e.
 *               There the farthest pair is that of a block's two ends, and B is k.
 *
 * All hold of a scan, too: of two nodes the one of the higher rank gets what the other gives, and
 * all nodes get what node 0 gives.
 *
 * On a cube the elements alone are the bound of the operations of the paper's table 1, as there, so
 * that time over bound is the paper's eta.
 *
 * Units    ns
 * Context  host; pure
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 2, table 1 (send/receive argument;
 *          with all ports, the bandwidth argument)
 */
#pragma once

#include "planner/planner.h"

uint64_t plan_bound_ns(const struct plan *plan, uint32_t bytes, const struct profile *profile);
