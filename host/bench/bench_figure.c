/*
 * bench_figure.c - model time over size, a panel for each operation, drawn by gnuplot.
 *
 * gnuplot reads the rows and the name of its script (bench.gp) from a file that has no name, and
 * draws to the descriptor of --svg.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/bench/bench.h"
#include "host/computer/target.h"

extern char **environ;

static const char *const script_places[] = {"bench.gp", "../lib/ecube/bench.gp", NULL};

/* Sizes are drawn on a logarithmic axis, which has no 0. */
static bool draws(const struct bench_row *row)
{
    return row->bytes > 0;
}

int bench_figure_find(const struct bench_plan *plan, struct message *message)
{
    const struct bench_arguments *arguments = plan->arguments;
    char path[TARGET_PATH_MAX];
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
    if (!target_find_program(path, "gnuplot")) {
        return message_set(message,
                           "--svg %.200s: gnuplot draws it, and is not in PATH: install "
                           "Debian's package gnuplot-nox",
                           arguments->svg);
    }
    return target_find_part(path, "the figure's script", script_places, message);
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

/* Runs gnuplot; whether it ended well. */
static bool run_gnuplot(const char *gnuplot, int from, int to)
{
    char name[] = "gnuplot", dash[] = "-";
    char *words[] = {name, dash, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    bool ran = posix_spawn(&child, gnuplot, &actions, NULL, words, environ) == 0;
    while (ran && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    posix_spawn_file_actions_destroy(&actions);
    return ran && status == 0;
}

int bench_figure_draw(const struct bench_plan *plan, const struct bench_result *result,
                      struct output *output, struct message *message)
{
    char gnuplot[TARGET_PATH_MAX], script[TARGET_PATH_MAX];
    FILE *file;

    if (output->fd < 0) {
        return 0;
    }
    if (!target_find_program(gnuplot, "gnuplot") ||
        target_find_part(script, "the figure's script", script_places, message) != 0 ||
        output_begin(output, message) != 0) {
        return -1;
    }
    file = tmpfile();
    if (!file) {
        return message_set(message, "--svg %.200s: %s", output->path, strerror(errno));
    }
    write_rows(file, plan, result);
    fprintf(file, "load '%s'\n", script);
    bool written = fflush(file) == 0;
    rewind(file);
    bool drawn = written && run_gnuplot(gnuplot, fileno(file), output->fd);
    fclose(file);
    close(output->fd);
    output->fd = -1;
    return drawn ? 0 : message_set(message, "--svg %.200s: gnuplot has failed", output->path);
}
