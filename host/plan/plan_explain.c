/*
 * plan_explain.c - ecube plan explain: all algorithms for one collective on one machine, what each
 * takes, and why one is chosen, in 80 columns.
 *
 * A line is a variant. Those of a candidate that has many stand together, the cheapest first; what
 * is dearer than the best few is counted. Every plan in the table has been proved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "drivers/check.h"
#include "host/command/algorithm.h"
#include "host/console/cell.h"
#include "host/console/fold.h"
#include "host/plan/plan.h"

enum { VARIANTS_SHOWN = 5 };

/* Columns of the table; a name that is longer has a line of its own. */
enum { NAME = 40, TIME = 16, OVER = 10 };

/* What one variant comes to; model_ns of UINT64_MAX: no plan, `words` says why. */
struct offer {
    unsigned variant;
    uint32_t steps;
    uint64_t model_ns;
    char words[PLAN_WORDS_MAX];
};

struct table {
    const struct plan_command *command;
    const struct plan *chosen; /* NULL: there is no plan */
    uint64_t bound_ns;
};

static struct offer make_offer(const struct table *table, const struct candidate *candidate,
                               unsigned number, unsigned variant)
{
    const struct plan_command *command = table->command;
    struct plan_fault fault = {.words = ""};
    struct offer offer = {.variant = variant, .model_ns = UINT64_MAX};
    struct plan *plan =
        candidate_plan(candidate, number, variant, &command->network, &command->request, &fault);

    if (plan) {
        offer.steps = plan->steps;
        offer.model_ns =
            plan_time(plan, command->request.bytes, command->element_bytes, &command->profile)
                .model_ns;
        plan_free(plan);
    }
    snprintf(offer.words, sizeof offer.words, "%s", fault.words);
    return offer;
}

/* By time; of those that take the same the first one. */
static int compare(const void *one, const void *other)
{
    const struct offer *a = one, *b = other;

    if (a->model_ns != b->model_ns) {
        return a->model_ns < b->model_ns ? -1 : 1;
    }
    return a->variant < b->variant ? -1 : 1;
}

/* What stands before a name. */
static char mark_of(const struct table *table, const struct candidate *candidate, unsigned number,
                    unsigned variant)
{
    const struct plan *chosen = table->chosen;

    if (chosen && chosen->algorithm == number && chosen->variant == variant) {
        return '*';
    }
    return candidate->for_comparison ? '~' : ' ';
}

static void print_name(char mark, const char *name)
{
    if (strlen(name) > NAME) {
        printf("%c %s\n", mark, name);
        mark = ' ';
        name = "";
    }
    printf("%c %-*s", mark, NAME, name);
}

static void print_offer(const struct table *table, const struct candidate *candidate,
                        unsigned number, const struct offer *offer)
{
    char name[ALGORITHM_WORDS_MAX], time[CELL_MAX], over[CELL_MAX];

    candidate_words(candidate, &table->command->network, offer->variant, name);
    print_name(mark_of(table, candidate, number, offer->variant), name);
    if (offer->model_ns == UINT64_MAX) {
        printf("  %cno plan: %s\n", FOLD_HANG, offer->words);
        return;
    }
    printf(" %6u %*s %*s\n", offer->steps, TIME,
           cell_real(time, TIME, (double)offer->model_ns / 1e3), OVER,
           table->bound_ns
               ? cell_real(over, OVER, (double)offer->model_ns / (double)table->bound_ns)
               : "-");
}

static void print_candidate(const struct table *table, const struct candidate *candidate,
                            unsigned number)
{
    const struct plan_command *command = table->command;
    unsigned count = candidate_variants(candidate, &command->network, &command->request);

    if (count == 0) {
        print_name(candidate->for_comparison ? '~' : ' ', candidate->name);
        printf("  %cnot possible: it wants %s\n", FOLD_HANG, candidate->restriction);
        return;
    }
    struct offer *offers = calloc(count, sizeof *offers);
    CHECK(offers);
    for (unsigned v = 0; v < count; v++) {
        offers[v] = make_offer(table, candidate, number, v);
    }
    qsort(offers, count, sizeof *offers, compare);
    for (unsigned i = 0; i < count && i < VARIANTS_SHOWN; i++) {
        print_offer(table, candidate, number, &offers[i]);
    }
    if (count > VARIANTS_SHOWN) {
        printf("  ... and %u more of its variants, dearer than these\n", count - VARIANTS_SHOWN);
    }
    free(offers);
}

static void print_head(const struct plan_command *command)
{
    const struct operation *operation = operation_of(command->request.operation);

    printf("%s on %s, %u nodes", operation->name, command->network_name,
           (unsigned)command->network.nodes);
    if (command->request.operation != ECUBE_BARRIER) {
        printf(operation->vector ? ", a vector of %u bytes" : ", blocks of %u bytes",
               (unsigned)command->request.bytes);
    }
    if (operation->rooted) {
        printf(", root %u", (unsigned)command->request.root);
    }
    printf(", profile %s\n\n", command->profile_name);
}

/* For which sizes it is the cheapest, as far as that was looked at. */
static void print_reason(const struct table *table)
{
    const struct plan *plan = table->chosen;
    const struct plan_command *command = table->command;
    struct plan_time time =
        plan_time(plan, command->request.bytes, command->element_bytes, &command->profile);
    char name[ALGORITHM_WORDS_MAX];

    candidate_words(candidate_of(plan->operation, plan->algorithm), &command->network,
                    plan->variant, name);
    printf("\nchosen        %s, %.3f us: no other is cheaper", name, (double)time.model_ns / 1e3);
    if (plan->bytes_max == UINT32_MAX) {
        printf(", for every size\n");
    } else if (plan->bytes_min == plan->bytes_max) {
        printf(" for %u bytes\n", (unsigned)plan->bytes_min);
    } else {
        printf(", nor for %u to %u bytes\n", (unsigned)plan->bytes_min, (unsigned)plan->bytes_max);
    }
    printf("bound         %.3f us: %s\n", (double)time.bound_ns / 1e3,
           plan_bound_argument(plan, command->request.bytes, &command->profile));
}

int plan_explain(const struct plan_command *command, struct message *message)
{
    struct plan_fault fault;
    struct table table = {.command = command};
    const struct candidate *candidate;
    struct plan *chosen = plan_make(&command->network, &command->request, &fault);

    if (!chosen) {
        message_set(message, "no plan for %s: %s", command->network_name, fault.words);
        algorithm_suggest(command->request.operation, command->request.algorithm, message);
        return -1;
    }
    table.chosen = chosen;
    table.bound_ns =
        plan_time(chosen, command->request.bytes, command->element_bytes, &command->profile)
            .bound_ns;
    print_head(command);
    printf("  %-*s %6s %*s %*s\n", NAME, "algorithm", "steps", TIME, "predicted us", OVER,
           "over bound");
    bool compared = false;
    for (unsigned i = 0; (candidate = candidate_of(command->request.operation, i)); i++) {
        print_candidate(&table, candidate, i);
        compared |= candidate->for_comparison;
    }
    if (compared) {
        puts("\n~ for comparison: never chosen on nine networks of 8 to 64 nodes");
    }
    print_reason(&table);
    plan_free(chosen);
    return 0;
}
