/* Disjoint paths between two nodes, of every pair of the shapes up to 64 nodes, against what flows
 * say, and against the table of lengths that was made apart from the project. */
#include "network/paths.h"

#include <stdio.h>
#include <string.h>

#include "network/text.h"
#include "tests/testing.h"

enum { NODES = 64 };

static const struct network_limits limits = {.nodes = 256, .place = "here"};

/* The directed links of all paths of a pair; a node's bit is set where the path has been. */
static void check_path(const struct network *network, uint32_t from, uint32_t to,
                       const struct network_path *path, uint8_t *link_taken)
{
    uint8_t been[256] = {0};
    uint32_t at = from, hops = 0;

    for (unsigned run = 0; run < path->run_count; run++) {
        hops += path->steps[run];
    }
    assert_int_equal(hops, path->hops);
    been[at] = 1;
    for (uint32_t hop = 0; hop < path->hops; hop++) {
        unsigned port = network_path_port(path, hop);
        assert_false(link_taken[at * NETWORK_PORTS_MAX + port]);
        link_taken[at * NETWORK_PORTS_MAX + port] = 1;
        at = network_neighbour(network, at, port);
        assert_int_not_equal(at, NETWORK_NO_NODE);
        assert_false(been[at]);
        been[at] = 1;
    }
    assert_int_equal(at, to);
}

/* The most paths without a common directed link, by augmenting. */
static unsigned max_flow(const struct network *network, uint32_t from, uint32_t to)
{
    static uint8_t used[256 * NETWORK_PORTS_MAX];
    unsigned flow = 0;

    memset(used, 0, sizeof used);
    for (;;) {
        uint32_t before[256], queue[256], first = 0, last = 0;
        uint8_t over[256];
        memset(before, 0xff, sizeof before);
        queue[last++] = from;
        before[from] = from;
        while (first < last && before[to] == UINT32_MAX) {
            uint32_t at = queue[first++];
            for (unsigned port = 0; port < network->ports; port++) {
                uint32_t next = network_neighbour(network, at, port);
                if (next == NETWORK_NO_NODE || before[next] != UINT32_MAX) {
                    continue;
                }
                /* a link is free, or its other direction is used and is given back */
                if (used[at * NETWORK_PORTS_MAX + port]) {
                    continue;
                }
                before[next] = at;
                over[next] = (uint8_t)port;
                queue[last++] = next;
            }
        }
        if (before[to] == UINT32_MAX) {
            return flow;
        }
        for (uint32_t at = to; at != from; at = before[at]) {
            unsigned port = over[at], back = network_far_port(network, port);
            if (used[at * NETWORK_PORTS_MAX + back]) {
                used[at * NETWORK_PORTS_MAX + back] = 0;
            } else {
                used[before[at] * NETWORK_PORTS_MAX + port] = 1;
            }
        }
        flow++;
    }
}

static unsigned check_pair(const struct network *network, uint32_t from, uint32_t to,
                           enum network_paths_kind kind, struct network_path *paths)
{
    uint8_t taken[256 * NETWORK_PORTS_MAX] = {0};
    unsigned count = network_paths(network, from, to, kind, NETWORK_PATHS_MAX, paths);

    for (unsigned i = 0; i < count; i++) {
        check_path(network, from, to, &paths[i], taken);
        assert_true(i == 0 || paths[i - 1].hops <= paths[i].hops);
    }
    assert_int_equal(paths[0].hops >= network_distance(network, from, to), true);
    return count;
}

static void check_network(const struct network *network)
{
    struct network_path paths[NETWORK_PATHS_MAX];

    for (uint32_t from = 0; from < network->nodes; from++) {
        for (uint32_t to = 0; to < network->nodes; to++) {
            if (from == to || (from > 0 && network_is_symmetric(network))) {
                continue;
            }
            unsigned flow = max_flow(network, from, to);
            for (unsigned kind = 0; kind < 2; kind++) {
                unsigned count =
                    check_pair(network, from, to, (enum network_paths_kind)kind, paths);
                assert_int_equal(count, flow);
            }
        }
    }
}

static void check_products(uint32_t *sizes, unsigned count, uint32_t nodes)
{
    struct network network;

    if (count > 0) {
        assert_true(network_make(&network, NETWORK_TORUS, sizes, count));
        check_network(&network);
        assert_true(network_make(&network, NETWORK_MESH, sizes, count));
        check_network(&network);
    }
    for (uint32_t size = 2; count < 6 && nodes * size <= NODES; size++) {
        sizes[count] = size;
        check_products(sizes, count + 1, nodes * size);
    }
}

TEST(paths_share_no_link_and_are_as_many_as_flows_say)
{
    uint32_t sizes[NETWORK_SIZES_MAX];
    struct network network;

    for (unsigned dims = 1; dims <= 6; dims++) {
        assert_true(network_make(&network, NETWORK_CUBE, NULL, dims));
        check_network(&network);
    }
    check_products(sizes, 0, 1);
}

/* Rows of the golden table: network, from, to, paths, hops of the longest. */
TEST(paths_are_no_longer_than_the_table_says)
{
    char name[NETWORK_NAME_MAX], error[NETWORK_ERROR_MAX], line[256];
    FILE *golden = fopen("tests/golden/disjoint_paths.txt", "r");
    unsigned rows = 0, from, to, count, longest;
    struct network_path paths[NETWORK_PATHS_MAX];
    struct network network;

    assert_non_null(golden);
    while (fgets(line, sizeof line, golden)) {
        if (line[0] == '#') {
            continue;
        }
        assert_int_equal(sscanf(line, "%95s %u %u %u %u", name, &from, &to, &count, &longest), 5);
        assert_true(network_parse(&network, name, &limits, error));
        assert_int_equal(check_pair(&network, from, to, NETWORK_PATHS_EVEN, paths), count);
        assert_int_equal(paths[count - 1].hops, longest);
        rows++;
    }
    fclose(golden);
    assert_int_equal(rows, 121);
}

/* The fewest hops that one path more takes, when `used` links carry those before it: links that are
 * used may be given back. 0: there is none more. */
static int cheapest_more(const struct network *network, uint32_t from, uint32_t to, uint8_t *used)
{
    enum { FAR = 1 << 20 };
    int hops[256];
    uint32_t before[256];
    uint8_t over[256];
    bool changed = true;

    for (uint32_t node = 0; node < network->nodes; node++) {
        hops[node] = node == from ? 0 : FAR;
    }
    while (changed) {
        changed = false;
        for (uint32_t node = 0; node < network->nodes; node++) {
            for (unsigned port = 0; port < network->ports; port++) {
                uint32_t next = network_neighbour(network, node, port);
                if (hops[node] == FAR || next == NETWORK_NO_NODE ||
                    used[node * NETWORK_PORTS_MAX + port]) {
                    continue;
                }
                unsigned back = network_far_port(network, port);
                int cost = used[next * NETWORK_PORTS_MAX + back] ? -1 : 1;
                if (hops[node] + cost < hops[next]) {
                    hops[next] = hops[node] + cost;
                    before[next] = node;
                    over[next] = (uint8_t)port;
                    changed = true;
                }
            }
        }
    }
    if (hops[to] == FAR) {
        return 0;
    }
    for (uint32_t at = to; at != from; at = before[at]) {
        unsigned port = over[at], back = network_far_port(network, port);
        if (used[at * NETWORK_PORTS_MAX + back]) {
            used[at * NETWORK_PORTS_MAX + back] = 0;
        } else {
            used[before[at] * NETWORK_PORTS_MAX + port] = 1;
        }
    }
    return hops[to];
}

/* Of as many as are asked for; of all, one of the two kinds, which on a torus may miss one hop. */
static void check_hops(const struct network *network, uint32_t to)
{
    static uint8_t used[256 * NETWORK_PORTS_MAX];
    struct network_path paths[NETWORK_PATHS_MAX], even[NETWORK_PATHS_MAX];
    unsigned count = network_paths(network, 0, to, NETWORK_PATHS_SHORT, NETWORK_PATHS_MAX, paths);
    int all = 0, all_even = 0, least = 0;

    network_paths(network, 0, to, NETWORK_PATHS_EVEN, NETWORK_PATHS_MAX, even);

    memset(used, 0, sizeof used);
    for (unsigned i = 0; i < count; i++) {
        all += (int)paths[i].hops;
        all_even += (int)even[i].hops;
        least += cheapest_more(network, 0, to, used);
        if (i + 1 < count) {
            assert_int_equal(all, least);
        }
    }
    int found = all_even < all ? all_even : all;
    assert_true(found == least || (found == least + 1 && network->kind == NETWORK_TORUS));
}

TEST(short_paths_have_the_fewest_hops_in_all)
{
    for (unsigned dims = 1; dims <= 6; dims++) {
        struct network cube;
        assert_true(network_make(&cube, NETWORK_CUBE, NULL, dims));
        for (uint32_t to = 1; to < cube.nodes; to++) {
            check_hops(&cube, to);
        }
    }
    for (uint32_t a = 2; a <= 16; a++) {
        for (uint32_t b = 2; b <= 16; b++) {
            struct network torus;
            assert_true(network_make(&torus, NETWORK_TORUS, (uint32_t[]){a, b}, 2));
            for (uint32_t to = 1; to < torus.nodes; to++) {
                check_hops(&torus, to);
            }
        }
    }
}

/* One dimension after the other, each path beginning at another: no two have a node in common. */
TEST(paths_of_a_cube_share_no_node)
{
    struct network_path paths[NETWORK_PATHS_MAX];
    struct network cube;

    for (unsigned dims = 1; dims <= 7; dims++) {
        assert_true(network_make(&cube, NETWORK_CUBE, NULL, dims));
        for (uint32_t to = 1; to < cube.nodes; to++) {
            uint8_t been[256] = {0};
            unsigned wrong = (unsigned)__builtin_popcount(to);
            unsigned count =
                network_paths(&cube, 0, to, NETWORK_PATHS_EVEN, NETWORK_PATHS_MAX, paths);
            assert_int_equal(count, dims);
            for (unsigned i = 0; i < count; i++) {
                assert_int_equal(paths[i].hops, i < wrong ? wrong : wrong + 2);
                uint32_t at = 0;
                for (uint32_t hop = 0; hop + 1 < paths[i].hops; hop++) {
                    at ^= UINT32_C(1) << network_path_port(&paths[i], hop);
                    assert_int_equal(been[at]++, 0);
                }
            }
        }
    }
}

/* Larger tori than the table has: way + 2, + 4 and + 6 (Ozveren 2.2.1), where there is room. */
TEST(paths_of_a_large_torus_are_as_even_as_ozveren_says)
{
    struct network_path paths[NETWORK_PATHS_MAX];
    struct network torus;

    assert_true(network_make(&torus, NETWORK_TORUS, (uint32_t[]){11, 11}, 2));
    for (uint32_t to = 1; to < torus.nodes; to++) {
        unsigned way = network_distance(&torus, 0, to);
        bool aligned = to < 11 || to % 11 == 0;
        assert_int_equal(check_pair(&torus, 0, to, NETWORK_PATHS_EVEN, paths), 4);
        assert_true(paths[3].hops <= way + (way == 1 ? 6 : aligned ? 4 : 2));
    }
}

TEST(as_many_paths_come_as_are_asked_for)
{
    struct network_path paths[NETWORK_PATHS_MAX];
    struct network cube;

    assert_true(network_make(&cube, NETWORK_CUBE, NULL, 4));
    for (unsigned most = 0; most <= 5; most++) {
        assert_int_equal(network_paths(&cube, 3, 5, NETWORK_PATHS_SHORT, most, paths),
                         most < 4 ? most : 4);
    }
    assert_int_equal(network_paths(&cube, 3, 3, NETWORK_PATHS_SHORT, 4, paths), 0);
}
