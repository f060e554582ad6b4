/*
 * draft.h - a rival's algorithm on its way to a plan: what moves, in any order; sorted at the end.
 *
 * Libraries say what each node does: wait for this, send that. A draft keeps for every node which
 * of its steps comes next, so that an algorithm says who passes what to whom and never counts
 * steps of others. What it works on lies in one run of slots, `work`: a vector's segments, or a
 * block for every rank. What is to be combined arrives in scratch, from slot `landing` on, and is
 * combined by a copy of the same step; copies take no model time.
 *
 * Units    slots, steps
 * Context  host; memory from malloc, whose failure ends the process
 */
#pragma once

#include "planner/build.h"

struct move;

struct draft {
    struct plan *plan;
    struct move *moves;
    uint32_t count;
    uint32_t *next; /* of each node: its next step */
    uint32_t nodes; /* of the network, a cube */
    unsigned dims;
    enum space work;
    uint32_t slots; /* of work */
    uint32_t landing;
};

/* A draft without moves: `slots` of `work`, where a vector has as many segments, and `scratch`
 * slots at every node. */
struct draft draft_begin(const struct network *network, const struct plan_request *request,
                         enum space work, uint32_t slots, uint32_t scratch);

/* The plan, not yet proved. */
struct plan *draft_end(struct draft *draft);

/* The first step in which no node has done anything; in which these two have not. */
uint32_t draft_step(const struct draft *draft);
uint32_t draft_step_of(const struct draft *draft, uint32_t a, uint32_t b);

/* A circuit; a copy before what the node does in its step. */
void draft_circuit(struct draft *draft, uint32_t step, uint32_t from, uint32_t to,
                   struct slots send, struct slots receive, uint8_t flags);
void draft_copy(struct draft *draft, uint32_t step, uint32_t node, struct slots from,
                struct slots to);

/* The slots [first, first + count) of work, modulo their number. */
struct slots draft_work(struct draft *draft, uint32_t first, uint32_t count);

/* Work's slots from node to node, where they replace what is there or are combined with it. */
void draft_pass(struct draft *draft, uint32_t step, uint32_t from, uint32_t to, uint32_t first,
                uint32_t count);
void draft_combine(struct draft *draft, uint32_t step, uint32_t from, uint32_t to, uint32_t first,
                   uint32_t count);
