/*
 * scale.c - scale BUILD [FIRST-LAST [SECONDS]]: how `ecube sim` and the collectives grow with the
 * cube, as a table, as BUILD/scale.json and as BUILD/scale.dat for gnuplot.
 *
 * One run after the other, so that none disturbs the figures of another; the one that is thought to
 * take least comes next, so that what does not fit into the time is what takes longest. Each row is
 * estimated from the two smaller cubes before it. A row that would take more time than is left, or
 * more than three quarters of the available memory, is listed and not run.
 */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/scale.h"
#include "bench/timed_run.h"

enum {
    DIMS_MIN = 1,
    DIMS_MAX = 16,
    DIMS_FIRST = 4,
    SECONDS_MIN = 3,
    SECONDS_DEFAULT = 300,
    SECONDS_MAX = 86400,
    OPERATIONS = 4,
    PATH_BYTES = 300,
    STATUS_BAD_INPUT = 2
};

static const char *const operations[OPERATIONS + 1] = {"exchange", "broadcast", "scatter",
                                                       "download", NULL};
static const double announced_s = 5; /* rows that take longer are named when they begin */

struct scale {
    const char *build;
    unsigned first, last, seconds;
    double end_s;                                     /* on the clock of now_s */
    struct scale_row rows[OPERATIONS * DIMS_MAX + 1]; /* the last: where the next is made */
    unsigned count;
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double available_mib(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kib = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return kib / 1024;
}

/* The row of the same operation with so many dimensions less; NULL: there is none. */
static const struct scale_row *smaller(const struct scale *scale, const struct scale_row *row,
                                       unsigned less)
{
    for (unsigned i = 0; i < scale->count; i++) {
        const struct scale_row *other = &scale->rows[i];
        if (other->operation == row->operation && other->dims + less == row->dims &&
            other->events > 0) {
            return other;
        }
    }
    return NULL;
}

/* Figures grow as they did last; by less than the number of nodes only when start-up hides it. */
static double extrapolate(double last, double before)
{
    return last * fmax(2, before > 0 ? last / before : 2);
}

/* Fills in the estimate; leaves zeros without a smaller cube. */
static void estimate(const struct scale *scale, struct scale_row *row)
{
    const struct scale_row *last = smaller(scale, row, 1), *before = smaller(scale, row, 2);

    if (last) {
        row->events = extrapolate(last->events, before ? before->events : 0);
        row->wall_s = last->wall_s * row->events / last->events;
        row->peak_mib = extrapolate(last->peak_mib, before ? before->peak_mib : 0);
    }
}

/* Says whether the row is to be left out, and why. */
static bool leave_out(const struct scale *scale, struct scale_row *row)
{
    double left_s = scale->end_s - now_s(), memory_mib = available_mib() * 3 / 4;

    if (left_s < 1 || row->wall_s > left_s) {
        snprintf(row->reason, sizeof row->reason, "more than is left of %u s", scale->seconds);
    } else if (row->peak_mib > memory_mib) {
        snprintf(row->reason, sizeof row->reason,
                 "more than three quarters of the available memory");
    } else {
        return false;
    }
    row->state = SCALE_LEFT_OUT;
    return true;
}

/* Reads what `ecube sim --json` wrote; false: not all of it is there. */
static bool read_result(const char *path, struct scale_row *row)
{
    json_t *root = json_load_file(path, 0, NULL), *report = NULL, *sim = NULL, *download = NULL;
    double model_us, closed_us, bound_us, events, rate, node_bytes;
    int nodes, receipts;
    json_error_t error;
    bool read = root &&
                json_unpack_ex(root, &error, 0, "{s:i, s:[o], s:o, s:o}", "nodes", &nodes,
                               "reports", &report, "sim", &sim, "download", &download) == 0 &&
                json_unpack_ex(report, &error, 0, "{s:F, s:F, s:F}", "model_us", &model_us,
                               "predicted_us", &closed_us, "bound_us", &bound_us) == 0 &&
                json_unpack_ex(sim, &error, 0, "{s:F, s:F, s:F}", "events", &events, "events_per_s",
                               &rate, "node_bytes", &node_bytes) == 0 &&
                json_unpack_ex(download, &error, 0, "{s:i}", "receipts", &receipts) == 0;

    if (read) {
        /* Both times are whole nanoseconds divided by 1000: equal times are equal numbers. */
        bool exact = model_us == closed_us && closed_us > 0 && receipts == nodes;
        row->state = exact ? SCALE_EXACT : SCALE_WRONG;
        row->model_us = model_us;
        row->closed_us = closed_us;
        row->bound_us = bound_us;
        row->events = events;
        row->event_rate = rate;
        row->node_bytes = node_bytes;
    }
    json_decref(root);
    return read;
}

/* What the tool said, without its name and without operation and cube, which the row names. */
static void take_reason(const char *output, struct scale_row *row)
{
    char line[SCALE_REASON_MAX], about[32];
    const char *text = line;

    timed_run_first_line(output, line, sizeof line);
    if (strncmp(text, "ecube: ", 7) == 0) {
        text += 7;
    }
    int length = snprintf(about, sizeof about, "%s on cube:%u: ", row->operation, row->dims);
    if (strncmp(text, about, (size_t)length) == 0) {
        text += length;
    }
    snprintf(row->reason, sizeof row->reason, "%s", text);
}

/* Notes why there are no figures; the estimates stay. */
static void take_failure(const char *output, int status, unsigned limit_s, struct scale_row *row)
{
    row->state = SCALE_LEFT_OUT;
    if (status == TIMED_RUN_LATE) {
        snprintf(row->reason, sizeof row->reason, "not done after %u s", limit_s);
        return;
    }
    take_reason(output, row);
    if (row->reason[0] == '\0') {
        snprintf(row->reason, sizeof row->reason, "ended with status %d", status);
    }
    if (status != STATUS_BAD_INPUT) {
        row->state = SCALE_FAILED;
    }
}

/* Runs the row; the simulator gets no more memory than the report allows itself. */
static void run_row(const struct scale *scale, struct scale_row *row)
{
    char tool[PATH_BYTES], network[16], amount[16], memory[48], result[PATH_BYTES],
        output[PATH_BYTES];
    const char *words[] = {"prlimit",   memory,    tool,           "sim",    "--network", network,
                           "--profile", "ipsc860", "--contents",   "shared", "--json",    result,
                           "--bytes",   amount,    row->operation, NULL};
    unsigned limit_s = (unsigned)ceil(scale->end_s - now_s());
    struct timed_run run;

    snprintf(tool, sizeof tool, "%s/ecube", scale->build);
    snprintf(network, sizeof network, "cube:%u", row->dims);
    snprintf(amount, sizeof amount, "%d", (int)SCALE_BYTES);
    snprintf(memory, sizeof memory, "--as=%.0f", available_mib() * 0.75 * 1048576);
    snprintf(result, sizeof result, "%s/bench/scale.row.json", scale->build);
    snprintf(output, sizeof output, "%s/bench/scale.out", scale->build);
    unlink(result);
    int status = timed_run_within(limit_s, words, output, &run);
    if (status != 0) {
        take_failure(output, status, limit_s, row);
        return;
    }
    row->wall_s = run.wall_s;
    row->peak_mib = run.peak_mib;
    if (!read_result(result, row)) {
        row->state = SCALE_FAILED;
        snprintf(row->reason, sizeof row->reason, "the tool's JSON file lacks something");
    }
    unlink(result);
}

static void say(const struct scale_row *row)
{
    fprintf(stderr, "scale: %s, cube:%u: ", row->operation, row->dims);
    switch (row->state) {
    case SCALE_LEFT_OUT: fputs("left out\n", stderr); break;
    case SCALE_FAILED: fprintf(stderr, "FAILED: %s\n", row->reason); break;
    default:
        fprintf(stderr, "%.3f us, %.0f events, %.1f s%s\n", row->model_us, row->events, row->wall_s,
                row->state == SCALE_WRONG ? ", WRONG" : "");
    }
}

/* The row that is thought to take least among the operations' next ones; false: all are done. */
static bool choose(const struct scale *scale, struct scale_row *chosen)
{
    bool found = false;

    for (unsigned i = 0; operations[i]; i++) {
        struct scale_row row = {.operation = operations[i], .dims = scale->first};
        for (unsigned j = 0; j < scale->count; j++) {
            row.dims += scale->rows[j].operation == row.operation;
        }
        estimate(scale, &row);
        if (row.dims <= scale->last && (!found || row.wall_s < chosen->wall_s)) {
            *chosen = row;
            found = true;
        }
    }
    return found;
}

static void run_all(struct scale *scale)
{
    struct scale_row *row = scale->rows;

    scale->end_s = now_s() + scale->seconds;
    while (choose(scale, row)) {
        if (!leave_out(scale, row)) {
            if (row->wall_s > announced_s) {
                fprintf(stderr, "scale: %s, cube:%u, about %.0f s\n", row->operation, row->dims,
                        row->wall_s);
            }
            run_row(scale, row);
        }
        say(row);
        row = &scale->rows[++scale->count];
    }
}

/* Reads "4-16" or "4"; false: it is neither. */
static bool parse_dims(const char *text, unsigned *first, unsigned *last)
{
    char rest;
    int count = sscanf(text, "%2u-%2u%c", first, last, &rest);

    if (count == 1 && sscanf(text, "%2u%c", first, &rest) == 1) {
        *last = *first;
        count = 2;
    }
    return count == 2 && *first >= DIMS_MIN && *first <= *last && *last <= DIMS_MAX;
}

static bool parse(struct scale *scale, int argc, char **argv)
{
    char rest;

    if (argc < 2 || argc > 4) {
        fputs("usage: scale BUILD [FIRST-LAST [SECONDS]]\n", stderr);
        return false;
    }
    scale->build = argv[1];
    if (argc > 2 && !parse_dims(argv[2], &scale->first, &scale->last)) {
        fprintf(stderr, "scale: '%.40s': dimensions are two numbers from %d to %d, as 4-16\n",
                argv[2], (int)DIMS_MIN, (int)DIMS_MAX);
        return false;
    }
    if (argc > 3 && (sscanf(argv[3], "%8u%c", &scale->seconds, &rest) != 1 ||
                     scale->seconds < SECONDS_MIN || scale->seconds > SECONDS_MAX)) {
        fprintf(stderr, "scale: '%.40s': the seconds are a number from %d to %d\n", argv[3],
                (int)SECONDS_MIN, (int)SECONDS_MAX);
        return false;
    }
    return true;
}

/* Writes both files; 0, or 1 after a message. */
static int write_files(const struct scale *scale)
{
    char json[PATH_BYTES], data[PATH_BYTES];

    snprintf(json, sizeof json, "%s/scale.json", scale->build);
    snprintf(data, sizeof data, "%s/scale.dat", scale->build);
    if (!scale_write_json(json, scale->rows, scale->count) ||
        !scale_write_data(data, scale->rows, scale->count, operations)) {
        fprintf(stderr, "scale: cannot write %s and %s\n", json, data);
        return 1;
    }
    printf("\nwritten to %s\n", json);
    return 0;
}

int main(int argc, char **argv)
{
    static struct scale scale = {.first = DIMS_FIRST, .last = DIMS_MAX, .seconds = SECONDS_DEFAULT};
    unsigned good = 0, bad = 0;

    if (!parse(&scale, argc, argv)) {
        return STATUS_BAD_INPUT;
    }
    run_all(&scale);
    for (unsigned i = 0; i < scale.count; i++) {
        good += scale.rows[i].state == SCALE_EXACT;
        bad += scale.rows[i].state == SCALE_WRONG || scale.rows[i].state == SCALE_FAILED;
    }
    scale_print(scale.rows, scale.count, operations);
    return write_files(&scale) != 0 || bad > 0 || good == 0;
}
