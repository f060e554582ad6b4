#include "bench/rivals/parts.h"

#include <stdlib.h>

enum { RADIX = 4 }; /* of the k-nomial tree */

static unsigned dim_of(const struct draft *draft, unsigned halving, enum order order)
{
    return order == NEAR_FIRST ? halving : draft->dims - 1 - halving;
}

uint32_t part_low(const struct draft *draft, uint32_t node, unsigned halvings, enum order order)
{
    uint32_t low = 0;

    for (unsigned i = 0; i < halvings; i++) {
        if (node >> dim_of(draft, i, order) & 1) {
            low += draft->slots >> (i + 1);
        }
    }
    return low;
}

void part_halve(struct draft *draft, enum order order)
{
    for (unsigned i = 0; i < draft->dims; i++) {
        uint32_t step = draft_step(draft), distance = UINT32_C(1) << dim_of(draft, i, order);
        for (uint32_t node = 0; node < draft->nodes; node++) {
            draft_combine(draft, step, node, node ^ distance,
                          part_low(draft, node ^ distance, i + 1, order), draft->slots >> (i + 1));
        }
    }
}

void part_grow(struct draft *draft, enum order order)
{
    for (unsigned i = draft->dims; i-- > 0;) {
        uint32_t step = draft_step(draft), distance = UINT32_C(1) << dim_of(draft, i, order);
        for (uint32_t node = 0; node < draft->nodes; node++) {
            draft_pass(draft, step, node, node ^ distance, part_low(draft, node, i + 1, order),
                       draft->slots >> (i + 1));
        }
    }
}

void part_exchange_all(struct draft *draft)
{
    for (unsigned i = 0; i < draft->dims; i++) {
        uint32_t step = draft_step(draft);
        for (uint32_t node = 0; node < draft->nodes; node++) {
            draft_combine(draft, step, node, node ^ UINT32_C(1) << i, 0, draft->slots);
        }
    }
}

void part_ring_combine(struct draft *draft)
{
    uint32_t n = draft->nodes;

    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t step = draft_step(draft);
        for (uint32_t node = 0; node < n; node++) {
            draft_combine(draft, step, node, (node + 1) % n, (node + 2 * n - 1 - i) % n, 1);
        }
    }
}

void part_ring_gather(struct draft *draft)
{
    uint32_t n = draft->nodes;

    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t step = draft_step(draft);
        for (uint32_t node = 0; node < n; node++) {
            draft_pass(draft, step, node, (node + 1) % n, node + n - i, 1);
        }
    }
}

/* A tree whose nodes have up to radix - 1 children at each distance, which they serve without
 * waiting for each of these: ahead to a child that has nothing to end before. */
static void spread_by_tree(struct draft *draft, uint32_t radix)
{
    uint32_t distance = 1;

    while (distance * radix < draft->nodes) {
        distance *= radix;
    }
    for (; distance > 0; distance /= radix) {
        for (uint32_t node = 0; node < draft->nodes; node += distance * radix) {
            for (uint32_t child = 1; child < radix && node + child * distance < draft->nodes;
                 child++) {
                struct slots all = draft_work(draft, 0, draft->slots);
                uint32_t to = node + child * distance;
                draft_circuit(draft, draft_step_of(draft, node, to), node, to, all, all,
                              child > 1 && draft->next[to] == 0 ? ROW_AHEAD : 0);
            }
        }
    }
}

/* Children 2r + 1 and 2r + 2; a node sends a piece to the left in the step behind that in which it
 * came, then to the right, while the next one comes. */
static void spread_by_binary_tree(struct draft *draft, uint32_t piece)
{
    uint32_t *begin = planner_memory(draft->nodes, sizeof *begin), first = draft_step(draft);

    for (uint32_t node = 0; node < draft->nodes; node++) {
        begin[node] = node == 0 ? first : begin[(node - 1) / 2] + (node % 2 ? 1 : 2);
        for (uint32_t at = 0, i = 0; at < draft->slots; at += piece, i++) {
            for (uint32_t side = 0; side < 2 && 2 * node + 1 + side < draft->nodes; side++) {
                draft_pass(draft, begin[node] + 2 * i + side, node, 2 * node + 1 + side, at,
                           draft->slots - at < piece ? draft->slots - at : piece);
            }
        }
    }
    free(begin);
}

static void spread_by_chain(struct draft *draft, uint32_t piece)
{
    uint32_t first = draft_step(draft);

    for (uint32_t node = 0; node + 1 < draft->nodes; node++) {
        for (uint32_t at = 0, i = 0; at < draft->slots; at += piece, i++) {
            draft_pass(draft, first + node + i, node, node + 1, at,
                       draft->slots - at < piece ? draft->slots - at : piece);
        }
    }
}

void part_spread(struct draft *draft, enum spreading how, uint32_t piece)
{
    switch (how) {
    case BINOMIAL: spread_by_tree(draft, 2); break;
    case FOURS: spread_by_tree(draft, RADIX); break;
    case BINARY: spread_by_binary_tree(draft, piece); break;
    case CHAIN: spread_by_chain(draft, piece); break;
    case SCATTER_DOUBLING:
        part_scatter(draft);
        part_grow(draft, FAR_FIRST);
        break;
    case SCATTER_RING:
        part_scatter(draft);
        part_ring_gather(draft);
        break;
    }
}

void part_scatter(struct draft *draft)
{
    for (uint32_t distance = draft->nodes / 2; distance > 0; distance /= 2) {
        for (uint32_t node = 0; node < draft->nodes; node += 2 * distance) {
            draft_pass(draft, draft_step_of(draft, node, node + distance), node, node + distance,
                       node + distance, distance);
        }
    }
}

void part_gather(struct draft *draft, bool binomial)
{
    if (!binomial) {
        uint32_t first = draft_step(draft);
        for (uint32_t node = 1; node < draft->nodes; node++) {
            draft_pass(draft, first + node - 1, node, 0, node, 1);
        }
        return;
    }
    for (uint32_t distance = 1; distance < draft->nodes; distance *= 2) {
        for (uint32_t node = distance; node < draft->nodes; node += 2 * distance) {
            draft_pass(draft, draft_step_of(draft, node, node - distance), node, node - distance,
                       node, distance);
        }
    }
}

/* Sends one slot up when it has been combined and neither sender nor receiver is at an earlier one.
 * A node may receive the next slot while it sends this one. */
void part_reduce(struct draft *draft)
{
    uint32_t n = draft->nodes, first = draft_step(draft);
    uint32_t *sends = planner_memory(n, sizeof *sends);
    uint32_t *receives = planner_memory(n, sizeof *receives);

    for (uint32_t slot = 0; slot < draft->slots; slot++) {
        for (uint32_t distance = 1; distance < n; distance *= 2) {
            for (uint32_t node = distance; node < n; node += 2 * distance) {
                uint32_t to = node - distance, step = sends[node];
                step = step < receives[to] ? receives[to] : step;
                if (distance > 1 && step < receives[node]) { /* its own children's come before */
                    step = receives[node];
                }
                draft_combine(draft, first + step, node, to, slot, 1);
                sends[node] = receives[to] = step + 1;
            }
        }
    }
    free(sends);
    free(receives);
}
