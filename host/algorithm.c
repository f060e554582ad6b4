#include "host/algorithm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collectives/planner/candidates.h"

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

/* "AAP, direct, ...": each name once. */
static void list_names(char *text, size_t room)
{
    const struct candidate *candidate;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        for (unsigned j = 0; (candidate = candidate_of(i, j)); j++) {
            if (!is_listed(candidate->name, i, j) && used < room) {
                used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "",
                                         candidate->name);
            }
        }
    }
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
    const struct plan_wish wish = {.operation = operation,
                                   .type = operation_of(operation)->reduces ? ECUBE_INT32 : 0,
                                   .algorithm = name};

    return plan_possible(network, &wish, fault);
}

int algorithm_find(const struct network *network, const char *name,
                   const char *algorithms[OPERATIONS], struct message *message)
{
    char names[MESSAGE_MAX - 100];
    struct plan_fault fault;
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
    list_names(names, sizeof names);
    return message_set(message, "--algorithm %.40s: use %s", name, names);
}
