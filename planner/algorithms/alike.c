#include "planner/algorithms/alike.h"

#include "planner/build.h"

/* Of a longer ring its line is worth no look: it was never cheaper, and takes as long to choose. */
enum { LINE_NODES_MAX = 32 };

/* Sides of more than one node, in the order of dimensions. */
struct sides {
    unsigned count;
    uint32_t size[NETWORK_DIMS_MAX];
    unsigned dimension[NETWORK_DIMS_MAX];
    bool wraps; /* some side does */
    bool fours; /* all sides are those of a cube, or two of them */
};

static struct sides sides_of(const struct network *network)
{
    struct sides sides = {.fours = true};

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        if (dim->size > 1) {
            sides.dimension[sides.count] = k;
            sides.size[sides.count++] = dim->size;
            sides.wraps |= dim->wraps;
            sides.fours &= dim->size == 2 || (dim->size == 4 && dim->wraps);
        }
    }
    return sides;
}

bool alike_to_cube(const struct network *network)
{
    return network->kind == NETWORK_CUBE || sides_of(network).fours;
}

/* Whether `from` is what the ranks of a network form, and neighbours in it are so here. */
static bool is_guest(const struct network *from, const struct network *network)
{
    return network->map && network->map->keeps_neighbours &&
           network_digest(from) == network_digest(&network->map->guest);
}

/* Whether two networks have the same plans under the same names. */
static bool same(const struct network *one, const struct network *other)
{
    struct sides a = sides_of(one), b = sides_of(other);
    bool same = (one->kind == NETWORK_CUBE) == (other->kind == NETWORK_CUBE) &&
                a.count == b.count && a.wraps == b.wraps;

    for (unsigned i = 0; same && i < a.count; i++) {
        same = a.size[i] == b.size[i];
    }
    return same;
}

/* Adds a network of so many sides, unless it is no other. */
static void add(const struct network *network, enum network_kind kind, const uint32_t *size,
                unsigned count, struct network others[ALIKE_MAX], unsigned *found)
{
    struct network *other = &others[*found];
    bool is_other = network_make(other, kind, size, count) && !same(network, other);

    for (unsigned i = 0; i < *found && is_other; i++) {
        is_other = !same(&others[i], other);
    }
    *found += is_other;
}

static void sort(const struct sides *sides, bool up, uint32_t size[NETWORK_DIMS_MAX])
{
    for (unsigned i = 0; i < sides->count; i++) {
        unsigned at = i;
        for (; at > 0 && (up ? size[at - 1] > sides->size[i] : size[at - 1] < sides->size[i]);
             at--) {
            size[at] = size[at - 1];
        }
        size[at] = sides->size[i];
    }
}

static unsigned bits_of(uint32_t nodes)
{
    return (unsigned)__builtin_ctz(nodes);
}

unsigned alike_networks(const struct network *network, struct network others[ALIKE_MAX])
{
    struct sides sides = sides_of(network), fours = {0};
    uint32_t size[NETWORK_DIMS_MAX];
    unsigned found = 0;

    if (network->map && network->map->keeps_neighbours) {
        others[found++] = network->map->guest;
    }

    if (sides.fours && network->nodes > 2) {
        unsigned bits = bits_of(network->nodes);
        for (unsigned left = bits; left > 0; left -= left > 1 ? 2 : 1) {
            fours.size[fours.count++] = left > 1 ? 4 : 2;
        }
        add(network, NETWORK_CUBE, NULL, bits, others, &found);
        sides = fours;
    }
    enum network_kind kind = fours.count ? NETWORK_TORUS : (enum network_kind)network->kind;
    for (unsigned up = 0; up < 2 && (sides.count > 1 || fours.count); up++) {
        sort(&sides, up, size);
        add(network, sides.count > 1 ? kind : NETWORK_RING, size, sides.count, others, &found);
    }
    if (sides.count == 1 && sides.wraps && network->nodes <= LINE_NODES_MAX) {
        const uint32_t line[] = {sides.size[0], 1};
        add(network, NETWORK_MESH, line, 2, others, &found);
    }
    return found;
}

/* Coordinates, 2 bits of the cube for each side of 4, 1 for each of 2: c ^ c / 2 is the Gray code
 * of two bits, and undoes itself. */
static uint32_t to_cube(const struct network *network, uint32_t node)
{
    uint32_t bits = 0;
    unsigned at = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t coordinate = node / dim->stride % dim->size;
        bits |= (coordinate ^ coordinate / 2) << at;
        at += bits_of(dim->size);
    }
    return bits;
}

static uint32_t from_cube(const struct network *network, uint32_t bits)
{
    uint32_t node = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t code = bits % dim->size;
        node += (code ^ code / 2) * dim->stride;
        bits /= dim->size;
    }
    return node;
}

/* The dimensions of the same sizes, in their order. */
static void find_partners(const struct network *from, const struct network *network,
                          unsigned partner[NETWORK_DIMS_MAX])
{
    struct sides ours = sides_of(from), theirs = sides_of(network);
    uint32_t taken = 0;

    for (unsigned i = 0; i < ours.count; i++) {
        unsigned j = 0;
        while (taken >> j & 1 || theirs.size[j] != ours.size[i]) {
            j++;
        }
        taken |= UINT32_C(1) << j;
        partner[ours.dimension[i]] = theirs.dimension[j];
    }
}

struct names {
    const struct network *from, *network;
    const uint32_t *table; /* of a network and what its ranks form */
    bool fours;
    unsigned partner[NETWORK_DIMS_MAX];
};

static struct names names_of(const struct network *from, const struct network *network)
{
    struct names names = {.from = from, .network = network};

    names.table = is_guest(from, network)   ? network->map->node_of
                  : is_guest(network, from) ? from->map->rank_of
                                            : NULL;
    names.fours = sides_of(from).fours && sides_of(network).fours;
    if (!names.table && !names.fours) {
        find_partners(from, network, names.partner);
    }
    return names;
}

static uint32_t renamed(const struct names *names, uint32_t node)
{
    const struct network *from = names->from;
    uint32_t result = 0;

    if (names->table) {
        return names->table[node];
    }
    if (names->fours) {
        return from_cube(names->network, to_cube(from, node));
    }
    for (unsigned k = 0; k < from->dims; k++) {
        result += node / from->dim[k].stride % from->dim[k].size *
                  names->network->dim[names->partner[k]].stride;
    }
    return result;
}

uint32_t alike_node(const struct network *from, const struct network *network, uint32_t node)
{
    struct names names = names_of(from, network);

    return renamed(&names, node);
}

uint32_t *alike_map(const struct network *from, const struct network *network)
{
    uint32_t *map = planner_memory(from->nodes, sizeof *map);
    struct names names = names_of(from, network);

    for (uint32_t node = 0; node < from->nodes; node++) {
        map[node] = renamed(&names, node);
    }
    return map;
}

bool alike_keeps_order(const struct network *from, const struct network *network)
{
    struct sides ours = sides_of(from), theirs = sides_of(network);
    bool same = ours.count == theirs.count;

    if (network->map) {
        return is_guest(from, network);
    }

    for (unsigned i = 0; same && i < ours.count; i++) {
        same = ours.size[i] == theirs.size[i];
    }
    return same;
}

/* A side of one node can be reversed, too, but there may be none of the other network. */
bool alike_keeps_reversals(const struct network *from, const struct network *network)
{
    struct sides sides = sides_of(network);

    if (network->map) {
        return is_guest(from, network);
    }
    return sides.count == network->dims && (!sides.fours || from->kind == NETWORK_CUBE);
}

/* It is enough to look at those by one node in one dimension: all others are made of them. */
bool alike_keeps_translations(const struct network *from, const struct network *network,
                              const uint32_t *map)
{
    if (!network_is_symmetric(from) || !network_is_symmetric(network) || map[0] != 0) {
        return false;
    }
    for (unsigned k = 0; k < from->dims; k++) {
        uint32_t by = from->dim[k].size > 1 ? from->dim[k].stride : 0;
        for (uint32_t node = 0; node < from->nodes; node++) {
            if (map[network_translate(from, node, by)] !=
                network_translate(network, map[node], map[by])) {
                return false;
            }
        }
    }
    return true;
}
