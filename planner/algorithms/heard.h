/*
 * heard.h - which node has heard of which block, for flows in which nobody is told twice.
 *
 *     struct heard heard = heard_make(nodes);
 *     heard_tell(&heard, &heard, &flow, step, from, to);   a move of all that is new to `to`
 *
 * Units    ranks; as many blocks as nodes
 * Context  host
 */
#pragma once

#include "planner/algorithms/flow.h"

struct heard {
    uint64_t *bits; /* [node * words + block / 64] */
    uint64_t words;
    uint32_t nodes;
};

/* Each node has its own block. */
struct heard heard_make(uint32_t nodes);
void heard_free(struct heard *heard);

/* What all have heard by now, for tellers of a step in which they hear as well. */
void heard_copy(struct heard *to, const struct heard *from);

/* A move of what `from` has by `told` and `to` has not by `heard`, which then has it; if there is
 * anything. */
void heard_tell(const struct heard *told, struct heard *heard, struct flow *flow, uint32_t step,
                uint32_t from, uint32_t to);

/* Behind a flow from one node that has all blocks, which brings each node its own, the moves of
 * another in which each node begins with its own, of what has not come before. Frees the other. */
void heard_append(struct flow *flow, struct flow *more, uint32_t root, uint32_t nodes);
