/*
 * roots_test.c - every algorithm with every root, executed by simulated nodes: right bytes, in the
 * time that is predicted. system/exact*_test.sh has some roots of these on nodes in QEMU.
 */
#include "tests/testing.h"

#include <string.h>

#include "network/embedding.h"
#include "planner/algorithms/candidates.h"
#include "sim/core/random.h"
#include "tests/networks.h"
#include "tests/sim/execution.h"

enum { BYTES = 104 };

static struct profile machine_of(uint8_t ports)
{
    return (struct profile){65425, 9575, 425, 1500, ports, 1};
}

static void is_exact(const struct network *network, const struct plan_request *request)
{
    struct plan_fault fault = {.words = ""};
    char why[SIM_TEXT_MAX];
    struct plan *plan = plan_make(network, request, &fault);

    if (!plan) {
        fail_msg("%s by %s from %u: %s", operation_name(request->operation), request->algorithm,
                 request->root, fault.words);
    }
    if (!execution_is_right(plan, request->profile, request->bytes, request->type, why)) {
        fail_msg("%s by %s from %u, %u ports: %s", operation_name(request->operation),
                 plan_summary(plan).algorithm, request->root, request->profile->ports, why);
    }
    plan_free(plan);
}

static void are_exact_from(const struct network *network, struct plan_request request)
{
    uint32_t roots = operation_roots(operation_of(request.operation), network);

    for (request.root = 0; request.root < roots; request.root++) {
        is_exact(network, &request);
    }
}

static bool is_planned(uint32_t operation)
{
    return operation_of(operation) && operation_of(operation)->planned;
}

static struct plan_request request_for(uint32_t operation, const struct profile *machine)
{
    return (struct plan_request){.operation = operation,
                                 .bytes = BYTES,
                                 .type = operation_of(operation)->reduces ? ECUBE_DOUBLE : 0,
                                 .profile = machine};
}

/* Whether nodes with so many ports can have it: it may want two, or all of a network's. */
static bool is_for(const struct candidate *candidate, const struct network *network, uint8_t ports)
{
    unsigned wanted = !candidate->wants_ports ? 1 : candidate->steps ? network->ports : 2;

    return candidate->possible(network) && ports >= wanted;
}

/* Every algorithm that nodes with so many ports can have, or what the short tier takes of them. */
static void are_exact(const char *name, uint8_t ports)
{
    static unsigned counted;
    const struct profile machine = machine_of(ports);
    struct network network = network_of(name);
    const struct candidate *candidate;

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        struct plan_request request = request_for(operation, &machine);
        for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
            request.algorithm = candidate->name;
            if (is_for(candidate, &network, ports) &&
                counted++ % (sweep_share() / BUILD_SHARE) == 0) {
                are_exact_from(&network, request);
            }
        }
    }
}

/* The cheapest of every operation, of short blocks and of long ones. */
static void chosen_are_exact(const char *name, uint8_t ports)
{
    static const uint32_t sizes[] = {0, 8, 400, 20000};
    const struct profile machine = machine_of(ports);
    struct network network = network_of(name);

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; is_planned(operation) && i < 4; i++) {
            struct plan_request request = request_for(operation, &machine);
            request.bytes = sizes[i];
            are_exact_from(&network, request);
        }
    }
}

static uint32_t farthest(const struct network *network)
{
    uint32_t node = 0;

    while (network_distance(network, 0, node) < network_diameter(network)) {
        node++;
    }
    return node;
}

/* The same on a large network: from the first and from the one that is farthest from it. */
static void large_are_exact(const char *name)
{
    static const uint8_t ports[] = {1, 2, PORTS_ALL};
    struct network network = network_of(name);

    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; is_planned(operation) && i < 3; i++) {
            const struct profile machine = machine_of(ports[i]);
            struct plan_request request = request_for(operation, &machine);
            is_exact(&network, &request);
            if (operation_of(operation)->rooted) {
                request.root = farthest(&network);
                is_exact(&network, &request);
            }
        }
    }
}

TEST_SWEEP(every_algorithm_is_exact_with_every_root_on_a_cube)
{
    are_exact("cube:3", 1);
}

TEST_SWEEP(so_it_is_on_a_ring)
{
    are_exact("ring:5", 1);
}

TEST_SWEEP(so_it_is_on_a_mesh)
{
    are_exact("mesh:2x3", 1);
}

TEST_SWEEP(so_it_is_on_a_torus)
{
    are_exact("torus:3x3", 1);
}

TEST_SWEEP(so_it_is_with_several_ports)
{
    are_exact("cube:2", 2);
    are_exact("ring:3", PORTS_ALL);
    are_exact("mesh:2x3", PORTS_ALL);
    chosen_are_exact("mesh:2x3", 2);
    chosen_are_exact("cube:2", PORTS_ALL);
}

/* The cheapest, which are plans of another network for one root at least. */
static void are_exact_when_mapped(const char *name, uint32_t operation, uint32_t bytes)
{
    const struct profile machine = machine_of(1);
    struct network network = network_of(name);
    uint32_t roots = operation_roots(operation_of(operation), &network), mapped = 0;

    for (uint32_t root = 0; root < roots; root++) {
        struct plan_request request = {.operation = operation,
                                       .root = root,
                                       .bytes = bytes,
                                       .type = operation_of(operation)->reduces ? ECUBE_DOUBLE : 0,
                                       .profile = &machine};
        struct plan_fault fault;
        char why[SIM_TEXT_MAX];
        struct plan *plan = plan_make(&network, &request, &fault);
        assert_non_null(plan);
        mapped += strstr(plan_summary(plan).algorithm, "mapped from ") != NULL;
        if (!execution_is_right(plan, &machine, bytes, request.type, why)) {
            fail_msg("%s on %s from %u: %s", operation_name(operation), name, root, why);
        }
        plan_free(plan);
    }
    assert_true(mapped > 0);
}

TEST(so_are_plans_of_other_networks)
{
    are_exact_when_mapped("torus:4x4", ECUBE_BROADCAST, 16000);
    are_exact_when_mapped("torus:4x4", ECUBE_EXCHANGE, 4);
    are_exact_when_mapped("torus:4x2", ECUBE_EXCHANGEV, 400);
    are_exact_when_mapped("torus:4x4", ECUBE_ALLREDUCE, 400);
    are_exact_when_mapped("cube:4", ECUBE_GATHER, 4);
    are_exact_when_mapped("cube:3", ECUBE_REDUCE, 1000);
    are_exact_when_mapped("cube:3", ECUBE_ALLGATHER, 64);
    are_exact_when_mapped("mesh:2x2x2", ECUBE_SCAN, 400);
    are_exact_when_mapped("torus:3x5", ECUBE_SCAN, 64);
    are_exact_when_mapped("torus:3x5", ECUBE_REDUCE_SCATTER, 64);
    are_exact_when_mapped("mesh:3x4", ECUBE_SCATTER, 64);
}

/* Ranks drawn over the nodes, which form another network: the cheapest of each operation. */
static void are_exact_where_ranks_are_drawn(const char *name, const char *guest, uint64_t seed)
{
    enum { NODES_MAX = 16 };
    static const uint8_t ports[] = {1, PORTS_ALL};
    uint32_t node_of[NODES_MAX], rank_of[NODES_MAX];
    struct network network = network_of(name);
    const struct network_map map = {network_of(guest), NULL, node_of, rank_of, false};

    assert_true(network.nodes <= NODES_MAX && map.guest.nodes == network.nodes);
    for (uint32_t i = 0; i < network.nodes; i++) {
        uint32_t j = (uint32_t)(random_next(&seed) % (i + 1));
        node_of[i] = node_of[j];
        node_of[j] = i;
    }
    assert_true(embedding_invert(network.nodes, node_of, rank_of));
    network.map = &map;
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        for (unsigned i = 0; is_planned(operation) && i < 2; i++) {
            const struct profile machine = machine_of(ports[i]);
            are_exact_from(&network, request_for(operation, &machine));
        }
    }
}

TEST(so_it_is_where_ranks_are_elsewhere)
{
    are_exact_where_ranks_are_drawn("cube:3", "mesh:2x4", 1);
    are_exact_where_ranks_are_drawn("torus:2x3", "ring:6", 2);
    are_exact_where_ranks_are_drawn("mesh:1x5", "ring:5", 3);
}

TEST_LONG(so_it_is_on_networks_of_sixteen_nodes)
{
    are_exact("cube:4", 1);
    are_exact("ring:16", 1);
    are_exact("mesh:4x4", 1);
    are_exact("torus:4x4", 1);
}

/* One port, two and all of them, each with all algorithms and with those that are chosen. */
TEST_LONG(so_it_is_with_all_numbers_of_ports)
{
    static const char *const names[] = {"cube:3", "ring:6", "mesh:3x4", "torus:3x3x2"};
    static const uint8_t ports[] = {1, 2, PORTS_ALL};

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 3; k++) {
            are_exact(names[i], ports[k]);
            chosen_are_exact(names[i], ports[k]);
        }
    }
}

/* sim/exact_test.sh has hundreds of nodes, which take too long with sanitizers. */
TEST_LONG(what_is_chosen_is_exact_on_a_ring_of_64)
{
    large_are_exact("ring:64");
}
