/* Networks: exhaustively, for every shape that is small enough, against breadth-first search. */
#include "network/network.h"

#include <string.h>

#include "network/text.h"
#include "tests/network/shapes.h"
#include "tests/testing.h"

enum { NODES = 64, LINKS = NODES * NETWORK_PORTS_MAX };

static struct network shapes[SHAPES_MAX];
static unsigned shape_count;

static int make_shapes(void **state)
{
    (void)state;
    shape_count = shapes_make_all(shapes, NODES);
    assert_true(shape_count > 1000);
    return 0;
}

/* Distances from one node by breadth-first search. */
static void search(const struct network *network, uint32_t from, unsigned distance[NODES])
{
    uint32_t queue[NODES], first = 0, last = 0;

    memset(distance, 0xff, NODES * sizeof distance[0]);
    distance[from] = 0;
    queue[last++] = from;
    while (first < last) {
        uint32_t node = queue[first++];
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t next = network_neighbour(network, node, p);
            if (next != NETWORK_NO_NODE && distance[next] > network->nodes) {
                distance[next] = distance[node] + 1;
                queue[last++] = next;
            }
        }
    }
    assert_int_equal(last, network->nodes);
}

TEST(every_network_has_a_digest_of_its_own)
{
    for (unsigned i = 0; i < shape_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (memcmp(&shapes[i], &shapes[j], sizeof shapes[i]) != 0) {
                assert_int_not_equal(network_digest(&shapes[i]), network_digest(&shapes[j]));
            }
        }
    }
    const struct network cube = {.kind = NETWORK_CUBE};
    assert_int_equal(network_digest(&cube), 0xfb69b604);
}

TEST(every_link_has_two_ends_that_know_each_other)
{
    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        uint32_t links = 0;
        for (uint32_t node = 0; node < n->nodes; node++) {
            for (unsigned p = 0; p < n->ports; p++) {
                uint32_t other = network_neighbour(n, node, p);
                if (other == NETWORK_NO_NODE) {
                    assert_false(network_owns_link(n, node, p));
                    continue;
                }
                unsigned far = network_far_port(n, p);
                assert_int_not_equal(other, node);
                assert_int_equal(network_neighbour(n, other, far), node);
                assert_int_equal(network_port_to(n, node, other), p);
                assert_int_not_equal(network_owns_link(n, node, p),
                                     network_owns_link(n, other, far));
                links += network_owns_link(n, node, p);
            }
        }
        assert_int_equal(links, network_link_count(n));
    }
}

TEST(ways_are_shortest_and_in_the_order_of_dimensions)
{
    unsigned distance[NODES];

    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        unsigned farthest = 0;
        for (uint32_t to = 0; to < n->nodes; to++) {
            search(n, to, distance);
            for (uint32_t from = 0; from < n->nodes; from++) {
                unsigned dimension = 0, hops = 0;
                assert_int_equal(network_distance(n, from, to), distance[from]);
                farthest = distance[from] > farthest ? distance[from] : farthest;
                for (uint32_t at = from; at != to; hops++) {
                    unsigned port = network_next_hop(n, at, to);
                    assert_int_equal(port, network_first_wrong(n, at, to));
                    assert_true(network_port_dimension(n, port) >= dimension);
                    dimension = network_port_dimension(n, port);
                    at = network_neighbour(n, at, port);
                    assert_int_not_equal(at, NETWORK_NO_NODE);
                }
                assert_int_equal(hops, distance[from]);
            }
        }
        assert_int_equal(farthest, network_diameter(n));
    }
}

TEST(the_opposite_node_of_an_even_ring_is_reached_in_plus_direction)
{
    struct network ring;

    for (uint32_t size = 4; size <= NODES; size += 2) {
        assert_true(network_make(&ring, NETWORK_RING, &size, 1));
        for (uint32_t node = 0; node < size; node++) {
            unsigned port = network_next_hop(&ring, node, (node + size / 2) % size);
            assert_int_equal(network_port_sign(&ring, port), 1);
        }
    }
}

TEST(a_cube_is_exclusive_or)
{
    for (const struct network *n = shapes; n->kind == NETWORK_CUBE; n++) {
        assert_int_equal(n->ports, n->dims);
        for (uint32_t node = 0; node < n->nodes; node++) {
            for (unsigned p = 0; p < n->dims; p++) {
                assert_int_equal(network_neighbour(n, node, p), node ^ 1u << p);
                assert_int_equal(network_far_port(n, p), p);
            }
            for (uint32_t by = 0; by < n->nodes; by++) {
                assert_int_equal(network_translate(n, node, by), node ^ by);
            }
        }
    }
}

TEST(the_last_number_varies_fastest_and_is_corrected_first)
{
    uint32_t sizes[] = {4, 3};
    struct network mesh;

    assert_true(network_make(&mesh, NETWORK_MESH, sizes, 2)); /* mesh:3x4 */
    assert_int_equal(network_neighbour(&mesh, 0, 0), 1);
    assert_int_equal(network_neighbour(&mesh, 0, 2), 4);
    assert_int_equal(network_neighbour(&mesh, 3, 0), NETWORK_NO_NODE);
    assert_int_equal(network_next_hop(&mesh, 0, 11), 0);
    assert_int_equal(network_next_hop(&mesh, 3, 11), 2);
}

TEST(moving_a_symmetric_network_maps_links_to_links)
{
    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        if (!network_is_symmetric(n) || n->nodes > 32) {
            continue;
        }
        for (uint32_t by = 0; by < n->nodes; by++) {
            for (uint32_t node = 0; node < n->nodes; node++) {
                uint32_t moved = network_translate(n, node, by);
                assert_int_equal(network_difference(n, moved, by), node);
                for (unsigned p = 0; p < n->ports; p++) {
                    if (n->dim[network_port_dimension(n, p)].ports == 2) {
                        assert_int_equal(network_neighbour(n, moved, p),
                                         network_translate(n, network_neighbour(n, node, p), by));
                    }
                }
            }
        }
    }
}

TEST(only_a_way_of_two_hops_can_stay_in_a_ring)
{
    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        for (unsigned in = 0; in <= n->ports; in++) {
            for (unsigned out = 0; out < n->ports; out++) {
                bool stays = in < n->ports &&
                             network_port_dimension(n, in) == network_port_dimension(n, out) &&
                             n->dim[network_port_dimension(n, out)].wraps &&
                             n->dim[network_port_dimension(n, out)].size > 3;
                assert_int_equal(network_stays_in_ring(n, in, out), stays);
            }
        }
    }
}

TEST(the_host_is_at_node_0_and_its_neighbours)
{
    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        unsigned links = network_host_links(n);
        assert_int_equal(network_host_node(n, 0), 0);
        assert_int_equal(network_host_node(n, links), NETWORK_NO_NODE);
        for (unsigned i = 1; i < links; i++) {
            assert_int_equal(network_distance(n, 0, network_host_node(n, i)), 1);
            assert_int_equal(network_host_link_of(n, network_host_node(n, i)), i);
        }
        for (uint32_t node = 1; node < n->nodes; node++) {
            uint32_t root = network_host_root(n, node);
            assert_true(network_host_link_of(n, root) > 0);
            assert_int_equal(network_distance(n, root, node) + 1, network_distance(n, 0, node));
            if (n->kind == NETWORK_CUBE) {
                assert_int_equal(root, 1u << (31 - __builtin_clz(node)));
            }
        }
        assert_int_equal(network_host_root(n, 0), 0);
    }
}

/* Lets a circuit use the links of its way in one step; none may be used twice. */
static void use_links(const struct network *n, uint32_t from, uint32_t to, bool used[LINKS])
{
    for (uint32_t at = from; at != to;) {
        unsigned port = network_next_hop(n, at, to);
        assert_false(used[at * NETWORK_PORTS_MAX + port]);
        used[at * NETWORK_PORTS_MAX + port] = true;
        at = network_neighbour(n, at, port);
    }
}

/* Whether all nodes of a way, both ends included, are of one range. */
static bool stays_in_range(const struct network *n, uint32_t from, uint32_t to)
{
    unsigned range = network_range_of(n, from);

    while (from != to && network_range_of(n, from) == range) {
        from = network_neighbour(n, from, network_next_hop(n, from, to));
    }
    return from == to && network_range_of(n, to) == range;
}

static void check_range(const struct network *n, unsigned index, uint32_t first)
{
    uint32_t count, root = network_range(n, index, &count);

    assert_int_equal(root, first); /* one begins where the one before ends */
    assert_true(network_is_block(n, root, count));
    assert_int_equal(network_host_node(n, index), root);
    for (uint32_t node = root; node < root + count; node++) {
        assert_int_equal(network_range_of(n, node), index);
        assert_int_equal(network_host_root(n, node), root);
        assert_int_equal(network_host_link_of(n, node), node == root ? (int)index : -1);
        assert_true(stays_in_range(n, root, node) && stays_in_range(n, node, root));
        for (uint32_t part = network_block_of(n, node); part > 1 && node + part <= root + count;) {
            uint32_t half = network_half(n, part);
            assert_true(stays_in_range(n, node, node + half));
            part = half;
        }
    }
}

TEST(each_range_has_a_host_link_at_its_first_node_and_keeps_to_itself)
{
    unsigned cut = 0;

    for (const struct network *shape = shapes; shape < shapes + shape_count; shape++) {
        for (unsigned links = 1; links <= NETWORK_HOST_LINKS_MAX; links *= 2) {
            struct network n = *shape;
            uint32_t first = 0, count, least = UINT32_MAX;
            if (!network_set_host_links(&n, links)) {
                assert_memory_equal(&n, shape, sizeof n); /* it is as it was */
                continue;
            }
            cut++;
            assert_int_equal(network_host_links(&n), links);
            assert_int_equal(network_ranges(&n), links);
            assert_int_equal(network_host_node(&n, links), NETWORK_NO_NODE);
            assert_int_equal(network_digest(&n), network_digest(shape));
            for (unsigned i = 0; i < links; i++) {
                check_range(&n, i, first);
                network_range(&n, i, &count);
                first += count;
                least = count < least ? count : least;
                assert_true(network_parts(&n, count) <= network_halvings(&n));
            }
            assert_int_equal(first, n.nodes);
            if ((n.nodes & (n.nodes - 1)) == 0 && n.kind == NETWORK_CUBE) {
                assert_int_equal(least * links, n.nodes);
            }
        }
    }
    assert_true(cut > 3 * shape_count);
}

TEST(ranges_are_made_by_halving_as_far_as_there_are_nodes)
{
    uint32_t sizes[] = {3, 3};
    struct network n;

    assert_true(network_make(&n, NETWORK_CUBE, NULL, 2));
    assert_true(network_set_host_links(&n, 4));
    assert_false(network_set_host_links(&n, 8));
    assert_int_equal(n.host_links, 0);
    assert_false(network_set_host_links(&n, 3));
    assert_true(network_set_host_links(&n, 0));
    assert_true(network_make(&n, NETWORK_CUBE, NULL, 6));
    assert_true(network_set_host_links(&n, 16));
    assert_false(network_set_host_links(&n, 32)); /* the host has no more ports */
    assert_true(network_make(&n, NETWORK_MESH, sizes, 2));
    assert_false(network_set_host_links(&n, 8)); /* the last of 3, 3, 2 and 1 nodes is one */
    assert_true(network_set_host_links(&n, 4));
    assert_int_equal(network_host_node(&n, 1), 3);
    assert_int_equal(network_host_node(&n, 2), 6);
    assert_int_equal(network_host_node(&n, 3), 8);
}

TEST(halving_reaches_each_node_once_without_contention)
{
    uint32_t block[NODES];
    bool used[LINKS], halved[NODES];

    for (const struct network *n = shapes; n < shapes + shape_count; n++) {
        unsigned steps = 0;
        memset(block, 0, sizeof block);
        memset(halved, 0, sizeof halved);
        block[0] = n->nodes;
        for (bool more = n->nodes > 1; more; steps++) {
            more = false;
            memset(used, 0, sizeof used);
            for (uint32_t root = n->nodes; root-- > 0;) {
                if (block[root] < 2) {
                    continue;
                }
                uint32_t half = network_half(n, block[root]);
                assert_true(network_is_block(n, root, block[root]));
                if (!halved[root]) { /* the first block that it has is the largest */
                    assert_int_equal(network_block_of(n, root), block[root]);
                }
                halved[root] = true;
                assert_int_equal(block[root + half], 0);
                use_links(n, root, root + half, used);
                assert_true(block[root] - half <= half); /* what is sent is the smaller part */
                block[root + half] = block[root] - half;
                block[root] = half;
                more |= block[root] > 1 || block[root + half] > 1;
            }
        }
        assert_int_equal(steps, network_halvings(n));
        for (uint32_t node = 0; node < n->nodes; node++) {
            assert_int_equal(block[node], 1);
        }
    }
}

TEST(ranges_that_no_halving_makes_are_no_blocks)
{
    uint32_t sizes[] = {4, 3};
    struct network mesh;

    assert_true(network_make(&mesh, NETWORK_MESH, sizes, 2));
    assert_true(network_is_block(&mesh, 4, 8));
    assert_true(network_is_block(&mesh, 6, 2));
    assert_false(network_is_block(&mesh, 0, 0));
    assert_false(network_is_block(&mesh, 3, 2));  /* 3 ends a row */
    assert_false(network_is_block(&mesh, 1, 8));  /* rows begin at 0, 4 and 8 */
    assert_false(network_is_block(&mesh, 0, 6));  /* a row and a half */
    assert_false(network_is_block(&mesh, 8, 8));  /* one row is left */
    assert_false(network_is_block(&mesh, 12, 1)); /* no node */
    assert_false(network_is_block(&mesh, 1, UINT32_MAX));
}

TEST(networks_that_cannot_be_are_not_made)
{
    uint32_t threes[9] = {3, 3, 3, 3, 3, 3, 3, 3, 3}, none[2] = {3, 0}, three[1] = {3};
    uint32_t large[2] = {256, 257};
    struct network n;

    assert_true(network_make(&n, NETWORK_CUBE, NULL, 16));
    assert_int_equal(n.nodes, 65536);
    assert_false(network_make(&n, NETWORK_CUBE, NULL, 17));
    assert_true(network_make(&n, NETWORK_TORUS, threes, 8));
    assert_false(network_make(&n, NETWORK_TORUS, threes, 9));
    assert_false(network_make(&n, NETWORK_MESH, none, 2));
    assert_false(network_make(&n, NETWORK_RING, threes, 2));
    assert_false(network_make(&n, NETWORK_MESH, three, 0));
    assert_false(network_make(&n, NETWORK_MESH, large, 2));
    assert_false(network_make(&n, NETWORK_NONE, three, 1));
    assert_false(network_make(&n, (enum network_kind)77, three, 1));
}

static const struct network_limits on_qemu = {.nodes = 128, .place = "on QEMU"};
static const struct network_limits simulated = {.nodes = 65536, .place = "in the simulator"};

TEST(names_are_read_and_written_alike)
{
    static const char *const names[] = {"cube:0",   "cube:16",    "ring:1",     "ring:65536",
                                        "mesh:3x4", "mesh:1x7",   "mesh:5x1x3", "torus:2x2",
                                        "mesh:1x1", "torus:4x4x2"};
    char name[NETWORK_NAME_MAX], error[NETWORK_ERROR_MAX];
    struct network n, again;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(network_parse(&n, names[i], &simulated, error));
        network_name(&n, name);
        assert_string_equal(name, names[i]);
    }
    for (const struct network *shape = shapes; shape < shapes + shape_count; shape++) {
        network_name(shape, name);
        if (shape->dims == 1 && shape->kind > NETWORK_RING) {
            continue; /* users do not write mesh:5 */
        }
        assert_true(network_parse(&again, name, &simulated, error));
        assert_memory_equal(&again, shape, sizeof again);
    }
}

TEST(wrong_names_are_refused_in_words)
{
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"torus:0x3", "'torus:0x3': sizes are 2 to 8 numbers joined by x, each from 1 to 128, for "
                      "example torus:4x4x2"},
        {"mesh:3", "'mesh:3' has one size: is ring:3 or mesh:1x3 meant?"},
        {"torus:5", "'torus:5' has one size: is ring:5 or torus:1x5 meant?"},
        {"ring:x", "'ring:x': a ring has one size, a number from 1 to 128, for example ring:6"},
        {"ring:3x4", "'ring:3x4': a ring has one size, a number from 1 to 128, for example ring:6"},
        {"mesh:3x-1", "'mesh:3x-1': sizes are 2 to 8 numbers joined by x, each from 1 to 128, for "
                      "example mesh:3x4"},
        {"mesh:3x4x", "'mesh:3x4x': sizes are 2 to 8 numbers joined by x, each from 1 to 128, for "
                      "example mesh:3x4"},
        {"mesh:3X4", "'mesh:3X4': sizes are 2 to 8 numbers joined by x, each from 1 to 128, for "
                     "example mesh:3x4"},
        {"torus:400x400", "'torus:400x400' has 160000 nodes: at most 128 are possible on QEMU"},
        {"ring:129", "'ring:129' has 129 nodes: at most 128 are possible on QEMU"},
        {"mesh:99999999x99999999", "'mesh:99999999x99999999' has more than 4294967295 nodes: at "
                                   "most 128 are possible on QEMU"},
        {"cube:17", "'cube:17': the dimension of a cube is a number from 0 to 7 on QEMU, for "
                    "example cube:4"},
        {"cube:4z", "'cube:4z': the dimension of a cube is a number from 0 to 7 on QEMU, for "
                    "example cube:4"},
        {"cube:", "'cube:': the dimension of a cube is a number from 0 to 7 on QEMU, for example "
                  "cube:4"},
        {"mesh", "unknown network 'mesh': use cube:D, ring:N, mesh:AxB or torus:AxB (or AxBxC...), "
                 "for example cube:4"},
        {"", "unknown network '': use cube:D, ring:N, mesh:AxB or torus:AxB (or AxBxC...), for "
             "example cube:4"},
    };
    char error[NETWORK_ERROR_MAX];
    struct network n;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(network_parse(&n, wrong[i].text, &on_qemu, error));
        assert_string_equal(error, wrong[i].error);
    }
    assert_false(network_parse(&n, "torus:3x3x3x3x3x3x3x3x3x3", &simulated, error));
    assert_false(network_parse(&n, "mesh:2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x1", &simulated, error));
}

TEST(host_links_are_read_by_their_nodes)
{
    char error[NETWORK_ERROR_MAX];
    struct network n;
    uint32_t ends[2];

    assert_true(network_parse(&n, "cube:3", &on_qemu, error));
    assert_true(network_parse_cable(&n, "host-4", ends, error));
    assert_int_equal(ends[0], NETWORK_NO_NODE);
    assert_int_equal(ends[1], 4);
    assert_true(network_parse_cable(&n, "2-host", ends, error));
    assert_int_equal(ends[0], 2);
    assert_int_equal(ends[1], NETWORK_NO_NODE);
    assert_true(network_parse_cable(&n, "5-4", ends, error));
    assert_int_equal(ends[0], 5);
    assert_int_equal(ends[1], 4);
    assert_false(network_parse_cable(&n, "host-6", ends, error));
    assert_string_equal(error, "node 6 has no host link: node 0 and its neighbours have");
    assert_true(network_parse_host_links(&n, 4, error));
    assert_true(network_parse_cable(&n, "host-6", ends, error));
    assert_false(network_parse_cable(&n, "5-host", ends, error));
    assert_string_equal(error, "node 5 has no host link: node 4 has that of its range");
    assert_false(network_parse_cable(&n, "host-8", ends, error));
    assert_string_equal(error, "'8' is no node of cube:3: nodes are 0 to 7");
    assert_false(network_parse_cable(&n, "0-3", ends, error));
}

TEST(wrong_numbers_of_host_links_are_refused_in_words)
{
    char error[NETWORK_ERROR_MAX];
    struct network n;

    assert_true(network_parse(&n, "mesh:3x3", &on_qemu, error));
    assert_true(network_parse_host_links(&n, 4, error));
    assert_int_equal(n.host_links, 4);
    assert_false(network_parse_host_links(&n, 0, error));
    assert_string_equal(error, "--host-links 0: use a power of two, from 1 to 16");
    assert_false(network_parse_host_links(&n, 6, error));
    assert_string_equal(error, "--host-links 6: use a power of two, from 1 to 16");
    assert_false(network_parse_host_links(&n, 32, error));
    assert_string_equal(error, "--host-links 32: the host has at most 16");
    assert_false(network_parse_host_links(&n, 8, error));
    assert_string_equal(error, "--host-links 8: halving makes at most 4 ranges of mesh:3x3");
}

TEST(links_and_nodes_are_read)
{
    char error[NETWORK_ERROR_MAX];
    struct network mesh, one;
    uint32_t ends[2], node;

    assert_true(network_parse(&mesh, "mesh:3x4", &on_qemu, error));
    assert_true(network_parse_link(&mesh, "5-9", ends, error));
    assert_int_equal(ends[0], 5);
    assert_int_equal(ends[1], 9);
    assert_true(network_parse_node(&mesh, "11", &node, error));
    assert_int_equal(node, 11);
    assert_false(network_parse_link(&mesh, "3-4", ends, error)); /* the end of a row and the next */
    assert_string_equal(error,
                        "'3-4' is no link of mesh:3x4: name two nodes that are neighbours, as 0-1");
    assert_false(network_parse_link(&mesh, "0-1x", ends, error));
    assert_false(network_parse_link(&mesh, "0", ends, error));
    assert_false(network_parse_link(&mesh, "8-12", ends, error));
    assert_false(network_parse_node(&mesh, "12", &node, error));
    assert_string_equal(error, "'12' is no node of mesh:3x4: nodes are 0 to 11");
    assert_false(network_parse_node(&mesh, "-1", &node, error));
    assert_true(network_parse(&one, "mesh:1x1", &on_qemu, error));
    assert_false(network_parse_link(&one, "0-0", ends, error));
    assert_string_equal(error, "'0-0' is no link of mesh:1x1: it has none");
}

TEST_GROUP(make_shapes, NULL);
