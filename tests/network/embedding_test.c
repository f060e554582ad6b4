/* Embeddings: every shape of up to 64 nodes as a guest of every other, against breadth-first search
 * in the host. */
#include "network/embedding.h"

#include <stdlib.h>
#include <string.h>

#include "network/embedding_text.h"
#include "network/hamilton.h"
#include "network/text.h"
#include "tests/network/shapes.h"
#include "tests/networks.h"
#include "tests/testing.h"

enum { NODES = 64 };

static struct network shapes[SHAPES_MAX];
static unsigned shape_count;

static int make_shapes(void **state)
{
    (void)state;
    shape_count = shapes_make_all(shapes, NODES);
    assert_true(shape_count > 1000);
    return 0;
}

static uint32_t load[NODES * NETWORK_PORTS_MAX];

/* The distance of two nodes by breadth-first search. */
static unsigned apart(const struct network *network, uint32_t from, uint32_t to)
{
    uint32_t queue[NODES], first = 0, last = 0;
    unsigned distance[NODES];

    memset(distance, 0xff, sizeof distance);
    distance[from] = 0;
    queue[last++] = from;
    while (first < last && distance[to] > NODES) {
        uint32_t node = queue[first++];
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t next = network_neighbour(network, node, p);
            if (next != NETWORK_NO_NODE && distance[next] > NODES) {
                distance[next] = distance[node] + 1;
                queue[last++] = next;
            }
        }
    }
    return distance[to];
}

/* Each node has one rank, and cost is what a search finds; returns the dilation. */
static unsigned check_map(const struct network *host, const struct network *guest,
                          const uint32_t *node_of)
{
    struct embedding_cost cost = embedding_measure(host, guest, node_of, load);
    uint32_t rank_of[NODES], links = 0, hops = 0;
    unsigned dilation = 0;

    assert_true(embedding_invert(host->nodes, node_of, rank_of));
    for (uint32_t rank = 0; rank < guest->nodes; rank++) {
        assert_int_equal(rank_of[node_of[rank]], rank);
        for (unsigned p = 0; p < guest->ports; p++) {
            if (network_owns_link(guest, rank, p)) {
                unsigned way =
                    apart(host, node_of[rank], node_of[network_neighbour(guest, rank, p)]);
                dilation = way > dilation ? way : dilation;
                hops += way;
                links++;
            }
        }
    }
    assert_int_equal(cost.dilation, dilation);
    assert_int_equal(cost.hops, hops);
    assert_int_equal(cost.links, links);
    return dilation;
}

TEST(gray_keeps_all_neighbours_of_all_shapes_in_cubes)
{
    uint32_t node_of[NODES];
    unsigned made = 0;

    for (const struct network *guest = shapes; guest < shapes + shape_count; guest++) {
        for (const struct network *host = shapes; host < shapes + 7; host++) { /* the cubes */
            bool is = embedding_make(EMBEDDING_GRAY, host, guest, node_of);
            assert_int_equal(is, guest->nodes == host->nodes);
            if (is) {
                assert_in_range(check_map(host, guest, node_of), 0, 1);
                assert_in_range(embedding_measure(host, guest, node_of, load).congestion, 0, 1);
                made++;
            }
        }
    }
    assert_true(made > 100);
}

TEST(a_cycle_keeps_the_neighbours_of_a_ring_or_a_line)
{
    uint32_t node_of[NODES];

    for (const struct network *host = shapes; host < shapes + shape_count; host++) {
        uint32_t sizes[] = {host->nodes, 1};
        struct network ring, line;
        network_make(&ring, NETWORK_RING, sizes, 1);
        network_make(&line, NETWORK_MESH, sizes, 2);
        bool is = embedding_make(EMBEDDING_CYCLE, host, &ring, node_of);
        assert_int_equal(is, hamilton_has_cycle(host));
        if (is) {
            assert_in_range(check_map(host, &ring, node_of), 0, 1);
        }
        assert_true(embedding_make(EMBEDDING_CYCLE, host, &line, node_of));
        assert_in_range(check_map(host, &line, node_of), 0, 1);
    }
}

/* Of two colours that take turns there is one node too many, or the ends of a line have one way. */
TEST(without_a_cycle_nodes_are_odd_in_number_or_lie_in_a_line)
{
    for (const struct network *host = shapes; host < shapes + shape_count; host++) {
        unsigned sides = 0;
        bool bipartite = true;
        for (unsigned k = 0; k < host->dims; k++) {
            sides += host->dim[k].size > 1;
            bipartite = bipartite && !(host->dim[k].wraps && host->dim[k].size % 2);
        }
        if (!hamilton_has_cycle(host)) {
            assert_true(sides == 1 || host->nodes % 2);
            assert_true(sides == 1 || bipartite || !network_is_symmetric(host));
        }
    }
}

TEST(rows_are_measured_as_a_search_finds)
{
    static const struct {
        const char *host, *guest;
        unsigned dilation;
    } cases[] = {{"mesh:4x4", "mesh:2x8", 4},
                 {"mesh:2x8", "mesh:4x4", 5},
                 {"torus:3x4", "torus:3x4", 1},
                 {"cube:4", "ring:16", 4}};
    uint32_t node_of[NODES];

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct network host = network_of(cases[i].host), guest = network_of(cases[i].guest);
        assert_true(embedding_make(EMBEDDING_ROWS, &host, &guest, node_of));
        assert_int_equal(check_map(&host, &guest, node_of), cases[i].dilation);
    }
}

/* Ranks 0 and 2 have the last rank between them, next to both. */
TEST(a_tree_keeps_all_neighbours_in_a_cube_but_two)
{
    uint32_t node_of[NODES];

    for (const struct network *host = shapes; host < shapes + shape_count; host++) {
        uint32_t rank_of[NODES];
        if (!embedding_is_cube(host)) {
            continue;
        }
        assert_true(embedding_make(EMBEDDING_TREE, host, host, node_of));
        assert_true(embedding_invert(host->nodes, node_of, rank_of));
        uint32_t last = host->nodes - 1;
        for (uint32_t rank = 1; rank < last; rank++) {
            assert_int_equal(apart(host, node_of[(rank - 1) / 2], node_of[rank]),
                             rank == 2 ? 2 : 1);
        }
        if (host->nodes > 2) {
            assert_int_equal(apart(host, node_of[0], node_of[last]), 1);
            assert_int_equal(apart(host, node_of[2], node_of[last]), 1);
            struct embedding_cost cost = embedding_measure_tree(host, node_of, load);
            assert_int_equal(cost.dilation, 2);
            assert_int_equal(cost.links, last - 1);
            assert_int_equal(cost.hops, last);
        }
    }
}

TEST(so_does_the_largest)
{
    struct network host = network_of("cube:16");
    uint32_t *node_of = malloc(4 * NETWORK_NODES_MAX), *rank_of = malloc(4 * NETWORK_NODES_MAX);
    uint32_t far = 0;

    assert_true(node_of && rank_of);
    assert_true(embedding_make(EMBEDDING_TREE, &host, &host, node_of));
    assert_true(embedding_invert(host.nodes, node_of, rank_of));
    for (uint32_t rank = 1; rank < host.nodes - 1; rank++) {
        far += network_distance(&host, node_of[(rank - 1) / 2], node_of[rank]) > 1;
    }
    assert_int_equal(far, 1);
    free(node_of);
    free(rank_of);
}

/* Of a part of the longest side, and one in each dimension. */
static uint32_t near(const struct network *network, uint32_t part)
{
    uint32_t longest = 0, sides = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        longest = network->dim[k].size > longest ? network->dim[k].size : longest;
        sides += network->dim[k].size > 1;
    }
    return longest / part + sides;
}

/* All ranks are in it. The left half of a tree whose last level is not full has up to twice as many
 * as the right one. */
TEST(in_other_networks_a_tree_s_neighbours_are_at_most_a_third_of_a_side_apart)
{
    uint32_t node_of[NODES], rank_of[NODES];

    for (const struct network *host = shapes; host < shapes + shape_count; host++) {
        if (embedding_is_cube(host)) {
            continue;
        }
        assert_true(embedding_make(EMBEDDING_TREE, host, host, node_of));
        assert_true(embedding_invert(host->nodes, node_of, rank_of));
        struct embedding_cost cost = embedding_measure_tree(host, node_of, load);
        uint32_t hops = 0;
        unsigned dilation = 0;
        for (uint32_t rank = 1; rank < host->nodes; rank++) {
            unsigned way = apart(host, node_of[(rank - 1) / 2], node_of[rank]);
            dilation = way > dilation ? way : dilation;
            hops += way;
        }
        assert_int_equal(cost.dilation, dilation);
        assert_int_equal(cost.hops, hops);
        assert_int_equal(cost.links, host->nodes - 1);
        bool full = (host->nodes & (host->nodes - 1)) == 0;
        assert_in_range(dilation, 1, near(host, full ? 4 : 3) + !full);
    }
}

/* By hand, and as large as there is. */
TEST(a_tree_in_a_mesh_is_the_one_that_is_drawn)
{
    static const uint32_t rank_at[] = {7, 8, 5, 3, 0, 2, 1, 4, 6};
    struct network host = network_of("mesh:3x3");
    uint32_t node_of[NODES];

    assert_true(embedding_make(EMBEDDING_TREE, &host, &host, node_of));
    for (uint32_t node = 0; node < host.nodes; node++) {
        assert_int_equal(node_of[rank_at[node]], node);
    }
    host = network_of("mesh:256x256");
    uint32_t *all = malloc(4 * NETWORK_NODES_MAX), *rank_of = malloc(4 * NETWORK_NODES_MAX);
    uint32_t *ways = calloc(NETWORK_NODES_MAX, 4 * host.ports);
    assert_true(all && rank_of && ways);
    assert_true(embedding_make(EMBEDDING_TREE, &host, &host, all));
    assert_true(embedding_invert(host.nodes, all, rank_of));
    struct embedding_cost cost = embedding_measure_tree(&host, all, ways);
    assert_int_equal(cost.dilation, 66);
    assert_int_equal(cost.congestion, 4);
    free(all);
    free(rank_of);
    free(ways);
}

/* Of all the ways over the middle of a line: ring:4 as rows of mesh:1x4 goes back from 3 to 0 over
 * every link. */
TEST(congestion_counts_the_ways_over_a_directed_link)
{
    struct network host = network_of("mesh:1x4"), guest = network_of("ring:4");
    uint32_t node_of[NODES];

    assert_true(embedding_make(EMBEDDING_ROWS, &host, &guest, node_of));
    struct embedding_cost cost = embedding_measure(&host, &guest, node_of, load);
    assert_int_equal(cost.dilation, 3);
    assert_int_equal(cost.congestion, 2);
    assert_int_equal(cost.hops, 6);
}

static void is_refused(enum embedding embedding, const char *host, const char *guest,
                       const char *words)
{
    struct network a = network_of(host), b = network_of(guest);
    uint32_t node_of[NODES];
    char error[NETWORK_ERROR_MAX];

    assert_false(embedding_find(embedding, &a, &b, node_of, error));
    assert_string_equal(error, words);
}

TEST(what_there_is_not_is_refused_with_what_there_is)
{
    is_refused(EMBEDDING_GRAY, "cube:4", "ring:5",
               "ring:5 does not lie in cube:4: a cube has cycles of even lengths alone, here from "
               "4 to 16; with a rank at each node it is ring:16");
    is_refused(EMBEDDING_GRAY, "cube:4", "torus:3x5",
               "torus:3x5 has 15 ranks and cube:4 16 nodes: a program has a rank at each node");
    is_refused(EMBEDDING_GRAY, "torus:4x4", "ring:16",
               "--map gray is for cubes, and torus:4x4 is none: --map cycle lays a ring there, "
               "--map rows any network of 16 nodes");
    is_refused(EMBEDDING_CYCLE, "mesh:3x3", "ring:9",
               "mesh:3x3 has no Hamiltonian cycle, for 9 nodes that do not wrap are odd in number: "
               "--as mesh:1x9 is a line along its Hamiltonian path");
    is_refused(EMBEDDING_CYCLE, "mesh:1x4", "ring:4",
               "mesh:1x4 is a line, and has no Hamiltonian cycle: --as mesh:1x4 is a line along "
               "its Hamiltonian path");
    is_refused(EMBEDDING_CYCLE, "mesh:2x3", "torus:2x3",
               "--map cycle lays a ring or a line, and torus:2x3 is neither: use --as ring:6");
}

static void reads(const char *text, const char *host, const char *words)
{
    struct network network = network_of(host), guest = network;
    uint32_t node_of[NODES], rank_of[NODES];
    char error[NETWORK_ERROR_MAX] = "";

    assert_int_equal(embedding_read(text, "x.map", &network, node_of, rank_of, &guest, error),
                     !*words);
    assert_string_equal(error, words);
}

TEST(a_file_is_a_permutation_of_this_network)
{
    struct network network = network_of("cube:2"), guest = network;
    uint32_t node_of[NODES], rank_of[NODES];
    char error[NETWORK_ERROR_MAX], name[NETWORK_NAME_MAX];

    assert_true(embedding_read("# Gray\nnetwork cube:2\nas ring:4\n0, 1\n3 2 # all\n", "x.map",
                               &network, node_of, rank_of, &guest, error));
    assert_int_equal(node_of[2], 3);
    assert_int_equal(rank_of[2], 3);
    network_name(&guest, name);
    assert_string_equal(name, "ring:4");
    reads("0 1 2", "cube:2", "x.map has the nodes of 3 ranks, and cube:2 has 4 nodes");
    reads("0 1 2 3 0", "cube:2", "x.map has the nodes of 5 ranks, and cube:2 has 4 nodes");
    reads("0 1\n2 1", "cube:2", "x.map has ranks 1 and 3 at node 1: each node has one");
    reads("0 1\n4 2", "cube:2", "x.map, line 2: '4' is no node of cube:2: nodes are 0 to 3");
    reads("0 -1", "cube:2", "x.map, line 1: '-1' is no node of cube:2: nodes are 0 to 3");
    reads("network ring:4 0 1 2 3", "cube:2", "x.map is a map for ring:4, and this is cube:2");
    reads("as", "cube:2", "x.map, line 1: a network stands behind 'as', for example 'as cube:4'");
    reads("", "cube:2", "x.map has the nodes of 0 ranks, and cube:2 has 4 nodes");
}

TEST_GROUP(make_shapes, NULL);
