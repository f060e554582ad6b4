/*
 * permute_test.c - shifts and reversals: every distance and every mask on every small network by
 * every algorithm, what they take, which is chosen, and plans that go to another node.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "network/text.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"
#include "tests/network/shapes.h"

enum { SMALL_NODES = 10, DIMS = 7, BYTES = 52 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

/* A variant does what it promises, in no less than the bound. */
static void try(const struct network *network, const struct candidate *candidate,
                const struct plan_request *request)
{
    struct plan *plan = tried(network, candidate, request);
    struct plan_time time = plan_time(plan, BYTES, 1, &ipsc860);
    char name[NETWORK_NAME_MAX];

    if (time.bound_ns > time.model_ns) {
        network_name(network, name);
        fail_msg("%s by %s %u, %u on %s: %lu ns, bound %lu", operation_name(request->operation),
                 candidate->name, request->variant, request->root, name,
                 (unsigned long)time.model_ns, (unsigned long)time.bound_ns);
    }
    plan_free(plan);
}

TEST_SWEEP(every_block_comes_to_its_node_by_every_way)
{
    static struct network shapes[SHAPES_MAX];
    unsigned count = shapes_make(shapes, SMALL_NODES);
    const struct candidate *candidate;

    for (uint32_t operation = ECUBE_SHIFT; operation <= ECUBE_REVERSE; operation++) {
        for (unsigned i = operation % sweep_share(); i < count; i += sweep_share()) {
            for (unsigned c = 0; (candidate = candidate_of(operation, c)); c++) {
                struct plan_request request = {.operation = operation, .bytes = BYTES};
                uint32_t roots = operation_roots(operation_of(operation), &shapes[i]);
                const struct plan_request any = {.operation = operation,
                                                 .root = CANDIDATE_ROOT_ANY};
                if (candidate->wants_ports) { /* ports_test.c */
                    continue;
                }
                unsigned variants = candidate->variants ? candidate->variants(&shapes[i], &any) : 1;
                for (; request.root < roots; request.root++) {
                    assert_true(!candidate->variants ||
                                candidate->variants(&shapes[i], &request) <= variants);
                    for (request.variant = 0; request.variant < variants; request.variant++) {
                        try(&shapes[i], candidate, &request);
                    }
                }
            }
        }
    }
}

static void takes(struct plan *plan, uint32_t bytes, uint64_t model_ns, uint32_t steps)
{
    assert_int_equal(plan->steps, steps);
    assert_int_equal(plan_time(plan, bytes, 1, &ipsc860).model_ns, model_ns);
    plan_free(plan);
}

/* A circuit of i hops alone. */
static uint64_t circuit_ns(uint32_t hops, uint32_t bytes)
{
    return hops ? 65425 + hops * UINT64_C(9575) + (hops + bytes - 1) * UINT64_C(425) : 0;
}

/* The same behind others on all of its links. */
static uint64_t behind_ns(uint32_t hops, uint32_t bytes)
{
    return circuit_ns(hops, bytes) - 65425;
}

TEST(shifts_of_cubes_take_one_step_or_at_most_one_for_each_dimension)
{
    char name[16];

    for (uint32_t dims = 0; dims <= DIMS; dims++) {
        for (uint32_t distance = 0; distance < UINT32_C(1) << dims; distance++) {
            struct plan_request request = {
                .operation = ECUBE_SHIFT, .root = distance, .bytes = 100, .algorithm = "direct"};
            uint32_t hops = distance ? dims - (uint32_t)__builtin_ctz(distance) : 0;
            snprintf(name, sizeof name, "cube:%u", dims);
            struct plan *direct = planned_for(name, &request);
            struct plan_time time = plan_time(direct, 100, 1, &ipsc860);
            assert_int_equal(time.bound_ns, time.model_ns);
            takes(direct, 100, circuit_ns(hops, 100), hops > 0);
            request.algorithm = "hierarchical";
            takes(planned_for(name, &request), 100, hops * circuit_ns(1, 100), hops);
            assert_true(hops <= dims);
        }
    }
}

TEST(reversals_of_cubes_take_one_circuit_of_the_subcube_s_dimensions)
{
    for (uint32_t mask = 0; mask < 64; mask++) {
        struct plan_request request = {
            .operation = ECUBE_REVERSE, .root = mask, .bytes = 100, .algorithm = "direct"};
        uint32_t hops = mask ? (uint32_t)__builtin_popcount(mask) : 6;
        takes(planned_for("cube:6", &request), 100, circuit_ns(hops, 100), 1);
        request.algorithm = "hierarchical";
        takes(planned_for("cube:6", &request), 100, hops * circuit_ns(1, 100), hops);
    }
}

struct exact {
    const char *network;
    uint32_t operation, root;
    const char *algorithm;
    uint32_t bytes, steps;
    uint64_t ns;
};

TEST(elsewhere_they_take_what_is_worked_out_by_hand)
{
    const struct exact cases[] = {
        /* half round a ring of eight: four circuits on a link one way, two both ways */
        {"ring:8", ECUBE_SHIFT, 4, "direct", 100, 1, circuit_ns(4, 100) + 3 * behind_ns(4, 100)},
        {"ring:8", ECUBE_SHIFT, 4, "direct both ways", 100, 1,
         circuit_ns(4, 100) + behind_ns(4, 100)},
        {"ring:8", ECUBE_SHIFT, 4, "hierarchical 1 hop", 100, 4, 4 * circuit_ns(1, 100)},
        {"ring:8", ECUBE_SHIFT, 5, "hierarchical 1 hop", 100, 3, 3 * circuit_ns(1, 100)},
        /* two on a link; who goes first in one step is ready first for the next */
        {"ring:8", ECUBE_SHIFT, 4, "hierarchical 2 hops", 100, 2,
         2 * circuit_ns(2, 100) + behind_ns(2, 100)},
        /* a line: one back over all of it, the others on by one */
        {"mesh:1x6", ECUBE_SHIFT, 1, "direct", 100, 1, circuit_ns(5, 100)},
        {"mesh:1x6", ECUBE_SHIFT, 5, "direct", 100, 1, circuit_ns(5, 100)},
        {"mesh:1x6", ECUBE_SHIFT, 2, "hierarchical 1 hop", 100, 2, 2 * circuit_ns(5, 100)},
        /* a row each: in columns alone, one back over two */
        {"mesh:3x4", ECUBE_SHIFT, 4, "direct", 100, 1, circuit_ns(2, 100)},
        {"torus:3x4", ECUBE_SHIFT, 4, "direct", 100, 1, circuit_ns(1, 100)},
        /* nested circuits of 5, 3 and 1 hops wait for the middle link */
        {"mesh:1x6", ECUBE_REVERSE, 0, "direct", 100, 1,
         circuit_ns(5, 100) + behind_ns(3, 100) + behind_ns(1, 100)},
        {"mesh:1x6", ECUBE_REVERSE, 0, "hierarchical 1 hop", 100, 6, 6 * circuit_ns(1, 100)},
        {"ring:8", ECUBE_REVERSE, 0, "direct", 100, 1, circuit_ns(3, 100) + behind_ns(1, 100)},
        {"ring:8", ECUBE_REVERSE, 0, "hierarchical 1 hop", 100, 4, 4 * circuit_ns(1, 100)},
        /* 2 and 1 gather half of the line each way, the whole of it crosses, and back */
        {"mesh:1x8", ECUBE_REVERSE, 0, "groups of 4", 100, 5,
         2 * circuit_ns(1, 100) + 2 * circuit_ns(2, 200) + circuit_ns(1, 400)},
        /* bundles of two, 5 and 1 hops apart, wait for the middle link; the farther is behind a
         * circuit of 1 hop, and scatters while the nearer waits */
        {"mesh:1x8", ECUBE_REVERSE, 0, "groups of 2", 100, 3,
         circuit_ns(1, 100) + circuit_ns(5, 200) + behind_ns(1, 200) + circuit_ns(1, 100)},
        /* of three in a half the farthest is a group by itself, whose circuit waits for a link of
         * the gathering; the bundle's waits for that one, its first hop stands by then */
        {"mesh:1x7", ECUBE_REVERSE, 0, "groups of 2", 100, 3,
         circuit_ns(1, 100) + behind_ns(6, 100) + behind_ns(2, 200) - 9575 + circuit_ns(1, 100)},
        {"mesh:3x4", ECUBE_REVERSE, 2, "direct", 100, 1, circuit_ns(2, 100)},
        {"mesh:3x4", ECUBE_REVERSE, 1, "direct", 100, 1, circuit_ns(3, 100) + behind_ns(1, 100)},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct exact *c = &cases[i];
        const struct plan_request request = {.operation = c->operation,
                                             .root = c->root,
                                             .bytes = c->bytes,
                                             .algorithm = c->algorithm};
        struct plan *plan = planned_for(c->network, &request);
        uint64_t ns = plan_time(plan, c->bytes, 1, &ipsc860).model_ns;
        if (ns != c->ns || plan->steps != c->steps) {
            fail_msg("%s %u on %s by %s: %lu ns in %u steps, not %lu in %u",
                     operation_name(c->operation), c->root, c->network, c->algorithm,
                     (unsigned long)ns, plan->steps, (unsigned long)c->ns, c->steps);
        }
        plan_free(plan);
    }
}

static void chosen(const char *name, uint32_t operation, uint32_t root, uint32_t bytes,
                   const char *wanted)
{
    const struct plan_request request = {
        .operation = operation, .root = root, .bytes = bytes, .profile = &ipsc860};
    struct plan *plan = planned_for(name, &request);
    char words[ALGORITHM_WORDS_MAX];

    candidate_words(candidate_of(operation, plan->algorithm), &plan->network, plan->variant, words);
    assert_string_equal(words, wanted);
    plan_free(plan);
}

TEST(the_cheapest_is_chosen)
{
    chosen("cube:7", ECUBE_SHIFT, 77, 16, "direct");
    chosen("cube:7", ECUBE_SHIFT, 77, 100000, "direct");
    chosen("ring:16", ECUBE_SHIFT, 1, 100, "direct");
    chosen("ring:64", ECUBE_SHIFT, 32, 0, "hierarchical 3 hops");
    chosen("ring:64", ECUBE_SHIFT, 32, 10000, "direct both ways");
    chosen("mesh:1x64", ECUBE_REVERSE, 0, 0, "groups of 16");
    chosen("mesh:1x64", ECUBE_REVERSE, 0, 10000, "direct");
}

static void refused(const char *name, const struct plan_request *request, const char *words)
{
    struct network network = network_of(name);
    struct plan_fault fault = {.words = ""};

    assert_null(plan_make(&network, request, &fault));
    if (!strstr(fault.words, words)) {
        assert_string_equal(fault.words, words);
    }
}

TEST(what_cannot_be_is_refused_in_words)
{
    struct plan_request request = {.operation = ECUBE_SHIFT, .root = 8};

    refused("cube:3", &request, "distance 8 is not below 8");
    request = (struct plan_request){.operation = ECUBE_REVERSE, .root = 4};
    refused("mesh:9x9", &request, "dimensions 4 is not below 4");
    request = (struct plan_request){.operation = ECUBE_SHIFT, .root = 300, .algorithm = "direct"};
    refused("ring:600", &request, "more hops than a circuit can list");
    request = (struct plan_request){.operation = ECUBE_SHIFT, .root = 30000, .profile = &ipsc860};
    refused("ring:60000", &request, "more than 2,097,152 circuits");
    request = (struct plan_request){.operation = ECUBE_SHIFT, .root = 300, .profile = &ipsc860};
    plan_free(planned_for("ring:600", &request));
}

TEST(a_block_that_comes_to_another_node_is_found)
{
    struct plan_request request = {.operation = ECUBE_SHIFT, .root = 3};
    struct plan *plan = planned_for("mesh:3x4", &request);
    struct plan_fault fault;

    plan->root = 4;
    assert_false(plan_prove(plan, &fault));
    assert_non_null(strstr(fault.words, "holds another block at the end"));
    plan_free(plan);
    request = (struct plan_request){.operation = ECUBE_REVERSE, .root = 1};
    plan = planned_for("cube:3", &request);
    plan->root = 3;
    assert_false(plan_prove(plan, &fault));
    assert_non_null(strstr(fault.words, "holds another block at the end"));
    plan_free(plan);
}

/* By its name, and by the number of that, which a program asks by. */
static void try_named(const char *network_words, uint32_t operation, uint32_t root,
                      const char *algorithm)
{
    struct network network = network_of(network_words);
    struct plan_cache *cache = plan_cache_make(&network, &ipsc860);
    struct plan_request request = {.operation = operation, .root = root, .bytes = BYTES};
    struct plan_time named, numbered;
    uint32_t steps;
    int status;

    request.algorithm = algorithm;
    assert_true(plan_cache_predict(cache, &request, &named, &steps, &status));
    request.algorithm = NULL;
    request.choice = ecube_choice(algorithm);
    assert_true(plan_cache_predict(cache, &request, &numbered, &steps, &status));
    assert_int_equal(named.model_ns, numbered.model_ns);
    plan_cache_free(cache);
}

/* A program that asks for one shifts by all distances, and reverses in all dimensions. */
TEST(a_variant_that_is_named_is_had_for_every_distance_and_mask)
{
    static const char *const shifts[] = {"direct both ways", "hierarchical both ways",
                                         "hierarchical 1 hop", "hierarchical 2 hops"};

    for (uint32_t distance = 0; distance < 6; distance++) {
        for (unsigned i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
            try_named("ring:6", ECUBE_SHIFT, distance, shifts[i]);
        }
    }
    for (uint32_t mask = 0; mask < 4; mask++) {
        try_named("mesh:2x3", ECUBE_REVERSE, mask, "hierarchical 1 hop");
    }
}
