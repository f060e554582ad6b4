#include <stdio.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/choose/choose.h"
#include "planner/proof/prove.h"
#include "reduction/reduction.h"

static bool request_fits(const struct network *network, const struct plan_request *request,
                         struct plan_fault *fault)
{
    const struct operation *operation = operation_of(request->operation);
    uint32_t none = UINT32_MAX;

    if (!operation || !operation->planned) {
        return plan_fails(fault, NULL, none, "there is no such operation to plan");
    }
    if (operation->rooted && request->root >= network->nodes) {
        return plan_fails(fault, NULL, none, "there is no node %u to be the root", request->root);
    }
    if (!operation_root_name(operation) && request->root) {
        return plan_fails(fault, NULL, none, "%s has no root", operation->name);
    }
    if (request->root >= operation_roots(operation, network)) {
        return plan_fails(fault, NULL, none, "%s %u is not below %u",
                          operation_root_name(operation), request->root,
                          operation_roots(operation, network));
    }
    if (operation->reduces && reduction_element_bytes(request->type) == 0) {
        return plan_fails(fault, NULL, none, "%s needs a type of elements", operation->name);
    }
    return true;
}

bool plan_is_right_on(const struct plan *plan, const struct profile *profile)
{
    return !plan->one_port || !profile || !profile->all_port;
}

struct plan *candidate_plan(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault)
{
    struct plan_request one = *request;

    one.variant = variant;
    struct plan *plan = candidate->plan(network, &one);
    plan->algorithm = (uint8_t)number;
    plan->variant = (uint16_t)variant;
    bool proved = plan_prove(plan, fault);
    bool suits = plan_is_right_on(plan, request->profile);
    if (proved && suits) {
        return plan;
    }
    if (proved) {
        plan_fails(fault, NULL, UINT32_MAX, "%s by %s is set up ahead for nodes with one port",
                   operation_name(request->operation), candidate->name);
    }
    plan_free(plan);
    return NULL;
}

void candidate_words(const struct candidate *candidate, const struct network *network,
                     unsigned variant, char words[ALGORITHM_WORDS_MAX])
{
    char which[VARIANT_WORDS_MAX] = "";

    if (candidate->variant_words) {
        candidate->variant_words(network, variant, which);
    }
    snprintf(words, ALGORITHM_WORDS_MAX, "%s%s%s", candidate->name, *which ? " " : "", which);
}

bool candidate_is(const struct candidate *candidate, const struct network *network,
                  unsigned variant, const char *algorithm)
{
    char words[ALGORITHM_WORDS_MAX];

    if (!algorithm || strcmp(algorithm, candidate->name) == 0) {
        return true;
    }
    candidate_words(candidate, network, variant, words);
    return strcmp(algorithm, words) == 0;
}

/* No algorithm has the name: which ones there are. */
static void name_all(const struct plan_request *request, struct plan_fault *fault)
{
    const struct candidate *candidate;
    size_t used;

    plan_fails(fault, NULL, UINT32_MAX, "%s has no algorithm \"%.40s\"; there are",
               operation_name(request->operation), request->algorithm ? request->algorithm : "");
    for (unsigned i = 0; (candidate = candidate_of(request->operation, i)); i++) {
        used = strlen(fault->words);
        snprintf(fault->words + used, sizeof fault->words - used, "%s \"%s\"", i ? "," : "",
                 candidate->name);
    }
}

const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX])
{
    const struct plan_request largest = {
        .operation = operation, .bytes = INT32_MAX, .root = CANDIDATE_ROOT_ANY};
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, &largest);
        snprintf(words, ALGORITHM_WORDS_MAX, "%s", candidate->name);
        for (unsigned v = 0; ecube_choice(words) != choice && v < variants; v++) {
            candidate_words(candidate, network, v, words);
        }
        if (ecube_choice(words) == choice) {
            return words;
        }
    }
    return NULL;
}

/* The first variant of a candidate that a request names; `variants`: none. */
static unsigned first_named(const struct candidate *candidate, const struct network *network,
                            const struct plan_request *request, unsigned variants)
{
    unsigned v = 0;

    while (v < variants && !candidate_is(candidate, network, v, request->algorithm)) {
        v++;
    }
    return v;
}

/* The first plan that is possible. */
static struct plan *first_of(const struct network *network, const struct plan_request *request,
                             struct plan_fault *fault)
{
    const struct candidate *candidate;
    struct plan *plan = NULL;

    for (unsigned i = 0; !plan && (candidate = candidate_of(request->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, request);
        unsigned v = first_named(candidate, network, request, variants);
        if (v < variants) {
            plan = candidate_plan(candidate, i, v, network, request, fault);
        }
    }
    return plan;
}

unsigned candidate_variants(const struct candidate *candidate, const struct network *network,
                            const struct plan_request *request)
{
    struct plan_request any = *request;

    if (!candidate->possible(network)) {
        return 0;
    }
    if (request->algorithm && strcmp(request->algorithm, candidate->name) != 0) {
        any.bytes = INT32_MAX;
        any.root = CANDIDATE_ROOT_ANY;
    }
    return candidate->variants ? candidate->variants(network, &any) : 1;
}

/* Whether there is somebody to make the plan. */
static bool is_possible(const struct network *network, const struct plan_request *request,
                        struct plan_fault *fault)
{
    const struct candidate *candidate;

    name_all(request, fault);
    for (unsigned i = 0; (candidate = candidate_of(request->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, request);
        if (first_named(candidate, network, request, variants) < variants) {
            return true;
        }
        if (variants == 0 &&
            (!request->algorithm || strcmp(request->algorithm, candidate->name) == 0)) {
            plan_fails(fault, NULL, UINT32_MAX, "%s by %s wants %s",
                       operation_name(request->operation), candidate->name, candidate->restriction);
        }
    }
    return false;
}

bool plan_possible(const struct network *network, const struct plan_request *request,
                   struct plan_fault *fault)
{
    return request_fits(network, request, fault) && is_possible(network, request, fault);
}

struct plan *plan_make(const struct network *network, const struct plan_request *request,
                       struct plan_fault *fault)
{
    if (!plan_possible(network, request, fault)) {
        return NULL;
    }
    if (!request->profile) {
        return first_of(network, request, fault);
    }
    struct contest *contest = contest_make(network, request);
    struct plan *plan = contest_win(contest, request, fault);
    contest_free(contest);
    return plan;
}

const char *plan_algorithm(const struct plan *plan)
{
    return plan->written ? plan->written : candidate_of(plan->operation, plan->algorithm)->name;
}

struct plan_summary plan_summary(const struct plan *plan)
{
    struct plan_summary summary = {.operation = plan->operation,
                                   .root = plan->root,
                                   .bytes_min = plan->bytes_min,
                                   .bytes_max = plan->bytes_max};

    if (plan->written) {
        snprintf(summary.algorithm, sizeof summary.algorithm, "%s", plan->written);
    } else {
        candidate_words(candidate_of(plan->operation, plan->algorithm), &plan->network,
                        plan->variant, summary.algorithm);
    }
    return summary;
}

const char *plan_source(const struct plan *plan)
{
    return plan->written ? plan->written_source
                         : candidate_of(plan->operation, plan->algorithm)->source;
}
