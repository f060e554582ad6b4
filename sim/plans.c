#include "sim/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/check.h"
#include "reduction/reduction.h"
#include "sim/scenario.h"

static void *must(void *memory)
{
    CHECK(memory);
    return memory;
}

/* Puts the parts of all nodes on the shelf, or the one part that is everybody's. */
static void put_down(struct sim_plans *plans, const struct plan *plan)
{
    uint32_t count = plan->invariant ? 1 : plan->network.nodes;
    uint64_t *at = must(calloc(count, sizeof *at)), bytes = 0;

    for (uint32_t rank = 0; rank < count; rank++) {
        at[rank] = bytes;
        bytes += plan_part(plan, rank, NULL);
    }
    uint8_t *data = must(malloc(bytes));
    for (uint32_t rank = 0; rank < count; rank++)
        plan_part(plan, rank, data + at[rank]);
    if (plan->invariant) {
        free(at);
        at = NULL;
    }
    plans->shelf.plans[plans->shelf.count++] = (struct shelf_plan){data, at};
    plans->bytes += bytes + (at ? count * sizeof *at : 0);
}

/* The place of a plan that suits the size; the shelf's count: there is none yet. */
static unsigned place_for(const struct sim_plans *plans, uint32_t bytes)
{
    unsigned i = 0;

    while (i < plans->shelf.count && !plan_suits(plans->shelf.plans[i].data, bytes))
        i++;
    return i;
}

/* A plan is needed for its time even when its parts are there already. */
static bool add_size(struct sim_plans *plans, const struct sim_options *options, unsigned size,
                     struct plan_fault *fault)
{
    struct plan_wish wish = {.operation = (uint32_t)options->scenario,
                             .root = SCENARIO_ROOT,
                             .bytes = options->sizes[size],
                             .type = scenario_type(options->scenario)};
    struct plan *plan = plan_make(&options->network, &wish, fault);

    if (!plan)
        return false;
    plans->of_size[size] = place_for(plans, wish.bytes);
    if (plans->of_size[size] == plans->shelf.count)
        put_down(plans, plan);
    plans->times[size] =
        plan_time(plan, wish.bytes, scenario_element_bytes(options->scenario), &options->profile);
    plan_free(plan);
    return true;
}

struct sim_plans *sim_plans_make(const struct sim_options *options, char why[SIM_WHY_MAX])
{
    struct sim_plans *plans = must(calloc(1, sizeof *plans));
    struct plan_fault fault;

    for (unsigned i = 0; scenario_is_collective(options->scenario) && i < options->size_count; i++)
        if (!add_size(plans, options, i, &fault)) {
            snprintf(why, SIM_WHY_MAX, "%.*s", SIM_WHY_MAX - 1, fault.words);
            sim_plans_free(plans);
            return NULL;
        }
    return plans;
}

void sim_plans_free(struct sim_plans *plans)
{
    if (!plans)
        return;
    for (unsigned i = 0; i < plans->shelf.count; i++) {
        free((void *)(uintptr_t)plans->shelf.plans[i].data);
        free((void *)(uintptr_t)plans->shelf.plans[i].at);
    }
    free(plans);
}

uint64_t sim_plans_scratch(const struct sim_options *options, const struct sim_plans *plans,
                           unsigned size, uint32_t rank)
{
    if (!scenario_is_collective(options->scenario))
        return 0;
    const struct shelf_plan *plan = &plans->shelf.plans[plans->of_size[size]];
    const uint8_t *part = plan->data + (plan->at ? plan->at[rank] : 0);

    return operation_slot_at(operation_of((uint32_t)options->scenario), plan_scratch(part),
                             options->sizes[size], scenario_element_bytes(options->scenario),
                             plan_segments(part));
}
