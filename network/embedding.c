#include "network/embedding.h"

#include "network/hamilton.h"

bool embedding_is_cube(const struct network *network)
{
    bool cube = true;

    for (unsigned k = 0; k < network->dims; k++) {
        cube = cube && network->dim[k].size <= 2;
    }
    return cube;
}

/* The dimensions of more than one node; `wraps` is that of the last. */
static unsigned count_sides(const struct network *network, bool *wraps)
{
    unsigned count = 0;

    *wraps = true;
    for (unsigned k = 0; k < network->dims; k++) {
        if (network->dim[k].size > 1) {
            *wraps = network->dim[k].wraps || network->dim[k].size == 2;
            count++;
        }
    }
    return count;
}

bool embedding_is_line(const struct network *network)
{
    bool wraps;

    return count_sides(network, &wraps) <= 1;
}

bool embedding_is_ring(const struct network *network)
{
    bool wraps;

    return count_sides(network, &wraps) <= 1 && wraps;
}

/* Both have 2^d nodes, so each side of the guest is a power of two. Its coordinate has the bits
 * from `low` on. */
static bool make_gray(const struct network *host, const struct network *guest, uint32_t *node_of)
{
    if (!embedding_is_cube(host)) {
        return false;
    }
    for (uint32_t rank = 0; rank < guest->nodes; rank++) {
        node_of[rank] = 0;
        for (unsigned k = 0; k < guest->dims; k++) {
            const struct network_dimension *dim = &guest->dim[k];
            uint32_t at = rank / dim->stride % dim->size;
            node_of[rank] += (at ^ at / 2) * dim->stride;
        }
    }
    return true;
}

static bool make_cycle(const struct network *host, const struct network *guest, uint32_t *node_of)
{
    bool wraps;

    if (count_sides(guest, &wraps) > 1 || (wraps && !hamilton_has_cycle(host))) {
        return false;
    }
    hamilton_order(host, node_of);
    return true;
}

/* A double-rooted tree of 2^d nodes: two roots, next to each other, with a subtree each.
 *
 *        r1 -- r2         That of d + 1 is made of two, the second with the dimensions of r2-r1 and
 *        |     |          r2-b exchanged around r2, so that its r1', r2' and b' are opposite to b,
 *        a     b          r2 and r1. Then r2 and r2' are the new roots, over r1, which gets a and
 *       ...   ...         b', and r1', which gets a' and b. Ranks 0, 1, 2 and the last are
 *                         r1, a, b and r2.
 */
struct double_root {
    uint32_t r1, r2, b;
};

static uint32_t exchange_dimensions(const struct double_root *roots, uint32_t node)
{
    uint32_t one = roots->r1 ^ roots->r2, other = roots->r2 ^ roots->b, away = node ^ roots->r2;
    uint32_t kept = away & ~(one | other);

    return roots->r2 ^ kept ^ (away & one ? other : 0) ^ (away & other ? one : 0);
}

/* Where a rank of the tree of 2^(d + 1) comes from: its rank in that of 2^d, and whether in the
 * second. */
static uint32_t find_origin(uint32_t half, uint32_t rank, bool *second)
{
    static const bool seconds[] = {false, true, true, false}; /* a, b', a', b */
    static const uint32_t sides[] = {0, 1, 0, 1};
    unsigned level = 31 - (unsigned)__builtin_clz(rank + 1);

    if (rank == 0 || rank == 2 * half - 1) {
        *second = rank > 0;
        return half - 1;
    }
    if (rank <= 2) {
        *second = rank == 2;
        return 0;
    }
    uint32_t width = UINT32_C(1) << (level - 2), at = rank + 1 - (UINT32_C(1) << level);
    uint32_t subtree = at / width;
    *second = seconds[subtree];
    return (UINT32_C(2) << (level - 2)) - 1 + sides[subtree] * width + at % width;
}

static void make_double_root(const struct network *host, uint32_t *node_of)
{
    static const uint32_t smallest[] = {0, 2, 3, 1};
    struct double_root roots[NETWORK_DIMS_MAX] = {[2] = {0, 1, 3}};
    unsigned dims = 31 - (unsigned)__builtin_clz(host->nodes);

    for (unsigned d = 2; d + 1 < dims; d++) {
        uint32_t half = UINT32_C(1) << d;
        roots[d + 1] = (struct double_root){roots[d].r2, roots[d].r2 | half, roots[d].b | half};
    }
    for (uint32_t rank = 0; rank < host->nodes; rank++) {
        bool second[NETWORK_DIMS_MAX + 1];
        uint32_t at = rank;
        for (unsigned d = dims; d > 2; d--) {
            at = find_origin(UINT32_C(1) << (d - 1), at, &second[d]);
        }
        node_of[rank] = dims < 2 ? rank : smallest[at];
        for (unsigned d = 3; d <= dims; d++) {
            if (second[d]) {
                node_of[rank] = exchange_dimensions(&roots[d - 1], node_of[rank]) | UINT32_C(1)
                                                                                        << (d - 1);
            }
        }
    }
}

/* Where a rank of a heap of so many stands in the order that has its left subtree before it and its
 * right one behind it; `left` and `right` are how many those have. */
struct stand {
    uint32_t at, left, right;
};

/* Ranks below one, itself included: of each level of its subtree those that there are. */
static uint32_t subtree(uint32_t nodes, uint32_t rank)
{
    uint32_t count = 0;

    for (uint64_t first = rank, width = 1; first < nodes; first = 2 * first + 1, width *= 2) {
        count += (uint32_t)(nodes - first < width ? nodes - first : width);
    }
    return count;
}

static struct stand stand_of(uint32_t nodes, uint32_t rank)
{
    struct stand stand = {.left = subtree(nodes, 2 * rank + 1),
                          .right = subtree(nodes, 2 * rank + 2)};

    stand.at = stand.left;
    for (uint32_t at = rank; at > 0; at = (at - 1) / 2) {
        stand.at += at % 2 ? 0 : 1 + subtree(nodes, at - 1);
    }
    return stand;
}

static uint32_t coordinate(const struct network_dimension *dim, uint32_t node)
{
    return node / dim->stride % dim->size;
}

/* The box round some nodes. */
struct box {
    uint32_t low[NETWORK_DIMS_MAX], high[NETWORK_DIMS_MAX];
};

static struct box box_of(const struct network *host, const uint32_t *nodes, uint32_t count)
{
    struct box box = {{0}, {0}};

    for (unsigned k = 0; k < host->dims; k++) {
        box.low[k] = box.high[k] = coordinate(&host->dim[k], nodes[0]);
        for (uint32_t i = 1; i < count; i++) {
            uint32_t at = coordinate(&host->dim[k], nodes[i]);
            box.low[k] = at < box.low[k] ? at : box.low[k];
            box.high[k] = at > box.high[k] ? at : box.high[k];
        }
    }
    return box;
}

static void swap(uint32_t *one, uint32_t *other)
{
    uint32_t kept = *one;

    *one = *other;
    *other = kept;
}

/* By a coordinate, and where that is the same by number. */
static bool is_before(const struct network_dimension *dim, uint32_t one, uint32_t other)
{
    uint32_t here = coordinate(dim, one), there = coordinate(dim, other);

    return here < there || (here == there && one < other);
}

/* Brings the first `left` in this order before the next one, and all others behind it. */
static void split(const struct network_dimension *dim, uint32_t *nodes, uint32_t count,
                  uint32_t left)
{
    uint32_t first = 0, end = count;

    while (end - first > 1) {
        uint32_t least = first;
        swap(&nodes[first + (end - first) / 2], &nodes[end - 1]);
        for (uint32_t i = first; i + 1 < end; i++) {
            if (is_before(dim, nodes[i], nodes[end - 1])) {
                swap(&nodes[i], &nodes[least++]);
            }
        }
        swap(&nodes[least], &nodes[end - 1]);
        if (least == left) {
            return;
        }
        first = least < left ? least + 1 : first;
        end = least < left ? end : least;
    }
}

/* Hops to the middle of a box, twice. */
static uint32_t off_middle(const struct network *host, const struct box *box, uint32_t node)
{
    uint32_t hops = 0;

    for (unsigned k = 0; k < host->dims; k++) {
        uint32_t at = 2 * coordinate(&host->dim[k], node), middle = box->low[k] + box->high[k];
        hops += at > middle ? at - middle : middle - at;
    }
    return hops;
}

/* Nodes of a subtree: those of its left one come first, then its root, then those of the right one.
 * Their box is cut across its longest side; of the slice that is cut the root is in the middle. */
static void cut(const struct network *host, uint32_t *nodes, const struct stand *stand)
{
    uint32_t count = stand->left + 1 + stand->right;
    struct box box = box_of(host, nodes, count);
    unsigned longest = 0;

    for (unsigned k = 1; k < host->dims; k++) {
        longest = box.high[k] - box.low[k] > box.high[longest] - box.low[longest] ? k : longest;
    }
    const struct network_dimension *dim = &host->dim[longest];
    split(dim, nodes, count, stand->left);
    uint32_t *root = &nodes[stand->left], slice = coordinate(dim, *root);
    for (uint32_t i = 0; i < count; i++) {
        if (coordinate(dim, nodes[i]) == slice &&
            off_middle(host, &box, nodes[i]) < off_middle(host, &box, *root)) {
            swap(root, &nodes[i]);
        }
    }
}

/* In any network that is no cube: the nodes in the order of the ranks' stands, in the lower half of
 * each place, until all are cut; then those of the ranks, in the upper one. */
static void cut_tree(const struct network *host, uint32_t *node_of)
{
    uint32_t nodes = host->nodes;

    _Static_assert(NETWORK_NODES_MAX <= 1 << 16, "two nodes lie in a place");
    for (uint32_t node = 0; node < nodes; node++) {
        node_of[node] = node;
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        struct stand stand = stand_of(nodes, rank);
        cut(host, &node_of[stand.at - stand.left], &stand);
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        node_of[rank] |= (node_of[stand_of(nodes, rank).at] & 0xffff) << 16;
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        node_of[rank] >>= 16;
    }
}

bool embedding_make(enum embedding embedding, const struct network *host,
                    const struct network *guest, uint32_t *node_of)
{
    if (guest->nodes != host->nodes) {
        return false;
    }
    switch (embedding) {
    case EMBEDDING_GRAY: return make_gray(host, guest, node_of);
    case EMBEDDING_CYCLE: return make_cycle(host, guest, node_of);
    case EMBEDDING_ROWS:
        for (uint32_t rank = 0; rank < guest->nodes; rank++) {
            node_of[rank] = rank;
        }
        return true;
    case EMBEDDING_TREE:
        if (embedding_is_cube(host)) {
            make_double_root(host, node_of);
        } else {
            cut_tree(host, node_of);
        }
        return true;
    default: return false;
    }
}

bool embedding_invert(uint32_t nodes, const uint32_t *node_of, uint32_t *rank_of)
{
    for (uint32_t node = 0; node < nodes; node++) {
        rank_of[node] = nodes;
    }
    for (uint32_t rank = 0; rank < nodes; rank++) {
        if (node_of[rank] >= nodes || rank_of[node_of[rank]] != nodes) {
            return false;
        }
        rank_of[node_of[rank]] = rank;
    }
    return true;
}

/* Goes the way of a message; returns its hops. */
static unsigned go(const struct network *host, uint32_t from, uint32_t to, uint32_t *load,
                   uint32_t *most)
{
    unsigned hops = 0;

    for (; from != to; hops++) {
        unsigned port = network_next_hop(host, from, to);
        uint32_t *there = &load[from * host->ports + port];
        *most = ++*there > *most ? *there : *most;
        from = network_neighbour(host, from, port);
    }
    return hops;
}

static void clear(const struct network *host, uint32_t *load)
{
    for (uint32_t i = 0; i < host->nodes * host->ports; i++) {
        load[i] = 0;
    }
}

/* Both directions of a link of the guest. */
static void add_link(struct embedding_cost *cost, const struct network *host, uint32_t from,
                     uint32_t to, uint32_t *load)
{
    unsigned hops = go(host, from, to, load, &cost->congestion);

    go(host, to, from, load, &cost->congestion);
    cost->links++;
    cost->hops += hops;
    cost->dilation = hops > cost->dilation ? hops : cost->dilation;
}

struct embedding_cost embedding_measure(const struct network *host, const struct network *guest,
                                        const uint32_t *node_of, uint32_t *load)
{
    struct embedding_cost cost = {0};

    clear(host, load);
    for (uint32_t rank = 0; rank < guest->nodes; rank++) {
        for (unsigned port = 0; port < guest->ports; port++) {
            if (network_owns_link(guest, rank, port)) {
                add_link(&cost, host, node_of[rank], node_of[network_neighbour(guest, rank, port)],
                         load);
            }
        }
    }
    return cost;
}

struct embedding_cost embedding_measure_tree(const struct network *host, const uint32_t *node_of,
                                             uint32_t *load)
{
    struct embedding_cost cost = {0};
    uint32_t end = embedding_is_cube(host) ? host->nodes - 1 : host->nodes;

    clear(host, load);
    for (uint32_t rank = 1; rank < end; rank++) {
        add_link(&cost, host, node_of[(rank - 1) / 2], node_of[rank], load);
    }
    return cost;
}
