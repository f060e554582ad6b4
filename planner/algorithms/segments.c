/*
 * segments.c - broadcast of long vectors over several trees at once, none of which shares a link
 * with another (disjoint.h): each brings a part of the vector, in segments, to all nodes. Backwards
 * reduce.
 *
 * A node passes a segment on to all below it in the step behind the one in which it came. So with t
 * trees, h hops deep, and m segments in each all is over after m + h - 1 steps, in which every link
 * of a tree carries a segment. With fewer ports than links a step is as many as are needed.
 *
 *     ring:4 from 0, 2 trees    0>1:0 0>3:1 | 1>2:0 3>2:1 | 2>3:0 2>1:1
 *
 * Variants  i: 2^i segments in each tree
 * Source    Johnsson & Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE
 *           Trans. Computers 38(9), 1989, 1249-1268 (edge-disjoint spanning trees)
 */
#include <stdio.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/disjoint.h"
#include "planner/algorithms/flow.h"

/* Segments of fewer bytes flow in less time than they are set up in. */
enum {
    CUBE_NODES_MAX = 1024,
    PACKED_NODES_MAX = 256,
    MOVES_MAX = 1 << 19,
    ROWS_MAX = 1 << 11, /* of a node, that it keeps */
    SEGMENT_BYTES_MIN = 32,
    EXPONENT_MAX = 10
};

bool possible_in_segments(const struct network *network)
{
    return network->nodes > 1 &&
           network->nodes <= (network->kind == NETWORK_CUBE ? (uint32_t)CUBE_NODES_MAX
                                                            : (uint32_t)PACKED_NODES_MAX);
}

unsigned segments_variants(const struct network *network, const struct plan_request *request)
{
    uint64_t trees = network->ports;
    unsigned exponent = 0;

    while (exponent < EXPONENT_MAX &&
           request->bytes >> (exponent + 1) >= SEGMENT_BYTES_MIN * trees &&
           trees * network->nodes << (exponent + 1) <= MOVES_MAX &&
           trees << (exponent + 1) <= ROWS_MAX) {
        exponent++;
    }
    return exponent + 1;
}

void segments_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%u segment%s", 1u << variant, variant ? "s" : "");
}

/* The moves of a step; the segments of a tree stand together. */
static void add_step(struct flow *flow, const struct disjoint *trees, uint32_t step,
                     uint32_t segments, bool back)
{
    for (uint32_t tree = 0; tree < trees->trees; tree++) {
        for (uint32_t node = 0; node < trees->nodes; node++) {
            uint64_t at = (uint64_t)tree * trees->nodes + node;
            uint32_t depth = trees->depth[at], segment = step + 1 - depth;
            if (depth == 0 || depth > step + 1 || segment >= segments) {
                continue;
            }
            flow_move(flow, step, trees->parent[at], node, FLOW_DIRECT);
            flow_add(flow, tree * segments + (back ? segments - 1 - segment : segment), 1);
        }
    }
}

struct plan *plan_in_segments(const struct network *network, const struct plan_request *request)
{
    uint32_t segments = UINT32_C(1) << request->variant;
    bool back = operation_of(request->operation)->reduces;
    struct disjoint trees = disjoint_make(network, request->root);
    uint32_t all = trees.trees * segments;
    struct flow flow = {0};

    for (uint32_t step = 0; step < segments + trees.deepest - 1; step++) {
        add_step(&flow, &trees, step, segments, back);
    }
    disjoint_free(&trees);
    flow_ports(&flow, network->nodes, request->ports);
    return flow_plan(network, request, &flow, all);
}
