#include "host/report.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"

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

/* A count that is a JSON integer, or a real number when it is too large for one. */
static void write_count(char *text, size_t room, const json_t *count)
{
    if (json_is_integer(count)) {
        snprintf(text, room, "%" JSON_INTEGER_FORMAT, json_integer_value(count));
    } else if (json_is_real(count)) {
        snprintf(text, room, "%.8g", json_real_value(count));
    }
}

static void write_time(char *text, size_t room, const json_t *time_us)
{
    if (json_is_real(time_us)) {
        snprintf(text, room, "%.3f", json_real_value(time_us));
    }
}

static void print_line(FILE *file, const json_t *report)
{
    double model_us = number(report, "model_us"), bound_us = number(report, "bound_us");
    char bytes[32] = "-", steps[32] = "-", predicted[32] = "-", bound[32] = "-";
    char eta[16] = "-", wrong[32] = "-";

    write_count(bytes, sizeof bytes, json_object_get(report, "bytes"));
    write_count(steps, sizeof steps, json_object_get(report, "steps"));
    write_count(wrong, sizeof wrong, json_object_get(report, "wrong"));
    if (bound_us > 0) {
        snprintf(eta, sizeof eta, "%.3f", model_us / bound_us);
    }
    write_time(predicted, sizeof predicted, json_object_get(report, "predicted_us"));
    write_time(bound, sizeof bound, json_object_get(report, "bound_us"));
    fprintf(file, "%14s %6s %14.3f %14s %14s %7s %11.3f %6s\n", bytes, steps, model_us, predicted,
            bound, eta, number(report, "wall_us") / 1e3, wrong);
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
            fprintf(file, "\n%s\n%14s %6s %14s %14s %14s %7s %11s %6s\n", name,
                    strstr(name, "exchange") ? "bytes per pair" : "bytes", "steps", "model us",
                    "predicted us", "bound us", "eta", "wall ms", "wrong");
        }
        print_line(file, report);
    }
}

json_t *report_plans(const struct plan_brief *briefs, uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++) {
        const struct plan_brief *b = &briefs[i];

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
    return json_pack("{s:s?, s:f, s:f, s:f, s:f}", "name", name, "xi_us",
                     (double)profile->xi_ns / 1e3, "tau_us", (double)profile->tau_ns / 1e3,
                     "element_us", (double)profile->element_ns / 1e3, "sigma",
                     (double)profile->sigma_permille / 1e3);
}
