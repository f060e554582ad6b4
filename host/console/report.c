/*
 * report.c - one table from what all nodes have measured.
 *
 * Nodes report the same call under the same number, so a row is found by it. Of a time the largest
 * counts, for the slowest node ends an operation; wrong bytes are added. A node is not trusted with
 * the tool's memory: rows come in order, and have a bound.
 */
#include "host/console/report.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "host/console/cell.h"

enum { REPORTS_MAX = 4096 };

_Static_assert((int)ECUBE_NAME_MAX == (int)REPORT_NAME_BYTES, "REPORT holds the name whole");

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool make_room(struct report_table *table, unsigned count)
{
    unsigned room = table->room ? table->room * 2 : 16;
    struct report *reports;

    if (count <= table->room) {
        return true;
    }
    reports = realloc(table->reports, room * sizeof *reports);
    if (!reports) {
        return false;
    }
    table->reports = reports;
    table->room = room;
    return true;
}

static void read_name(struct report *report, const char name[REPORT_NAME_BYTES])
{
    memcpy(report->name, name, REPORT_NAME_BYTES);
    for (char *p = report->name; *p; p++) {
        if (*p < ' ' || *p > '~') {
            *p = '?';
        }
    }
}

bool report_add(struct report_table *table, unsigned k, const struct report_body *told)
{
    struct report *report;

    if (k > table->count || k >= REPORTS_MAX || !make_room(table, k + 1)) {
        return false;
    }
    report = &table->reports[k];
    if (k == table->count) {
        table->count++;
        *report = (struct report){.bytes = told->bytes};
        read_name(report, told->name);
    }
    report->steps = larger(report->steps, told->steps);
    report->model_ns = larger(report->model_ns, told->model_ns);
    report->predicted_ns = larger(report->predicted_ns, told->predicted_ns);
    report->bound_ns = larger(report->bound_ns, told->bound_ns);
    report->wall_ns = larger(report->wall_ns, told->wall_ns);
    report->wrong =
        told->wrong <= UINT64_MAX - report->wrong ? report->wrong + told->wrong : UINT64_MAX;
    return true;
}

void report_free(struct report_table *table)
{
    free(table->reports);
    *table = (struct report_table){0};
}

json_t *report_count(uint64_t count)
{
    return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

/* A prediction or a bound: who says nothing leaves it 0. */
static json_t *claim_us(uint64_t claim_ns, uint64_t model_ns)
{
    return claim_ns == 0 && model_ns > 0 ? json_null() : json_real((double)claim_ns / 1e3);
}

json_t *report_to_json(const struct report_table *table)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < table->count; i++) {
        const struct report *r = &table->reports[i];

        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:f, s:o, s:o, s:f, s:o}", "name",
                                              r->name, "bytes", report_count(r->bytes), "steps",
                                              r->unstepped ? json_null() : report_count(r->steps),
                                              "model_us", (double)r->model_ns / 1e3, "predicted_us",
                                              claim_us(r->predicted_ns, r->model_ns), "bound_us",
                                              claim_us(r->bound_ns, r->model_ns), "wall_us",
                                              (double)r->wall_ns / 1e3, "wrong",
                                              r->unchecked ? json_null() : report_count(r->wrong)));
    }
    return list;
}

static double number(const json_t *report, const char *key)
{
    return json_number_value(json_object_get(report, key));
}

/* Of the table's columns. With a space between them they are 80. */
enum { BYTES = 10, STEPS = 5, TIME = 12, ETA = 6, WALL = 10, WRONG = 6 };

/* Of that of strategies. */
enum { PARCEL_BYTES = 8, STRATEGY_BYTES = 12, STRATEGY_TIME = 16 };

/* A count is a JSON integer, or a real number when it is too large for one. */
static const char *count_cell(char cell[CELL_MAX], unsigned columns, const json_t *count)
{
    return json_is_number(count) ? cell_count(cell, columns, json_number_value(count)) : "-";
}

static const char *time_cell(char cell[CELL_MAX], const json_t *time_us)
{
    return json_is_real(time_us) ? cell_real(cell, TIME, json_real_value(time_us)) : "-";
}

static void print_line(FILE *file, const json_t *report)
{
    double model_us = number(report, "model_us"), bound_us = number(report, "bound_us");
    char bytes[CELL_MAX], steps[CELL_MAX], model[CELL_MAX], predicted[CELL_MAX], bound[CELL_MAX];
    char eta[CELL_MAX], wall[CELL_MAX], wrong[CELL_MAX];

    fprintf(file, "%*s %*s %*s %*s %*s %*s %*s %*s\n", BYTES,
            count_cell(bytes, BYTES, json_object_get(report, "bytes")), STEPS,
            count_cell(steps, STEPS, json_object_get(report, "steps")), TIME,
            cell_real(model, TIME, model_us), TIME,
            time_cell(predicted, json_object_get(report, "predicted_us")), TIME,
            time_cell(bound, json_object_get(report, "bound_us")), ETA,
            bound_us > 0 ? cell_real(eta, ETA, model_us / bound_us) : "-", WALL,
            cell_real(wall, WALL, number(report, "wall_us") / 1e3), WRONG,
            count_cell(wrong, WRONG, json_object_get(report, "wrong")));
}

/* "no": a root has no room for what it would pass on; "-": it would send too many messages. */
static void print_strategy(FILE *file, const json_t *strategy)
{
    const json_t *sends = json_object_get(strategy, "sends");
    bool fits = json_is_true(json_object_get(strategy, "fits"));
    char x[CELL_MAX], count[CELL_MAX], parcel[CELL_MAX], bytes[CELL_MAX], time[CELL_MAX];

    fprintf(file, "%-18s %*s %*s %*s %*s %*s  %s%s\n",
            json_string_value(json_object_get(strategy, "strategy")), STEPS,
            count_cell(x, STEPS, json_object_get(strategy, "x")), STEPS,
            count_cell(count, STEPS, sends), PARCEL_BYTES,
            count_cell(parcel, PARCEL_BYTES, json_object_get(strategy, "parcel_bytes")),
            STRATEGY_BYTES, count_cell(bytes, STRATEGY_BYTES, json_object_get(strategy, "bytes")),
            STRATEGY_TIME,
            json_is_number(sends) ? cell_real(time, STRATEGY_TIME, number(strategy, "predicted_us"))
                                  : "-",
            !json_is_number(sends) ? "-"
            : fits                 ? "yes"
                                   : "no",
            json_is_true(json_object_get(strategy, "chosen")) ? ", chosen" : "");
}

void report_print_strategies(FILE *file, const json_t *strategies)
{
    const json_t *strategy;
    size_t i;

    fprintf(file, "%-18s %*s %*s %*s %*s %*s  %s\n", "strategy", STEPS, "x", STEPS, "sends",
            PARCEL_BYTES, "parcel", STRATEGY_BYTES, "bytes", STRATEGY_TIME, "predicted us", "fits");
    json_array_foreach(strategies, i, strategy)
    {
        print_strategy(file, strategy);
    }
}

void report_print(FILE *file, const json_t *reports)
{
    const char *name = NULL;
    size_t i;
    json_t *report;

    json_array_foreach(reports, i, report)
    {
        const char *present = json_string_value(json_object_get(report, "name"));

        if (!name || strcmp(name, present) != 0) {
            name = present;
            fprintf(file, "\n%s\n%*s %*s %*s %*s %*s %*s %*s %*s\n", name, BYTES,
                    strstr(name, "exchange") ? "bytes/pair" : "bytes", STEPS, "steps", TIME,
                    "model us", TIME, "predicted us", TIME, "bound us", ETA, "eta", WALL, "wall ms",
                    WRONG, "wrong");
        }
        print_line(file, report);
    }
}

json_t *report_plans(const struct plan_summary *summaries, uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++) {
        const struct plan_summary *b = &summaries[i];

        json_array_append_new(
            list, json_pack("{s:s, s:I, s:I, s:o, s:o?}", "operation",
                            operation_of(b->operation)->standard, "root", (json_int_t)b->root,
                            "bytes_min", (json_int_t)b->bytes_min, "bytes_max",
                            b->bytes_max == UINT32_MAX ? json_null() : json_integer(b->bytes_max),
                            "algorithm", json_string(b->algorithm)));
    }
    return list;
}

json_t *report_profile(const char *name, const struct profile *profile)
{
    return json_pack("{s:s?, s:f, s:f, s:f, s:i, s:f}", "name", name, "xi_us",
                     (double)profile->xi_ns / 1e3, "tau_us", (double)profile->tau_ns / 1e3,
                     "element_us", (double)profile->element_ns / 1e3, "element_bytes",
                     (int)clock_element_bytes(profile), "sigma",
                     (double)profile->sigma_permille / 1e3);
}
