/*
 * algorithm.c - finds the operations that an algorithm's name is for, and near names.
 *
 * The planner itself is asked whether a name can be had on this network: only it knows the
 * variants. When it can be had nowhere, the planner's reason is told, which says what the algorithm
 * wants.
 */
#include "host/command/algorithm.h"

#include <stdbool.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "host/console/choice.h"

/* Whether an earlier operation, or place in this one's list, has a candidate of this name. */
static bool is_listed(const char *name, uint32_t operation, unsigned place)
{
    const struct candidate *candidate;

    for (uint32_t i = 0; i <= operation; i++) {
        for (unsigned j = 0; (i < operation || j < place) && (candidate = candidate_of(i, j));
             j++) {
            if (strcmp(candidate->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Offers each name once, those of one operation or of all (OPERATIONS). Whether the word is one. */
static bool offer_names(struct choice *choice, uint32_t operation)
{
    const struct candidate *candidate;
    bool found = false;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        for (unsigned j = 0; (candidate = candidate_of(i, j)); j++) {
            if (operation == OPERATIONS ? !is_listed(candidate->name, i, j) : operation == i) {
                found = choice_offer(choice, candidate->name) || found;
            }
        }
    }
    return found;
}

/* The operation that has an algorithm of this name on some network; OPERATIONS: none. */
static uint32_t find_owner(const char *name)
{
    const struct candidate *candidate;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        for (unsigned j = 0; (candidate = candidate_of(i, j)); j++) {
            if (strcmp(candidate->name, name) == 0) {
                return i;
            }
        }
    }
    return OPERATIONS;
}

static bool is_possible(const struct network *network, uint32_t operation, const char *name,
                        struct plan_fault *fault)
{
    const struct plan_request request = {.operation = operation,
                                         .type = operation_of(operation)->reduces ? ECUBE_INT32 : 0,
                                         .algorithm = name};

    return plan_possible(network, &request, fault);
}

int algorithm_find(const struct network *network, const char *name,
                   const char *algorithms[OPERATIONS], struct message *message)
{
    struct plan_fault fault;
    struct choice choice;
    bool found = false;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = operation_of(i);
        bool has = name && operation && operation->planned && is_possible(network, i, name, &fault);
        algorithms[i] = has ? name : NULL;
        found = found || has;
    }
    if (found || !name) {
        return 0;
    }
    uint32_t owner = find_owner(name);
    if (owner < OPERATIONS) {
        is_possible(network, owner, name, &fault);
        return message_set(message, "--algorithm %.40s: %s", name, fault.words);
    }
    choice_begin(&choice, name);
    offer_names(&choice, OPERATIONS);
    return choice_refuse(&choice, "unknown algorithm", message);
}

void algorithm_suggest(uint32_t operation, const char *name, struct message *message)
{
    struct choice choice;

    choice_begin(&choice, name ? name : "");
    if (!offer_names(&choice, operation) && choice.near) {
        message_set(message, "%s has no algorithm '%.40s': did you mean %s?",
                    operation_name(operation), name, choice.near);
    }
}
