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

/* Lays down and proves one variant of a candidate's plan. */
static struct plan *made_by(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_wish *wish,
                            struct plan_fault *fault)
{
    struct plan_wish one = *wish;

    one.variant = variant;
    struct plan *plan = candidate->plan(network, &one);
    plan->algorithm = (uint8_t)number;
    plan->variant = (uint16_t)variant;
    if (plan_prove(plan, fault))
        return plan;
    plan_free(plan);
    return NULL;
}

void candidate_words(const struct candidate *candidate, const struct network *network,
                     unsigned variant, char words[ALGORITHM_WORDS_MAX])
{
    char which[VARIANT_WORDS_MAX] = "";

    if (candidate->variant_words)
        candidate->variant_words(network, variant, which);
    snprintf(words, ALGORITHM_WORDS_MAX, "%s%s%s", candidate->name, *which ? " " : "", which);
}

/* Whether a wish allows a variant. */
static bool is_allowed(const struct candidate *candidate, const struct network *network,
                       unsigned variant, const struct plan_wish *wish)
{
    char words[ALGORITHM_WORDS_MAX];

    if (!wish->algorithm || strcmp(wish->algorithm, candidate->name) == 0)
        return true;
    candidate_words(candidate, network, variant, words);
    return strcmp(wish->algorithm, words) == 0;
}

/* The cheaper of two plans stays; without a profile the first. */
static struct plan *better(struct plan *best, struct plan *plan, const struct plan_wish *wish)
{
    uint32_t element_bytes = reduction_element_bytes(wish->type);

    if (!best || !plan)
        return best ? best : plan;
    if (wish->profile && plan_time(plan, wish->bytes, element_bytes, wish->profile).model_ns <
                             plan_time(best, wish->bytes, element_bytes, wish->profile).model_ns) {
        plan_free(best);
        return plan;
    }
    plan_free(plan);
    return best;
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
    struct plan *best = NULL;

    if (!wish_fits(network, wish, fault))
        return NULL;
    name_all(wish, fault);
    for (unsigned i = 0; (candidate = candidate_of(wish->operation, i)); i++) {
        bool possible = candidate->possible(network);
        unsigned variants =
            possible && candidate->variants ? candidate->variants(network, wish) : 1;
        for (unsigned v = 0; v < variants && (wish->profile || !best); v++) {
            if (!is_allowed(candidate, network, v, wish))
                continue;
            if (possible)
                best = better(best, made_by(candidate, i, v, network, wish, fault), wish);
            else
                plan_fails(fault, NULL, UINT32_MAX, "%s by %s wants %s",
                           operation_name(wish->operation), candidate->name,
                           candidate->restriction);
        }
    }
    return best;
}

const char *plan_algorithm(const struct plan *plan)
{
    return candidate_of(plan->operation, plan->algorithm)->name;
}

const char *plan_source(const struct plan *plan)
{
    return candidate_of(plan->operation, plan->algorithm)->source;
}
