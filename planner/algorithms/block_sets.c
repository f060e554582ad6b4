#include "planner/algorithms/block_sets.h"

#include <stdlib.h>
#include <string.h>

static struct block_sets empty_sets(uint32_t nodes)
{
    struct block_sets sets = {.words = (nodes + UINT64_C(63)) / 64, .nodes = nodes};

    sets.bits = planner_memory(nodes * sets.words, sizeof *sets.bits);
    return sets;
}

bool block_sets_take(struct block_sets *sets, uint32_t node, uint32_t block)
{
    uint64_t *word = &sets->bits[node * sets->words + block / 64];
    uint64_t bit = UINT64_C(1) << block % 64;
    bool is_new = !(*word & bit);

    *word |= bit;
    return is_new;
}

bool block_sets_has(const struct block_sets *sets, uint32_t node, uint32_t block)
{
    return sets->bits[node * sets->words + block / 64] >> block % 64 & 1;
}

struct block_sets block_sets_make(uint32_t nodes)
{
    struct block_sets sets = empty_sets(nodes);

    for (uint32_t node = 0; node < nodes; node++) {
        (void)block_sets_take(&sets, node, node);
    }
    return sets;
}

void block_sets_free(struct block_sets *sets)
{
    free(sets->bits);
}

void block_sets_copy(struct block_sets *to, const struct block_sets *from)
{
    memcpy(to->bits, from->bits, from->nodes * from->words * sizeof *from->bits);
}

/* Adds a block to the last move; the first of a move begins it. */
static void add_block(struct flow *flow, const struct flow_move *move, uint32_t step, bool first,
                      uint32_t block)
{
    if (first) {
        flow_move(flow, step, move->from, move->to, move->via);
    }
    flow_add(flow, block, 1);
}

void block_sets_give(const struct block_sets *before, struct block_sets *known, struct flow *flow,
                     uint32_t step, uint32_t from, uint32_t to)
{
    const struct flow_move move = {.from = from, .to = to, .via = FLOW_DIRECT};
    bool first = true;

    for (uint32_t block = 0; block < before->nodes; block++) {
        if (block_sets_has(before, from, block) && block_sets_take(known, to, block)) {
            add_block(flow, &move, step, first, block);
            first = false;
        }
    }
}

/* Notes the blocks of a move. Those that are new to its receiver are added to `flow`, if there is
 * one, as a move of this step. */
static void take_move(struct block_sets *sets, const struct flow *of, const struct flow_move *move,
                      struct flow *flow, uint32_t step)
{
    bool first = true;

    for (uint32_t i = 0; i < move->range_count; i++) {
        const struct flow_range *range = &of->ranges[move->range_at + i];
        for (uint32_t block = range->first; block < range->first + range->count; block++) {
            if (block_sets_take(sets, move->to, block) && flow) {
                add_block(flow, move, step, first, block);
                first = false;
            }
        }
    }
}

void block_sets_append(struct flow *flow, struct flow *more, uint32_t root, uint32_t nodes)
{
    struct block_sets sets = empty_sets(nodes);
    uint32_t begin = flow->steps;

    for (uint32_t block = 0; block < nodes; block++) {
        (void)block_sets_take(&sets, root, block);
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        take_move(&sets, flow, &flow->moves[i], NULL, 0);
    }
    for (uint32_t i = 0; i < more->count; i++) {
        take_move(&sets, more, &more->moves[i], flow, begin + more->moves[i].step);
    }
    block_sets_free(&sets);
    flow_free(more);
}
