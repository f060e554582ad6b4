#include <stdio.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/choose/choose.h"
#include "planner/proof/prove.h"
#include "reduction/reduction.h"

static bool wish_fits(const struct network *network, const struct plan_wish *wish,
                      struct plan_fault *fault)
{
    const struct operation *operation = operation_of(wish->operation);
    uint32_t none = UINT32_MAX;

    if (!operation || !operation->planned)
        return plan_fails(fault, NULL, none, "there is no such operation to plan");
    if (operation->rooted && wish->root >= network->nodes)
        return plan_fails(fault, NULL, none, "there is no node %u to be the root", wish->root);
    if (!operation_root_name(operation) && wish->root)
        return plan_fails(fault, NULL, none, "%s has no root", operation->name);
    if (wish->root >= operation_roots(operation, network))
        return plan_fails(fault, NULL, none, "%s %u is not below %u",
                          operation_root_name(operation), wish->root,
                          operation_roots(operation, network));
    if (operation->reduces && reduction_element_bytes(wish->type) == 0)
        return plan_fails(fault, NULL, none, "%s needs a type of elements", operation->name);
    return true;
}

bool plan_is_right_on(const struct plan *plan, const struct profile *profile)
{
    return !plan->one_port || !profile || !profile->all_port;
}

struct plan *candidate_plan(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_wish *wish,
                            struct plan_fault *fault)
{
    struct plan_wish one = *wish;

    one.variant = variant;
    struct plan *plan = candidate->plan(network, &one);
    plan->algorithm = (uint8_t)number;
    plan->variant = (uint16_t)variant;
    bool proved = plan_prove(plan, fault);
    bool suits = plan_is_right_on(plan, wish->profile);
    if (proved && suits)
        return plan;
    if (proved)
        plan_fails(fault, NULL, UINT32_MAX, "%s by %s is set up ahead for nodes with one port",
                   operation_name(wish->operation), candidate->name);
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

bool candidate_is(const struct candidate *candidate, const struct network *network,
                  unsigned variant, const char *algorithm)
{
    char words[ALGORITHM_WORDS_MAX];

    if (!algorithm || strcmp(algorithm, candidate->name) == 0)
        return true;
    candidate_words(candidate, network, variant, words);
    return strcmp(algorithm, words) == 0;
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

const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX])
{
    const struct plan_wish largest = {
        .operation = operation, .bytes = INT32_MAX, .root = CANDIDATE_ROOT_ANY};
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, &largest);
        snprintf(words, ALGORITHM_WORDS_MAX, "%s", candidate->name);
        for (unsigned v = 0; ecube_choice(words) != choice && v < variants; v++)
            candidate_words(candidate, network, v, words);
        if (ecube_choice(words) == choice)
            return words;
    }
    return NULL;
}

/* The first variant of a candidate that a wish names; `variants`: none. */
static unsigned first_named(const struct candidate *candidate, const struct network *network,
                            const struct plan_wish *wish, unsigned variants)
{
    unsigned v = 0;

    while (v < variants && !candidate_is(candidate, network, v, wish->algorithm))
        v++;
    return v;
}

/* The first plan that is possible. */
static struct plan *first_of(const struct network *network, const struct plan_wish *wish,
                             struct plan_fault *fault)
{
    const struct candidate *candidate;
    struct plan *plan = NULL;

    for (unsigned i = 0; !plan && (candidate = candidate_of(wish->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, wish);
        unsigned v = first_named(candidate, network, wish, variants);
        if (v < variants)
            plan = candidate_plan(candidate, i, v, network, wish, fault);
    }
    return plan;
}

unsigned candidate_variants(const struct candidate *candidate, const struct network *network,
                            const struct plan_wish *wish)
{
    struct plan_wish any = *wish;

    if (!candidate->possible(network))
        return 0;
    if (wish->algorithm && strcmp(wish->algorithm, candidate->name) != 0) {
        any.bytes = INT32_MAX;
        any.root = CANDIDATE_ROOT_ANY;
    }
    return candidate->variants ? candidate->variants(network, &any) : 1;
}

/* Whether there is somebody to make the plan. */
static bool is_possible(const struct network *network, const struct plan_wish *wish,
                        struct plan_fault *fault)
{
    const struct candidate *candidate;

    name_all(wish, fault);
    for (unsigned i = 0; (candidate = candidate_of(wish->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, wish);
        if (first_named(candidate, network, wish, variants) < variants)
            return true;
        if (variants == 0 && (!wish->algorithm || strcmp(wish->algorithm, candidate->name) == 0))
            plan_fails(fault, NULL, UINT32_MAX, "%s by %s wants %s",
                       operation_name(wish->operation), candidate->name, candidate->restriction);
    }
    return false;
}

bool plan_possible(const struct network *network, const struct plan_wish *wish,
                   struct plan_fault *fault)
{
    return wish_fits(network, wish, fault) && is_possible(network, wish, fault);
}

struct plan *plan_make(const struct network *network, const struct plan_wish *wish,
                       struct plan_fault *fault)
{
    if (!plan_possible(network, wish, fault))
        return NULL;
    if (!wish->profile)
        return first_of(network, wish, fault);
    struct contest *contest = contest_make(network, wish);
    struct plan *plan = contest_win(contest, wish, fault);
    contest_free(contest);
    return plan;
}

const char *plan_algorithm(const struct plan *plan)
{
    return plan->written ? plan->written : candidate_of(plan->operation, plan->algorithm)->name;
}

struct plan_brief plan_brief(const struct plan *plan)
{
    struct plan_brief brief = {.operation = plan->operation,
                               .root = plan->root,
                               .bytes_min = plan->bytes_min,
                               .bytes_max = plan->bytes_max};

    if (plan->written)
        snprintf(brief.algorithm, sizeof brief.algorithm, "%s", plan->written);
    else
        candidate_words(candidate_of(plan->operation, plan->algorithm), &plan->network,
                        plan->variant, brief.algorithm);
    return brief;
}

const char *plan_source(const struct plan *plan)
{
    return plan->written ? plan->written_source
                         : candidate_of(plan->operation, plan->algorithm)->source;
}
