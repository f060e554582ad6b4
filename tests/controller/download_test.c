/*
 * Download plans: the formulae against golden values, the choice of x against trying all, and every
 * plan's time against a simulation of host and roots.
 */
#include "tests/testing.h"

#include "controller/download.h"
#include "host/computer/limits.h"

static const struct golden {
    unsigned dims;
    uint64_t set_bytes, block_bytes, beta_ns;
    uint64_t sequential_ns, scatter_ns, sequential_scatter_ns;
    unsigned sequential_scatter_x;
    uint64_t decremental_ns;
    unsigned decremental_x;
    uint64_t one_root_ns;
} golden[] = {
#include "tests/golden/scatter_times.txt"
};

enum { GOLDEN_COUNT = sizeof golden / sizeof golden[0], TRIALS = 20000 };

static struct network cube(unsigned dims)
{
    struct network network;

    assert_true(network_make(&network, NETWORK_CUBE, NULL, dims));
    return network;
}

static struct download_costs costs_of(const struct golden *g)
{
    return (struct download_costs){.beta_ns = g->beta_ns,
                                   .beta_host_ns = g->beta_ns * 3 / 2,
                                   .tau_ns = 8000,
                                   .common_bytes = g->set_bytes - g->block_bytes,
                                   .block_bytes = g->block_bytes};
}

TEST(the_formulae_give_the_papers_figures)
{
    for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
        const struct golden *g = &golden[i];
        struct download_costs costs = costs_of(g);
        struct network network = cube(g->dims);

        assert_int_equal(download_sequential_ns(&costs, g->dims), g->sequential_ns);
        assert_int_equal(download_scatter_ns(&costs, g->dims), g->scatter_ns);
        assert_int_equal(download_sequential_scatter_ns(&costs, g->dims, g->sequential_scatter_x),
                         g->sequential_scatter_ns);
        assert_int_equal(download_decremental_ns(&costs, &network, g->decremental_x),
                         g->decremental_ns);
        assert_int_equal(download_decremental_ns(&costs, &network, g->dims), g->one_root_ns);
    }
}

TEST(no_strategy_is_below_the_bound)
{
    for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
        struct download_costs costs = costs_of(&golden[i]);
        struct network network = cube(golden[i].dims);
        uint64_t bound_ns = download_bound_ns(&costs, network.nodes);

        assert_true(bound_ns > 0 && bound_ns < download_sequential_ns(&costs, golden[i].dims));
        assert_true(bound_ns < download_scatter_ns(&costs, golden[i].dims));
        for (unsigned x = 0; x <= golden[i].dims; x++) {
            assert_true(bound_ns < download_decremental_ns(&costs, &network, x));
        }
    }
    /* 100 bytes for all and 16 for each of 8 nodes, 8 us a byte */
    struct download_costs costs = {.tau_ns = 8000, .common_bytes = 100, .block_bytes = 16};
    assert_int_equal(download_bound_ns(&costs, 8), 8000 * (100 + 8 * 16));
}

TEST(the_best_x_is_the_best_of_all)
{
    for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
        struct download_costs costs = costs_of(&golden[i]);
        struct network network = cube(golden[i].dims);

        for (costs.block_bytes = 0; costs.block_bytes < 600; costs.block_bytes++) {
            unsigned best = download_best_x(&costs, &network);
            uint64_t best_ns = download_decremental_ns(&costs, &network, best);

            for (unsigned x = 0; x <= golden[i].dims; x++) {
                uint64_t ns = download_decremental_ns(&costs, &network, x);

                assert_true(best_ns <= ns);
                assert_true(best <= x || best_ns < ns); /* the smallest of equals */
            }
        }
    }
}

/* The hops of a circuit after the first; what the host sends to a neighbour of node 0 goes there at
 * once. */
static uint64_t more_hops_ns(const struct download_costs *costs, const struct network *network,
                             uint32_t from, uint32_t to)
{
    unsigned hops = network_distance(network, from, to);

    return hops > 1 ? (hops - 1) * costs->hop_ns : 0;
}

/* When the last node of a block has all, by following every root. */
static uint64_t follow(const struct download_costs *costs, const struct network *network,
                       uint32_t root, uint32_t count, uint64_t ready_ns)
{
    uint64_t end_ns = ready_ns;

    while (count > 1) {
        uint32_t half = network_half(network, count);
        uint64_t given_ns;

        ready_ns += costs->beta_ns + more_hops_ns(costs, network, root, root + half) +
                    (costs->common_bytes + costs->block_bytes * (count - half)) * costs->tau_ns;
        given_ns = follow(costs, network, root + half, count - half, ready_ns);
        end_ns = given_ns > end_ns ? given_ns : end_ns;
        count = half;
    }
    return end_ns;
}

/* The end of a plan: the host sends message after message, each root scatters as soon as it has
 * all. */
static uint64_t simulate(const struct download_plan *plan, const struct download_costs *costs,
                         const struct network *network)
{
    uint64_t host_ns = 0, end_ns = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        const struct download_message *message = &plan->messages[i];
        uint64_t ns;

        host_ns += costs->beta_host_ns + more_hops_ns(costs, network, 0, message->root) +
                   (costs->common_bytes + costs->block_bytes * message->count) * costs->tau_ns;
        ns = follow(costs, network, message->root, message->count, host_ns);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

static void check_cover(const struct download_plan *plan, const struct network *network)
{
    unsigned reached[MACHINE_NODES_MAX] = {0};

    for (unsigned i = 0; i < plan->count; i++) {
        assert_true(network_is_block(network, plan->messages[i].root, plan->messages[i].count));
        for (uint32_t n = 0; n < plan->messages[i].count; n++) {
            reached[plan->messages[i].root + n]++;
        }
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        assert_int_equal(reached[node], 1);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void draw_network(struct network *network, uint32_t *seed)
{
    static const char *const names[] = {
        "cube:0",    "cube:1",    "cube:3",     "cube:7",      "ring:1",        "ring:2",
        "ring:3",    "ring:5",    "ring:16",    "ring:128",    "mesh:3x4",      "mesh:1x7",
        "mesh:2x2",  "mesh:7x1",  "mesh:5x1x3", "mesh:11x11",  "torus:4x4",     "torus:3x4x2",
        "torus:2x2", "torus:7x9", "torus:9x14", "torus:3x3x3", "torus:3x3x3x3", "mesh:1x1x1"};
    const char *name = names[next_random(seed) % (sizeof names / sizeof names[0])];
    char error[NETWORK_ERROR_MAX];

    assert_true(network_parse(network, name, &machine_limits, error));
}

TEST(every_plan_reaches_every_node_once_in_the_predicted_time)
{
    uint32_t seed = 1;
    char error[DOWNLOAD_ERROR_MAX];

    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct network network;
        struct download_costs costs = {.beta_ns = next_random(&seed) % 100000,
                                       .hop_ns = next_random(&seed) % 20000,
                                       .tau_ns = next_random(&seed) % 1000,
                                       .common_bytes = next_random(&seed) % 50000,
                                       .block_bytes = next_random(&seed) % 500};
        enum strategy strategy = (enum strategy)(next_random(&seed) % 4);
        struct download_plan plan;
        int x = DOWNLOAD_X_BEST;

        draw_network(&network, &seed);
        if (next_random(&seed) % 2) {
            x = (int)(next_random(&seed) % (network_halvings(&network) + 1));
        }

        costs.beta_host_ns = costs.beta_ns + next_random(&seed) % 100000;
        assert_true(download_make_plan(&plan, strategy, x, &network, &costs, error));
        assert_int_equal(simulate(&plan, &costs, &network), plan.predicted_ns);
        check_cover(&plan, &network);
    }
}

TEST(an_x_beyond_the_halvings_is_refused)
{
    struct download_costs costs = {0};
    struct network network = cube(3);
    struct download_plan plan;
    char error[DOWNLOAD_ERROR_MAX];

    assert_false(download_make_plan(&plan, STRATEGY_DECREMENTAL, 4, &network, &costs, error));
    assert_true(download_make_plan(&plan, STRATEGY_DECREMENTAL, 3, &network, &costs, error));
}

TEST(what_has_more_messages_than_a_plan_is_refused)
{
    struct download_costs costs = {0};
    struct network network = cube(8);
    struct download_plan plan;
    char error[DOWNLOAD_ERROR_MAX];

    assert_false(download_make_plan(&plan, STRATEGY_SEQUENTIAL, 0, &network, &costs, error));
    assert_false(
        download_make_plan(&plan, STRATEGY_SEQUENTIAL_SCATTER, 7, &network, &costs, error));
    assert_true(download_make_plan(&plan, STRATEGY_DECREMENTAL, 0, &network, &costs, error));
}

TEST(strategies_are_read_by_the_names_they_print)
{
    enum strategy read;
    char error[DOWNLOAD_ERROR_MAX];

    for (int s = STRATEGY_DECREMENTAL; s <= STRATEGY_SEQUENTIAL_SCATTER; s++) {
        assert_true(
            download_parse_strategy(download_strategy_name((enum strategy)s), &read, error));
        assert_int_equal(read, s);
    }
    assert_false(download_parse_strategy("broadcast", &read, error));
}
