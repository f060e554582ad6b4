/*
 * plan_figure.c - ecube plan explain --svg: what each algorithm takes over the size, the planner's
 * choice, and the bound, as explain.gp draws them.
 *
 * A line is a candidate: at each size its cheapest variant. What is made of others' plans has
 * points where it is chosen. There are 21 sizes, each twice the one before, from one element on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdbool.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/command/figure.h"
#include "host/console/terminal.h"
#include "host/plan/plan.h"
#include "planner/algorithms/candidates.h"
#include "planner/choose/choose.h"

enum { SIZES = 21, CANDIDATES_MAX = 64 };

/* Model times by candidate and size, in us; below 0: it has no plan, or is made of others and not
 * chosen. */
struct lines {
    double least[CANDIDATES_MAX][SIZES], chosen[SIZES], bound[SIZES];
};

int plan_figure_find(const struct plan_command *command, const char *path, struct message *message)
{
    return command->request.operation == ECUBE_BARRIER
               ? message_set(message,
                             "--svg %.200s: it has an axis of sizes, and a barrier has none", path)
               : figure_find(path, "explain", message);
}

static void take_least(double *least_us, uint64_t model_ns)
{
    double us = (double)model_ns / 1e3;

    if (*least_us < 0 || us < *least_us) {
        *least_us = us;
    }
}

static void show_progress(unsigned done)
{
    if (terminal_redraws(STDERR_FILENO)) {
        fprintf(stderr, "\recube: figure: %u of %u sizes%s", done, (unsigned)SIZES,
                done == SIZES ? "\r\033[K" : "");
        fflush(stderr);
    }
}

static uint32_t bytes_of(const struct plan_command *command, unsigned size)
{
    return command->element_bytes << size;
}

static int time_size(const struct plan_command *command, struct contest *contest, unsigned size,
                     struct lines *lines, struct message *message)
{
    struct plan_request request = command->request;
    struct plan_fault fault;

    request.bytes = bytes_of(command, size);
    struct plan *plan = contest_win(contest, &request, &fault);
    if (!plan) {
        return message_set(message, "no plan for %s: %s", command->network_name, fault.words);
    }
    struct plan_time time =
        plan_time(plan, request.bytes, command->element_bytes, &command->profile);
    lines->chosen[size] = (double)time.model_ns / 1e3;
    lines->bound[size] = (double)time.bound_ns / 1e3;
    take_least(&lines->least[plan->algorithm][size], time.model_ns);
    plan_free(plan);
    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contestant *one = &contest->all[i];
        uint64_t model_ns;
        if (!one->candidate->made_of && contest_allows(contest, i, &request) &&
            contest_time(contest, i, &request, &model_ns)) {
            take_least(&lines->least[one->number][size], model_ns);
        }
    }
    return 0;
}

/* One line as a block that gnuplot finds by its place, and its name; none if it has no point. */
static bool write_line(FILE *file, const struct plan_command *command, const char *name,
                       const double us[SIZES])
{
    bool any = false;

    for (unsigned size = 0; size < SIZES; size++) {
        any = any || us[size] > 0;
    }
    if (!any) {
        return false;
    }
    fprintf(file, "\"%s\"\n", name);
    for (unsigned size = 0; size < SIZES; size++) {
        if (us[size] > 0) {
            fprintf(file, "%" PRIu32 " %.3f\n", bytes_of(command, size), us[size]);
        }
    }
    fprintf(file, "\n\n");
    return true;
}

static void write_lines(FILE *file, const struct plan_command *command, const struct lines *lines)
{
    uint32_t operation = command->request.operation;
    const struct candidate *candidate;
    unsigned count = 0;

    fprintf(file, "$lines << EOD\n");
    write_line(file, command, "chosen", lines->chosen);
    write_line(file, command, "bound", lines->bound);
    for (unsigned i = 0; (candidate = candidate_of(operation, i)); i++) {
        count += write_line(file, command, candidate->name, lines->least[i]);
    }
    fprintf(file, "EOD\ncount = %u\nheadline = \"%s on %s, %s\"\n", count,
            operation_of(operation)->name, command->network_name, command->profile_name);
}

static int time_all(const struct plan_command *command, struct lines *lines,
                    struct message *message)
{
    struct plan_request request = command->request;
    int status = 0;

    for (unsigned i = 0; i < CANDIDATES_MAX; i++) {
        for (unsigned size = 0; size < SIZES; size++) {
            lines->least[i][size] = -1;
        }
    }
    request.bytes = bytes_of(command, 0);
    struct contest *contest = contest_make(&command->network, &request);
    CHECK(contest);
    for (unsigned size = 0; size < SIZES && status == 0; size++) {
        show_progress(size);
        status = time_size(command, contest, size, lines, message);
    }
    show_progress(SIZES);
    contest_free(contest);
    return status;
}

int plan_figure(const struct plan_command *command, struct output *output, struct message *message)
{
    static struct lines lines;

    if (time_all(command, &lines, message) != 0) {
        return -1;
    }
    FILE *file = figure_begin(output, message);
    if (!file) {
        return -1;
    }
    write_lines(file, command, &lines);
    return figure_draw(file, "explain", output, message);
}
