#include "sim/programs/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "planner/choose/ranks.h"
#include "planner/written/written.h"
#include "drivers/check.h"
#include "reduction/reduction.h"
#include "sim/programs/scenario.h"

static void *must(void *memory)
{
    CHECK(memory);
    return memory;
}

/* Puts the parts of all nodes in the preload, or the one part that is everybody's. */
static struct preloaded_plan parts_of(struct sim_plans *plans, const struct plan *plan)
{
    uint32_t count = plan->invariant ? 1 : plan->network.nodes;
    uint64_t *at = must(calloc(count, sizeof *at)), bytes = 0;

    for (uint32_t rank = 0; rank < count; rank++) {
        at[rank] = bytes;
        bytes += plan_part(plan, rank, NULL);
    }
    uint8_t *data = must(malloc(bytes));
    for (uint32_t rank = 0; rank < count; rank++) {
        plan_part(plan, rank, data + at[rank]);
    }
    if (plan->invariant) {
        free(at);
        at = NULL;
    }
    plans->bytes += bytes + (at ? count * sizeof *at : 0);
    return (struct preloaded_plan){.data = data, .at = at};
}

static bool is_for(const struct preloaded_plan *preloaded, const struct plan *plan)
{
    return preloaded->bytes_min == plan->bytes_min && preloaded->bytes_max == plan->bytes_max;
}

static bool is_same(const struct preloaded_plan *preloaded, const struct plan *plan)
{
    return plan_digest(preloaded->data) == plan->digest;
}

/* Finds a plan's place, which a plan that is the same for other sizes shares its parts with. */
static unsigned put_down(struct sim_plans *plans, const struct plan *plan)
{
    struct plan_preload *preload = &plans->preload;
    struct preloaded_plan *place = &preload->plans[preload->count];
    const struct plan *given = plan_given(plan);
    unsigned i = 0;

    while (i < preload->count && !is_for(&preload->plans[i], plan)) {
        i++;
    }
    if (i < preload->count) {
        return i;
    }
    for (i = 0; i < preload->count && !is_same(&preload->plans[i], given);) {
        i++;
    }
    *place = i < preload->count ? preload->plans[i] : parts_of(plans, given);
    place->bytes_min = plan->bytes_min;
    place->bytes_max = plan->bytes_max;
    plans->summaries[preload->count] = plan_summary(plan);
    return preload->count++;
}

/* The written plan for a request, or the planner's own for the sizes that are left to it. */
static struct plan *plan_for(const struct sim_options *options, const struct plan_request *request,
                             struct plan_fault *fault)
{
    for (unsigned i = 0; i < options->written_count; i++) {
        if (written_suits(options->written[i], request)) {
            return options->written[i];
        }
    }
    struct plan *plan = plan_make(&options->network, request, fault);
    for (unsigned i = 0; plan && i < options->written_count; i++) {
        written_cut(plan, options->written[i], request->bytes);
    }
    return plan;
}

static bool is_written(const struct sim_options *options, const struct plan *plan)
{
    unsigned i = 0;

    while (i < options->written_count && options->written[i] != plan) {
        i++;
    }
    return i < options->written_count;
}

/* A plan is needed for its time even when its parts are there already. */
static bool add_size(struct sim_plans *plans, const struct sim_options *options, unsigned size,
                     struct plan_fault *fault)
{
    struct plan_request request = {.operation = (uint32_t)options->scenario,
                                   .root = scenario_plan_root(options),
                                   .bytes = options->sizes[size],
                                   .type = scenario_type(options),
                                   .algorithm = options->algorithm,
                                   .profile = &options->profile};
    struct plan *plan = plan_for(options, &request, fault);

    if (!plan) {
        return false;
    }
    uint64_t nodes = plan->invariant ? plan->network.nodes : 1;
    ranks_follow(plan);
    plans->of_size[size] = put_down(plans, plan);
    plans->hops[size] = plan->hops * nodes;
    plans->blocks[size] = plan->blocks * nodes;
    plans->times[size] =
        plan_time(plan, request.bytes, scenario_element_bytes(options), &options->profile);
    if (!is_written(options, plan)) {
        plan_free(plan);
    }
    return true;
}

_Static_assert(SIM_WHY_MAX >= (int)PLAN_WORDS_MAX, "no limit that is named is cut off");

struct sim_plans *sim_plans_make(const struct sim_options *options, char why[SIM_WHY_MAX])
{
    struct sim_plans *plans = must(calloc(1, sizeof *plans));
    struct plan_fault fault;

    for (unsigned i = 0; scenario_is_collective(options->scenario) && i < options->size_count;
         i++) {
        if (!add_size(plans, options, i, &fault)) {
            snprintf(why, SIM_WHY_MAX, "%.*s", SIM_WHY_MAX - 1, fault.words);
            sim_plans_free(plans);
            return NULL;
        }
    }
    return plans;
}

/* Whether an earlier place has the same parts. */
static bool is_shared(const struct plan_preload *preload, unsigned place)
{
    unsigned i = 0;

    while (i < place && preload->plans[i].data != preload->plans[place].data) {
        i++;
    }
    return i < place;
}

void sim_plans_free(struct sim_plans *plans)
{
    if (!plans) {
        return;
    }
    for (unsigned i = 0; i < plans->preload.count; i++) {
        if (is_shared(&plans->preload, i)) {
            continue;
        }
        free((void *)(uintptr_t)plans->preload.plans[i].data);
        free((void *)(uintptr_t)plans->preload.plans[i].at);
    }
    free(plans);
}

uint64_t sim_plans_scratch(const struct sim_options *options, const struct sim_plans *plans,
                           unsigned size, uint32_t rank)
{
    if (!scenario_is_collective(options->scenario)) {
        return 0;
    }
    const struct preloaded_plan *plan = &plans->preload.plans[plans->of_size[size]];
    const uint8_t *part = plan->data + (plan->at ? plan->at[rank] : 0);

    return operation_slot_at(operation_of((uint32_t)options->scenario), plan_scratch(part),
                             options->sizes[size], scenario_element_bytes(options),
                             plan_segments(part));
}
