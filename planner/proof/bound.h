/*
 * bound.h - what no plan can take less than.
 *
 * Every argument below holds for any plan; the largest is the bound. k: bytes of a block or vector;
 * N: nodes; p: sends that a node can have at once (1, or with all ports the links of the node that
 * is spoken of); e: an element; a = xi + tau. Blocks are not divided; vectors are, down to bytes.
 * Where elements are of w bytes k e stands for as many whole elements as the bytes fill.
 *
 *   ports       What one node must send or receive goes through its ports when a first path stands,
 *               which takes a, then k e for each block: of broadcast, reduce, shift and reversal
 *               one, of an exchange from all to some one for each movement, of the others N - 1.
 *               With all ports it is the node with the fewest links, or the root.
 *   passes      Of an allreduce each element moves at least 2 (N - 1) times: N - 1 nodes must give
 *               theirs before the first node has the sum, and N - 1 nodes must still get it then.
 *               Some of the N nodes receives so much of that as its share, after a. With all ports
 *               all directed links share it.
 *   rounds      A node's sends begin at least a after each other, even if they are issued ahead,
 *               and a after its block has come. So the nodes that have a block grow by a factor of
 *               1 + p in a at most. The last begins to receive after ceil(log N) a, and takes k
 *               then. Not of gather and reduce: what a node receives may be set up side by side.
 *   distance    What comes over D hops, of the farthest pair, or the root and who is farthest from
 *               it, begins to arrive after xi + D tau, and takes D - 1 + k / p elements in all. Of
 *               a shift, a reversal or from all to some the pair is a block's two ends.
 *   links       Of exchanges (from all to some, too), shifts and reversals: some link must carry m
 *   blocks (link_load.h),
 *               one after the other, when a first path stands, and takes a + m k e. Of a scan cut
 *               each line of ranks that follow each other, of s nodes, in two. What lies behind the
 *               cut in a line needs a sum of what lies before it in this line and those below, in
 *               each line another, and no sum can be made of others: N / s sums go over the N / s
 *               links of the cuts, k over one of them, or over 2 N / s of rings.
 *
 * All hold of a scan, too: of two nodes the one of the higher rank gets what the other gives, and
 * all nodes get what node 0 gives. Of an allgather links say no more than ports: what a node with
 * the fewest links must get comes over these.
 *
 * Start-up and bytes are only added as above: a port or a link that has much to carry may begin
 * after one set-up, and further set-ups may lie behind what it carries.
 *
 * On a cube the bound of the operations of the paper's table 1 is that table's, as bytes alone, so
 * that time over bound is the paper's eta: ports and, with all ports, links, without a.
 *
 * Units    ns
 * Context  host; pure
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), section 2, table 1 (send/receive argument;
 *          with all ports, the bandwidth argument); Patarasuk & Yuan, JPDC 69 (2009), 117-124
 *          (allreduce)
 */
#pragma once

#include "planner/planner.h"

/* The bound where each pair has a size of its own (plan_time_sized). */
uint64_t plan_bound_sized_ns(const struct plan *plan, const uint32_t *bytes,
                             const struct profile *profile);
