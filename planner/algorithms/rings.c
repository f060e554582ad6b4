/*
 * rings.c - allgather, and backwards reduce_scatter, round rings: one through all nodes, or one in
 * each line, dimension by dimension. Both, one behind the other, are an allreduce.
 *
 * One way: in step s a node passes on what came to it in step s - 1, so every step waits for the
 * one before. Both ways by turns: blocks go forth in even steps and back in odd ones, half round
 * the ring each; what a node passes on came two steps ago, and all set-ups but the first can be
 * issued ahead.
 *
 *     ring:5, block of 0    one way    0 1 | 1 2 | 2 3 | 3 4
 *                           by turns   0 1 | 0 4 | 1 2 | 4 3
 *
 * Lines: when the faster dimensions are through, a node has the blocks of all nodes that differ
 * from it in these alone, `stride` that lie together, and passes them on together. Backwards the
 * slowest dimension comes first, with the most blocks.
 *
 * Variants  0 one way, 1 both ways by turns
 * Source    Ozveren, LIDS-P-1721 (1987), 2.2.3 and 2.2.4 (multinode broadcast and accumulation);
 *           Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009, 117-124 (their join);
 *           Barnett et al., Interprocessor collective communication library, SHPCC 1994 (bucket)
 */
#include <stdio.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/cycle.h"
#include "planner/algorithms/lines.h"
#include "planner/algorithms/rings.h"

enum {
    CYCLE_NODES_MAX = 256,
    LINES_NODES_MAX = 4096,
    LINES_CIRCUITS_MAX = 1 << 20,
    RING_VARIANTS = 2
};

/* One turn of a ring of `size` places: in a step, how far from its own a node's block is that it
 * passes on, and which way. */
struct turn {
    uint32_t back; /* places behind the node, seen in the direction in which it sends */
    bool forth;
};

static struct turn turn_of(uint32_t step, bool by_turns)
{
    if (!by_turns) {
        return (struct turn){step, true};
    }
    return (struct turn){step / 2, step % 2 == 0};
}

unsigned ring_variants(const struct network *network, const struct plan_request *request)
{
    (void)network;
    (void)request;
    return RING_VARIANTS;
}

void ring_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", variant ? "both ways" : "one way");
}

bool possible_in_cycle(const struct network *network)
{
    return network->nodes <= CYCLE_NODES_MAX;
}

struct flow cycle_flow(const struct network *network, bool by_turns)
{
    struct cycle cycle = cycle_make(network);
    struct flow flow = {0};
    uint32_t nodes = network->nodes;

    for (uint32_t step = 0; step + 1 < nodes; step++) {
        struct turn turn = turn_of(step, by_turns);
        for (uint32_t place = 0; place < nodes; place++) {
            uint32_t next = (place + 1) % nodes, last = (place + nodes - 1) % nodes;
            uint32_t source = (place + (turn.forth ? nodes - turn.back : turn.back)) % nodes;
            flow_move(&flow, step, cycle.at[place], cycle.at[turn.forth ? next : last],
                      cycle.via[turn.forth ? place : last]);
            flow_add(&flow, cycle.at[source], 1);
        }
    }
    cycle_free(&cycle);
    return flow;
}

struct plan *plan_cycle(const struct network *network, const struct plan_request *request)
{
    struct flow flow = cycle_flow(network, request->variant);

    return flow_plan(network, request, &flow, network->nodes);
}

bool possible_by_lines(const struct network *network)
{
    uint64_t steps = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        steps += network->dim[k].size - 1;
    }
    return steps * network->nodes <= LINES_CIRCUITS_MAX && network->nodes <= LINES_NODES_MAX;
}

/* The coordinate `places` further on the ring of a line. */
static uint32_t along(const struct network_dimension *dim, uint32_t at, uint32_t places)
{
    if (dim->wraps) {
        return (at + places) % dim->size;
    }
    return fold_at(dim->size, (fold_place(dim->size, at) + places) % dim->size);
}

static void line_moves(struct flow *flow, const struct network *network, unsigned k, bool by_turns)
{
    const struct network_dimension *dim = &network->dim[k];
    uint32_t first = flow->steps, line = dim->stride * dim->size;

    for (uint32_t step = 0; step + 1 < dim->size; step++) {
        struct turn turn = turn_of(step, by_turns);
        for (uint32_t node = 0; node < network->nodes; node++) {
            uint32_t at = node / dim->stride % dim->size;
            uint32_t to = along(dim, at, turn.forth ? 1 : dim->size - 1);
            uint32_t source = along(dim, at, turn.forth ? dim->size - turn.back : turn.back);
            flow_move(flow, first + step, node, node - at * dim->stride + to * dim->stride,
                      FLOW_DIRECT);
            flow_add(flow, node / line * line + source * dim->stride, dim->stride);
        }
    }
}

struct flow lines_flow(const struct network *network, bool by_turns)
{
    struct flow flow = {0};

    for (unsigned k = 0; k < network->dims; k++) {
        line_moves(&flow, network, k, by_turns);
    }
    return flow;
}

struct plan *plan_lines(const struct network *network, const struct plan_request *request)
{
    struct flow flow = lines_flow(network, request->variant);

    return flow_plan(network, request, &flow, network->nodes);
}
