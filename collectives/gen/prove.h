/*
 * prove.h - proves a schedule by replaying all nodes of one cube from one root.
 *
 * The replay runs the firmware's own walker on every node, in step, and checks that
 *   - every send meets a receive of the same size in the same step at the node it names, and every
 *     receive a send;
 *   - under e-cube routing no directed link carries two circuits in a step;
 *   - an OPEN can say every path and every turn (wire/circuit.h);
 *   - the turns that the walker gives are the numbers of circuits that each link has carried
 *     before;
 *   - the last circuit of every link begins at the link's own node, so that a node which is through
 *     is through for its links too (rule 5 of the router);
 *   - every block read holds data, no block is delivered twice, and no offset leaves the node's
 *     buffers;
 *   - at the end every node holds what the operation promises. A barrier of more than 10
 *     dimensions follows the arrivals of 64 nodes to all others, not of every node: the replay
 *     checks that in each step all nodes do what node 0 does, translated by XOR, so that one would
 *     do;
 *   - steps, hops and blocks are those of the closed form in predict.h, which then is no less than
 *     the bound.
 *
 * Errors   false and a sentence in proof->fault
 * Context  host only; allocates
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/row.h"

struct proof {
    uint32_t steps;
    uint32_t hops;     /* sum over the steps of the longest path */
    uint32_t blocks;   /* sum over the steps of the largest message */
    uint64_t circuits; /* of all nodes */
    uint64_t links;    /* link uses of all circuits */
    char fault[200];
};

/* Why an OPEN cannot say a path of so many hops, or that so many circuits of a schedule pass a link
 * before it; NULL: it can. */
const char *schedule_path_fault(uint32_t hops, uint32_t turn);

bool schedule_prove(const struct schedule_table *table, uint32_t operation, uint32_t dims,
                    uint32_t root, struct proof *proof);

/*
 * Proves the table for every cube that it holds: from every root up to 6 dimensions, from a sample
 * above. Returns how many cubes are proved, from that of one node upwards, each with the proof from
 * root 0; when it is not all, which is table->dims + 1, the next proof holds the fault.
 */
uint32_t schedule_prove_all(const struct schedule_table *table, uint32_t operation,
                            struct proof proofs[CUBE_DIMS_MAX + 1]);
