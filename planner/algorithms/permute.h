/*
 * permute.h - lays down plans in which each node has one block for one other node.
 *
 * A plan is made of steps. In a step the blocks of some nodes change places: who sends receives as
 * well, so that each node has one block before and after. A step that moves nothing is none.
 *
 *     static void all_at_once(struct permuter *p)
 *     {
 *         for (uint32_t node = 0; node < p->nodes; node++)
 *             p->to[node] = p->goal[node];
 *         permute_step(p);
 *     }
 *     plan = permute_plan(network, request, all_at_once);
 *
 * The function is called twice and must do the same both times: first the receives of each node are
 * counted. Where a node's last block comes goes to RECEIVE, the one before into scratch, and so on
 * by turns: what a node receives never lies on what it sends. A node without receives copies.
 *
 * Paths are those of the dimension order, or go the other way round some rings. Circuits of a step
 * that share a link are served one after the other: the longest first, each in the first round in
 * which all links of its path are free. That is their order in the plan; turns do the rest.
 *
 * Units    ranks
 * Errors   plan->refused
 * Context  host
 */
#pragma once

#include "planner/build.h"

struct rounds;

struct permuter {
    struct plan *plan;
    uint32_t nodes, variant;
    const uint32_t *goal; /* where the block is to go that a node has now */
    uint32_t *to;         /* to be filled before a step: where it goes in it; itself: it stays */
    /* likewise: bit k: in dimension k, a ring, by the longer way, or the one in - direction of two
     * that are as long; 0 before each step */
    uint8_t *other_way;
    /* permute.c's own */
    bool counts;
    uint32_t step;
    uint64_t circuits;
    uint32_t slot; /* that moves */
    uint32_t *goals, *spare, *left;
    uint8_t *holds;
    struct rounds *rounds;
    struct slots places[SPACES];
};

struct plan *permute_plan(const struct network *network, const struct plan_request *request,
                          void (*lay)(struct permuter *permuter));

/* The plan in which every node sends the block of each slot of SEND straight to its target,
 * together with those of other slots for the same one; one after the other, or as many at once as
 * there are ports (request->ports; 0: one). The targets of all nodes are equal where those of node
 * 0 are. */
bool permute_repeats(const struct plan *plan, uint32_t slot); /* of an earlier slot's target */
struct plan *permute_slots(const struct network *network, const struct plan_request *request);

/* Moves the blocks; false: nothing moved, or the plan has passed a limit. */
bool permute_step(struct permuter *permuter);

/* A node's coordinate in a dimension, and the node that has another one there. */
static inline uint32_t coordinate_of(const struct network_dimension *dim, uint32_t node)
{
    return node / dim->stride % dim->size;
}

static inline uint32_t with_coordinate(const struct network_dimension *dim, uint32_t node,
                                       uint32_t coordinate)
{
    return node - coordinate_of(dim, node) * dim->stride + coordinate * dim->stride;
}
