#include "tests/planner/cliffs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/choose/choose.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

enum {
    GRID_NODES_MAX = 64, /* of more, only the squarest */
    SQUAREST_NODES_MAX = 128,
    SQUAREST_SIZES = 8, /* of these so many sizes, */
    LARGE_SIZES = 3     /* and of larger ones */
};

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

/* What the cheapest plans of one operation take on one network. */
struct times {
    struct network network;
    bool known;
    uint64_t model_ns[CLIFF_SIZES_MAX], bound_ns[CLIFF_SIZES_MAX];
    const char *algorithm[CLIFF_SIZES_MAX];
};

struct sweeping {
    const struct cliff_sweep *sweep;
    void (*found)(const struct cliff *cliff, void *context);
    void *context;
    unsigned pairs;
    struct times here[OPERATIONS],
        there[OPERATIONS]; /* the second of a pair may be the next's first */
};

unsigned cliffs_sizes(uint32_t sizes[CLIFF_SIZES_MAX])
{
    static const uint32_t between[] = {3,    6,    12,   24,   48,    100,   200,   384,  700,
                                       1000, 1500, 3000, 6000, 10000, 12000, 24000, 50000};
    unsigned count = 0;

    for (uint32_t power = 1; power <= 65536; power *= 2) {
        sizes[count++] = power;
        if (power > 4 && power < 65536) {
            sizes[count++] = power - 1;
            sizes[count++] = power + 1;
        }
    }
    for (unsigned i = 0; i < sizeof between / sizeof between[0]; i++) {
        sizes[count++] = between[i];
    }
    CHECK(count <= CLIFF_SIZES_MAX);
    return count;
}

/* Whether one of the sizes is looked at on a network: all, or so many, from first to last. */
static bool is_looked_at(const struct cliff_sweep *sweep, const struct network *network, unsigned i)
{
    unsigned some = network->nodes > SQUAREST_NODES_MAX ? LARGE_SIZES : SQUAREST_SIZES;

    if (network->nodes <= GRID_NODES_MAX + 1 || some >= sweep->size_count) {
        return true;
    }
    unsigned apart = (sweep->size_count - 1) / (some - 1);
    return i % apart == 0;
}

static bool is_same(const struct network *one, const struct network *other)
{
    char names[2][NETWORK_NAME_MAX];

    network_name(one, names[0]);
    network_name(other, names[1]);
    return strcmp(names[0], names[1]) == 0;
}

static void measure(const struct network *network, uint32_t operation,
                    const struct cliff_sweep *sweep, struct times *times)
{
    struct plan_request request = {.operation = operation,
                                   .type = operation_of(operation)->reduces ? ECUBE_UINT8 : 0,
                                   .profile = &ipsc860};
    struct contest *contest;
    uint64_t model_ns;

    if (times->known && is_same(&times->network, network)) {
        return;
    }
    *times = (struct times){.network = *network, .known = true};
    contest = contest_make(network, &request);
    for (unsigned i = 0; i < sweep->size_count; i++) {
        times->model_ns[i] = UINT64_MAX;
        if (!is_looked_at(sweep, network, i)) {
            continue;
        }
        request.bytes = sweep->sizes[i];
        contest_enter(contest, &request);
        for (uint32_t j = 0; j < contest->count; j++) {
            if (contest_time(contest, j, &request, &model_ns) && model_ns < times->model_ns[i]) {
                times->model_ns[i] = model_ns;
                times->algorithm[i] = contest->all[j].candidate->name;
            }
        }
        const struct plan bounded = {
            .network = *network, .operation = operation, .segments = 1, .invariant = true};
        times->bound_ns[i] = plan_time(&bounded, request.bytes, 1, &ipsc860).bound_ns;
    }
    contest_free(contest);
}

/* How much steeper the time rises than the bound, in thousandths; 0: nothing rises from nothing. */
static uint32_t steepness(const struct times *from, unsigned size, const struct times *to,
                          unsigned other)
{
    double rise = (double)to->model_ns[other] * (double)from->bound_ns[size];
    double must = (double)from->model_ns[size] * (double)to->bound_ns[other];

    if (from->model_ns[size] == UINT64_MAX || to->model_ns[other] == UINT64_MAX) {
        return 0;
    }
    return must > 0 ? (uint32_t)(1000 * rise / must) : 0;
}

/* The steepest of all places from one network to the other, each from a size to itself, or to a
 * byte more. */
static void find(struct sweeping *s, uint32_t operation, const struct times *from,
                 const struct times *to, uint32_t more)
{
    struct cliff cliff = {.operation = operation};

    network_name(&from->network, cliff.from);
    network_name(&to->network, cliff.to);
    for (unsigned i = 0; i < s->sweep->size_count; i++) {
        for (unsigned j = 0; j < s->sweep->size_count; j++) {
            uint32_t permille =
                s->sweep->sizes[j] == s->sweep->sizes[i] + more ? steepness(from, i, to, j) : 0;
            if (permille > cliff.permille) {
                cliff.permille = permille;
                cliff.bytes = s->sweep->sizes[j];
                cliff.before = from->algorithm[i];
                cliff.after = to->algorithm[j];
            }
        }
    }
    s->found(&cliff, s->context);
}

static void compare(struct sweeping *s, const struct network *from, const struct network *to)
{
    if (to->nodes > s->sweep->nodes_max || s->pairs++ % s->sweep->stride) {
        return;
    }
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        struct times *here = &s->here[operation], *there = &s->there[operation];
        if (!operation_of(operation) || !operation_of(operation)->planned ||
            !candidate_of(operation, 0) || operation == ECUBE_ALL_TO_SOME) {
            continue;
        }
        *here = *there;
        measure(from, operation, s->sweep, here);
        measure(to, operation, s->sweep, there);
        find(s, operation, here, there, 0);
        find(s, operation, here, here, 1);
    }
}

/* sizes[0] is that of columns: one more of it. */
static void step(struct sweeping *s, enum network_kind kind, const uint32_t *sizes, unsigned count)
{
    uint32_t more[2] = {sizes[0] + 1, sizes[1]};
    struct network from, to;

    if (network_make(&from, kind, sizes, count) && network_make(&to, kind, more, count) &&
        from.kind == to.kind && from.nodes > 1) {
        compare(s, &from, &to);
    }
}

/* From the squarest of so many nodes, and from a ring of them. */
static void step_squarest(struct sweeping *s, uint32_t nodes)
{
    uint32_t rows = 1;

    for (uint32_t divisor = 2; divisor * divisor <= nodes; divisor++) {
        rows = nodes % divisor == 0 ? divisor : rows;
    }
    step(s, NETWORK_RING, (const uint32_t[]){nodes, 1}, 1);
    step(s, NETWORK_MESH, (const uint32_t[]){nodes / rows, rows}, 2);
    if (rows > 1) {
        step(s, NETWORK_TORUS, (const uint32_t[]){nodes / rows, rows}, 2);
    }
}

void cliffs_sweep(const struct cliff_sweep *sweep,
                  void (*found)(const struct cliff *cliff, void *context), void *context)
{
    static const uint32_t large[] = {256, 257, 271, 272, 975, 999, 1000};
    struct sweeping *s = planner_memory(1, sizeof *s);

    *s = (struct sweeping){.sweep = sweep, .found = found, .context = context};
    for (uint32_t columns = 2; columns < GRID_NODES_MAX; columns++) {
        step(s, NETWORK_RING, (const uint32_t[]){columns, 1}, 1);
    }
    for (uint32_t rows = 1; rows <= GRID_NODES_MAX / 2; rows++) {
        for (uint32_t columns = 2; rows * (columns + 1) <= GRID_NODES_MAX; columns++) {
            step(s, NETWORK_MESH, (const uint32_t[]){columns, rows}, 2);
            if (rows > 1) {
                step(s, NETWORK_TORUS, (const uint32_t[]){columns, rows}, 2);
            }
        }
    }
    for (uint32_t nodes = GRID_NODES_MAX; nodes < SQUAREST_NODES_MAX; nodes++) {
        step_squarest(s, nodes);
    }
    for (unsigned i = 0; i < sizeof large / sizeof large[0]; i++) {
        step_squarest(s, large[i]);
    }
    free(s);
}
