/*
 * block_sets.h - which blocks each node has, while a flow is laid down that gives no node a block
 * twice.
 *
 *     struct block_sets known = block_sets_make(nodes);
 *     block_sets_give(&known, &known, &flow, step, from, to);   all that `to` does not have yet
 *
 * Units    ranks; as many blocks as nodes
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

struct block_sets {
    uint64_t *bits; /* [node * words + block / 64] */
    uint64_t words;
    uint32_t nodes;
};

/* Each node has its own block. */
struct block_sets block_sets_make(uint32_t nodes);
void block_sets_free(struct block_sets *sets);

/* Whether a node has a block; notes that it has come to a node, false: it had it before. */
bool block_sets_has(const struct block_sets *sets, uint32_t node, uint32_t block);
bool block_sets_take(struct block_sets *sets, uint32_t node, uint32_t block);

void block_sets_copy(struct block_sets *to, const struct block_sets *from);

/* Adds a move to a flow: what the sender has that the receiver does not have. The sender's blocks
 * are those in `before`, the receiver's those in `known`, which then holds the new ones as well.
 * Where nodes send and receive in one step, `before` is a copy of `known` from before the step. No
 * move is added when there is nothing to give. */
void block_sets_give(const struct block_sets *before, struct block_sets *known, struct flow *flow,
                     uint32_t step, uint32_t from, uint32_t to);

/* Appends to a scatter (`flow`, from a root that has all blocks) the moves of an allgather
 * (`more`), without the blocks that a node has from the scatter. Frees `more`. */
void block_sets_append(struct flow *flow, struct flow *more, uint32_t root, uint32_t nodes);
