/*
 * schedule_pml.c - prints the complete exchange of one cube as a Promela include.
 *
 *   schedule_pml DIMS
 *
 * The numbers are those of the plan that nodes get: it is invariant, so one row per step is enough.
 */
#include <stdio.h>
#include <stdlib.h>

#include "planner/planner.h"
#include "drivers/check.h"
#include "include/ecube/abi.h"
#include "network/network.h"

enum { DIMS_LIMIT = 3 }; /* circuits are numbered with bytes */

/* One step: which bits of the number differ from the peer's, and the turn on the link of each. */
static void print_step(const struct plan *plan, const struct plan_circuit *circuit, uint32_t dims)
{
    unsigned hop = 0, number = circuit->step;

    CHECK(circuit->hops && circuit->ports_at == PLAN_DIMENSION_ORDER);
    printf("    step_mask[%u] = %u;", number, circuit->to);
    for (uint32_t dim = 0; dim < dims; dim++) {
        unsigned turn = circuit->to >> dim & 1 ? plan->turns[circuit->turns_at + hop++] : 0;
        printf(" step_turns[%u] = %u;", number * dims + dim, turn);
    }
    printf("\n");
}

int main(int count, char **arguments)
{
    int dims_given = count == 2 ? atoi(arguments[1]) : 0;
    if (dims_given < 2 || dims_given > DIMS_LIMIT) {
        fprintf(stderr, "usage: schedule_pml DIMS, 2 or %d\n", DIMS_LIMIT);
        return 2;
    }
    uint32_t dims = (uint32_t)dims_given;
    struct network network;
    struct plan_fault fault;
    CHECK(network_make(&network, NETWORK_CUBE, NULL, dims));
    struct plan *plan = plan_make(
        &network, &(struct plan_request){.operation = ECUBE_EXCHANGE, .bytes = 1}, &fault);
    CHECK(plan && plan->invariant);
    printf("/* printed by schedule_pml; do not edit */\n");
    printf("#define DIMS %u\n#define NODES %u\n#define STEPS %u\n", dims, 1u << dims, plan->steps);
    printf("hidden byte step_mask[STEPS]\nhidden byte step_turns[STEPS * DIMS]\n");
    printf("inline load_schedule() {\n");
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        if (plan->circuits[i].hops) { /* not a copy */
            print_step(plan, &plan->circuits[i], dims);
        }
    }
    printf("}\n");
    plan_free(plan);
    return 0;
}
