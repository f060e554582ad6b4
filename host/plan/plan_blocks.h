/*
 * plan_blocks.h - which blocks the circuits of a plan move, by replay of what each slot holds.
 *
 * A plan says which slots a circuit reads and writes. What lies in them has a name that people and
 * other tools understand, as the spaces of the operation say it:
 *
 *     "s.d"   what s sends to d, where every node has a block for every other
 *     "s"     what s gives, where every node gives one
 *     "d"     what is for d, where the root has one for every node
 *     "i"     segment i of a vector, combined with others or not
 *
 * In a step all circuits read before any of them writes; copies stand before or behind them. A plan
 * of node 0 alone must be expanded first.
 *
 * Units    blocks; a name is s * nodes + d of a pair, else one number
 * Errors   none: the planner has proved that what is read is there (CHECK)
 * Context  the tool
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "planner/planner.h"

/* Of a prefix, or where nodes combine when all has come: the ranks whose contributions are
 * combined; first > last: they do not follow each other. */
struct plan_ranks {
    uint32_t first, last;
};

struct plan_blocks {
    const struct plan *plan;
    const struct operation *operation;
    uint32_t *held;  /* the names in the slots of RECEIVE, then SCRATCH, of node 0, 1, ... */
    uint64_t *at;    /* of each node, where its slots begin in `held` */
    uint32_t *cargo; /* the names that circuits move which have not written yet */
    struct plan_ranks *held_ranks, *cargo_ranks; /* the same places; NULL: of no such plan */
    uint64_t cargo_count, cargo_room;
    uint32_t next, unwritten; /* circuits; those from `unwritten` on to `next` have not written */
};

/* Slots that the replay of a plan keeps in memory; an invariant plan's once it is expanded. */
uint64_t plan_blocks_slots(const struct plan *plan);

void plan_blocks_begin(struct plan_blocks *blocks, const struct plan *plan);
void plan_blocks_end(struct plan_blocks *blocks);

/* The next circuit or copy, in the plan's order, and the names of the blocks that it moves, which
 * stay until the next call; NULL behind the last. */
const struct plan_circuit *plan_blocks_next(struct plan_blocks *blocks, const uint32_t **names);

/* Whose contributions the blocks hold that plan_blocks_next named last; NULL: see there. */
const struct plan_ranks *plan_blocks_ranks(const struct plan_blocks *blocks);

enum { SECOND_TEXT_MAX = 12 };

/* What a name that is a pair has behind the point: "3", "+1". Its sender is name / width, for width
 * = operation_pair_width. */
void plan_blocks_second(const struct plan *plan, uint32_t name, char text[SECOND_TEXT_MAX]);
