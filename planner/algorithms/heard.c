#include "planner/algorithms/heard.h"

#include <stdlib.h>
#include <string.h>

static struct heard heard_of_nothing(uint32_t nodes)
{
    struct heard heard = {.words = (nodes + UINT64_C(63)) / 64, .nodes = nodes};

    heard.bits = planner_memory(nodes * heard.words, sizeof *heard.bits);
    return heard;
}

/* Notes that a block has come to a node; false: it had it before. */
static bool hears(struct heard *heard, uint32_t node, uint32_t block)
{
    uint64_t *word = &heard->bits[node * heard->words + block / 64];
    uint64_t bit = UINT64_C(1) << block % 64;
    bool is_new = !(*word & bit);

    *word |= bit;
    return is_new;
}

static bool has(const struct heard *heard, uint32_t node, uint32_t block)
{
    return heard->bits[node * heard->words + block / 64] >> block % 64 & 1;
}

struct heard heard_make(uint32_t nodes)
{
    struct heard heard = heard_of_nothing(nodes);

    for (uint32_t node = 0; node < nodes; node++) {
        (void)hears(&heard, node, node);
    }
    return heard;
}

void heard_free(struct heard *heard)
{
    free(heard->bits);
}

void heard_copy(struct heard *to, const struct heard *from)
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

void heard_tell(const struct heard *told, struct heard *heard, struct flow *flow, uint32_t step,
                uint32_t from, uint32_t to)
{
    const struct flow_move move = {.from = from, .to = to, .via = FLOW_DIRECT};
    bool first = true;

    for (uint32_t block = 0; block < told->nodes; block++) {
        if (has(told, from, block) && hears(heard, to, block)) {
            add_block(flow, &move, step, first, block);
            first = false;
        }
    }
}

/* The blocks of a move, of which `flow` (NULL: nobody) gets those that are new. */
static void hear_move(struct heard *heard, const struct flow *of, const struct flow_move *move,
                      struct flow *flow, uint32_t step)
{
    bool first = true;

    for (uint32_t i = 0; i < move->run_count; i++) {
        const struct flow_run *run = &of->runs[move->run_at + i];
        for (uint32_t block = run->first; block < run->first + run->count; block++) {
            if (hears(heard, move->to, block) && flow) {
                add_block(flow, move, step, first, block);
                first = false;
            }
        }
    }
}

void heard_append(struct flow *flow, struct flow *more, uint32_t root, uint32_t nodes)
{
    struct heard heard = heard_of_nothing(nodes);
    uint32_t begin = flow->steps;

    for (uint32_t block = 0; block < nodes; block++) {
        (void)hears(&heard, root, block);
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        hear_move(&heard, flow, &flow->moves[i], NULL, 0);
    }
    for (uint32_t i = 0; i < more->count; i++) {
        hear_move(&heard, more, &more->moves[i], flow, begin + more->moves[i].step);
    }
    heard_free(&heard);
    flow_free(more);
}
