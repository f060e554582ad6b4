/*
 * bench_figure.c - model time over size, a panel for each operation: what bench.gp reads.
 */
#include <stdio.h>

#include "host/bench/bench.h"
#include "host/command/figure.h"

/* Sizes are drawn on a logarithmic axis, which has no 0. */
static bool draws(const struct bench_row *row)
{
    return row->bytes > 0;
}

int bench_figure_find(const struct bench_plan *plan, struct message *message)
{
    const struct bench_arguments *arguments = plan->arguments;
    bool sizes = false, subjects = false;

    for (unsigned i = 0; i < arguments->size_count; i++) {
        sizes = sizes || arguments->sizes[i] > 0;
    }
    for (unsigned i = 0; i < arguments->subject_count; i++) {
        subjects = subjects || arguments->subjects[i].operation != ECUBE_BARRIER;
    }
    if (!sizes || !subjects) {
        return message_set(message,
                           "--svg %.200s: it has an axis of sizes, and nothing here has "
                           "one above 0",
                           arguments->svg);
    }
    return figure_find(arguments->svg, "bench", message);
}

/* The word that names a subject's rows, and the panels in their order. */
static void write_rows(FILE *file, const struct bench_plan *plan, const struct bench_result *result)
{
    const struct bench_subject *subject = NULL;

    fprintf(file, "$rows << EOD\n");
    for (unsigned i = 0; i < result->count; i++) {
        const struct bench_row *row = &result->rows[i];
        if (draws(row)) {
            fprintf(file, "%s %.0f %.3f %.3f %.3f\n", row->subject->name, row->bytes, row->model_us,
                    row->predicted_us, row->bound_us);
        }
    }
    fprintf(file, "EOD\noperations = \"");
    for (unsigned i = 0; i < result->count; i++) {
        if (draws(&result->rows[i]) && result->rows[i].subject != subject) {
            subject = result->rows[i].subject;
            fprintf(file, "%s ", subject->name);
        }
    }
    fprintf(file, "\"\nheadline = \"%s, %s\"\n", plan->network_name, plan->profile_name);
}

int bench_figure_draw(const struct bench_plan *plan, const struct bench_result *result,
                      struct output *output, struct message *message)
{
    if (output->fd < 0) {
        return 0;
    }
    FILE *file = figure_begin(output, message);
    if (!file) {
        return -1;
    }
    write_rows(file, plan, result);
    return figure_draw(file, "bench", output, message);
}
