/*
 * map_test.c - collectives of programs whose ranks are at other nodes: whatever the map, each rank
 * gets what the operation promises to ranks; where neighbours stay neighbours it takes no longer
 * than on the network that the ranks form.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/movement.h"
#include "network/embedding.h"
#include "network/text.h"
#include "planner/planner.h"
#include "tests/networks.h"

enum { NODES = 16, BYTES = 52, INTEGERS = BYTES / 4, DRAWS = 6 };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

struct world {
    struct network network;
    struct network_map map;
    uint32_t node_of[NODES], rank_of[NODES];
};

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* node_of has been filled. */
static void finish(struct world *w, const char *host, const char *guest, bool keeps)
{
    w->network = network_of(host);
    w->map = (struct network_map){network_of(guest), NULL, w->node_of, w->rank_of, keeps};
    assert_true(embedding_invert(w->network.nodes, w->node_of, w->rank_of));
    w->network.map = &w->map;
}

static void shuffle(struct world *w, uint32_t nodes, uint64_t *seed)
{
    for (uint32_t i = 0; i < nodes; i++) {
        w->node_of[i] = i;
    }
    for (uint32_t i = nodes; i-- > 1;) {
        uint32_t j = (uint32_t)(draw(seed) % (i + 1)), at = w->node_of[i];
        w->node_of[i] = w->node_of[j];
        w->node_of[j] = at;
    }
}

/* What rank s has for rank d, at place i; of what is combined a power of two of its own. */
static uint32_t number(bool combines, uint32_t s, uint32_t d, uint32_t i)
{
    return combines ? (UINT32_C(1) << s) + ((131 * d + i) << 16) : 1000003 * s + 4099 * d + 17 * i;
}

/* The rank whose block a rank gets. */
static uint32_t source(const struct operation *row, const struct network *guest, uint32_t root,
                       uint32_t rank, uint32_t block)
{
    uint32_t from = 0;

    if (row->parameter == PARAMETER_MOVEMENTS) {
        return movement_rank(guest, movement_of(guest->nodes, root, block), rank, true);
    }
    if (row->parameter == PARAMETER_DISTANCE) {
        return (rank + guest->nodes - root) % guest->nodes;
    }
    for (unsigned k = 0; k < guest->dims; k++) {
        const struct network_dimension *dim = &guest->dim[k];
        uint32_t at = rank / dim->stride % dim->size;
        bool turned = root == 0 || (root >> k & 1);
        from += (turned ? dim->size - 1 - at : at) * dim->stride;
    }
    return from;
}

static bool spans(uint8_t span)
{
    return span == SPAN_NODES || span == SPAN_NODES_ROOT;
}

/* The number that a rank must have in block `block` of RECEIVE. */
static uint32_t wanted(const struct operation *row, const struct network *guest, uint32_t root,
                       uint32_t rank, uint32_t block, uint32_t i)
{
    uint32_t sum = 0, last = row->prefix ? rank : guest->nodes - 1;

    if (row->reduces) {
        for (uint32_t s = 0; s <= last; s++) {
            sum += number(true, s, spans(row->span[SPACE_SEND]) ? rank : 0, i);
        }
        return sum;
    }
    uint32_t s = spans(row->span[SPACE_RECEIVE]) ? block
                 : row->parameter                ? source(row, guest, root, rank, block)
                                                 : root;
    if (row->parameter == PARAMETER_MOVEMENTS) {
        return number(false, s, block, i);
    }
    return number(false, s, spans(row->span[SPACE_SEND]) ? rank : 0, i);
}

static uint32_t blocks_of(uint8_t span, bool at_root, uint32_t root, uint32_t nodes)
{
    switch (span) {
    case SPAN_ONE: return 1;
    case SPAN_NODES: return NODES;
    case SPAN_MOVEMENTS: return movement_slots(nodes, root);
    case SPAN_ONE_ROOT: return at_root;
    case SPAN_NODES_ROOT: return at_root ? NODES : 0;
    default: return 0;
    }
}

/* Performs what nodes get of a plan, with blocks by rank. */
static void check_plan(const struct world *w, const struct plan *plan, uint32_t root)
{
    static uint32_t send[NODES][NODES * INTEGERS], receive[NODES][NODES * INTEGERS];
    const struct operation *row = operation_of(plan->operation);
    const uint8_t *sends[NODES];
    uint8_t *receives[NODES];

    for (uint32_t node = 0; node < w->network.nodes; node++) {
        uint32_t rank = w->rank_of[node];
        for (uint32_t b = 0; b < w->network.nodes; b++) {
            for (uint32_t i = 0; i < INTEGERS; i++) {
                bool one = row->span[SPACE_SEND] != SPAN_MOVEMENTS && !spans(row->span[SPACE_SEND]);
                send[node][b * INTEGERS + i] = number(row->reduces, rank, one ? 0 : b, i);
                receive[node][b * INTEGERS + i] = UINT32_MAX;
                if (row->span[SPACE_SEND] == SPAN_NONE && rank == root) { /* a broadcast's */
                    receive[node][b * INTEGERS + i] = number(false, rank, 0, i);
                }
            }
        }
        sends[node] = (const uint8_t *)send[node];
        receives[node] = (uint8_t *)receive[node];
    }
    const struct plan_data data = {.bytes = BYTES,
                                   .type = row->reduces ? ECUBE_INT32 : 0,
                                   .operator_ = row->reduces ? ECUBE_SUM : 0,
                                   .send = sends,
                                   .receive = receives};
    plan_perform(plan_given(plan), &data);
    for (uint32_t rank = 0; rank < w->network.nodes; rank++) {
        bool at_root = row->rooted && rank == root;
        uint32_t blocks = blocks_of(row->span[SPACE_RECEIVE], at_root, root, w->network.nodes);
        for (uint32_t b = 0; b < blocks && b < w->network.nodes; b++) {
            for (uint32_t i = 0; i < INTEGERS; i++) {
                uint32_t has = receive[w->node_of[rank]][b * INTEGERS + i];
                uint32_t want = wanted(row, &w->map.guest, root, rank, b, i);
                if (has != want) {
                    fail_msg("%s with %u by %s: rank %u has %u in block %u, not %u", row->name,
                             root, plan_algorithm(plan), rank, has, b, want);
                }
            }
        }
    }
}

/* The cheapest plan for ranks, whose root is one; its model time in ns. */
static uint64_t try_plan(const struct network *network, const struct world *w, uint32_t operation,
                         uint32_t root, uint32_t bytes)
{
    const struct operation *row = operation_of(operation);
    struct plan_request request = {.operation = operation,
                                   .root = row->rooted ? network_node(network, root) : root,
                                   .bytes = bytes,
                                   .type = row->reduces ? ECUBE_INT32 : 0,
                                   .profile = &ipsc860};
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(network, &request, &fault);

    if (!plan) {
        fail_msg("%s with %u: %s", row->name, root, fault.words);
    }
    uint64_t ns = plan_model_ns(plan, bytes, 1, &ipsc860);
    if (w) {
        check_plan(w, plan, root);
    }
    plan_free(plan);
    return ns;
}

static void try_all(const struct world *w, uint64_t *seed)
{
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        const struct operation *row = operation_of(operation);
        if (row && row->planned && row->span[SPACE_RECEIVE] != SPAN_NONE) {
            try_plan(&w->network, w, operation,
                     (uint32_t)(draw(seed) % operation_roots(row, &w->network)), BYTES);
        }
    }
}

TEST(every_collective_is_right_under_drawn_maps)
{
    static const struct {
        const char *host, *guest;
    } pairs[] = {{"cube:3", "cube:3"},     {"cube:4", "torus:4x4"}, {"torus:3x4", "ring:12"},
                 {"mesh:2x3", "mesh:3x2"}, {"ring:5", "mesh:1x5"},  {"mesh:3x3", "torus:3x3"}};
    uint64_t seed = 1;

    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (unsigned times = 0; times < DRAWS; times++) {
            struct world w;
            struct network host = network_of(pairs[i].host);
            shuffle(&w, host.nodes, &seed);
            finish(&w, pairs[i].host, pairs[i].guest, false);
            try_all(&w, &seed);
        }
    }
}

TEST_SWEEP(neighbours_that_stay_so_make_collectives_no_dearer_than_on_the_guest)
{
    static const struct {
        const char *host, *guest;
        enum embedding embedding;
    } cases[] = {{"cube:4", "torus:4x4", EMBEDDING_GRAY},
                 {"cube:4", "ring:16", EMBEDDING_GRAY},
                 {"cube:3", "ring:8", EMBEDDING_GRAY},
                 {"torus:3x5", "ring:15", EMBEDDING_CYCLE},
                 {"mesh:3x4", "ring:12", EMBEDDING_CYCLE}};
    static const uint32_t sizes[] = {16, 1000, 20000};
    uint64_t seed = 7;

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i += sweep_share()) {
        struct world w;
        struct network host = network_of(cases[i].host), guest = network_of(cases[i].guest);
        assert_true(embedding_make(cases[i].embedding, &host, &guest, w.node_of));
        finish(&w, cases[i].host, cases[i].guest, true);
        try_all(&w, &seed);
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            const struct operation *row = operation_of(operation);
            for (unsigned s = 0; row && row->planned && s < 3; s++) {
                uint32_t root = (uint32_t)(draw(&seed) % operation_roots(row, &guest));
                uint64_t here = try_plan(&w.network, NULL, operation, root, sizes[s]);
                uint64_t there = try_plan(&guest, NULL, operation, root, sizes[s]);
                if (here > there) {
                    fail_msg("%s of %u with %u: %lu ns on %s, %lu on %s", row->name, sizes[s], root,
                             (unsigned long)here, cases[i].host, (unsigned long)there,
                             cases[i].guest);
                }
            }
        }
    }
}
