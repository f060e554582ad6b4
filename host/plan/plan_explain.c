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
#include "planner/choose/choose.h"
#include "drivers/check.h"
#include "host/command/algorithm.h"
#include "host/command/options.h"
#include "host/console/cell.h"
#include "host/console/fold.h"
#include "host/plan/plan.h"

enum { VARIANTS_SHOWN = 5 };

/* Columns of the table; a name that is longer has a line of its own. */
enum { NAME = 34, TIME = 14, OVER = 10, MEMORY = 9 };

/* What one variant comes to; model_ns of UINT64_MAX: no plan, `words` says why. */
struct offer {
    unsigned variant;
    uint32_t steps;
    uint64_t model_ns, memory; /* at a node, beside the buffers of the call; bytes */
    bool large;
    char words[PLAN_WORDS_MAX];
};

struct table {
    const struct plan_command *command;
    struct contest *contest; /* who comes of other operations' plans */
    bool large;
    const struct plan *chosen; /* NULL: there is no plan */
    uint64_t bound_ns;
};

static struct offer make_offer(struct table *table, const struct candidate *candidate,
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
            plan_model_ns(plan, command->request.bytes, command->element_bytes, &command->profile);
        offer.memory = plan_memory(plan, command->request.bytes, command->element_bytes);
        offer.large = plan_is_large(plan, command->request.bytes, command->element_bytes);
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

static void print_offer(struct table *table, const struct candidate *candidate, unsigned number,
                        const struct offer *offer)
{
    char name[ALGORITHM_WORDS_MAX], time[CELL_MAX], over[CELL_MAX], memory[CELL_MAX];

    candidate_words(candidate, &table->command->network, offer->variant, name);
    print_name(mark_of(table, candidate, number, offer->variant), name);
    if (offer->model_ns == UINT64_MAX) {
        printf("  %cno plan: %s\n", FOLD_HANG, offer->words);
        return;
    }
    printf(" %6u %*s %*s %*s%s\n", offer->steps, TIME,
           cell_real(time, TIME, (double)offer->model_ns / 1e3), OVER,
           table->bound_ns
               ? cell_real(over, OVER, (double)offer->model_ns / (double)table->bound_ns)
               : "-",
           MEMORY, cell_count(memory, MEMORY, (double)offer->memory), offer->large ? " !" : "");
    table->large |= offer->large;
}

/* The variants of which there is no plan: those of one reason stand together. */
static void print_refused(struct table *table, const struct candidate *candidate, unsigned number,
                          const struct offer *offers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned first = 0, alike = 0;
        while (strcmp(offers[first].words, offers[i].words) != 0) {
            first++;
        }
        for (unsigned j = i; j < count; j++) {
            alike += strcmp(offers[j].words, offers[i].words) == 0;
        }
        if (first < i) {
            continue;
        }
        print_offer(table, candidate, number, &offers[i]);
        if (alike > 1) {
            printf("  ... nor of %u more of its variants, for the same reason\n", alike - 1);
        }
    }
}

/* A variant that has not been laid down, and what it takes at least. */
struct variant {
    unsigned number;
    uint64_t least_ns;
};

static int by_least(const void *one, const void *other)
{
    const struct variant *a = one, *b = other;

    if (a->least_ns != b->least_ns) {
        return a->least_ns < b->least_ns ? -1 : 1;
    }
    return a->number < b->number ? -1 : 1;
}

/* Makes the offers of a candidate's variants, the cheapest first, and returns how many: behind the
 * best few, only those that their least time lets be among these. */
static unsigned make_offers(struct table *table, const struct candidate *candidate, unsigned number,
                            unsigned count, struct offer *offers)
{
    struct variant *variants = calloc(count, sizeof *variants);
    unsigned made = 0;

    CHECK(variants);
    for (unsigned v = 0; v < count; v++) {
        variants[v] = (struct variant){v, candidate_least_ns(candidate, v, &table->command->network,
                                                             &table->command->request)};
    }
    qsort(variants, count, sizeof *variants, by_least);
    while (made < count && (made < VARIANTS_SHOWN ||
                            variants[made].least_ns <= offers[VARIANTS_SHOWN - 1].model_ns)) {
        offers[made] = make_offer(table, candidate, number, variants[made].number);
        made++;
        qsort(offers, made, sizeof *offers, compare);
    }
    free(variants);
    return made;
}

/* What a candidate that is made of others comes to: the plan of their cheapest, or why there is no
 * need of one. */
static void print_made(struct table *table, const struct candidate *candidate, unsigned number)
{
    const struct entrant *entrant = NULL;
    struct offer offer;

    for (uint32_t i = 0; i < table->contest->entrant_count && !entrant; i++) {
        const struct entrant *one = &table->contest->entrants[i];
        entrant = one->number == number ? one : NULL;
    }
    CHECK(entrant);
    if (entrant->coming == COMING_COMES) {
        offer = make_offer(table, candidate, number, entrant->variant);
        print_offer(table, candidate, number, &offer);
    }
    const struct plan *chosen = table->chosen;
    bool comes = entrant->coming == COMING_COMES;
    if (chosen->algorithm == number && !(comes && entrant->variant == chosen->variant)) {
        offer = make_offer(table, candidate, number, chosen->variant);
        print_offer(table, candidate, number, &offer);
    } else if (!comes) {
        print_name(' ', candidate->name);
        printf("  %cnot looked at: ", FOLD_HANG);
        if (entrant->coming == COMING_NONE) {
            printf("it wants %s\n", candidate->restriction);
        } else {
            printf("what it is made of takes %s%.3f us\n",
                   entrant->coming == COMING_BOUND ? "at least " : "",
                   (double)entrant->others_ns / 1e3);
        }
    }
}

static void print_candidate(struct table *table, const struct candidate *candidate, unsigned number)
{
    const struct plan_command *command = table->command;
    unsigned count = candidate_variants(candidate, &command->network, &command->request);

    if (count && candidate->made_of) {
        print_made(table, candidate, number);
        return;
    }
    if (count == 0) {
        print_name(candidate->for_comparison ? '~' : ' ', candidate->name);
        printf("  %cnot possible: it wants %s\n", FOLD_HANG, candidate->restriction);
        return;
    }
    struct offer *offers = calloc(count, sizeof *offers);
    CHECK(offers);
    unsigned made = make_offers(table, candidate, number, count, offers), plans = 0;
    while (plans < made && offers[plans].model_ns != UINT64_MAX) {
        plans++;
    }
    for (unsigned i = 0; i < plans && i < VARIANTS_SHOWN; i++) {
        print_offer(table, candidate, number, &offers[i]);
    }
    unsigned refused = made - plans;
    if (count - refused > VARIANTS_SHOWN) {
        printf("  ... and %u more of its variants, dearer than these\n",
               count - refused - VARIANTS_SHOWN);
    }
    print_refused(table, candidate, number, offers + plans, refused);
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
    printf("\nchosen        %s, %.3f us: no other %sis cheaper", name, (double)time.model_ns / 1e3,
           table->large ? "that may be chosen " : "");
    if (plan->bytes_max == UINT32_MAX) {
        printf(", for every size\n");
    } else if (plan->bytes_min == plan->bytes_max) {
        printf(" for %u bytes\n", (unsigned)plan->bytes_min);
    } else {
        printf(", nor for %u to %u bytes\n", (unsigned)plan->bytes_min, (unsigned)plan->bytes_max);
    }
    plan_print_bound(plan, command, time.model_ns);
}

int plan_explain(const struct plan_command *command, struct message *message)
{
    struct plan_fault fault;
    struct table table = {.command = command};
    struct plan_request any = command->request;
    const struct candidate *candidate;
    struct plan *chosen = plan_make(&command->network, &command->request, &fault);

    if (!chosen) {
        message_set(message, "no plan for %s: %s", command->network_name, fault.words);
        algorithm_suggest(command->request.operation, command->request.algorithm, message);
        return -1;
    }
    table.chosen = chosen;
    any.algorithm = NULL;
    table.contest = contest_make(&command->network, &any);
    contest_enter(table.contest, &any);
    table.bound_ns =
        plan_time(chosen, command->request.bytes, command->element_bytes, &command->profile)
            .bound_ns;
    print_head(command);
    printf("  %-*s %6s %*s %*s %*s\n", NAME, "algorithm", "steps", TIME, "predicted us", OVER,
           "over bound", MEMORY, "memory");
    bool compared = false;
    for (unsigned i = 0; (candidate = candidate_of(command->request.operation, i)); i++) {
        print_candidate(&table, candidate, i);
        compared |= candidate->for_comparison;
    }
    if (compared) {
        puts("\n~ for comparison: never chosen on nine networks of 8 to 64 nodes");
    }
    if (table.large) {
        printf(
            "\n! more than 1 MiB of memory at a node, and twice the call's buffers: chosen only by "
            "name\n");
    }
    print_reason(&table);
    contest_free(table.contest);
    plan_free(chosen);
    return 0;
}

int plan_explain_ports(const struct plan_command *command, const struct ports_wanted *ports,
                       struct message *message)
{
    struct plan_fault fault;

    print_head(command);
    printf("  %-5s %6s %*s %*s %*s  %s\n", "ports", "steps", TIME, "predicted us", TIME, "bound us",
           OVER, "over bound", "cheapest");
    for (unsigned i = 0; i < ports->count; i++) {
        struct plan_command one = *command;
        char name[ALGORITHM_WORDS_MAX], number[8] = "all";
        one.profile.ports = ports->all[i];
        one.request.profile = &one.profile;
        struct plan *plan = plan_make(&one.network, &one.request, &fault);
        if (!plan) {
            return message_set(message, "no plan for %s: %s", command->network_name, fault.words);
        }
        struct plan_time time = plan_time(plan, one.request.bytes, one.element_bytes, &one.profile);
        if (!clock_all_ports(&one.profile)) {
            snprintf(number, sizeof number, "%u", clock_ports(&one.profile));
        }
        candidate_words(candidate_of(plan->operation, plan->algorithm), &one.network, plan->variant,
                        name);
        printf("  %-5s %6u %*.3f %*.3f %*.3f  %c%s\n", number, (unsigned)plan->steps, TIME,
               (double)time.model_ns / 1e3, TIME, (double)time.bound_ns / 1e3, OVER,
               time.bound_ns ? (double)time.model_ns / (double)time.bound_ns : 1.0, FOLD_HANG,
               name);
        plan_free(plan);
    }
    return 0;
}
