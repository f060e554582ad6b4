/*
 * pipeline.c - broadcast in segments, each of which starts while the ones before it are on their
 * way; and backwards reduce.
 *
 * Chain: along the Hamiltonian cycle (cycle.h) from the root. A node passes a segment on in the
 * step behind the one in which it came; or, ahead, one step later: then every set-up but the first
 * is issued while the segment before it flows, and the chain is twice as many steps deep.
 *
 * Rotation, on cubes: in round r all circuits go over dimension r mod d. The root gives segment q
 * to its neighbour over dimension q mod d in round q; from there it goes over the d dimensions that
 * follow, doubling each time. Node x, as seen from the root, sends in round r the segment that came
 * in over the first dimension among r, r + 1, ... in which x differs from the root: exactly one. So
 * m segments are everywhere after m + d rounds. Ahead: even and odd segments rotate by themselves,
 * round by round in turn.
 *
 *     cube:2 from 0, 3 segments    0>1:0 | 0>2:1 1>3:0 | 0>1:2 2>3:1 3>2:0 | 1>3:2 3>1:1 | 3>2:2
 *
 * Variants  2 i: 2^i segments, 2 i + 1: the same, ahead
 * Source    Johnsson & Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE
 *           Trans. Computers 38(9), 1989, 1249-1268 (rotated spanning trees); chain: Traeff &
 *           Ripke, Optimal broadcast for fully connected processor-node networks, JPDC 68(7), 2008
 */
#include <stdio.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/cycle.h"
#include "reduction/reduction.h"

/* What is larger does not fit into 64 bits: then nothing is said. */
static const double LEAST_MAX_NS = 4e18;

/* Segments of fewer bytes flow in less time than they are set up in. */
enum {
    NODES_MAX = 8192,
    CHAIN_MOVES_MAX = 3 << 19,
    ROTATION_MOVES_MAX = 1 << 17,
    SEGMENT_BYTES_MIN = 64,
    EXPONENT_MAX = 14,
    KEPT_EXPONENT_MAX = 11 /* a row for each, and all fit what a node keeps */
};

bool possible_as_chain(const struct network *network)
{
    return network->nodes <= NODES_MAX;
}

bool possible_by_rotation(const struct network *network)
{
    return network->kind == NETWORK_CUBE && network->nodes <= NODES_MAX;
}

/* As many as have no more moves than those, two for each power of two of segments. */
static unsigned variants_of(const struct network *network, const struct plan_request *request,
                            uint64_t moves)
{
    unsigned exponent = 0;
    unsigned most = network->nodes <= PLAN_KEPT_NODES ? KEPT_EXPONENT_MAX : EXPONENT_MAX;

    while (exponent < most && request->bytes >> (exponent + 1) >= SEGMENT_BYTES_MIN &&
           (uint64_t)network->nodes << (exponent + 1) <= moves) {
        exponent++;
    }
    return 2 * (exponent + 1);
}

unsigned pipeline_variants(const struct network *network, const struct plan_request *request)
{
    return variants_of(network, request, CHAIN_MOVES_MAX);
}

unsigned rotation_variants(const struct network *network, const struct plan_request *request)
{
    return variants_of(network, request, ROTATION_MOVES_MAX);
}

void pipeline_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%u segment%s%s", 1u << variant / 2, variant < 2 ? "" : "s",
             variant % 2 ? " ahead" : "");
}

/* By the first node's port and the last segment's way: the first node gives m segments, and the
 * last of them goes over N - 2 nodes more. One set-up a segment and node is not hidden; ahead only
 * what is longer counts, set-ups or bytes. Of two nodes all set-ups but the first are hidden. */
struct candidate_least chain_least(const struct network *network,
                                   const struct plan_request *request)
{
    const struct profile *profile = request->profile;
    uint64_t m = UINT64_C(1) << request->variant / 2, k = request->bytes, e = profile->element_ns;
    uint64_t set_up = ((uint64_t)profile->xi_ns + profile->tau_ns) * clock_element_bytes(profile);
    uint64_t unit = reduction_element_bytes(request->type);
    uint64_t rest = (m - 1) * (unit ? unit : 1), between = network->nodes - UINT64_C(2);
    uint64_t least = k > rest ? k - rest : 0;                     /* bytes of a segment, times m */
    uint64_t given = (m - 1) * k > rest ? (m - 1) * k - rest : 0; /* those before the last */

    if (network->nodes < 2) {
        return (struct candidate_least){0, 1};
    }
    if ((double)(m + between) * ((double)(m * set_up) + (double)(k * e)) >= LEAST_MAX_NS) {
        return (struct candidate_least){0, (uint32_t)m};
    }
    if (network->nodes > 2 && request->variant % 2 == 0) {
        return (struct candidate_least){m * ((m + between) * set_up + k * e) + between * least * e,
                                        (uint32_t)m};
    }
    uint64_t begun = set_up * m + clock_max(set_up * m * (m - 1), given * e);
    uint64_t hop = clock_max(set_up * m, least * e);
    return (struct candidate_least){begun + between * hop + least * e, (uint32_t)m};
}

struct plan *plan_chain(const struct network *network, const struct plan_request *request)
{
    uint32_t segments = UINT32_C(1) << request->variant / 2, nodes = network->nodes, first = 0;
    uint32_t delay = 1 + request->variant % 2,
             steps = nodes > 1 ? segments + delay * (nodes - 2) : 0;
    bool back = operation_of(request->operation)->reduces; /* so that segments go in their order */
    struct cycle cycle = cycle_make(network);
    struct flow flow = {0};

    while (cycle.at[first] != request->root) {
        first++;
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t i = 0; i + 1 < nodes && i * delay <= step; i++) {
            uint32_t place = (first + i) % nodes;
            if (step - i * delay >= segments) {
                continue;
            }
            uint32_t segment = step - i * delay;
            flow_move(&flow, step, cycle.at[place], cycle.at[(place + 1) % nodes],
                      cycle.via[place]);
            flow_add(&flow, back ? segments - 1 - segment : segment, 1);
        }
    }
    cycle_free(&cycle);
    return flow_plan(network, request, &flow, segments);
}

/* How many rounds ago the segment was given out that node x, seen from the root, sends in a round:
 * by the first dimension from this round's on in which it differs. */
static uint32_t age_at(uint32_t dims, uint32_t x, uint32_t round)
{
    uint32_t up = 0;

    while (!(x >> (round + up) % dims & 1)) {
        up++;
    }
    return dims - up;
}

/* The moves of a round; segment q of a stream is stream + q * streams of all. */
static void rotate(struct flow *flow, const struct plan_request *request, uint32_t dims,
                   uint32_t round, uint32_t stream, uint32_t streams)
{
    uint32_t segments = UINT32_C(1) << request->variant / 2, over = UINT32_C(1) << round % dims;
    uint32_t own = (segments + streams - 1 - stream) / streams;

    for (uint32_t x = 0; x < UINT32_C(1) << dims; x++) {
        uint32_t age = x ? age_at(dims, x, round) : 0, to = x ^ over;
        if (to == 0 || age > round || round - age >= own) {
            continue;
        }
        flow_move(flow, streams * round + stream, x ^ request->root, to ^ request->root,
                  FLOW_DIRECT);
        flow_add(flow, stream + (round - age) * streams, 1);
    }
}

struct plan *plan_rotation(const struct network *network, const struct plan_request *request)
{
    uint32_t segments = UINT32_C(1) << request->variant / 2, dims = network->dims;
    uint32_t streams = 1 + request->variant % 2;
    struct flow flow = {0};

    for (uint32_t round = 0; dims > 0 && round < (segments + streams - 1) / streams + dims;
         round++) {
        for (uint32_t stream = 0; stream < streams; stream++) {
            rotate(&flow, request, dims, round, stream, streams);
        }
    }
    return flow_plan(network, request, &flow, segments);
}
