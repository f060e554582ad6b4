/*
 * plan_catalogue.c - ecube plan list: the operations and the algorithms that there are for each.
 */
#include <stdio.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "host/console/fold.h"
#include "host/plan/plan.h"

static void print_words(const char *word, const char *text)
{
    printf("    %-13s %c%s\n", word, FOLD_HANG, text);
}

static void list_candidate(const struct candidate *candidate)
{
    printf("  %s\n", candidate->name);
    print_words("from", candidate->source);
    print_words("wants",
                candidate->restriction ? candidate->restriction : "nothing: every network");
    if (candidate->closed_form) {
        print_words("takes", candidate->closed_form);
    }
    if (candidate->for_comparison) {
        print_words("serves", "for comparison: never chosen on nine networks of 8 to 64 nodes");
    }
    if (candidate->variants) {
        print_words("variants", "compete with each other, too: plan explain names them");
    }
}

static void list_operation(uint32_t number)
{
    const struct operation *operation = operation_of(number);
    const struct candidate *candidate;
    bool two = strcmp(operation->name, operation->standard) != 0;

    printf("%s%s%s%s\n", operation->name, two ? " (" : "", two ? operation->standard : "",
           two ? ")" : "");
    for (unsigned i = 0; (candidate = candidate_of(number, i)); i++) {
        list_candidate(candidate);
    }
}

void plan_list(uint32_t operation)
{
    bool first = true;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *one = operation_of(i);
        if (one && one->planned && (operation == OPERATIONS || i == operation)) {
            printf("%s", first ? "" : "\n");
            list_operation(i);
            first = false;
        }
    }
    if (operation == OPERATIONS) {
        puts("\nIn closed forms: N nodes, n dimensions of a cube, k bytes, xi start-up, tau set-up "
             "of "
             "a hop.");
    }
}
