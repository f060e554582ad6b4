#include <stdio.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/candidates.h"
#include "planner/choose/choose.h"
#include "planner/choose/ranks.h"
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

/* What nodes are given of it, where slots are those of ranks. */
static bool rename_for_ranks(struct plan *plan, struct plan_fault *fault)
{
    bool same;

    plan->ranks = ranks_plan(plan, &same, fault);
    return plan->ranks || same;
}

/* Whether nodes in QEMU have room for their parts: so a simulator chooses the same. */
static bool parts_are_kept(const struct plan *plan, struct plan_fault *fault)
{
    const struct plan *given = plan_given(plan);
    uint32_t nodes = plan->network.nodes <= PLAN_KEPT_NODES ? plan->network.nodes : 0;
    uint32_t parts = given->invariant && nodes ? 1 : nodes;

    for (uint32_t rank = 0; rank < parts; rank++) {
        uint32_t bytes = plan_part(given, rank, NULL);
        if (bytes > PLAN_KEPT_BYTES) {
            return plan_fails(fault, NULL, UINT32_MAX,
                              "node %u has a part of %u bytes, and room for %u", rank, bytes,
                              PLAN_KEPT_BYTES);
        }
    }
    return true;
}

struct plan *candidate_plan(const struct candidate *candidate, unsigned number, unsigned variant,
                            const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault)
{
    return candidate_prove(candidate, number, variant, network, request, NULL, fault);
}

struct plan *candidate_prove(const struct candidate *candidate, unsigned number, unsigned variant,
                             const struct network *network, const struct plan_request *request,
                             struct plan *laid, struct plan_fault *fault)
{
    struct plan_request one = *request;

    one.variant = variant;
    one.ports = (uint8_t)(request->profile ? clock_ports(request->profile) : 1);
    struct plan *plan = laid ? laid : candidate->plan(network, &one);
    plan->node_ports = 0; /* the proof says */
    plan->choice = request->choice;
    plan->algorithm = (uint8_t)number;
    plan->variant = variant;
    bool proved =
        ranks_prove(plan, fault) && rename_for_ranks(plan, fault) && parts_are_kept(plan, fault);
    if (proved && plan_suit(plan, request->profile)) {
        return plan;
    }
    if (proved) {
        plan_fails(fault, NULL, UINT32_MAX, "%s by %s is for nodes with %u ports",
                   operation_name(request->operation), candidate->name, plan->node_ports);
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
    if (candidate->operation_words) {
        candidate->operation_words(network, candidate->operation, variant, which);
    }
    snprintf(words, ALGORITHM_WORDS_MAX, "%s%s%s", candidate->name, *which ? " " : "", which);
}

bool candidate_is(const struct candidate *candidate, const struct network *network,
                  unsigned variant, const char *algorithm)
{
    char words[ALGORITHM_WORDS_MAX];
    size_t length = strlen(candidate->name);

    if (!algorithm || strcmp(algorithm, candidate->name) == 0) {
        return true;
    }
    if (strncmp(algorithm, candidate->name, length) != 0 || algorithm[length] != ' ') {
        return false;
    }
    candidate_words(candidate, network, variant, words);
    return strcmp(algorithm, words) == 0;
}

void plan_fault_add(struct plan_fault *fault, const char *before, const char *words,
                    const char *behind)
{
    size_t used = strlen(fault->words);

    snprintf(fault->words + used, sizeof fault->words - used, "%s%s%s", before, words, behind);
}

/* No algorithm has the name: which ones there are. */
static void name_all(const struct plan_request *request, struct plan_fault *fault)
{
    const struct candidate *candidate;

    plan_fails(fault, NULL, UINT32_MAX, "%s has no algorithm \"%.40s\"; there are",
               operation_name(request->operation), request->algorithm ? request->algorithm : "");
    for (unsigned i = 0; (candidate = candidate_of(request->operation, i)); i++) {
        plan_fault_add(fault, i ? ", \"" : " \"", candidate->name, "\"");
    }
}

const char *plan_algorithm_of(const struct network *network, uint32_t operation, uint32_t choice,
                              char words[ALGORITHM_WORDS_MAX])
{
    const struct plan_request largest = {
        .operation = operation, .bytes = INT32_MAX, .root = CANDIDATE_ROOT_ANY, .ports = PORTS_ALL};
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

struct plan *candidate_first(const struct network *network, const struct plan_request *request,
                             struct plan_fault *fault)
{
    const struct candidate *candidate;
    struct plan *plan = NULL;

    for (unsigned i = 0; !plan && (candidate = candidate_of(request->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, request);
        unsigned v = first_named(candidate, network, request, variants);
        for (bool more = true; !plan && v < variants && more; v++) {
            if (candidate_is(candidate, network, v, request->algorithm)) {
                plan = candidate_plan(candidate, i, v, network, request, fault);
            }
            more = candidate->made_of;
        }
    }
    return plan;
}

/* Whether a plan of a candidate is right where ranks are elsewhere than at the nodes of their
 * numbers. Most are: they are for nodes, and slots get their ranks at last (ranks.h). */
static bool suits_map(const struct candidate *candidate)
{
    const struct operation *operation = operation_of(candidate->operation);

    return candidate->any_map || !(operation->prefix || operation->parameter);
}

/* Ports that nodes must have for it to be worth a look. */
static unsigned ports_wanted(const struct candidate *candidate, const struct network *network)
{
    return candidate->steps ? network->ports : 2;
}

unsigned candidate_variants(const struct candidate *candidate, const struct network *network,
                            const struct plan_request *request)
{
    struct plan_request any = *request;

    unsigned ports = request->profile ? clock_ports(request->profile) : request->ports;

    if (!candidate->possible(network) || (network->map && !suits_map(candidate)) ||
        (candidate->wants_ports && ports < ports_wanted(candidate, network))) {
        return 0;
    }
    if (request->algorithm && strcmp(request->algorithm, candidate->name) != 0) {
        any.bytes = INT32_MAX;
        any.root = CANDIDATE_ROOT_ANY;
    }
    return candidate->variants ? candidate->variants(network, &any) : 1;
}

/* Whether a candidate that a request allows wants what is not so here. */
static bool is_wishing(const struct candidate *candidate, const struct network *network,
                       const struct plan_request *request)
{
    return (!request->algorithm || strcmp(request->algorithm, candidate->name) == 0) &&
           candidate_variants(candidate, network, request) == 0;
}

/* The next candidate from `*i` on that wants this; NULL: there is none. */
static const struct candidate *next_that_wants(const char *wish, const struct network *network,
                                               const struct plan_request *request, unsigned *i)
{
    const struct candidate *candidate;

    while ((candidate = candidate_of(request->operation, (*i)++))) {
        if (is_wishing(candidate, network, request) && strcmp(candidate->restriction, wish) == 0) {
            return candidate;
        }
    }
    return NULL;
}

/* How many steps it would take with the ports that there are. */
static void add_steps(const struct candidate *candidate, const struct network *network,
                      const struct plan_request *request, struct plan_fault *fault)
{
    unsigned ports = request->profile ? clock_ports(request->profile) : request->ports;
    char words[VARIANT_WORDS_MAX];

    if (candidate->steps && candidate->possible(network) && ports < network->ports) {
        snprintf(words, sizeof words, " (with %u: %u steps)", ports > 0 ? ports : 1,
                 candidate->steps(network, ports));
        plan_fault_add(fault, words, "", "");
    }
}

bool candidates_name_wishes(const struct network *network, const struct plan_request *request,
                            struct plan_fault *fault)
{
    const struct candidate *one, *other;
    const char *before = " by ";
    bool wishing = false;

    plan_fails(fault, NULL, UINT32_MAX, "%s", operation_name(request->operation));
    for (unsigned i = 0; (one = candidate_of(request->operation, i)); i++) {
        unsigned first = 0, next = 0, count = 0;
        if (!is_wishing(one, network, request) ||
            next_that_wants(one->restriction, network, request, &first) != one) {
            continue;
        }
        while ((other = next_that_wants(one->restriction, network, request, &next))) {
            plan_fault_add(fault, count++ ? ", " : before, other->name, "");
        }
        plan_fault_add(fault, count > 1 ? " want " : " wants ", one->restriction, "");
        add_steps(one, network, request, fault);
        before = "; by ";
        wishing = true;
    }
    return wishing;
}

struct candidate_least candidate_least(const struct candidate *candidate, unsigned variant,
                                       const struct network *network,
                                       const struct plan_request *request)
{
    struct plan_request one = *request;

    one.variant = variant;
    return candidate->least ? candidate->least(network, &one) : (struct candidate_least){0, 1};
}

uint64_t candidate_least_ns(const struct candidate *candidate, unsigned variant,
                            const struct network *network, const struct plan_request *request)
{
    struct candidate_least least = candidate_least(candidate, variant, network, request);

    return least.ns / least.segments / clock_element_bytes(request->profile);
}

/* Whether there is somebody to make the plan. */
static bool is_possible(const struct network *network, const struct plan_request *request,
                        struct plan_fault *fault)
{
    const struct candidate *candidate;

    for (unsigned i = 0; (candidate = candidate_of(request->operation, i)); i++) {
        unsigned variants = candidate_variants(candidate, network, request);
        if (first_named(candidate, network, request, variants) < variants) {
            return true;
        }
    }
    if (!candidates_name_wishes(network, request, fault)) {
        name_all(request, fault);
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
        return candidate_first(network, request, fault);
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
