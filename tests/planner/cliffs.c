#include "tests/planner/cliffs.h"

#include <stdio.h>
#include <string.h>

#include "planner/choose/choose.h"
#include "drivers/check.h"
#include "reduction/reduction.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0};

/* What the cheapest plans of one operation take on one network. */
struct times {
    uint64_t model_ns[CLIFF_SIZES_MAX], bound_ns[CLIFF_SIZES_MAX];
    const char *algorithm[CLIFF_SIZES_MAX];
};

struct sweeping {
    const struct cliff_sweep *sweep;
    void (*found)(const struct cliff *cliff, void *context);
    void *context;
    unsigned pairs;
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

static void measure(const struct network *network, uint32_t operation,
                    const struct cliff_sweep *sweep, struct times *times)
{
    struct plan_request request = {.operation = operation,
                                   .type = operation_of(operation)->reduces ? ECUBE_UINT8 : 0,
                                   .profile = &ipsc860};
    struct contest *contest = contest_make(network, &request);
    uint64_t model_ns;

    for (unsigned i = 0; i < sweep->size_count; i++) {
        request.bytes = sweep->sizes[i];
        times->model_ns[i] = UINT64_MAX;
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
static uint32_t steepness(const struct times *from, const struct times *to, unsigned size)
{
    double rise = (double)to->model_ns[size] * (double)from->bound_ns[size];
    double must = (double)from->model_ns[size] * (double)to->bound_ns[size];

    return must > 0 ? (uint32_t)(1000 * rise / must) : 0;
}

static void compare(struct sweeping *s, const struct network *from, const struct network *to)
{
    struct times here, there;

    if (s->pairs++ % s->sweep->stride) {
        return;
    }
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        struct cliff cliff = {.operation = operation};
        if (!operation_of(operation) || !operation_of(operation)->planned ||
            !candidate_of(operation, 0)) {
            continue;
        }
        measure(from, operation, s->sweep, &here);
        measure(to, operation, s->sweep, &there);
        network_name(from, cliff.from);
        network_name(to, cliff.to);
        for (unsigned i = 0; i < s->sweep->size_count; i++) {
            uint32_t permille = steepness(&here, &there, i);
            if (permille > cliff.permille) {
                cliff.permille = permille;
                cliff.bytes = s->sweep->sizes[i];
                cliff.before = here.algorithm[i];
                cliff.after = there.algorithm[i];
            }
        }
        s->found(&cliff, s->context);
    }
}

/* sizes[0] is that of columns: one more of it. */
static void step(struct sweeping *s, enum network_kind kind, const uint32_t *sizes, unsigned count)
{
    uint32_t more[2] = {sizes[0] + 1, sizes[1]};
    struct network from, to;

    if (network_make(&from, kind, sizes, count) && network_make(&to, kind, more, count) &&
        from.kind == to.kind && from.nodes > 1 && to.nodes <= CLIFF_NODES_MAX) {
        compare(s, &from, &to);
    }
}

void cliffs_sweep(const struct cliff_sweep *sweep,
                  void (*found)(const struct cliff *cliff, void *context), void *context)
{
    struct sweeping s = {.sweep = sweep, .found = found, .context = context};

    for (uint32_t columns = 2; columns < CLIFF_NODES_MAX; columns++) {
        step(&s, NETWORK_RING, (const uint32_t[]){columns, 1}, 1);
    }
    for (uint32_t rows = 1; rows <= CLIFF_NODES_MAX / 2; rows++) {
        for (uint32_t columns = 2; rows * columns < CLIFF_NODES_MAX; columns++) {
            step(&s, NETWORK_MESH, (const uint32_t[]){columns, rows}, 2);
            if (rows > 1) {
                step(&s, NETWORK_TORUS, (const uint32_t[]){columns, rows}, 2);
            }
        }
    }
}
