/*
 * allgather.c - rings of neighbours: dimension by dimension, fastest first, every node passes on
 * what came to it in the step before, first its own blocks.
 *
 * When the faster dimensions are through, a node has the blocks of all nodes that differ from it in
 * these alone: `stride` slots that lie together, which go on together. A ring is its own ring. The
 * ring of a line of nodes is folded, so that no circuit has more than two hops and every directed
 * link is used by one of them:
 *
 *     0 --> 2 --> 4
 *     ^           v       5 nodes: 0 2 4 3 1
 *     1 <-------- 3
 *
 * On a symmetric network one node's plan serves all.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 2.2.3 (multinode broadcast along a ring)
 */
#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/lines.h"

enum { CIRCUITS_MAX = 1 << 21 }; /* of all nodes, where each has its own */

/* What a dimension of the network does: in step s of it each node sends what its predecessor's
 * predecessor's ... (s times) had at first. */
struct ring {
    struct plan *plan;
    const struct network_dimension *dim;
    uint32_t step; /* the first of this dimension */
};

static uint64_t steps_of(const struct network *network)
{
    uint64_t steps = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        steps += network->dim[k].size - 1;
    }
    return steps;
}

bool possible_with_rings(const struct network *network)
{
    return network_is_symmetric(network) || steps_of(network) * network->nodes <= CIRCUITS_MAX;
}

/* A node sends the blocks of the line's node at coordinate `source`, and of all its faster ones. */
static void pass_on(struct ring *ring, uint32_t step, uint32_t node, uint32_t to, uint32_t source)
{
    uint32_t stride = ring->dim->stride, line = stride * ring->dim->size;
    struct slots blocks =
        slots_of(ring->plan, SPACE_RECEIVE, node / line * line + source * stride, stride);
    bool received = step > 0 || stride > 1;

    build_circuit(ring->plan, ring->step + step, node, to, blocks, blocks,
                  received ? ROW_AFTER_RECEIVED : 0);
}

/* The coordinate `places` further on the ring of a line. */
static uint32_t along(const struct network_dimension *dim, uint32_t at, uint32_t places)
{
    uint32_t size = dim->size;

    if (dim->wraps) {
        return (at + places) % size;
    }
    return fold_at(size, (fold_place(size, at) + places) % size);
}

static void line_step(struct ring *ring, uint32_t step, uint32_t node)
{
    const struct network_dimension *dim = ring->dim;
    uint32_t at = node / dim->stride % dim->size, to = along(dim, at, 1);

    pass_on(ring, step, node, node + to * dim->stride - at * dim->stride,
            along(dim, at, dim->size - step));
}

struct plan *plan_ring_allgather(const struct network *network, const struct plan_request *request)
{
    bool invariant = network_is_symmetric(network);
    struct plan *plan = build_begin(network, request, invariant);
    struct ring ring = {.plan = plan};
    uint32_t nodes = invariant ? 1 : network->nodes;

    struct slots own = slots_of(plan, SPACE_SEND, 0, 1);
    for (uint32_t node = 0; node < nodes; node++) {
        build_copy(plan, 0, node, own, slots_of(plan, SPACE_RECEIVE, node, 1), 0);
    }
    for (unsigned k = 0; k < network->dims; k++) {
        ring.dim = &network->dim[k];
        for (uint32_t step = 0; step + 1 < ring.dim->size; step++) {
            for (uint32_t node = 0; node < nodes; node++) {
                line_step(&ring, step, node);
            }
        }
        ring.step += ring.dim->size - 1;
    }
    return plan;
}
