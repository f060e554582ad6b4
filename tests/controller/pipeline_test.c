/*
 * pipeline_test.c - the strategy `pipelined`: its time against one that is followed byte by byte
 * and against a sum, the size of its parcels, and where it is chosen.
 */
#include "controller/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/download.h"
#include "network/network.h"
#include "tests/controller/drawn.h"
#include "tests/networks.h"
#include "tests/testing.h"
#include "wire/load.h"

enum { NODES_MAX = 128, STREAM_MAX = 40000 };

/* An image for all, sets of which each node has its own, and the end of the program. */
static void make_load(struct drawn *drawn, uint32_t nodes, uint32_t image, uint32_t own,
                      uint32_t top)
{
    load_list_pack(drawn->bytes, nodes, 1, own > 0 ? 2 : 1);
    load_program_pack(drawn->bytes, 0, &(struct load_program){.count = nodes, .top = top});
    load_segment_pack(drawn->bytes, 0, &(struct load_segment){.count = nodes, .bytes = image});
    if (own > 0) {
        load_segment_pack(drawn->bytes, 1,
                          &(struct load_segment){.count = nodes, .bytes = own, .step = own});
    }
    open_drawn(drawn, 1, own > 0 ? 2 : 1);
}

static void draw_load(struct drawn *drawn, uint32_t nodes, uint32_t *seed)
{
    uint32_t segments = 1 + next_random(seed) % 8;

    load_list_pack(drawn->bytes, nodes, 1, segments);
    load_program_pack(drawn->bytes, 0, &(struct load_program){.count = nodes});
    draw_segments(drawn, nodes, segments, 100, seed);
    open_drawn(drawn, 1, segments);
}

static struct download_costs draw_costs(uint32_t *seed, const struct load_list *list)
{
    struct download_costs costs = {.beta_ns = next_random(seed) % 100000,
                                   .beta_host_ns = next_random(seed) % 200000,
                                   .tau_ns = next_random(seed) % 1000,
                                   .list = list};

    costs.hop_ns = costs.tau_ns + next_random(seed) % 20000;
    return costs;
}

/* Byte by byte: a message is the bytes of strings that any of its nodes has, in the order of the
 * list, and each string backwards. ------------------------------------------------------------- */

/* Whether a rank has a byte of the string of segment `base`. */
static bool has_byte(const struct load_list *list, uint32_t base, uint64_t at, uint32_t rank)
{
    for (uint32_t i = base; i < list->segments; i++) {
        struct load_segment segment = load_segment_at(list, i);
        if (i > base && !(segment.flags & LOAD_SAME)) {
            return false;
        }
        uint64_t from = (uint64_t)(rank - segment.first) * segment.step;
        if (rank >= segment.first && rank - segment.first < segment.count && at >= from &&
            at < from + segment.bytes) {
            return true;
        }
    }
    return false;
}

/* The last rank of a line that has each byte of its message; returns how many bytes. */
static uint32_t find_last(const struct load_list *list, const struct download_message *message,
                          uint32_t last[STREAM_MAX])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->segments; i++) {
        struct load_segment segment = load_segment_at(list, i);
        uint64_t end = (uint64_t)(segment.count - 1) * segment.step + segment.bytes;
        for (uint64_t at = end; at-- > 0 && !(segment.flags & LOAD_SAME);) {
            for (uint32_t n = message->count; n-- > 0;) {
                if (has_byte(list, i, at, message->root + n)) {
                    assert_true(count < STREAM_MAX);
                    last[count++] = message->root + n;
                    break;
                }
            }
        }
    }
    return count;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What is known of a node: when each of its parcels has come and has gone. */
struct followed {
    uint64_t *come_ns, *gone_ns;
    uint32_t came;
    uint64_t last_gone_ns;
};

static uint64_t circuit_ns(const struct download_costs *costs, uint64_t beta_ns, unsigned hops,
                           uint64_t issue_ns, uint64_t empty_ns, uint32_t bytes)
{
    unsigned more = hops > 1 ? hops - 1 : 0;

    return max_of(issue_ns + beta_ns + more * (costs->hop_ns - costs->tau_ns), empty_ns) +
           (more + (uint64_t)bytes) * costs->tau_ns;
}

static void pass(const struct download_costs *costs, const struct network *network,
                 const struct download_message *message, struct followed *nodes,
                 const uint32_t *bytes, bool first, uint64_t *host_ns)
{
    uint64_t ready_ns = *host_ns;

    for (uint32_t n = 0; n < message->count; n++) {
        struct followed *node = &nodes[n], *before = n > 0 ? &nodes[n - 1] : NULL;
        uint32_t rank = message->root + n;
        bool comes = first || bytes[n] > 0;

        if (comes) {
            uint64_t empty_ns = node->came < 3 ? 0 : node->gone_ns[node->came - 3];
            uint64_t issue_ns = before ? max_of(ready_ns, before->last_gone_ns) : ready_ns;
            ready_ns = circuit_ns(costs, before ? costs->beta_ns : costs->beta_host_ns,
                                  network_distance(network, before ? rank - 1 : 0, rank), issue_ns,
                                  empty_ns, bytes[n]);
            node->come_ns[node->came++] = ready_ns;
            if (before) {
                before->last_gone_ns = ready_ns;
            } else {
                *host_ns = ready_ns;
            }
        }
        if (before) {
            before->gone_ns[before->came - 1] = before->last_gone_ns;
        }
        if (!comes) {
            return;
        }
    }
}

static uint64_t follow(const struct download_costs *costs, const struct network *network,
                       const struct download_message *message, uint64_t *host_ns)
{
    static uint32_t last[STREAM_MAX];
    uint32_t all = find_last(costs->list, message, last), parcels = all / message->parcel_bytes + 2;
    struct followed nodes[NODES_MAX] = {0};
    uint64_t end_ns = 0;

    for (uint32_t n = 0; n < message->count; n++) {
        nodes[n].come_ns = calloc(parcels, sizeof(uint64_t));
        nodes[n].gone_ns = calloc(parcels, sizeof(uint64_t));
        assert_true(nodes[n].come_ns && nodes[n].gone_ns);
    }
    for (uint32_t at = 0; at < all || at == 0; at += message->parcel_bytes) {
        uint32_t bytes[NODES_MAX] = {0};
        for (uint32_t i = at; i < all && i < at + message->parcel_bytes; i++) {
            for (uint32_t n = 0; message->root + n <= last[i]; n++) {
                bytes[n]++;
            }
        }
        pass(costs, network, message, nodes, bytes, at == 0, host_ns);
    }
    for (uint32_t n = 0; n < message->count; n++) {
        end_ns = max_of(end_ns, nodes[n].come_ns[nodes[n].came - 1]);
        free(nodes[n].come_ns);
        free(nodes[n].gone_ns);
    }
    return end_ns;
}

TEST(the_replay_is_what_follows_every_byte)
{
    static const char *const names[] = {"cube:0",    "cube:2",    "cube:4",   "ring:5",
                                        "ring:16",   "mesh:3x4",  "mesh:1x7", "mesh:3x2x3",
                                        "torus:4x4", "torus:3x5", "torus:2x3"};
    uint32_t seed = 1;

    for (unsigned trial = 0; trial < 2000; trial++) {
        struct network network = network_of(names[trial % (sizeof names / sizeof names[0])]);
        struct drawn drawn;
        draw_load(&drawn, network.nodes, &seed);
        struct download_costs costs = draw_costs(&seed, &drawn.list);
        uint32_t half = network.nodes > 1 && trial % 2 ? network_half(&network, network.nodes) : 0;
        struct download_message messages[2] = {
            {.root = half,
             .count = network.nodes - half,
             .parcel_bytes = 1 + next_random(&seed) % (next_random(&seed) % 2 ? 300 : 20)}};
        messages[1] = (struct download_message){0, half, messages[0].parcel_bytes};
        uint64_t host_ns = 0, end_ns = follow(&costs, &network, &messages[0], &host_ns);
        if (half) {
            end_ns = max_of(end_ns, follow(&costs, &network, &messages[1], &host_ns));
        }
        assert_int_equal(download_replay_ns(&costs, &network, messages, half ? 2 : 1), end_ns);
    }
}

TEST(equal_parcels_on_cubes_take_the_time_of_the_sum)
{
    uint32_t seed = 2;

    for (unsigned trial = 0; trial < 3000; trial++) {
        unsigned dims = trial % 9;
        char name[16];
        snprintf(name, sizeof name, "cube:%u", dims);
        struct network network = network_of(name);
        struct drawn drawn;
        uint32_t parcel = 1 + next_random(&seed) % 5000, common = 1 + next_random(&seed) % 20;
        uint32_t own = next_random(&seed) % 3;
        make_load(&drawn, network.nodes, common * parcel, own * parcel, 0);
        struct download_costs costs = draw_costs(&seed, &drawn.list);
        if (own > 0) {
            costs.beta_host_ns += costs.beta_ns + dims * costs.hop_ns;
        }
        struct download_message message = {0, network.nodes, parcel};
        assert_int_equal(download_replay_ns(&costs, &network, &message, 1),
                         pipeline_closed_ns(&costs, dims, common, own, parcel));
    }
}

/* An iPSC/860, with sigma 1.5. */
static struct download_costs ipsc860(const struct drawn *drawn)
{
    return (struct download_costs){.beta_ns = 75000,
                                   .beta_host_ns = 112499,
                                   .hop_ns = 10000,
                                   .tau_ns = 425,
                                   .list = &drawn->list};
}

static uint64_t time_of(enum strategy strategy, const struct network *network,
                        const struct download_costs *costs, struct download_plan *plan)
{
    char error[DOWNLOAD_ERROR_MAX];

    assert_true(download_make_plan(plan, strategy, DOWNLOAD_X_BEST, network, costs, error));
    return plan->predicted_ns;
}

static void compare_with_tree(unsigned from, unsigned to)
{
    uint64_t before_ns = 0;

    for (unsigned dims = from; dims <= to; dims++) {
        char name[16];
        snprintf(name, sizeof name, "cube:%u", dims);
        struct network network = network_of(name);
        struct drawn drawn;
        struct download_plan plan, other;
        make_load(&drawn, network.nodes, 1 << 20, 0, 0);
        struct download_costs costs = ipsc860(&drawn);
        uint64_t ns = time_of(STRATEGY_AUTO, &network, &costs, &plan);
        uint64_t tree_ns = time_of(STRATEGY_DECREMENTAL, &network, &costs, &other);
        assert_int_equal(plan.strategy, STRATEGY_PIPELINED);
        assert_true(ns > before_ns && (dims + 1) * ns < 3 * tree_ns * (dims > 8 ? 3 : 1));
        before_ns = ns;
    }
}

/* What all have in common a tree's root sends d times, and a line's nodes send once. */
TEST(large_images_take_less_in_parcels_on_every_cube)
{
    compare_with_tree(3, 10);
}

TEST_LONG(large_images_take_less_in_parcels_on_large_cubes)
{
    compare_with_tree(11, 12);
}

/* A start-up costs 176 bytes: of 16 bytes for each of 16 nodes nothing is gained. */
TEST(what_parcels_do_not_make_faster_goes_whole)
{
    struct network network = network_of("cube:4");
    struct drawn drawn;
    struct download_plan plan;

    make_load(&drawn, network.nodes, 16, 16, 0);
    struct download_costs costs = ipsc860(&drawn);
    time_of(STRATEGY_AUTO, &network, &costs, &plan);
    assert_int_not_equal(plan.strategy, STRATEGY_PIPELINED);
    assert_int_equal(plan.parcel_bytes, 0);
}

static uint64_t with_size(const struct download_plan *plan, const struct network *network,
                          const struct download_costs *costs, uint32_t bytes)
{
    struct download_plan other = *plan;

    for (unsigned i = 0; i < other.count; i++) {
        other.messages[i].parcel_bytes = other.messages[i].count > 1 ? bytes : 0;
    }
    return download_replay_ns(costs, network, other.messages, other.count);
}

/* No size of all takes much less. Cheap start-ups make them small, dear ones large. */
TEST(parcels_have_about_the_best_size)
{
    static const char *const names[] = {"cube:3", "ring:7", "mesh:4x4", "cube:5", "torus:3x3"};
    uint32_t seed = 5;

    for (unsigned trial = 0; trial < 60; trial++) {
        struct network network = network_of(names[trial % 5]);
        struct drawn drawn;
        struct download_plan plan;
        make_load(&drawn, network.nodes, 1000 + next_random(&seed) % 60000,
                  next_random(&seed) % 2000, 0);
        struct download_costs costs = draw_costs(&seed, &drawn.list);
        costs.tau_ns++;
        uint64_t ns = time_of(STRATEGY_PIPELINED, &network, &costs, &plan);
        uint64_t all = plan.bytes;
        for (uint64_t parcels = 1; parcels < 600; parcels += 1 + parcels / 16) {
            uint32_t bytes = (uint32_t)(all / parcels) + 1;
            if (bytes > PARCEL_BYTES_MIN) {
                assert_true(ns <= with_size(&plan, &network, &costs, bytes) * 16 / 15);
            }
        }
    }
    uint32_t sizes[2];
    for (unsigned i = 0; i < 2; i++) {
        struct network network = network_of("cube:4");
        struct drawn drawn;
        struct download_plan plan;
        make_load(&drawn, network.nodes, 100000, 0, 0);
        struct download_costs costs = ipsc860(&drawn);
        costs.beta_ns *= i ? 100 : 1;
        costs.beta_host_ns *= i ? 100 : 1;
        time_of(STRATEGY_PIPELINED, &network, &costs, &plan);
        sizes[i] = plan.parcel_bytes;
    }
    assert_true(sizes[0] < 2000 && sizes[1] > 5 * sizes[0]);
}

enum {
    TOP = 4096,
    OWN = 100000,
    LIST = LOAD_LIST_HEADER_BYTES + LOAD_PROGRAM_BYTES + 2 * LOAD_SEGMENT_BYTES
};

/* Nodes have room for the list and so many bytes more. */
static bool plans(struct download_plan *plan, enum strategy strategy, uint32_t more,
                  char error[DOWNLOAD_ERROR_MAX])
{
    struct network network = network_of("cube:4");
    struct drawn drawn;

    make_load(&drawn, network.nodes, 50000, OWN, TOP);
    struct download_costs costs = ipsc860(&drawn);
    costs.memory_end = TOP + LIST + more;
    return download_make_plan(plan, strategy, DOWNLOAD_X_BEST, &network, &costs, error);
}

TEST(parcels_find_room_where_ranges_find_none)
{
    struct download_plan plan, roomy;
    char error[DOWNLOAD_ERROR_MAX];

    assert_true(plans(&roomy, STRATEGY_PIPELINED, 100 * OWN, error));
    /* the first of the halves has 8 nodes */
    assert_true(plans(&plan, STRATEGY_DECREMENTAL, 7 * OWN, error));
    assert_false(plans(&plan, STRATEGY_DECREMENTAL, 7 * OWN - 1, error));
    assert_true(plans(&plan, STRATEGY_PIPELINED, OWN, error));
    assert_true(3 * plan.parcel_bytes <= OWN);
    assert_true(plans(&plan, STRATEGY_AUTO, OWN, error));
    assert_int_equal(plan.strategy, STRATEGY_PIPELINED);
    assert_true(plans(&plan, STRATEGY_PIPELINED, roomy.parcel_bytes * 2, error));
    assert_true(3 * plan.parcel_bytes <= 2 * roomy.parcel_bytes);
    assert_true(plan.predicted_ns > roomy.predicted_ns);
    assert_false(plans(&plan, STRATEGY_PIPELINED, 100, error));
    assert_non_null(strstr(error, "--strategy pipelined: node 0 would hold"));
}

/* Of an image nothing is for others alone. */
TEST(what_all_have_needs_no_room_in_parcels)
{
    struct network network = network_of("cube:3");
    struct drawn drawn;
    struct download_plan plan;

    make_load(&drawn, network.nodes, 1 << 20, 0, TOP);
    struct download_costs costs = ipsc860(&drawn);
    costs.memory_end = TOP + load_list_bytes(1, 1);
    time_of(STRATEGY_PIPELINED, &network, &costs, &plan);
    assert_int_equal(plan.x, 3);
}

TEST(a_line_that_is_too_long_is_refused)
{
    struct network network = network_of("cube:14");
    struct drawn drawn;
    struct download_plan plan;
    char error[DOWNLOAD_ERROR_MAX];

    make_load(&drawn, network.nodes, 1 << 20, 0, 0);
    struct download_costs costs = ipsc860(&drawn);
    assert_false(
        download_make_plan(&plan, STRATEGY_PIPELINED, DOWNLOAD_X_BEST, &network, &costs, error));
    assert_string_equal(error, "--strategy pipelined: a line would have 8192 nodes, more than "
                               "4096: use decremental");
    assert_true(download_make_plan(&plan, STRATEGY_AUTO, DOWNLOAD_X_BEST, &network, &costs, error));
}
