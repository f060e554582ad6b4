/*
 * reverse.c - vector reversal: in the dimensions that are asked for, or in all, each coordinate x
 * becomes size - 1 - x. Of the whole machine that is rank N - 1 - r, on every network; in i
 * dimensions of a cube the reversal in every subcube that they span.
 *
 * Directly, each block over one circuit. On a cube all cross the same dimensions, so no two share a
 * link; on a line of n its middle link carries n / 2 of them each way, one after the other.
 *
 * Dimension by dimension, lowest first: with whole lines at once, or by exchanges of neighbours. In
 * those every other pair changes places, then the pairs between them: after as many steps as a line
 * has nodes each two blocks have passed each other once. A ring is two such lines, each with its
 * own middle between two nodes (or on one), half as long.
 *
 *     mesh:1x4    0123 | 1032 | 1302 | 3120 | 3210: which block is where
 *     ring:8      7 0 and 1 .. 6 would do; 6 7 0 1 and 2 3 4 5 take 4 steps
 *
 * Source   Boppana & Raghavendra, CENG 90-20 (1990), 3.1; the exchanges: Knuth, The Art of Computer
 *          Programming 3, 5.3.4, exercise 37 (odd-even transposition)
 */
#include <stdio.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/permute.h"
#include "planner/algorithms/reverse.h"

enum { VARIANT_WHOLE = 0, VARIANT_NEIGHBOURS = 1 };

static void lay_direct(struct permuter *p)
{
    for (uint32_t node = 0; node < p->nodes; node++) {
        p->to[node] = p->goal[node];
    }
    permute_step(p);
}

/* The coordinate with which one changes places in a step; itself when there is none. */
static uint32_t partner_of(const struct network_dimension *dim, uint32_t at, uint32_t step)
{
    struct stretch stretch = stretch_of(dim, at);
    uint32_t place = (at + dim->size - stretch.begin) % dim->size;
    uint32_t other = place % 2 == step % 2 ? place + 1 : place - 1;

    if (step >= stretch.count || other >= stretch.count) {
        return at;
    }
    return (stretch.begin + other) % dim->size;
}

static void lay_whole(struct permuter *p, const struct network_dimension *dim)
{
    for (uint32_t node = 0; node < p->nodes; node++) {
        p->to[node] = with_coordinate(dim, node, dim->size - 1 - coordinate_of(dim, node));
    }
    permute_step(p);
}

static void lay_neighbours(struct permuter *p, const struct network_dimension *dim)
{
    for (uint32_t step = 0; step < dim->size && !p->plan->refused; step++) {
        for (uint32_t node = 0; node < p->nodes; node++) {
            p->to[node] =
                with_coordinate(dim, node, partner_of(dim, coordinate_of(dim, node), step));
        }
        permute_step(p);
    }
}

static void lay_by_dimensions(struct permuter *p)
{
    for (unsigned k = 0; k < p->plan->network.dims; k++) {
        const struct network_dimension *dim = &p->plan->network.dim[k];
        if (is_reversed(p->plan->root, k) && p->variant == VARIANT_WHOLE) {
            lay_whole(p, dim);
        } else if (is_reversed(p->plan->root, k)) {
            lay_neighbours(p, dim);
        }
    }
}

struct plan *plan_direct_reverse(const struct network *network, const struct plan_request *request)
{
    return permute_plan(network, request, lay_direct);
}

struct plan *plan_hierarchical_reverse(const struct network *network,
                                       const struct plan_request *request)
{
    return permute_plan(network, request, lay_by_dimensions);
}

unsigned reverse_variants(const struct network *network, const struct plan_request *request)
{
    bool lines = false;

    for (unsigned k = 0; k < network->dims; k++) {
        lines = lines || (is_reversed(request->root, k) && network->dim[k].size > 2);
    }
    return lines ? VARIANT_NEIGHBOURS + 1 : 1;
}

void reverse_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    snprintf(words, VARIANT_WORDS_MAX, "%s", variant == VARIANT_NEIGHBOURS ? "1 hop" : "");
}
