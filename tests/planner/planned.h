/*
 * planned.h - plans that must be had: of a request, and of a candidate's variant by itself.
 */
#pragma once

#include "tests/testing.h"

#include "collectives/operation.h"
#include "planner/algorithms/candidates.h"
#include "planner/planner.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"

/* The plan for a network, by its name. */
static inline struct plan *planned_for(const char *name, const struct plan_request *request)
{
    struct plan_fault fault = {.words = ""};
    struct network network = network_of(name);
    struct plan *plan = plan_make(&network, request, &fault);

    if (!plan) {
        fail_msg("%s on %s by %s: %s", operation_name(request->operation), name,
                 request->algorithm ? request->algorithm : "any", fault.words);
    }
    return plan;
}

/* A variant's plan, which is proved and does what it promises. */
static inline struct plan *tried(const struct network *network, const struct candidate *candidate,
                                 const struct plan_request *request)
{
    struct plan_fault fault = {.words = ""};
    struct plan *plan = candidate->plan(network, request);
    char name[NETWORK_NAME_MAX];
    const char *wrong =
        plan_prove(plan, &fault) ? machine_tries(plan, request->bytes) : fault.words;

    if (wrong) {
        network_name(network, name);
        fail_msg("%s on %s by %s %u, root %u, %u ports: %s", operation_name(request->operation),
                 name, candidate->name, request->variant, request->root, request->ports, wrong);
    }
    return plan;
}
