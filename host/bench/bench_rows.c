/*
 * bench_rows.c - the rows of a bench: from a run's results, as a table of 100 columns, as CSV.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/bench/bench.h"
#include "host/console/cell.h"
#include "router/clock.h"
#include "router/shares.h"
#include "wire/circuit.h"

static const struct bench_subject patterns[] = {
    {"latency", OPERATIONS, "half of a message to the last rank and one back"},
    {"bandwidth", OPERATIONS, "rank 0 to the last rank, one message behind the other"},
    {"both_ways", OPERATIONS, "the same in both directions at once"},
    {"message_rate", OPERATIONS, "the same between neighbours, all pairs at once"},
    {"incast", OPERATIONS, "every rank to rank 0, all at once: they wait for each other"},
};

enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

bool bench_subject_at(unsigned n, struct bench_subject *subject)
{
    if (n < PATTERNS) {
        *subject = patterns[n];
        return true;
    }
    for (uint32_t i = 0, left = n - PATTERNS; i < OPERATIONS; i++) {
        const struct operation *operation = operation_of(i);
        if (operation && operation->planned && left-- == 0) {
            *subject = (struct bench_subject){operation->name, i, NULL};
            return true;
        }
    }
    return false;
}

bool bench_is_messages(const struct bench_subject *subject)
{
    return subject->operation == OPERATIONS;
}

/* From results --------------------------------------------------------------------------------- */

/* Negative: null. */
static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : -1;
}

/* The plan that nodes were given for a size. */
static const char *algorithm_of(const json_t *run, const struct bench_row *row)
{
    bool sized = row->subject->operation == ECUBE_EXCHANGEV;
    double bytes = sized ? ECUBE_EXCHANGEV_BYTES : row->bytes;
    const json_t *plans = json_object_get(run, "plans");
    uint32_t root = row->subject->operation == ECUBE_SHIFT && number(run, "nodes") > 1;
    const char *name = NULL;
    const json_t *plan;
    size_t i;

    json_array_foreach(plans, i, plan)
    {
        const char *operation = json_string_value(json_object_get(plan, "operation"));
        double most = number(plan, "bytes_max");
        if (operation && operation_named(operation) == row->subject->operation &&
            number(plan, "root") == root && number(plan, "bytes_min") <= bytes &&
            (most < 0 || bytes <= most)) {
            name = json_string_value(json_object_get(plan, "algorithm"));
        }
    }
    return name ? name : "";
}

/* Whether messages of this size go over several paths (--paths). */
static bool goes_by_paths(const struct bench_plan *plan, const struct bench_row *row)
{
    return bench_is_messages(row->subject) && plan->arguments->machine.paths > 1 &&
           row->bytes > OPEN_INLINE_MAX;
}

static uint64_t paths_ns(const struct bench_plan *plan, uint32_t from, uint32_t to, double bytes)
{
    const struct network *network = &plan->network;
    unsigned most = plan->arguments->machine.paths, ports = clock_ports(&plan->profile);
    struct shares shares;

    shares_make(network, &plan->profile, network_node(network, from), network_node(network, to),
                (uint32_t)bytes, most < ports ? most : ports, &shares);
    return shares.time_ns;
}

/* What the program's own prediction, of one path each, becomes. A message behind another goes over
 * the same paths, each share of it as soon as the one before it ends. Where more than one rank
 * sends, paths of several messages may share links, and nobody knows. */
static double predict_paths(const struct bench_plan *plan, const struct bench_row *row)
{
    uint32_t last = plan->network.nodes - 1;
    uint64_t there_ns = paths_ns(plan, 0, last, row->bytes), xi_ns = plan->profile.xi_ns;

    if (strcmp(row->subject->name, "latency") == 0) {
        return (double)((there_ns + paths_ns(plan, last, 0, row->bytes)) / 2) / 1e3;
    }
    return strcmp(row->subject->name, "bandwidth") == 0
               ? (double)(xi_ns + (uint64_t)row->steps * (there_ns - xi_ns)) / 1e3
               : -1;
}

static void take_row(const struct bench_plan *plan, const json_t *run, const json_t *report,
                     struct bench_row *row)
{
    const struct bench_arguments *arguments = plan->arguments;

    row->bytes = number(report, "bytes");
    row->steps = number(report, "steps");
    row->model_us = number(report, "model_us");
    row->predicted_us = number(report, "predicted_us");
    row->bound_us = number(report, "bound_us");
    row->wall_us = arguments->simulated ? -1 : number(report, "wall_us");
    row->wrong = number(report, "wrong");
    if (goes_by_paths(plan, row)) {
        row->predicted_us = predict_paths(plan, row);
    }
    if (!bench_is_messages(row->subject)) {
        snprintf(row->algorithm, sizeof row->algorithm, "%s", algorithm_of(run, row));
    }
}

static json_t *real_or_null(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *row_to_json(const struct bench_row *row)
{
    bool messages = bench_is_messages(row->subject);

    return json_pack("{s:s, s:I, s:o, s:o, s:f, s:o, s:f, s:o, s:o, s:o, s:o, s:I, s:b}",
                     "operation", row->subject->name, "bytes", (json_int_t)row->bytes, "steps",
                     messages ? json_null() : json_integer((json_int_t)row->steps), "messages",
                     messages ? json_integer((json_int_t)row->steps) : json_null(), "model_us",
                     row->model_us, "predicted_us", real_or_null(row->predicted_us), "bound_us",
                     row->bound_us, "ratio",
                     row->bound_us > 0 ? json_real(row->model_us / row->bound_us) : json_null(),
                     "rate", real_or_null(bench_row_rate(row)), "algorithm",
                     *row->algorithm ? json_string(row->algorithm) : json_null(), "wall_us",
                     real_or_null(row->wall_us), "wrong", (json_int_t)row->wrong, "good",
                     (int)bench_row_is_good(row));
}

static json_t *result_to_json(const struct bench_plan *plan, const struct bench_result *result)
{
    const struct bench_arguments *arguments = plan->arguments;
    unsigned ports = clock_ports(&plan->profile);
    json_t *rows = json_array();

    for (unsigned i = 0; i < result->count; i++) {
        json_array_append_new(rows, row_to_json(&result->rows[i]));
    }
    return json_pack("{s:b, s:o, s:s?, s:i, s:o}", "simulated", (int)arguments->simulated, "ports",
                     clock_all_ports(&plan->profile) ? json_string("all")
                                                     : json_integer((json_int_t)ports),
                     "algorithm", arguments->machine.algorithm, "iterations",
                     (int)arguments->iterations, "rows", rows);
}

void bench_take_rows(const struct bench_plan *plan, json_t *run, struct bench_result *result)
{
    const struct bench_arguments *arguments = plan->arguments;
    const json_t *reports = json_object_get(run, "reports"), *report;
    unsigned subject = 0;
    size_t i;

    *result = (struct bench_result){.rows = calloc(plan->rows, sizeof *result->rows)};
    CHECK(result->rows);
    json_array_foreach(reports, i, report)
    {
        const char *name = json_string_value(json_object_get(report, "name"));
        while (subject < arguments->subject_count &&
               strcmp(arguments->subjects[subject].name, name) != 0) {
            subject++;
        }
        if (subject == arguments->subject_count || result->count == plan->rows) {
            break;
        }
        struct bench_row *row = &result->rows[result->count++];
        row->subject = &arguments->subjects[subject];
        take_row(plan, run, report, row);
    }
    json_object_set_new(run, "bench", result_to_json(plan, result));
    json_object_del(run, "reports");
}

void bench_free_rows(struct bench_result *result)
{
    free(result->rows);
}

bool bench_row_is_good(const struct bench_row *row)
{
    /* Both times are whole nanoseconds divided by 1000: equal times are equal numbers. */
    return row->wrong == 0 && (row->predicted_us < 0 || row->model_us == row->predicted_us);
}

static bool counts_messages(const struct bench_subject *subject)
{
    return strcmp(subject->name, "message_rate") == 0;
}

double bench_row_rate(const struct bench_row *row)
{
    double moved = bench_is_messages(row->subject) ? row->steps * row->bytes : row->bytes;

    if (row->model_us <= 0 || (row->bytes == 0 && !counts_messages(row->subject))) {
        return -1;
    }
    return counts_messages(row->subject) ? 1e3 * row->steps / row->model_us : moved / row->model_us;
}

/* As a table ----------------------------------------------------------------------------------- */

/* Columns: with a space between them, 100. Messages have a rate where collectives have a name. */
enum { BYTES = 8, STEPS = 5, TIME = 12, RATIO = 6, WALL = 9, CHECKED = 5, RATE = 10, NAME = 22 };

static const char *real_cell(char cell[CELL_MAX], unsigned columns, double value)
{
    return value < 0 ? "-" : cell_real(cell, columns, value);
}

static void print_head(const struct bench_subject *subject)
{
    bool messages = bench_is_messages(subject);

    printf("\n%s%s%s\n%*s %*s %*s %*s %*s %*s %*s %*s", subject->name, messages ? ": " : "",
           messages ? subject->about : "", BYTES, "bytes", STEPS, messages ? "sends" : "steps",
           TIME, "model us", TIME, "predicted us", TIME, "bound us", RATIO, "ratio", WALL,
           "wall ms", CHECKED, "check");
    if (messages) {
        printf(" %*s\n", RATE, counts_messages(subject) ? "kmsg/s" : "MB/s");
    } else {
        printf("  algorithm\n");
    }
}

static void print_row(const struct bench_row *row)
{
    char bytes[CELL_MAX], steps[CELL_MAX], model[CELL_MAX], predicted[CELL_MAX], bound[CELL_MAX],
        ratio[CELL_MAX], rate[CELL_MAX], wall[CELL_MAX];
    const char *check = row->wrong > 0 ? "WRONG" : bench_row_is_good(row) ? "ok" : "TIME";
    bool fits = strlen(row->algorithm) <= NAME;

    printf("%*s %*s %*s %*s %*s %*s %*s %*s", BYTES, cell_count(bytes, BYTES, row->bytes), STEPS,
           cell_count(steps, STEPS, row->steps), TIME, real_cell(model, TIME, row->model_us), TIME,
           real_cell(predicted, TIME, row->predicted_us), TIME,
           real_cell(bound, TIME, row->bound_us), RATIO,
           real_cell(ratio, RATIO, row->bound_us > 0 ? row->model_us / row->bound_us : -1), WALL,
           real_cell(wall, WALL, row->wall_us < 0 ? -1 : row->wall_us / 1e3), CHECKED, check);
    if (bench_is_messages(row->subject)) {
        printf(" %*s", RATE, real_cell(rate, RATE, bench_row_rate(row)));
    } else if (*row->algorithm) {
        printf("%s  %s", fits ? "" : "\n        ", row->algorithm);
    }
    putchar('\n');
}

void bench_print(const struct bench_result *result)
{
    const struct bench_subject *subject = NULL;

    for (unsigned i = 0; i < result->count; i++) {
        if (result->rows[i].subject != subject) {
            subject = result->rows[i].subject;
            print_head(subject);
        }
        print_row(&result->rows[i]);
    }
}

/* As CSV --------------------------------------------------------------------------------------- */

/* A field; what nobody knows is empty. */
static void write_real(FILE *file, double value)
{
    fprintf(file, value < 0 ? "," : ",%.3f", value);
}

/* Names of algorithms have no quotes, but may have commas. */
static void write_row(FILE *file, const struct bench_row *row)
{
    fprintf(file, "%s,%.0f,%.0f", row->subject->name, row->bytes, row->steps);
    write_real(file, row->model_us);
    write_real(file, row->predicted_us);
    write_real(file, row->bound_us);
    write_real(file, row->bound_us > 0 ? row->model_us / row->bound_us : -1);
    write_real(file, bench_row_rate(row));
    write_real(file, row->wall_us);
    fprintf(file, ",\"%s\",%.0f,%d\n", row->algorithm, row->wrong, bench_row_is_good(row));
}

int bench_write_csv(const struct bench_result *result, struct output *output,
                    struct message *message)
{
    if (output->fd < 0) {
        return 0;
    }
    FILE *file = output_begin(output, message) == 0 ? fdopen(output->fd, "w") : NULL;
    if (!file) {
        return -1;
    }
    fputs("operation,bytes,steps,model_us,predicted_us,bound_us,ratio,rate,wall_us,algorithm,wrong,"
          "good\n",
          file);
    for (unsigned i = 0; i < result->count; i++) {
        write_row(file, &result->rows[i]);
    }
    bool failed = ferror(file) != 0;
    output->fd = -1;
    return fclose(file) != 0 || failed
               ? message_set(message, "cannot write the %s %.300s: its device is full",
                             output->what, output->path)
               : 0;
}
