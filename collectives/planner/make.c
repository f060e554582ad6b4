#include <stdio.h>
#include <string.h>

#include "collectives/planner/build.h"
#include "collectives/planner/candidates.h"
#include "collectives/planner/prove.h"
#include "reduction/reduction.h"

static bool wish_fits(const struct network *network, const struct plan_wish *wish,
                      struct plan_fault *fault)
{
    const struct operation *operation = operation_of(wish->operation);
    uint32_t none = UINT32_MAX;

    if (!operation || !operation->planned)
        return plan_fails(fault, NULL, none, "there is no such operation to plan");
    if (wish->root >= network->nodes)
        return plan_fails(fault, NULL, none, "there is no node %u to be the root", wish->root);
    if (!operation->rooted && wish->root)
        return plan_fails(fault, NULL, none, "%s has no root", operation->name);
    if (operation->reduces && reduction_element_bytes(wish->type) == 0)
        return plan_fails(fault, NULL, none, "%s needs a type of elements", operation->name);
    return true;
}

/* Lays down and proves one candidate's plan. */
static struct plan *made_by(const struct candidate *candidate, unsigned number,
                            const struct network *network, const struct plan_wish *wish,
                            struct plan_fault *fault)
{
    struct plan *plan = candidate->plan(network, wish);

    plan->algorithm = (uint8_t)number;
    if (plan_prove(plan, fault))
        return plan;
    plan_free(plan);
    return NULL;
}

/* No algorithm has the name: which ones there are. */
static void name_all(const struct plan_wish *wish, struct plan_fault *fault)
{
    const struct candidate *candidate;
    size_t used;

    plan_fails(fault, NULL, UINT32_MAX, "%s has no algorithm \"%.40s\"; there are",
               operation_name(wish->operation), wish->algorithm ? wish->algorithm : "");
    for (unsigned i = 0; (candidate = candidate_of(wish->operation, i)); i++) {
        used = strlen(fault->words);
        snprintf(fault->words + used, sizeof fault->words - used, "%s \"%s\"", i ? "," : "",
                 candidate->name);
    }
}

struct plan *plan_make(const struct network *network, const struct plan_wish *wish,
                       struct plan_fault *fault)
{
    const struct candidate *candidate;

    if (!wish_fits(network, wish, fault))
        return NULL;
    name_all(wish, fault);
    for (unsigned i = 0; (candidate = candidate_of(wish->operation, i)); i++) {
        if (wish->algorithm && strcmp(wish->algorithm, candidate->name) != 0)
            continue;
        if (!candidate->possible(network)) {
            plan_fails(fault, NULL, UINT32_MAX, "%s by %s wants %s",
                       operation_name(wish->operation), candidate->name, candidate->restriction);
            continue;
        }
        struct plan *plan = made_by(candidate, i, network, wish, fault);
        if (plan)
            return plan;
    }
    return NULL;
}

const char *plan_algorithm(const struct plan *plan)
{
    return candidate_of(plan->operation, plan->algorithm)->name;
}

const char *plan_source(const struct plan *plan)
{
    return candidate_of(plan->operation, plan->algorithm)->source;
}
