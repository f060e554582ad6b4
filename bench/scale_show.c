#include "bench/scale.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

static bool measured(const struct scale_row *row)
{
    return row->state == SCALE_EXACT || row->state == SCALE_WRONG;
}

static void print_row(const struct scale_row *row)
{
    printf("%-9s %2u %6u %14.3f %14.3f %14.3f %10.0f %8.2f %10.0f%s\n", row->operation, row->dims,
           1U << row->dims, row->model_us, row->closed_us, row->bound_us, row->events,
           row->event_rate / 1e6, row->node_bytes, row->state == SCALE_WRONG ? " WRONG" : "");
}

/* The reason once, the rows that it holds for under it. */
static void print_unmeasured(const struct scale_row *row, const struct scale_row *before)
{
    if (!before || before->state != row->state || strcmp(before->reason, row->reason) != 0) {
        printf("\n%s: %s\n", row->state == SCALE_FAILED ? "FAILED" : "left out", row->reason);
    }
    printf("  %-9s %2u %6u nodes", row->operation, row->dims, 1U << row->dims);
    if (row->events > 0) {
        printf(", estimate %8.1f million events, %8.1f s, %6.0f MiB", row->events / 1e6,
               row->wall_s, row->peak_mib);
    } else {
        printf(", no smaller cube to estimate from");
    }
    putchar('\n');
}

void scale_print(const struct scale_row *rows, unsigned count, const char *const *operations)
{
    const struct scale_row *before = NULL;

    printf("\n%d bytes per pair, block or image; iPSC/860\n"
           "operation  d  nodes       model us   predicted us       bound us     events Mevent/s "
           "bytes/node\n",
           (int)SCALE_BYTES);
    for (unsigned i = 0; operations[i]; i++) {
        for (unsigned j = 0; j < count; j++) {
            if (measured(&rows[j]) && strcmp(rows[j].operation, operations[i]) == 0) {
                print_row(&rows[j]);
            }
        }
    }
    for (unsigned i = 0; operations[i]; i++) {
        for (unsigned j = 0; j < count; j++) {
            if (!measured(&rows[j]) && strcmp(rows[j].operation, operations[i]) == 0) {
                print_unmeasured(&rows[j], before);
                before = &rows[j];
            }
        }
    }
}

static void write_block(FILE *file, const struct scale_row *rows, unsigned count,
                        const char *operation)
{
    fprintf(file, "# %s\n# d model_us closed_us bound_us events events_per_second node_bytes\n",
            operation);
    for (unsigned i = 0; i < count; i++) {
        const struct scale_row *row = &rows[i];
        if (measured(row) && strcmp(row->operation, operation) == 0) {
            fprintf(file, "%u %.3f %.3f %.3f %.0f %.0f %.0f\n", row->dims, row->model_us,
                    row->closed_us, row->bound_us, row->events, row->event_rate, row->node_bytes);
        }
    }
    fputs("\n\n", file);
}

bool scale_write_data(const char *path, const struct scale_row *rows, unsigned count,
                      const char *const *operations)
{
    FILE *file = fopen(path, "w");

    if (!file) {
        return false;
    }
    for (unsigned i = 0; operations[i]; i++) {
        write_block(file, rows, count, operations[i]);
    }
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

static json_t *row_to_json(const struct scale_row *row)
{
    json_t *object = json_pack("{s:s, s:i, s:I}", "operation", row->operation, "dims",
                               (int)row->dims, "nodes", (json_int_t)1 << row->dims);

    if (measured(row)) {
        json_t *times = json_pack("{s:f, s:f, s:f, s:b}", "model_us", row->model_us,
                                  "closed_form_us", row->closed_us, "bound_us", row->bound_us,
                                  "exact", (int)(row->state == SCALE_EXACT));
        json_object_update(object, times);
        json_decref(times);
        json_object_set_new(object, "events_per_second", json_real(row->event_rate));
        json_object_set_new(object, "bytes_per_node", json_integer((json_int_t)row->node_bytes));
    } else {
        json_object_set_new(object, "failed", json_boolean(row->state == SCALE_FAILED));
        json_object_set_new(object, "reason", json_string(row->reason));
        json_object_set_new(object, "estimated", json_boolean(row->events > 0));
    }
    json_object_set_new(object, "events", json_integer((json_int_t)row->events));
    json_object_set_new(object, "wall_s", json_real(row->wall_s));
    json_object_set_new(object, "peak_mib", json_real(row->peak_mib));
    return object;
}

bool scale_write_json(const char *path, const struct scale_row *rows, unsigned count)
{
    json_t *list = json_array(), *left_out = json_array();

    for (unsigned i = 0; i < count; i++) {
        json_array_append_new(measured(&rows[i]) ? list : left_out, row_to_json(&rows[i]));
    }
    json_t *root =
        json_pack("{s:s, s:i, s:i, s:o, s:o}", "profile", "ipsc860", "bytes", (int)SCALE_BYTES,
                  "cores", (int)sysconf(_SC_NPROCESSORS_ONLN), "rows", list, "left_out", left_out);
    int status = json_dump_file(root, path, JSON_INDENT(2));
    json_decref(root);
    return status == 0;
}
