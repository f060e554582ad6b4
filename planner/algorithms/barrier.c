/*
 * barrier.c - on a cube: in step d every node exchanges nothing with its neighbour in dimension d.
 * Who has heard of all nodes that differ from it in lower dimensions then hears of those that
 * differ in this one as well.
 */
#include "planner/build.h"
#include "planner/algorithms/candidates.h"

struct plan *plan_cube_barrier(const struct network *network, const struct plan_request *request)
{
    struct plan *plan = build_begin(network, request, true);

    for (uint32_t d = 0; d < network->dims; d++) {
        build_circuit(plan, d, 0, network->dim[d].stride, NO_SLOTS, NO_SLOTS, 0);
    }
    return plan;
}
