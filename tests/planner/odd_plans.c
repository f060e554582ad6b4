#include "tests/planner/odd_plans.h"

#include <stdbool.h>

#include "planner/build.h"
#include "drivers/check.h"

enum { NODES_MAX = 32 };

static const struct plan_request request = {.operation = ECUBE_EXCHANGE};

static struct plan *proved(struct plan *plan)
{
    struct plan_fault fault;

    CHECK(plan_prove(plan, &fault));
    return plan;
}

struct plan *ahead_plan(const struct network *cube, const uint32_t *masks)
{
    struct plan *plan = build_begin(cube, &request, true);
    struct slots place = slots_of(plan, SPACE_RECEIVE, 0, 1);

    build_copy(plan, 0, 0, slots_of(plan, SPACE_SEND, 0, 1), place, 0);
    for (uint32_t step = 0; step < cube->nodes - 1; step++) {
        build_circuit(plan, step, 0, masks[step], slots_of(plan, SPACE_SEND, masks[step], 1), place,
                      ROW_AHEAD);
    }
    return proved(plan);
}

/* Where a node has the block that it keeps under a number: at first that for the node of this
 * number, in the end that from it. */
struct place {
    enum space space;
    uint32_t slot;
};

struct exchange {
    struct plan *plan;
    uint32_t nodes, dims;
    struct place at[NODES_MAX][NODES_MAX];
};

/* Blocks whose number differs from the node's in dimension k change places with those that do at
 * the neighbour. What comes in each step but the last has room of its own. */
static void change(struct exchange *e, uint32_t k, uint32_t node)
{
    uint32_t bit = UINT32_C(1) << k;
    struct slots send = slots_begin(e->plan);

    for (uint32_t x = 0; x < e->nodes; x++) {
        if ((x ^ node) & bit) {
            slots_add(e->plan, &send, e->at[node][x].space, e->at[node][x].slot, 1);
        }
    }
    struct slots receive = slots_begin(e->plan);
    for (uint32_t x = 0; x < e->nodes; x++) {
        if ((x ^ node) & bit) { /* it comes to the neighbour under the number x ^ bit */
            slots_add(e->plan, &receive, k + 1 < e->dims ? SPACE_SCRATCH : SPACE_RECEIVE,
                      (k + 1 < e->dims ? k * e->nodes : 0) + (x ^ bit), 1);
        }
    }
    build_circuit(e->plan, k, node, node ^ bit, send, receive, k ? ROW_AFTER_RECEIVED : 0);
}

static void note_places(struct exchange *e, uint32_t k, uint32_t node)
{
    for (uint32_t x = 0; x < e->nodes; x++) {
        if ((x ^ node) >> k & 1) {
            e->at[node][x] = k + 1 < e->dims ? (struct place){SPACE_SCRATCH, k * e->nodes + x}
                                             : (struct place){SPACE_RECEIVE, x};
        }
    }
}

struct plan *dimensions_plan(const struct network *cube)
{
    struct exchange e = {build_begin(cube, &request, false), cube->nodes, cube->dims, {{{0}}}};

    CHECK(cube->nodes <= NODES_MAX);
    for (uint32_t node = 0; node < e.nodes; node++) {
        e.plan->scratch[node] = (e.dims - 1) * e.nodes;
        for (uint32_t x = 0; x < e.nodes; x++) {
            e.at[node][x] = (struct place){SPACE_SEND, x};
        }
    }
    for (uint32_t k = 0; k < e.dims; k++) {
        for (uint32_t node = 0; node < e.nodes; node++) {
            change(&e, k, node);
        }
        for (uint32_t node = 0; node < e.nodes; node++) {
            note_places(&e, k, node);
        }
    }
    for (uint32_t node = 0; node < e.nodes; node++) {
        for (uint32_t x = 0; x < e.nodes; x++) {
            if (e.at[node][x].space != SPACE_RECEIVE) {
                build_copy(e.plan, e.dims - 1, node,
                           slots_of(e.plan, e.at[node][x].space, e.at[node][x].slot, 1),
                           slots_of(e.plan, SPACE_RECEIVE, x, 1), ROW_AFTER_RECEIVED);
            }
        }
    }
    return proved(e.plan);
}
