/*
 * flow.h - blocks that spread from their owners to all nodes, and the plans that this makes.
 *
 * A flow is a list of moves in the order of steps: in this step this node gives these blocks to
 * that one. Every block reaches every node that wants it once, so its moves form a tree, and the
 * same moves backwards, the last first, bring every node's contribution to the owner:
 *
 *     blocks                 a flow                 the same reversed, adding up
 *     segments, all the      broadcast              reduce
 *     root's
 *     block i is node i's    allgather              reduce_scatter
 *     segments, of all       (behind a reversed flow) allreduce
 *     block i for node i,    scatter                gather (nothing is added up)
 *     the root's
 *
 * A layer lays flows down as a plan. It knows where each node has each block: in the program's
 * memory where the operation wants it, else in scratch, copied there first if it is to be added to.
 * It issues every step ahead in which that is right with one port, each connected part of a step by
 * itself, so a planner need only give its moves an order in which what is passed on is not the last
 * that came; where nodes use a second port, only what is through for sure goes ahead. It sets the
 * flags of waits.
 *
 * Units    ranks, blocks, steps
 * Errors   none; plan->refused
 * Context  host
 */
#pragma once

#include "planner/build.h"

static const uint32_t FLOW_DIRECT = UINT32_MAX;

struct flow_range {
    uint32_t first, count;
};

struct flow_move {
    uint32_t step, from, to;
    uint32_t via; /* the node between, of a path of two hops; FLOW_DIRECT: in dimension order */
    uint32_t range_at, range_count;
    uint8_t port; /* that it leaves and comes by (flow_ports) */
};

struct flow {
    struct flow_move *moves; /* by step */
    struct flow_range *ranges;
    uint32_t count, range_total;
    uint32_t steps;
    bool several; /* some move leaves by a second port */
};

/* Begins a move, in the step of the last one or a later one; its blocks are then added. */
void flow_move(struct flow *flow, uint32_t step, uint32_t from, uint32_t to, uint32_t via);
void flow_add(struct flow *flow, uint32_t first, uint32_t count);
void flow_reverse(struct flow *flow);

/* Gives moves ports, where nodes may send and receive several times in a step and have so many
 * ports (0: one; PORTS_ALL): a step becomes as many as are needed. No block may be sent in the step
 * in which it comes (flow_ports.c). */
void flow_ports(struct flow *flow, uint32_t nodes, unsigned ports);
void flow_free(struct flow *flow);

/* A block at a node: its slot, and what circuits have done to it. */
struct flow_site {
    uint32_t slot, written, sent; /* written, sent: 1 + step; 0: never */
    uint32_t added;               /* 1 + the last step in which a circuit adds to it */
    uint32_t leaves, next;        /* of blocks that pass: 1 + the step in which it goes on; 1 + the
                                   * block that gets its slot then */
    uint8_t space;
    bool arrived; /* what is there came over a circuit */
};

/* What a node has done: 1 + the last step not issued ahead, with a send, with a receive. */
struct flow_doing {
    uint32_t step, solid, sent, received;
    bool sends, receives;
};

struct layer {
    struct plan *plan;
    uint32_t blocks, step;   /* step: the first that is free */
    struct flow_site *sites; /* of each node, of each block */
    struct flow_doing *doing;
    uint32_t *group; /* of each node, in the step at hand: union-find */
    bool *solid;     /* of a group: not ahead */
    bool adds;
    bool several; /* ports: none serves one circuit behind the other for sure */
};

/* A layer for an operation's plan of so many blocks; `first` is the flow that is laid down first,
 * in the direction in which it is laid down. Sets scratch; copies what must be. */
struct layer layer_begin(struct plan *plan, uint32_t blocks, const struct flow *first);
/* Lays a flow down behind what there is; adds: what comes is combined with what is there. */
void layer_flow(struct layer *layer, const struct flow *flow, bool adds);
/* One step in which nodes combine some blocks with those of a partner, who does the same: in the
 * order in which their circuits are served. */
struct flow_pair {
    uint32_t node, partner;
    struct flow_range blocks;
};
void layer_pairs(struct layer *layer, const struct flow_pair *pairs, uint32_t count);
void layer_end(struct layer *layer);

/* The plan of a request by a flow of so many blocks, forwards, backwards or both, as the operation
 * wants it. Frees the flow. flow_plan_cut: blocks are cut in so many segments, each of which is a
 * block of the flow: block b's are from b * segments on. */
struct plan *flow_plan(const struct network *network, const struct plan_request *request,
                       struct flow *flow, uint32_t blocks);
struct plan *flow_plan_cut(const struct network *network, const struct plan_request *request,
                           struct flow *flow, uint32_t blocks, uint32_t segments);
