/*
 * bench_compare.c - a bench beside an earlier one: what has changed, row by row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/bench/bench.h"
#include "host/computer/input_file.h"
#include "host/console/cell.h"
#include "host/console/report.h"
#include "host/job/map_choice.h"

enum { NAMES_BYTES = 200 };

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static const json_t *rows_of(const json_t *before)
{
    return json_object_get(json_object_get(before, "bench"), "rows");
}

/* "exchange, scan": what the rows are of. */
static void list_operations(const json_t *before, char words[NAMES_BYTES])
{
    const char *last = "";
    const json_t *row;
    size_t i, used = 0;

    words[0] = '\0';
    json_array_foreach(rows_of(before), i, row)
    {
        const char *name = string_of(row, "operation");
        if (strcmp(name, last) != 0 && used < NAMES_BYTES) {
            used +=
                (size_t)snprintf(words + used, NAMES_BYTES - used, "%s%s", used ? ", " : "", name);
            last = name;
        }
    }
}

/* Whether there is a row of this operation and, if it is not negative, this size. */
static const json_t *find_row(const json_t *before, const char *operation, double bytes)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows_of(before), i, row)
    {
        if (strcmp(string_of(row, "operation"), operation) == 0 &&
            (bytes < 0 || json_number_value(json_object_get(row, "bytes")) == bytes)) {
            return row;
        }
    }
    return NULL;
}

static int check_operations(const struct bench_plan *plan, const json_t *before,
                            struct message *message)
{
    const struct bench_arguments *arguments = plan->arguments;
    char words[NAMES_BYTES];

    for (unsigned i = 0; i < arguments->subject_count; i++) {
        const char *name = arguments->subjects[i].name;
        if (!find_row(before, name, -1)) {
            list_operations(before, words);
            return message_set(message, "--compare %.200s: it has no %s, but %s",
                               arguments->compare, name, *words ? words : "nothing");
        }
    }
    return 0;
}

/* The profile with the ports that this run has of it. */
static int check_profile(const struct bench_plan *plan, const json_t *before,
                         struct message *message)
{
    const char *path = plan->arguments->compare;
    const json_t *there = json_object_get(before, "profile");
    const json_t *ports = json_object_get(json_object_get(before, "bench"), "ports");
    json_t *here = report_profile(plan->profile_name, &plan->profile);
    bool same = json_equal(here, there) != 0;
    json_int_t count = json_is_string(ports) ? PORTS_ALL : json_integer_value(ports);

    json_decref(here);
    if (!same) {
        return message_set(
            message, "--compare %.200s: it is of the profile %.60s, and this is %s%s", path,
            string_of(there, "name"), plan->profile_name,
            strcmp(string_of(there, "name"), plan->profile_name) == 0 ? " with other numbers" : "");
    }
    return count == clock_ports(&plan->profile)
               ? 0
               : message_set(message, "--compare %.200s: its nodes have another number of ports",
                             path);
}

static int check_network(const struct bench_plan *plan, const json_t *before,
                         struct message *message)
{
    const char *path = plan->arguments->compare;
    json_t *map = map_describe(&plan->network);
    bool same = json_equal(map, json_object_get(before, "map")) != 0;

    json_decref(map);
    if (strcmp(string_of(before, "network"), plan->network_name) != 0) {
        return message_set(message, "--compare %.200s: it is of %.60s, and this is %s", path,
                           string_of(before, "network"), plan->network_name);
    }
    return same ? 0 : message_set(message, "--compare %.200s: it has another --map", path);
}

int bench_compare_open(const struct bench_plan *plan, json_t **before, struct message *message)
{
    const char *path = plan->arguments->compare;
    json_error_t error;

    *before = NULL;
    if (!path) {
        return 0;
    }
    FILE *file = input_file_open(path, "earlier bench", message);
    if (!file) {
        return -1;
    }
    *before = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    input_file_close(file);
    if (!json_is_array(rows_of(*before))) {
        message_set(message,
                    "--compare %.200s: that is nothing that ecube bench --json has written", path);
    } else if (check_network(plan, *before, message) == 0 &&
               check_profile(plan, *before, message) == 0 &&
               check_operations(plan, *before, message) == 0) {
        return 0;
    }
    json_decref(*before);
    *before = NULL;
    return -1;
}

/* The table ------------------------------------------------------------------------------------ */

/* Columns. */
enum { NAME = 14, BYTES = 9, TIME = 12, CHANGE = 9, WALL = 11 };

/* "same", or how much more or less: "+12.5 %". */
static const char *change_cell(char cell[CELL_MAX], double before, double now)
{
    if (before < 0 || now < 0) {
        return "-";
    }
    if (before == now) {
        return "same";
    }
    if (before == 0) {
        return "new";
    }
    snprintf(cell, CELL_MAX, "%+.1f %%", fmax(-999, fmin(9999, 100 * (now - before) / before)));
    return cell;
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);

    return json_is_number(value) ? json_number_value(value) : -1;
}

static const char *real_cell(char cell[CELL_MAX], unsigned columns, double value)
{
    return value < 0 ? "-" : cell_real(cell, columns, value);
}

static double ms_of(double us)
{
    return us < 0 ? -1 : us / 1e3;
}

/* Whether its model time or its algorithm is another. */
static bool print_change(const struct bench_row *row, const json_t *before)
{
    char bytes[CELL_MAX], cells[6][CELL_MAX];
    double model_us = number(before, "model_us"), wall_us = number(before, "wall_us");
    const char *algorithm = string_of(before, "algorithm");
    bool other = strcmp(algorithm, row->algorithm) != 0;

    printf("%-*s %*s %*s %*s %*s %*s %*s %*s\n", NAME, row->subject->name, BYTES,
           cell_count(bytes, BYTES, row->bytes), TIME, real_cell(cells[0], TIME, model_us), TIME,
           real_cell(cells[1], TIME, row->model_us), CHANGE,
           change_cell(cells[2], model_us, row->model_us), WALL,
           real_cell(cells[3], WALL, ms_of(wall_us)), WALL,
           real_cell(cells[4], WALL, ms_of(row->wall_us)), CHANGE,
           change_cell(cells[5], wall_us, row->wall_us));
    if (other) {
        printf("          was by %s, is by %s\n", *algorithm ? algorithm : "none",
               *row->algorithm ? row->algorithm : "none");
    }
    return other || model_us != row->model_us;
}

/* Over how many paths messages go is the user's choice, as the algorithm is: told, not refused. */
static void print_paths(const struct bench_plan *plan, const json_t *before)
{
    const json_t *there = json_object_get(before, "paths");
    unsigned now = plan->arguments->machine.paths, was = (unsigned)json_integer_value(there);
    char words[2][CELL_MAX] = {"none", "none"};

    if (!json_is_integer(there) || was == now) {
        return;
    }
    if (was > 0) {
        snprintf(words[0], CELL_MAX, "%u", was);
    }
    if (now > 0) {
        snprintf(words[1], CELL_MAX, "%u", now);
    }
    printf("--paths was %s, is %s\n", words[0], words[1]);
}

void bench_compare_print(const struct bench_plan *plan, const struct bench_result *result,
                         const json_t *before)
{
    unsigned changed = 0, found = 0;

    printf("\ncompared with %s\n", plan->arguments->compare);
    print_paths(plan, before);
    printf("%-*s %*s %*s %*s %*s %*s %*s %*s\n", NAME, "operation", BYTES, "bytes", TIME,
           "model us was", TIME, "is", CHANGE, "", WALL, "wall ms was", WALL, "is", CHANGE, "");
    for (unsigned i = 0; i < result->count; i++) {
        const struct bench_row *row = &result->rows[i];
        const json_t *earlier = find_row(before, row->subject->name, row->bytes);

        if (earlier) {
            found++;
            changed += print_change(row, earlier);
        } else {
            printf("%-*s %*.0f not there\n", NAME, row->subject->name, BYTES, row->bytes);
        }
    }
    if (found > 0 && changed == 0) {
        printf("no change: %u row%s of the same model time and algorithm\n", found,
               found == 1 ? " is" : "s are");
    } else {
        printf("%u of %u rows have another model time or algorithm\n", changed, found);
    }
}
