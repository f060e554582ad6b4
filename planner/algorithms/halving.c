#include "planner/algorithms/halving.h"

#include <stdlib.h>

#include "planner/build.h"
#include "wire/circuit.h"

/* A node and the part [low, end) of its line that it is to reach. Coordinates go on behind the end
 * of a ring. */
struct holder {
    uint32_t node, at, low, end;
};

struct spread {
    const struct network *network;
    const struct network_dimension *dim;
    struct holder *holders;
    uint32_t holder_count;
    struct tree *tree;
    uint32_t share; /* of a line that a holder gives away */
    uint32_t parts; /* of the dimension, each of which has a holder at first */
};

/* Where a part of a dimension begins. */
static uint32_t part_begin(uint32_t size, uint32_t parts, uint32_t part)
{
    return (uint32_t)((uint64_t)size * part / parts);
}

/* The whole line of a holder, seen from the root's coordinate, or its part of it. */
static struct holder holder_of(const struct spread *spread, uint32_t node)
{
    uint32_t size = spread->dim->size, at = node / spread->dim->stride % size;
    struct holder holder = {.node = node, .at = at, .low = 0, .end = size};

    if (spread->parts > 1) {
        uint32_t part = (uint32_t)((((uint64_t)at + 1) * spread->parts - 1) / size);
        holder.low = part_begin(size, spread->parts, part);
        holder.end = part_begin(size, spread->parts, part + 1);
    } else if (spread->dim->wraps) {
        holder.at = at + size;
        holder.low = holder.at - (size - 1) / 2;
        holder.end = holder.low + size;
    }
    return holder;
}

/* The ranks whose coordinates in this dimension lie in [low, end), in the line of `node`. */
static struct ranks ranks_between(const struct spread *spread, uint32_t node, uint32_t low,
                                  uint32_t end)
{
    uint32_t size = spread->dim->size, stride = spread->dim->stride;
    uint32_t base = node / (size * stride) * (size * stride);
    uint32_t first = low % size, last = first + end - low;

    if (last <= size) {
        return (struct ranks){{base + first * stride, 0}, {(last - first) * stride, 0}};
    }
    return (struct ranks){{base, base + first * stride},
                          {(last - size) * stride, (size - first) * stride}};
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Where a line is cut: between the holder and the part that it gives away. */
static uint32_t cut_of(const struct spread *spread, const struct holder *holder)
{
    uint32_t count = holder->end - holder->low,
             part = (count * spread->share + TREE_HALF) / TREE_SHARES;
    uint32_t above = holder->end - 1 - holder->at, below = holder->at - holder->low;

    if (spread->share == TREE_HALF) {
        return holder->low + (count + 1) / 2;
    }
    part = part ? part : 1;
    return above >= below ? holder->end - least(part, above) : holder->low + least(part, below);
}

/* Cuts off the part without the holder; returns its new holder. */
static struct holder halve(const struct spread *spread, struct holder *holder)
{
    uint32_t middle = cut_of(spread, holder), size = spread->dim->size;
    struct holder half = *holder;

    if (holder->at < middle) {
        if (middle - holder->at > OPEN_HOPS_MAX) {
            middle = holder->at + OPEN_HOPS_MAX;
        }
        half.at = half.low = holder->end = middle;
    } else {
        if (holder->at + 1 - middle > OPEN_HOPS_MAX) {
            middle = holder->at + 1 - OPEN_HOPS_MAX;
        }
        half.at = middle - 1;
        half.end = holder->low = middle;
    }
    half.node = holder->node - holder->at % size * spread->dim->stride +
                half.at % size * spread->dim->stride;
    return half;
}

/* Halves every part that is more than its holder; false when none was. */
static bool halve_all(struct spread *spread)
{
    struct tree *tree = spread->tree;
    uint32_t before = spread->holder_count;

    for (uint32_t i = 0; i < before; i++) {
        struct holder *holder = &spread->holders[i];
        if (holder->end - holder->low == 1) {
            continue;
        }
        struct holder half = halve(spread, holder);
        tree->edges[tree->count++] =
            (struct edge){tree->steps, holder->node, half.node,
                          ranks_between(spread, half.node, half.low, half.end)};
        spread->holders[spread->holder_count++] = half;
    }
    tree->steps += spread->holder_count > before;
    return spread->holder_count > before;
}

/* Spreads from the holders that there are; groups: NULL, where each has all of its lines. */
static void spread_all(struct spread *spread, const struct groups *groups)
{
    const struct network *network = spread->network;

    for (unsigned k = network->dims; k-- > 0;) {
        spread->dim = &network->dim[k];
        spread->parts = groups ? groups->of[k] : 1;
        for (uint32_t i = 0; i < spread->holder_count; i++) {
            spread->holders[i] = holder_of(spread, spread->holders[i].node);
        }
        while (halve_all(spread)) {
            ;
        }
    }
    free(spread->holders);
}

static struct spread spread_begin(const struct network *network, struct tree *tree, uint32_t share)
{
    *tree = (struct tree){.edges = planner_memory(network->nodes, sizeof *tree->edges)};
    return (struct spread){.network = network,
                           .holders = planner_memory(network->nodes, sizeof(struct holder)),
                           .holder_count = 1,
                           .tree = tree,
                           .share = share};
}

struct tree tree_make_uneven(const struct network *network, uint32_t root, uint32_t share)
{
    struct tree tree;
    struct spread spread = spread_begin(network, &tree, share);

    spread.holders[0].node = root;
    spread_all(&spread, NULL);
    return tree;
}

uint32_t groups_leader(const struct network *network, unsigned dimension,
                       const struct groups *groups, uint32_t part)
{
    const struct network_dimension *dim = &network->dim[dimension];
    uint32_t parts = groups->of[dimension], low = part_begin(dim->size, parts, part);
    uint32_t end = part_begin(dim->size, parts, part + 1);

    if (dim->wraps || parts == 1) {
        return low + (end - low) / 2;
    }
    return 2 * part < parts ? end - 1 : low;
}

struct tree tree_make_groups(const struct network *network, const struct groups *groups,
                             uint32_t share)
{
    struct tree tree;
    struct spread spread = spread_begin(network, &tree, share);

    for (unsigned k = 0; k < network->dims; k++) {
        uint32_t before = spread.holder_count;
        spread.holder_count *= groups->of[k];
        for (uint32_t i = spread.holder_count; i-- > 0;) {
            spread.holders[i].node =
                spread.holders[i % before].node +
                groups_leader(network, k, groups, i / before) * network->dim[k].stride;
        }
    }
    spread_all(&spread, groups);
    return tree;
}

struct tree tree_make(const struct network *network, uint32_t root)
{
    return tree_make_uneven(network, root, TREE_HALF);
}

uint32_t tree_middle(const struct network *network)
{
    uint32_t node = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        node += network->dim[k].size / 2 * network->dim[k].stride;
    }
    return node;
}

void tree_free(struct tree *tree)
{
    free(tree->edges);
}
