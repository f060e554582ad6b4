/*
 * network.h - which nodes there are, which links join them, and which way a message takes.
 *
 * Every network here is a product of paths and rings. A node's rank is made of one coordinate per
 * dimension; dimension 0 varies fastest with the rank, and is corrected first on the way to another
 * node.
 *
 *     mesh:2x3   0 --- 1 --- 2     dimension 0: the last number, 3 nodes, stride 1
 *                |     |     |     dimension 1: the first number, 2 nodes, stride 3
 *                3 --- 4 --- 5     from 0 to 5: first to 2, then to 5
 *
 * A dimension of one node has no link. One of two nodes has one link, and one port at each node.
 * One of three and more has two ports at each node, first the one in + direction; it is a path in a
 * mesh, whose end nodes have nothing at one of the two, and a ring in a ring or torus. On a ring of
 * even size the way to the opposite node goes in + direction. A cube is a product of dimensions of
 * two nodes: port p leads to the node whose number differs in bit p.
 *
 * The host has links to node 0 and to each of its neighbours, at the port behind the network's. Or
 * it has host_links of them, a power of two: then so many ranges, which halving makes, have one
 * each, at their first node, and the host serves all ranges at the same time.
 *
 * Units    ranks, ports, hops
 * Errors   NETWORK_NO_PORT, NETWORK_NO_NODE; ranks must lie inside the network
 * Context  any; pure
 * Source   Dally & Seitz 1987, IEEE Trans. Computers C-36(5):547-553 (dimension order);
 *          Fowler, Noll & Vo, RFC 9923 (FNV-1a)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    NETWORK_DIMS_MAX = 16,
    NETWORK_SIZES_MAX = 8, /* dimensions of a network that is no cube */
    NETWORK_HALVINGS_MAX =
        24,                 /* each dimension of 2^k + 1 nodes and more takes one more than bits */
    NETWORK_PORTS_MAX = 16, /* of a node, the host's not counted */
    NETWORK_NODES_MAX = 65536,
    NETWORK_HOST_LINKS_MAX = 16, /* one for each range: a power of two */
    NETWORK_NO_PORT = 30
};

static const uint32_t NETWORK_NO_NODE = UINT32_MAX;

/* How users name it. What it is, the dimensions say. */
enum network_kind { NETWORK_NONE, NETWORK_CUBE, NETWORK_RING, NETWORK_MESH, NETWORK_TORUS };

struct network_dimension {
    uint32_t size, stride; /* in ranks */
    uint8_t port;          /* the first of its ports */
    uint8_t ports;         /* at each node: 0, 1 or 2 */
    bool wraps;            /* a ring: its two ends are joined */
};

/* Whose program runs on a network: one for `guest`, a network of as many nodes, whose ranks are at
 * other nodes (embedding.h). */
struct network_map;

struct network {
    uint8_t kind; /* enum network_kind; all zero: not known yet */
    uint8_t dims;
    uint8_t ports;      /* numbers in use at each node, the host's not counted */
    uint8_t host_links; /* of the host, one for each range; 0: at node 0 and its neighbours */
    uint32_t nodes;
    struct network_dimension dim[NETWORK_DIMS_MAX];
    const struct network_map *map; /* NULL: rank r is at node r */
};

/* The tables are the caller's; NULL where only the guest is known. */
struct network_map {
    struct network guest; /* without a map */
    const char *name;     /* the embedding's, or of a file, for people; NULL: nodes have none */
    const uint32_t *node_of, *rank_of;
    bool keeps_neighbours; /* ranks that are neighbours are so at their nodes: dilation 1 */
};

/* The node of a rank, the rank at a node, and what the ranks form. */
static inline uint32_t network_node(const struct network *network, uint32_t rank)
{
    return network->map && network->map->node_of ? network->map->node_of[rank] : rank;
}

static inline uint32_t network_rank(const struct network *network, uint32_t node)
{
    return network->map && network->map->rank_of ? network->map->rank_of[node] : node;
}

static inline const struct network *network_guest(const struct network *network)
{
    return network->map ? &network->map->guest : network;
}

/* Makes a network of `count` sizes, size[0] that of dimension 0. False when it is none: sizes that
 * are not the kind's, or more nodes, dimensions or ports than there may be. A cube wants a count
 * alone, a ring one size. */
bool network_make(struct network *network, enum network_kind kind, const uint32_t *size,
                  unsigned count);

/* The dimension that a port belongs to; its sign, +1 or -1. The port is the network's. */
unsigned network_port_dimension(const struct network *network, unsigned port);
int network_port_sign(const struct network *network, unsigned port);

/* The node at the other end of a port's link; NETWORK_NO_NODE when it has none. */
uint32_t network_neighbour(const struct network *network, uint32_t node, unsigned port);

/* The port at which a link that leaves over `port` arrives. */
unsigned network_far_port(const struct network *network, unsigned port);

/* The port of `node` that leads to `other`; NETWORK_NO_PORT when they are no neighbours. */
unsigned network_port_to(const struct network *network, uint32_t node, uint32_t other);

/* The port that brings one hop closer to `to` in one dimension; NETWORK_NO_PORT when that
 * coordinate is right. */
unsigned network_port_toward(const struct network *network, uint32_t from, uint32_t to,
                             unsigned dimension);

/* The port of the next hop in dimension order, for any network. */
unsigned network_first_wrong(const struct network *network, uint32_t from, uint32_t to);

/* The same; from and to differ. */
static inline unsigned network_next_hop(const struct network *network, uint32_t from, uint32_t to)
{
    if (network->kind == NETWORK_CUBE) {
        return (unsigned)__builtin_ctz(from ^ to);
    }
    return network_first_wrong(network, from, to);
}

unsigned network_distance(const struct network *network, uint32_t from, uint32_t to);
unsigned network_diameter(const struct network *network);

/* True when a path that comes in at port `in` and leaves over `out` stays in one ring: there a
 * circle of waits can close (router/README.md, rule 2). A ring of three has no path of two hops. */
bool network_stays_in_ring(const struct network *network, unsigned in, unsigned out);

/* True when a network looks the same from every node: no dimension of three and more is a path. */
bool network_is_symmetric(const struct network *network);

/* Translation: the node that `node` becomes when node 0 is moved to `by`, and its inverse.
 * Coordinates are added, or subtracted, modulo their sizes. Only in a symmetric network does that
 * map links to links. */
uint32_t network_translate(const struct network *network, uint32_t node, uint32_t by);
uint32_t network_difference(const struct network *network, uint32_t node, uint32_t from);

/* A number that tells networks apart: FNV-1a of kind and sizes. Where the host is does not count:
 * it changes no plan. */
uint32_t network_digest(const struct network *network);

/* The number of links between nodes. Each link has two ends, of which one owns it, so that a loop
 * over all nodes and ports meets it once: `if (network_owns_link(...))`. */
uint32_t network_link_count(const struct network *network);
bool network_owns_link(const struct network *network, uint32_t node, unsigned port);

/* Gives each of so many ranges a host link, 0: as without; false: they cannot be made. */
bool network_set_host_links(struct network *network, unsigned links);

/* The host's links: how many there are; the node at each; the link of a node, or -1; and the node
 * with a host link over which the host and `node` reach each other, in dimension order. */
unsigned network_host_links(const struct network *network);
uint32_t network_host_node(const struct network *network, unsigned index);
int network_host_link_of(const struct network *network, uint32_t node);
uint32_t network_host_root(const struct network *network, uint32_t node);

/* The ranges that the host serves at the same time, in the order of ranks; one of all nodes unless
 * host_links says otherwise: how many; the first node of one, and its nodes; the one of a node. No
 * way between a node and its range's first leaves the range. */
unsigned network_ranges(const struct network *network);
uint32_t network_range(const struct network *network, unsigned index, uint32_t *count);
unsigned network_range_of(const struct network *network, uint32_t node);

/*
 * The spanning tree of downloads, by halving. A block is a range of ranks that spans a part of one
 * dimension and all of the faster ones. Its root is its first node. The root keeps the first half
 * of that part, and gives the second half to the first node of it, over one circuit. The circuits
 * of the two halves never share a link.
 *
 *     mesh:2x3   {0..5} gives {3..5} to 3; then {0..2} gives {2} to 2, {3..5} gives {5} to 5; ...
 */

/* How far behind its root the second half of a block of `count` ranks begins; count > 1. */
uint32_t network_half(const struct network *network, uint32_t count);
/* The parts that the root of a block gives away, the last and smallest first, which is the nearest:
 * how many; how far behind the root part `index` begins, and its ranks. */
unsigned network_parts(const struct network *network, uint32_t count);
uint32_t network_part(const struct network *network, uint32_t count, unsigned index,
                      uint32_t *part_count);
bool network_is_block(const struct network *network, uint32_t root, uint32_t count);
/* The ranks of the largest block that has `root`. */
uint32_t network_block_of(const struct network *network, uint32_t root);
/* How many halvings leave single nodes; of each range, when there are several. */
unsigned network_halvings(const struct network *network);
