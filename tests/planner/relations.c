#include "tests/planner/relations.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/check.h"
#include "planner/algorithms/alike.h"
#include "planner/planner.h"
#include "reduction/reduction.h"
#include "tests/networks.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* What may take no longer than the sum of the others. Bytes are in parts of what the relation is
 * drawn for: K, or with `shares` K / N, which divides. */
struct kind {
    const char *name;
    uint32_t operation;
    struct {
        uint32_t operation, times;
        bool shares;
    } others[2];
};

static const struct kind kinds[] = {
    {"barrier in an allreduce", ECUBE_BARRIER, {{ECUBE_ALLREDUCE, 1, false}}},
    {"barrier in an allgather", ECUBE_BARRIER, {{ECUBE_ALLGATHER, 1, false}}},
    {"reduce in an allreduce", ECUBE_REDUCE, {{ECUBE_ALLREDUCE, 1, false}}},
    {"broadcast in an allgather", ECUBE_BROADCAST, {{ECUBE_ALLGATHER, 1, false}}},
    {"gather in an allgather", ECUBE_GATHER, {{ECUBE_ALLGATHER, 1, false}}},
    {"scatter in an exchange", ECUBE_SCATTER, {{ECUBE_EXCHANGE, 1, false}}},
    {"shift in an exchange", ECUBE_SHIFT, {{ECUBE_EXCHANGE, 1, false}}},
    {"reverse in an exchange", ECUBE_REVERSE, {{ECUBE_EXCHANGE, 1, false}}},
    {"all_to_some in an exchange", ECUBE_ALL_TO_SOME, {{ECUBE_EXCHANGE, 1, false}}},
    {"allreduce by allgather", ECUBE_ALLREDUCE, {{ECUBE_ALLGATHER, 1, false}}},
    {"scan by allgather", ECUBE_SCAN, {{ECUBE_ALLGATHER, 1, false}}},
    {"reduce by gather", ECUBE_REDUCE, {{ECUBE_GATHER, 1, false}}},
    {"reduce_scatter by exchange", ECUBE_REDUCE_SCATTER, {{ECUBE_EXCHANGE, 1, false}}},
    {"scan by exchanges", ECUBE_SCAN, {{ECUBE_EXCHANGE, 2, true}}},
    {"broadcast by scatter and allgather",
     ECUBE_BROADCAST,
     {{ECUBE_SCATTER, 1, true}, {ECUBE_ALLGATHER, 1, true}}},
    {"reduce by reduce_scatter and gather",
     ECUBE_REDUCE,
     {{ECUBE_REDUCE_SCATTER, 1, true}, {ECUBE_GATHER, 1, true}}},
    {"allreduce by reduce and broadcast",
     ECUBE_ALLREDUCE,
     {{ECUBE_REDUCE, 1, false}, {ECUBE_BROADCAST, 1, false}}},
    {"allreduce by reduce_scatter and allgather",
     ECUBE_ALLREDUCE,
     {{ECUBE_REDUCE_SCATTER, 1, true}, {ECUBE_ALLGATHER, 1, true}}},
    {"reduce_scatter by allreduce", ECUBE_REDUCE_SCATTER, {{ECUBE_ALLREDUCE, 1, false}}},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *const networks[] = {
    "cube:2",    "cube:3",    "cube:4",    "cube:5",      "cube:6",      "ring:3",    "ring:5",
    "ring:6",    "ring:7",    "ring:8",    "ring:12",     "ring:20",     "ring:33",   "mesh:2x3",
    "mesh:3x4",  "mesh:1x7",  "mesh:5x5",  "mesh:4x8",    "mesh:7x9",    "torus:3x3", "torus:4x4",
    "torus:3x5", "torus:5x3", "torus:6x6", "torus:3x3x3", "torus:4x4x2", "torus:8x8",
};

static uint64_t next(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *seed;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Small sizes as often as large ones. */
static uint32_t draw_bytes(uint64_t *seed)
{
    unsigned bits = (unsigned)(next(seed) % 17);

    return 4 * (1u + (uint32_t)(next(seed) % (1u << bits)));
}

static uint64_t time_of(const struct network *network, uint32_t operation, uint32_t root,
                        uint32_t bytes, const char **algorithm)
{
    const struct operation *row = operation_of(operation);
    struct plan_request request = {.operation = operation,
                                   .root = row->rooted || row->parameter ? root : 0,
                                   .bytes = operation == ECUBE_BARRIER ? 0 : bytes,
                                   .type = row->reduces ? ECUBE_INT32 : 0,
                                   .profile = &ipsc860};
    struct plan_fault fault;
    struct plan *plan = plan_make(network, &request, &fault);

    CHECK(plan);
    uint64_t ns =
        plan_time(plan, request.bytes, reduction_element_bytes(request.type), &ipsc860).model_ns;
    if (algorithm) {
        *algorithm = plan_algorithm(plan);
    }
    plan_free(plan);
    return ns;
}

/* Networks that are the same ------------------------------------------------------------------- */

/* No operation takes longer on the one than on the other, whose links are among its own; `ordered`:
 * with the same numbers of nodes. */
static const struct {
    const char *network, *other;
    bool ordered;
} same[] = {
    {"torus:4x4", "cube:4", false},        {"cube:4", "torus:4x4", false},
    {"torus:4x2", "cube:3", false},        {"torus:2x4", "torus:4x2", false},
    {"cube:3", "torus:4x2", false},        {"cube:3", "torus:2x4", false},
    {"cube:5", "torus:4x4x2", false},      {"torus:4x4x2", "cube:5", false},
    {"torus:4x4x4", "cube:6", false},      {"cube:6", "torus:4x4x4", false},
    {"torus:4x2x2", "torus:4x4", false},   {"torus:2x4x2", "cube:4", false},
    {"ring:4", "cube:2", false},           {"cube:2", "ring:4", false},
    {"mesh:2x2", "ring:4", false},         {"mesh:2x2", "cube:2", true},
    {"mesh:2x2x2", "cube:3", true},        {"mesh:2x2x2x2", "torus:2x2x2x2", true},
    {"torus:3x5", "torus:5x3", false},     {"torus:5x3", "torus:3x5", false},
    {"mesh:3x4", "mesh:4x3", false},       {"mesh:4x3", "mesh:3x4", false},
    {"mesh:8x4", "mesh:4x8", false},       {"mesh:7x9", "mesh:9x7", false},
    {"torus:3x2x4", "torus:2x3x4", false}, {"torus:2x3x4", "torus:4x3x2", false},
    {"mesh:3x2x3", "mesh:3x3x2", false},   {"ring:3", "mesh:1x3", true},
    {"ring:5", "mesh:1x5", true},          {"ring:8", "mesh:1x8", true},
    {"ring:13", "mesh:1x13", true},        {"ring:20", "mesh:1x20", true},
    {"torus:6x1", "ring:6", true},         {"mesh:7x1", "mesh:1x7", true},
};

enum { SAME = sizeof same / sizeof same[0], SAME_SHARE = 4 /* of so many draws one */ };

/* Whatever the order of ranks, an operation means the same. */
static bool is_free(uint32_t operation)
{
    const struct operation *row = operation_of(operation);

    return row && row->planned && !row->prefix && !row->parameter;
}

/* Whether an operation that depends on the order of ranks means the same where that is kept: all to
 * some moves blocks along a cube's Gray code, elsewhere along the ranks. */
static bool means_the_same(uint32_t operation, const struct network *network,
                           const struct network *other)
{
    const struct operation *row = operation_of(operation);

    return row->planned && (!operation_has_movements(row) ||
                            (network->kind == NETWORK_CUBE) == (other->kind == NETWORK_CUBE));
}

static struct relation draw_same(uint64_t seed)
{
    unsigned i = (unsigned)(next(&seed) % SAME);
    struct network network = network_of(same[i].network), other = network_of(same[i].other);
    struct relation relation = {.name = "same network", .bytes = draw_bytes(&seed)};

    do {
        relation.operation = (uint32_t)(next(&seed) % OPERATIONS);
    } while (!is_free(relation.operation) &&
             !(same[i].ordered && means_the_same(relation.operation, &network, &other)));
    const struct operation *row = operation_of(relation.operation);
    relation.root = (uint32_t)(next(&seed) % operation_roots(row, &network));
    uint32_t root = relation.root;
    if (row->rooted && !same[i].ordered) {
        root = alike_node(&network, &other, root);
    }
    if (row->parameter == PARAMETER_DIMENSIONS) {
        relation.root = root = 0;
    }
    snprintf(relation.network, sizeof relation.network, "%s", same[i].network);
    snprintf(relation.other, sizeof relation.other, "%s", same[i].other);
    relation.takes_ns =
        time_of(&network, relation.operation, relation.root, relation.bytes, &relation.algorithm);
    relation.limit_ns = time_of(&other, relation.operation, root, relation.bytes, NULL);
    relation.permille = 1000; /* a shift by 0 takes none */
    if (relation.limit_ns > 0) {
        relation.permille = (uint32_t)(relation.takes_ns * 1000 / relation.limit_ns);
    }
    return relation;
}

/* Of the movements of all to some those that an exchange has: no two to one node. */
static uint32_t single_block_root(const struct network *network, uint32_t root)
{
    bool power = (network->nodes & (network->nodes - 1)) == 0;

    return power ? (root == ECUBE_MOVEMENTS_AGAIN ? 0 : root) : ECUBE_MOVEMENT_ALONE;
}

struct relation relation_draw(uint64_t seed)
{
    if (next(&seed) % SAME_SHARE == 0) {
        return draw_same(seed);
    }
    const struct kind *kind = &kinds[next(&seed) % KINDS];
    struct relation relation = {.name = kind->name, .operation = kind->operation};

    snprintf(relation.network, sizeof relation.network, "%s",
             networks[next(&seed) % (sizeof networks / sizeof networks[0])]);
    struct network network = network_of(relation.network);
    relation.bytes = draw_bytes(&seed);
    for (unsigned i = 0; i < 2; i++) {
        if (kind->others[i].shares) {
            relation.bytes =
                (relation.bytes + 4 * network.nodes - 1) / (4 * network.nodes) * 4 * network.nodes;
        }
    }
    relation.root =
        (uint32_t)(next(&seed) % operation_roots(operation_of(kind->operation), &network));
    if (kind->operation == ECUBE_ALL_TO_SOME) {
        relation.root = single_block_root(&network, relation.root);
    }
    relation.takes_ns =
        time_of(&network, kind->operation, relation.root, relation.bytes, &relation.algorithm);
    for (unsigned i = 0; i < 2 && kind->others[i].times; i++) {
        uint32_t share = kind->others[i].shares ? network.nodes : 1, bytes = relation.bytes / share;
        if (kind->operation == ECUBE_REDUCE_SCATTER &&
            kind->others[i].operation == ECUBE_ALLREDUCE) {
            bytes *= network.nodes;
        }
        relation.limit_ns += kind->others[i].times * time_of(&network, kind->others[i].operation,
                                                             relation.root, bytes, NULL);
    }
    relation.permille = (uint32_t)(relation.takes_ns * 1000 / relation.limit_ns);
    return relation;
}
