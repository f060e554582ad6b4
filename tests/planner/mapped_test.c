/*
 * mapped_test.c - plans of one network as plans of another: which networks are the same, by which
 * map of nodes; that mapped plans are proved, take the time that they take there and do what they
 * promise; and that by a wrong map they are refused.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/text.h"
#include "planner/algorithms/alike.h"
#include "planner/algorithms/candidates.h"
#include "planner/algorithms/mapped.h"
#include "reduction/reduction.h"
#include "tests/networks.h"
#include "tests/planner/planned.h"
#include "tests/network/shapes.h"

enum { NODES = 64, SMALL_NODES = 12, BYTES = 104, NAMES_MAX = 200 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

/* Networks ------------------------------------------------------------------------------------- */

static void are_alike(const char *name, const char *wanted)
{
    struct network network = network_of(name), others[ALIKE_MAX];
    char names[NAMES_MAX] = "", one[NETWORK_NAME_MAX];

    for (unsigned i = 0, count = alike_networks(&network, others); i < count; i++) {
        network_name(&others[i], one);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", one);
    }
    assert_string_equal(names, wanted);
}

TEST(a_network_takes_the_plans_of_a_few_that_are_the_same)
{
    are_alike("torus:4x4", "cube:4");
    are_alike("torus:4x2", "cube:3 torus:2x4");
    are_alike("torus:2x4", "cube:3 torus:4x2");
    are_alike("torus:4x1x2", "cube:3 torus:2x4");
    are_alike("torus:2x2x2", "cube:3 torus:2x4 torus:4x2");
    are_alike("mesh:2x2x2", "cube:3 torus:2x4 torus:4x2");
    are_alike("mesh:2x2", "cube:2 ring:4");
    are_alike("ring:4", "cube:2");
    are_alike("cube:1", "");
    are_alike("cube:2", "ring:4");
    are_alike("cube:5", "torus:2x4x4 torus:4x4x2");
    are_alike("cube:16", "torus:4x4x4x4x4x4x4x4");
    are_alike("torus:3x5", "torus:5x3");
    are_alike("mesh:3x2", "mesh:2x3");
    are_alike("mesh:4x2x3", "mesh:2x3x4 mesh:4x3x2");
    are_alike("mesh:1x4x2x3x1", "mesh:2x3x4 mesh:4x3x2");
    are_alike("torus:3x4x5", "torus:5x4x3");
    are_alike("torus:5x5", "");
    are_alike("ring:5", "mesh:1x5");
    are_alike("torus:5x1", "mesh:1x5");
    are_alike("ring:32", "mesh:1x32");
    are_alike("ring:33", "");
    are_alike("mesh:1x5", "");
    are_alike("mesh:4x4", "");
    are_alike("ring:2", "");
    are_alike("ring:1", "");
}

/* Calls `look` with every network of so many nodes, and each whose plans it can take. */
static void each_pair(uint32_t nodes,
                      void (*look)(const struct network *from, const struct network *network))
{
    static struct network shapes[SHAPES_MAX];
    unsigned count = shapes_make(shapes, nodes), pairs = 0;

    for (unsigned i = 0; i < count; i++) {
        struct network others[ALIKE_MAX];
        unsigned found = alike_networks(&shapes[i], others);
        for (unsigned j = 0; j < found; j++) {
            look(&others[j], &shapes[i]);
        }
        pairs += found;
    }
    assert_true(pairs > count / 4);
}

static void links_stay_links(const struct network *from, const struct network *network)
{
    uint32_t *map = alike_map(from, network);
    uint64_t met = 0;

    assert_int_equal(from->nodes, network->nodes);
    assert_int_equal(map[0], 0);
    for (uint32_t node = 0; node < from->nodes; node++) {
        assert_true(map[node] < network->nodes && !(met >> map[node] & 1));
        met |= UINT64_C(1) << map[node];
        assert_int_equal(alike_node(from, network, node), map[node]);
        assert_int_equal(alike_node(network, from, map[node]), node);
        for (unsigned port = 0; port < from->ports; port++) {
            uint32_t next = network_neighbour(from, node, port);
            assert_true(next == NETWORK_NO_NODE ||
                        network_port_to(network, map[node], map[next]) != NETWORK_NO_PORT);
        }
    }
    bool is_line = network_link_count(from) + 1 == from->nodes && from->kind == NETWORK_MESH;
    assert_true(network_link_count(from) + is_line == network_link_count(network));
    free(map);
}

TEST(every_link_of_the_one_is_a_link_of_the_other)
{
    each_pair(NODES, links_stay_links);
}

/* Whether the map itself keeps ranks; reversals and translations are tried one by one. */
static void says_what_is_kept(const struct network *from, const struct network *network)
{
    const struct operation *reverse = operation_of(ECUBE_REVERSE);
    uint32_t *map = alike_map(from, network);
    bool ordered = true, reversed = true, translated = network_is_symmetric(from);

    for (uint32_t node = 0; node < from->nodes; node++) {
        ordered &= map[node] == node;
    }
    for (uint32_t mask = 0; mask < operation_roots(reverse, network); mask++) {
        bool found = false;
        for (uint32_t other = 0; other < operation_roots(reverse, from) && !found; other++) {
            found = true;
            for (uint32_t node = 0; node < from->nodes; node++) {
                found &= map[operation_target(reverse, from, other, node, 0)] ==
                         operation_target(reverse, network, mask, map[node], 0);
            }
        }
        reversed &= found;
    }
    for (uint32_t by = 0; by < from->nodes && translated; by++) {
        for (uint32_t node = 0; node < from->nodes; node++) {
            translated &= map[network_translate(from, node, by)] ==
                          network_translate(network, map[node], map[by]);
        }
    }
    assert_int_equal(alike_keeps_order(from, network), ordered);
    assert_int_equal(alike_keeps_translations(from, network, map), translated);
    assert_true(reversed || !alike_keeps_reversals(from, network));
    free(map);
}

TEST(what_a_map_keeps_is_said)
{
    each_pair(NODES, says_what_is_kept);
}

/* Plans ---------------------------------------------------------------------------------------- */

static struct plan *planned(const char *name, uint32_t operation, uint32_t root, uint32_t bytes,
                            const char *algorithm)
{
    const struct plan_request request = {.operation = operation,
                                         .root = root,
                                         .bytes = bytes,
                                         .type = operation_of(operation)->reduces ? ECUBE_INT32 : 0,
                                         .algorithm = algorithm,
                                         .profile = &ipsc860};

    return planned_for(name, &request);
}

static uint64_t time_of(const struct plan *plan, uint32_t bytes)
{
    return plan_time(plan, bytes, operation_of(plan->operation)->reduces ? 4 : 1, &ipsc860)
        .model_ns;
}

/* The first variant of every algorithm there, from a root or two: its mapped plan is proved, takes
 * the same time, and does what it promises. */
static void maps_rightly(const struct network *from, const struct network *network)
{
    static unsigned mapped_count;
    const struct candidate *candidate;
    uint32_t *map = alike_map(from, network);

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        const struct operation *row = operation_of(operation);
        for (unsigned i = 0;
             !row->parameter && !row->prefix && (candidate = candidate_of(operation, i)); i++) {
            struct plan_request there = {.operation = operation};
            struct plan_request here = there;
            struct plan_fault fault = {.words = ""};
            there.root = row->rooted ? from->nodes / 3 : 0;
            here.root = map[there.root];
            if (candidate->made_of || !candidate->possible(from) ||
                mapped_count++ % sweep_share() != 0) {
                continue;
            }
            struct plan *plan = candidate->plan(from, &there);
            assert_true(plan_prove(plan, &fault));
            struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
            struct plan *mapped = map_plan(all ? all : plan, network, map, &here);
            if (!plan_prove(mapped, &fault)) {
                fail_msg("%s by %s on a network of %u nodes: %s", row->name, candidate->name,
                         network->nodes, fault.words);
            }
            assert_int_equal(time_of(mapped, BYTES), time_of(plan, BYTES));
            assert_int_equal(mapped->blocks, all ? plan->blocks * from->nodes : plan->blocks);
            assert_int_equal(mapped->hops, all ? plan->hops * from->nodes : plan->hops);
            const char *wrong = machine_tries(mapped, BYTES);
            if (wrong) {
                fail_msg("%s by %s: %s", row->name, candidate->name, wrong);
            }
            plan_free(mapped);
            plan_free(all);
            plan_free(plan);
        }
    }
    free(map);
}

TEST_SWEEP(a_mapped_plan_is_proved_and_takes_the_same_time)
{
    each_pair(SMALL_NODES, maps_rightly);
}

TEST(a_plan_for_all_nodes_stays_one_where_translations_do)
{
    struct plan *sorted =
        planned("torus:3x5", ECUBE_ALLGATHER, 0, 100, "mapped from torus:5x3, ring of neighbours");
    struct plan *gray = planned("torus:4x4", ECUBE_EXCHANGE, 0, 100, "mapped from cube:4, AAP");
    struct plan *ring = planned("ring:5", ECUBE_EXCHANGE, 0, 100, "mapped from mesh:1x5, direct");

    assert_true(sorted->invariant);
    assert_int_equal(sorted->circuit_count, 7);
    assert_false(gray->invariant);
    assert_int_equal(gray->circuit_count, 16 * 16); /* a copy each */
    assert_false(ring->invariant);
    struct plan *all = plan_expand(sorted);
    struct plan_fault fault;
    assert_true(plan_prove(all, &fault));
    assert_int_equal(time_of(all, 1000), time_of(sorted, 1000));
    assert_null(machine_tries(sorted, BYTES));
    plan_free(all);
    plan_free(sorted);
    plan_free(gray);
    plan_free(ring);
}

/* Two plans of the same request are one, and no plan of the other network. */
TEST(a_mapped_plan_has_a_digest_of_its_own)
{
    struct plan *one = planned("torus:4x4", ECUBE_EXCHANGE, 0, 4, NULL);
    struct plan *again =
        planned("torus:4x4", ECUBE_EXCHANGE, 0, 4, "mapped from cube:4, standard exchange");
    struct plan *there = planned("cube:4", ECUBE_EXCHANGE, 0, 4, "standard exchange");

    assert_string_equal(plan_summary(one).algorithm, "mapped from cube:4, standard exchange");
    assert_int_equal(one->digest, again->digest);
    assert_int_not_equal(one->digest, there->digest);
    plan_free(one);
    plan_free(again);
    plan_free(there);
}

/* A map in which two nodes have changed places is none of links, and no symmetry of these networks:
 * the plans of exchanges are refused. */
static void is_refused(const char *from_name, const char *name, const char *algorithm)
{
    struct network from = network_of(from_name), network = network_of(name);
    uint32_t *map = alike_map(&from, &network);
    struct plan *plan = planned(from_name, ECUBE_EXCHANGE, 0, 100, algorithm);
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    const struct plan_request request = {.operation = ECUBE_EXCHANGE};

    for (uint32_t a = 0; a < network.nodes; a++) {
        for (uint32_t b = a; b < network.nodes; b++) {
            struct plan_fault fault = {.words = ""};
            uint32_t was = map[a];
            map[a] = map[b];
            map[b] = was;
            struct plan *mapped = map_plan(all ? all : plan, &network, map, &request);
            assert_int_equal(plan_prove(mapped, &fault), a == b);
            assert_true(a == b || strstr(fault.words, "no link") ||
                        strstr(fault.words, "leads to") || strstr(fault.words, "hops"));
            plan_free(mapped);
            map[b] = map[a];
            map[a] = was;
        }
    }
    free(map);
    plan_free(all);
    plan_free(plan);
}

TEST(by_a_map_that_is_none_of_links_it_is_refused)
{
    is_refused("cube:3", "torus:4x2", "AAP");
    is_refused("torus:4x4", "cube:4", "rounds");
    is_refused("torus:3x5", "torus:5x3", "direct");
    is_refused("mesh:1x6", "ring:6", "rounds");
}

/* Operations ----------------------------------------------------------------------------------- */

static void is_mapped(const char *name, uint32_t operation, bool wanted)
{
    struct network network = network_of(name);
    const struct plan_request request = {
        .operation = operation, .root = CANDIDATE_ROOT_ANY, .algorithm = "mapped"};
    const struct candidate *candidate;
    unsigned count = 0;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        bool is = strcmp(candidate->name, "mapped") == 0;
        unsigned variants = is ? candidate_variants(candidate, &network, &request) : 0;
        assert_true(!is || candidate->possible(&network) == (variants > 0));
        count += variants;
    }
    if ((count > 0) != wanted) {
        fail_msg("%s on %s: %u variants", operation_name(operation), name, count);
    }
}

TEST(what_depends_on_the_order_of_ranks_is_mapped_where_that_is_kept)
{
    is_mapped("torus:4x4", ECUBE_SCAN, false);
    is_mapped("torus:3x5", ECUBE_SCAN, false);
    is_mapped("torus:3x5", ECUBE_SHIFT, false);
    is_mapped("torus:3x5", ECUBE_REVERSE, true);
    is_mapped("torus:4x4", ECUBE_REVERSE, true);
    is_mapped("cube:4", ECUBE_REVERSE, false);
    is_mapped("torus:4x2", ECUBE_REVERSE, true);
    is_mapped("torus:4x1x2", ECUBE_REVERSE, false);
    is_mapped("mesh:2x2x2", ECUBE_SCAN, true);
    is_mapped("mesh:2x2x2", ECUBE_SHIFT, true);
    is_mapped("ring:5", ECUBE_SCAN, true);
    is_mapped("ring:5", ECUBE_SHIFT, true);
    is_mapped("torus:4x4", ECUBE_REDUCE, true);
    is_mapped("mesh:4x4", ECUBE_REDUCE, false);
}

static void does_as_promised(const char *name, uint32_t operation, const char *algorithm)
{
    struct network network = network_of(name);
    uint32_t roots = operation_roots(operation_of(operation), &network);

    for (uint32_t root = 0; root < roots; root++) {
        struct plan *plan = planned(name, operation, root, BYTES, algorithm);
        const char *wrong = machine_tries(plan, BYTES);
        if (wrong) {
            fail_msg("%s by %s on %s from %u: %s", operation_name(operation), algorithm, name, root,
                     wrong);
        }
        plan_free(plan);
    }
}

TEST(roots_distances_and_dimensions_become_those_that_mean_the_same)
{
    does_as_promised("torus:4x4", ECUBE_REVERSE, "mapped from cube:4, direct");
    does_as_promised("torus:3x5", ECUBE_REVERSE, "mapped from torus:5x3, direct");
    does_as_promised("mesh:4x2x3", ECUBE_REVERSE, "mapped from mesh:2x3x4, direct");
    does_as_promised("mesh:2x2x2", ECUBE_SHIFT, "mapped from cube:3, direct");
    does_as_promised("torus:4x4", ECUBE_BROADCAST, "mapped from cube:4, rotation 4 segments");
    does_as_promised("mesh:3x4", ECUBE_SCATTER,
                     "mapped from mesh:4x3, uneven tree 5/16 on a cycle");
    does_as_promised("torus:5x3", ECUBE_REDUCE, "mapped from torus:3x5, uneven tree 4/16");
}

/* The cheapest --------------------------------------------------------------------------------- */

/* By an algorithm whose words begin like this. */
static void takes(const char *name, uint32_t operation, uint32_t bytes, uint64_t most_ns,
                  const char *algorithm)
{
    struct plan *plan = planned(name, operation, 0, bytes, NULL);

    if (time_of(plan, bytes) > most_ns ||
        strncmp(plan_summary(plan).algorithm, algorithm, strlen(algorithm)) != 0) {
        fail_msg("%s on %s, %u bytes: %llu ns by %s", operation_name(operation), name, bytes,
                 (unsigned long long)time_of(plan, bytes), plan_summary(plan).algorithm);
    }
    assert_null(machine_tries(plan, BYTES));
    plan_free(plan);
}

TEST(the_cheapest_of_another_network_is_chosen)
{
    takes("torus:4x4", ECUBE_BROADCAST, 16000, 8237650,
          "mapped from cube:4, rotation 64 segments ahead");
    takes("torus:4x4", ECUBE_EXCHANGE, 4, 354400, "mapped from cube:4, standard exchange");
    takes("cube:4", ECUBE_GATHER, 4, 187000, "mapped from torus:4x4, uneven tree 5/16");
    takes("mesh:2x2x2", ECUBE_SCAN, 400, 735000, "mapped from cube:3, recursive doubling");
    takes("torus:3x5", ECUBE_ALLGATHER, 64, 578600, "mapped from torus:5x3, lines both ways");
    takes("torus:4x2", ECUBE_EXCHANGEV, 400, 1334200, "mapped from cube:3, AAP ahead");
}

/* What is made of others there is mapped, too; and a scan combines what a mapped allgather brings,
 * for it cannot be mapped itself. */
TEST(plans_of_two_kinds_are_made_of_others)
{
    takes("torus:4x2", ECUBE_REDUCE, 400, 640000, "mapped from torus:2x4, reduce_scatter, gather ");
    takes("torus:3x5", ECUBE_SCAN, 64, 578600,
          "allgather, combined mapped from torus:5x3, lines both ways");
}

TEST(by_its_name_alone_it_is_the_cheapest_of_them)
{
    struct plan *plan = planned("torus:4x4", ECUBE_EXCHANGE, 0, 4, "mapped");

    assert_string_equal(plan_summary(plan).algorithm, "mapped from cube:4, standard exchange");
    plan_free(plan);
    plan = planned("mesh:3x4", ECUBE_BROADCAST, 5, 100, "mapped"); /* dearer than the cheapest */
    assert_string_equal(plan_algorithm(plan), "mapped");
    plan_free(plan);
}

TEST(networks_of_more_nodes_than_4096_take_no_others_plans)
{
    is_mapped("torus:64x32", ECUBE_BROADCAST, true);
    is_mapped("torus:128x64", ECUBE_BROADCAST, false);
    is_mapped("cube:13", ECUBE_BROADCAST, false);
}
