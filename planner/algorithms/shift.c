/*
 * shift.c - the block of rank r goes to rank (r + distance) mod N.
 *
 * Directly, each over one circuit. On a cube no two of these share a link: where dimensions up to j
 * are right a block is at a node whose lower bits are its destination's and whose higher ones are
 * its source's, and from both together the source follows. So all go at once, over as many hops as
 * the distance has bits from its lowest 1 on.
 *
 *     cube:3, distance 3    0 -> 1 -> 3, 1 -> 0 -> 4, 2 -> 3 -> 1 -> 5, ...
 *
 * Hierarchically, dimension by dimension, lowest first: the same nodes, stored and forwarded. In a
 * dimension each line of nodes moves by the distance's digit there, plus the carry of the digits
 * below, which one line has in common. On a cube that is one hop or none, and there are at most d
 * steps; on longer lines a step goes as far as the variant says, the shorter way.
 *
 *     mesh:3x4, distance 6    6 = 1 * 4 + 2: each row by 2; then columns 0 and 1, which carried, by
 *                             2, columns 2 and 3 by 1
 *
 * On a ring of n moved by a, all over the shorter way load its links with min(a, n - a) circuits in
 * one direction; with one of n in n - a going in + direction, a in the other, a link has a (n - a)
 * / n of them.
 *
 * Source   Ozveren, LIDS-P-1721 (1987), 3.1 and appendix A: at most d steps on a cube. There the
 *          ranks stand along a Gray code, where each digit of +1 or -1 takes two hops; here they
 *          are those that programs have, and d less the distance's trailing zeros is also the
 *          least that neighbours take, for some block has to go as far
 *          Lawrie, IEEE Trans. Computers C-24(12), 1975, 1145-1155: uniform shifts meet nowhere
 */
#include <stdio.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/permute.h"

enum { RING_LEAST = 3, VARIANT_WHOLE = 0, VARIANT_BOTH_WAYS = 1, VARIANT_HOPS = 2 };

/* The farthest that a step goes in a line. */
static const uint32_t hops_of[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 127};
enum { HOPS_COUNT = sizeof hops_of / sizeof hops_of[0] };

static bool is_ring(const struct network_dimension *dim)
{
    return dim->wraps && dim->size >= RING_LEAST;
}

/* How far the block of a node still has to go in a dimension, in + direction. */
static uint32_t way_of(const struct permuter *p, const struct network_dimension *dim, uint32_t node)
{
    return (coordinate_of(dim, p->goal[node]) + dim->size - coordinate_of(dim, node)) % dim->size;
}

/* Sends some of the blocks of a ring the longer way round, evenly spread. */
static void use_both_ways(const struct permuter *p, unsigned k, uint32_t node)
{
    const struct network_dimension *dim = &p->plan->network.dim[k];
    uint32_t way = way_of(p, dim, node), plus = dim->size - way;

    if (!is_ring(dim) || way == 0) {
        return;
    }
    bool goes_plus = (uint64_t)coordinate_of(dim, node) * plus % dim->size < plus;
    bool short_is_plus = way <= dim->size / 2;
    p->other_way[node] |= (uint8_t)((goes_plus != short_is_plus) << k);
}

static void lay_direct(struct permuter *p)
{
    for (uint32_t node = 0; node < p->nodes; node++) {
        p->to[node] = p->goal[node];
        for (unsigned k = 0; p->variant == VARIANT_BOTH_WAYS && k < p->plan->network.dims; k++) {
            use_both_ways(p, k, node);
        }
    }
    permute_step(p);
}

/* Where a node's block goes in a step of at most so many hops, the shorter way. */
static uint32_t step_to(const struct permuter *p, const struct network_dimension *dim,
                        uint32_t node, uint32_t hops)
{
    uint32_t way = way_of(p, dim, node), back = dim->size - way, at = coordinate_of(dim, node);

    if (way <= back) {
        at += way < hops ? way : hops;
    } else {
        at += dim->size - (back < hops ? back : hops);
    }
    return with_coordinate(dim, node, at % dim->size);
}

static void lay_by_dimensions(struct permuter *p)
{
    bool by_hops = p->variant >= VARIANT_HOPS;
    uint32_t hops = by_hops ? hops_of[p->variant - VARIANT_HOPS] : UINT32_MAX;

    for (unsigned k = 0; k < p->plan->network.dims; k++) {
        do {
            for (uint32_t node = 0; node < p->nodes; node++) {
                p->to[node] = step_to(p, &p->plan->network.dim[k], node, hops);
                if (p->variant == VARIANT_BOTH_WAYS) {
                    use_both_ways(p, k, node);
                }
            }
        } while (permute_step(p) && by_hops);
    }
}

struct plan *plan_direct_shift(const struct network *network, const struct plan_request *request)
{
    return permute_plan(network, request, lay_direct);
}

struct plan *plan_hierarchical_shift(const struct network *network,
                                     const struct plan_request *request)
{
    return permute_plan(network, request, lay_by_dimensions);
}

unsigned direct_shift_variants(const struct network *network, const struct plan_request *request)
{
    bool rings = false;

    for (unsigned k = 0; k < network->dims; k++) {
        rings = rings || is_ring(&network->dim[k]);
    }
    return rings && request->root ? VARIANT_BOTH_WAYS + 1 : 1;
}

/* The most hops that a line of a dimension is moved, the shorter way. */
static uint32_t farthest_in_line(const struct network_dimension *dim, uint32_t distance)
{
    uint32_t most = 0;

    if (distance == CANDIDATE_ROOT_ANY) {
        return dim->size / 2;
    }
    for (uint32_t carry = 0; carry < 2; carry++) {
        uint32_t way = (distance / dim->stride + carry) % dim->size;
        way = way < dim->size - way ? way : dim->size - way;
        most = way > most ? way : most;
    }
    return most;
}

unsigned hierarchical_shift_variants(const struct network *network,
                                     const struct plan_request *request)
{
    uint32_t most = 0;
    unsigned count = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t hops = farthest_in_line(&network->dim[k], request->root);
        most = hops > most ? hops : most;
    }
    if (most <= 1) {
        return 1;
    }
    while (count < HOPS_COUNT && hops_of[count] < most) {
        count++;
    }
    return VARIANT_HOPS + count;
}

void shift_words(const struct network *network, unsigned variant, char words[VARIANT_WORDS_MAX])
{
    (void)network;
    words[0] = '\0';
    if (variant == VARIANT_BOTH_WAYS) {
        snprintf(words, VARIANT_WORDS_MAX, "both ways");
    } else if (variant >= VARIANT_HOPS) {
        snprintf(words, VARIANT_WORDS_MAX, "%u hop%s", hops_of[variant - VARIANT_HOPS],
                 variant > VARIANT_HOPS ? "s" : "");
    }
}
