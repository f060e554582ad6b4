/*
 * scan_test.c - the prefix: what its plans take, every segmentation on every small network, and
 * plans that give a rank too much or too little.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "reduction/reduction.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"
#include "tests/network/shapes.h"

enum { DIMS = 9, SMALL_NODES = 18, BYTES = 52, NODES_MAX = 16 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned(const char *name, const char *algorithm, uint32_t bytes,
                            const struct profile *profile)
{
    const struct plan_request request = {.operation = ECUBE_SCAN,
                                         .bytes = bytes,
                                         .type = ECUBE_UINT8,
                                         .algorithm = algorithm,
                                         .profile = profile};

    return planned_for(name, &request);
}

static void takes_on(struct plan *plan, const struct profile *profile, uint32_t bytes,
                     uint64_t model_ns, uint32_t steps)
{
    struct plan_time time = plan_time(plan, bytes, 1, profile);

    assert_int_equal(plan->steps, steps);
    assert_int_equal(time.model_ns, model_ns);
    assert_true(time.bound_ns <= time.model_ns);
    plan_free(plan);
}

static void takes(struct plan *plan, uint32_t bytes, uint64_t model_ns, uint32_t steps)
{
    takes_on(plan, &ipsc860, bytes, model_ns, steps);
}

static void takes_by(const char *name, const char *algorithm, uint32_t bytes,
                     const struct profile *profile, uint64_t model_ns, uint32_t steps)
{
    takes_on(planned(name, algorithm, bytes, profile), profile, bytes, model_ns, steps);
}

TEST(recursive_doubling_takes_a_step_for_each_dimension)
{
    char name[16];

    for (uint32_t dims = 0; dims <= DIMS; dims++) {
        snprintf(name, sizeof name, "cube:%u", dims);
        takes(planned(name, "recursive doubling", 100, NULL), 100,
              dims * (65425 + 9575 + 100 * 425), dims);
    }
}

/* On a line of eight, over 1 and 2 hops up, 4, 2 and 1 down. */
TEST(the_tree_is_gone_up_once_and_down_once)
{
    takes(planned("mesh:1x8", "halving tree", 100, NULL), 100,
          5 * 65425 + 10 * 9575 + (10 + 5 * 99) * 425, 5);
    takes(planned("ring:8", "halving tree", 100, NULL), 100,
          5 * 65425 + 10 * 9575 + (10 + 5 * 99) * 425, 5);
    takes(planned("mesh:1x2", "halving tree", 100, NULL), 100, 65425 + 9575 + 100 * 425, 1);
}

TEST(the_chain_takes_what_its_closed_form_says)
{
    takes(planned("ring:9", "chain 1 segment", 100, &ipsc860), 100, 8 * (65425 + 9575 + 100 * 425),
          8);
    takes(planned("mesh:1x9", "chain 16 segments", 1600, &ipsc860), 1600,
          (7 + 16) * (65425 + 9575 + 100 * 425), 7 + 16);
}

/* In d orders parts 0 and 1 have two of d + 2 segments; in several segments each goes d steps. */
TEST(parts_by_digits_take_their_closed_forms)
{
    static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    char name[16], words[ALGORITHM_WORDS_MAX];

    for (uint32_t dims = 2; dims <= DIMS; dims++) {
        uint32_t parts = dims > 2 ? dims + 2 : 2, bytes = parts * 80;
        uint32_t longest = bytes / parts * (dims > 2 ? 2 : 1);
        snprintf(name, sizeof name, "cube:%u", dims);
        snprintf(words, sizeof words, "digits %u orders", dims);
        takes_by(name, words, bytes, &all_ports, dims * (75000 + longest * 425), dims);
        takes_by(name, "digits 2 orders", bytes, &all_ports, dims * (75000 + bytes / 2 * 425),
                 dims);
        takes_by(name, "digits 8 segments", bytes * 8, &all_ports,
                 (dims + 7) * (75000 + bytes * 425), dims + 7);
    }
    takes_by("mesh:3x5", "digits 4 segments", 400, &all_ports, 9 * (75000 + 100 * 425), 9);
    takes_by("torus:3x3x2", "digits 4 segments", 400, &all_ports, 8 * (75000 + 100 * 425), 8);
}

static bool is(const struct plan *plan, const char *name, uint32_t segments)
{
    return strcmp(candidate_of(plan->operation, plan->algorithm)->name, name) == 0 &&
           plan->segments == segments;
}

static void chosen(const char *name, uint32_t bytes, const char *algorithm, uint32_t segments)
{
    struct plan *plan = planned(name, NULL, bytes, &ipsc860);

    if (!is(plan, algorithm, segments)) {
        fail_msg("%s, %u bytes: %s in %u segments", name, bytes, plan_algorithm(plan),
                 plan->segments);
    }
    plan_free(plan);
}

/* (N - 2 + m)(75 us + k / m 0.425 us) is least where m^2 = (N - 2) k 0.425 / 75. */
TEST(the_cheapest_is_chosen)
{
    chosen("cube:7", 100, "recursive doubling", 1);
    chosen("cube:7", 100000, "chain", 256);
    chosen("ring:16", 8, "allgather, combined", 1);
    chosen("ring:16", 200, "halving tree", 1);
    chosen("ring:16", 100000, "chain", 64);
    chosen("mesh:3x4", 8, "allgather, combined", 1);
    chosen("ring:3", 8, "allgather, combined", 1);
}

TEST_SWEEP(every_chain_is_right_on_every_small_network)
{
    static struct network shapes[SHAPES_MAX];
    unsigned count = shapes_make(shapes, SMALL_NODES);
    const struct candidate *chain = candidate_of(ECUBE_SCAN, 2);

    assert_string_equal(chain->name, "chain");
    for (unsigned i = 0; i < count; i += sweep_share()) {
        struct plan_request request = {
            .operation = ECUBE_SCAN, .bytes = BYTES, .type = ECUBE_INT32};
        unsigned variants = chain->variants(&shapes[i], &request);
        assert_int_equal(variants, 4); /* of 13 elements */
        for (; request.variant < variants; request.variant++) {
            struct plan *plan = chain->plan(&shapes[i], &request);
            struct plan_fault fault = {.words = ""};
            if (!plan_prove(plan, &fault)) {
                assert_string_equal(fault.words, "");
            }
            const char *words = machine_tries(plan, BYTES);
            assert_string_equal(words ? words : "", "");
            plan_free(plan);
        }
    }
}

/* How few parts nodes have ports for makes more steps, not another result. */
TEST_SWEEP(every_plan_by_digits_is_right_on_every_small_network)
{
    static struct network shapes[SHAPES_MAX];
    static const uint8_t ports[] = {1, 2, 3, PORTS_ALL};
    unsigned count = shapes_make(shapes, SMALL_NODES), tried = 0;
    const struct candidate *digits;

    for (unsigned k = 0; strcmp((digits = candidate_of(ECUBE_SCAN, k))->name, "digits"); k++) {
    }
    for (unsigned i = 0; i < count; i += sweep_share()) {
        struct plan_request request = {
            .operation = ECUBE_SCAN, .bytes = BYTES, .type = ECUBE_INT32};
        unsigned variants =
            digits->possible(&shapes[i]) ? digits->variants(&shapes[i], &request) : 0;
        for (; request.variant < variants; request.variant++) {
            for (unsigned p = 0; p < sizeof ports; p++) {
                request.ports = ports[p];
                struct plan *plan = digits->plan(&shapes[i], &request);
                struct plan_fault fault = {.words = ""};
                if (!plan_prove(plan, &fault)) {
                    assert_string_equal(fault.words, "");
                }
                assert_true(ports[p] == PORTS_ALL || plan->node_ports <= ports[p]);
                const char *words = machine_tries(plan, BYTES);
                assert_string_equal(words ? words : "", "");
                plan_free(plan);
                tried++;
            }
        }
    }
    assert_in_range(tried, 400 / sweep_share(), 10000);
}

/* Every rank's bits are those of some brackets in the order of ranks: here they can be seen. */
TEST(operands_stand_in_the_order_of_ranks)
{
    static const double x[4] = {1e16, 1, -1e16, 1.25};
    const uint8_t *send[4];
    uint8_t *receive[4];
    double result[4];
    struct plan *plan = planned("cube:2", "recursive doubling", 8, NULL);

    for (unsigned i = 0; i < 4; i++) {
        send[i] = (const uint8_t *)&x[i];
        receive[i] = (uint8_t *)&result[i];
    }
    const struct plan_data data = {sizeof x[0], ECUBE_DOUBLE, ECUBE_SUM, send, receive};
    plan_perform(plan, &data);
    const double wanted[4] = {x[0], x[0] + x[1], (x[0] + x[1]) + x[2],
                              (x[0] + x[1]) + (x[2] + x[3])};
    assert_memory_equal(result, wanted, sizeof wanted);
    assert_true(wanted[3] != ((x[0] + x[1]) + x[2]) + x[3]);
    plan_free(plan);
}

static struct plan *laid(const char *name, unsigned number)
{
    struct network network = network_of(name);
    const struct plan_request request = {.operation = ECUBE_SCAN};

    return candidate_of(ECUBE_SCAN, number)->plan(&network, &request);
}

static void rejected(struct plan *plan, const char *why)
{
    struct plan_fault fault = {.words = ""};

    assert_false(plan_prove(plan, &fault));
    if (!strstr(fault.words, why)) {
        assert_string_equal(fault.words, why);
    }
    plan_free(plan);
}

/* As sets, and as sums of names. */
TEST(each_rank_gets_its_prefix_and_no_more)
{
    static const char *const names[] = {"mesh:1x9", "mesh:1x70"};

    for (unsigned i = 0; i < 2; i++) {
        struct plan *plan = laid(names[i], 2);
        plan->circuit_count--; /* the last node keeps its own */
        rejected(plan, "is not of the ranks up to its own");
        plan = laid(names[i], 2);
        for (uint32_t c = plan->network.nodes; c < plan->circuit_count; c++) {
            plan->circuits[c].from = plan->network.nodes - 1 - plan->circuits[c].from;
            plan->circuits[c].to = plan->network.nodes - 1 - plan->circuits[c].to;
        } /* from the last rank down */
        rejected(plan, "is not of the ranks up to its own");
        plan = laid(names[i], 2);
        plan->invariant = true;
        rejected(plan, "");
    }
    struct plan *plan = laid("cube:3", 0); /* the prefixes are sent, not the totals */
    plan->extents[plan->circuits[plan->circuit_count - 1].send_at].space = SPACE_RECEIVE;
    rejected(plan, "is not of the ranks up to its own");
}
