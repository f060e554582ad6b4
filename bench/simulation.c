#include "bench/simulation.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/queue_rate.h"
#include "bench/simgrid_run.h"
#include "bench/timed_run.h"
#include "planner/closed_form.h"

enum {
    BYTES = 1000,
    SIZES = 3,
    QUEUE_ROUNDS = 5,
    PATH_BYTES = 300,
    NAME_BYTES = 64,
    CELL_BYTES = 16
};

/* SimGrid's clock is a binary fraction of a second and takes events 1 ns apart as one. */
static const double TOLERANCE_US = 0.1;

/* What one of the two shows for one size. */
struct side {
    char name[NAME_BYTES];
    struct figure wall_ms, peak_mib;
    double model_us; /* of the last round; the same in all of them */
};

struct row {
    unsigned dims, rounds, runs; /* of ecube sim in a round, in which SimGrid has one */
    struct side simgrid, ecube;
    char event_name[NAME_BYTES];
    struct figure event_rate; /* million events per second */
    double events, node_bytes;
};

static const struct profile ipsc860 = {
    .xi_ns = 65425, .tau_ns = 9575, .element_ns = 425, .sigma_permille = 1500};

static void name_side(struct side *side, const char *simulator, unsigned dims)
{
    snprintf(side->name, sizeof side->name, "%s, %u nodes", simulator, 1U << dims);
    side->wall_ms = (struct figure){.name = side->name, .unit = "ms"};
    side->peak_mib = (struct figure){.name = side->name, .unit = "MiB"};
    side->model_us = -1;
}

static double closed_form_us(const struct row *row)
{
    return (double)closed_form_ns(ECUBE_EXCHANGE, row->dims, BYTES, &ipsc860) / 1e3;
}

/* A run counts only when it simulated what the other does: its time is the closed form. */
static bool add_run(const struct row *row, struct side *side, bool done,
                    const struct timed_run *run)
{
    if (done && fabs(side->model_us - closed_form_us(row)) > TOLERANCE_US) {
        fprintf(stderr, "bench: %s: %.3f us, the closed form is %.3f us\n", side->name,
                side->model_us, closed_form_us(row));
        done = false;
    }
    figure_add(&side->wall_ms, done ? 1e3 * run->wall_s : -1);
    if (done) {
        figure_add(&side->peak_mib, run->peak_mib);
    }
    return done;
}

static void run_simgrid(const char *build, struct row *row)
{
    const struct simgrid_bench bench = {.build = build, .profile = &ipsc860};
    struct timed_run run;
    bool done = simgrid_run(&bench, row->dims, BYTES, &run, &row->simgrid.model_us);
    add_run(row, &row->simgrid, done, &run);
}

/* Takes what `ecube sim --json` wrote; the million events per second, 0: it does not say. */
static double read_ecube(const json_t *object, struct row *row)
{
    const json_t *reports = json_object_get(object, "reports");
    const json_t *report = json_array_get(reports, json_array_size(reports) - 1);

    row->ecube.model_us = json_number_value(json_object_get(report, "model_us"));
    const json_t *sim = json_object_get(object, "sim");
    row->events = json_number_value(json_object_get(sim, "events"));
    row->node_bytes = json_number_value(json_object_get(sim, "node_bytes"));
    return json_number_value(json_object_get(sim, "events_per_s")) / 1e6;
}

static void run_ecube(const char *build, struct row *row)
{
    char tool[PATH_BYTES], network[16], amount[16], result[PATH_BYTES], output[PATH_BYTES];
    const char *words[] = {tool,     "sim",         "--network",  network,  "--profile", "ipsc860",
                           "--json", result,        "--contents", "shared", "exchange",  "--bytes",
                           amount,   "--algorithm", "AAP",        NULL};
    struct timed_run run;

    snprintf(tool, sizeof tool, "%s/ecube", build);
    snprintf(network, sizeof network, "cube:%u", row->dims);
    snprintf(amount, sizeof amount, "%d", BYTES);
    snprintf(result, sizeof result, "%s/bench/sim.json", build);
    snprintf(output, sizeof output, "%s/bench/sim.out", build);
    unlink(result);
    bool done = timed_run(words, output, &run);
    json_t *object = done ? json_load_file(result, 0, NULL) : NULL;
    if (done && !object) {
        fprintf(stderr, "bench: %s wrote no JSON to %s\n", tool, result);
    }
    double event_rate = read_ecube(object, row);
    json_decref(object);
    done = add_run(row, &row->ecube, done && object, &run);
    figure_add(&row->event_rate, done ? event_rate : -1);
}

static const char *cell(char text[CELL_BYTES], double value, int decimals)
{
    if (value > 0) {
        snprintf(text, CELL_BYTES, "%.*f", decimals, value);
    } else {
        snprintf(text, CELL_BYTES, "-");
    }
    return text;
}

static json_t *side_to_json(const struct side *side)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:i}", "wall_ms", figure_median(&side->wall_ms),
                     "fastest_wall_ms", figure_least(&side->wall_ms), "peak_mib",
                     figure_median(&side->peak_mib), "model_us", side->model_us, "rounds",
                     (int)side->wall_ms.count);
}

static void print_side(const struct side *side)
{
    char text[3][CELL_BYTES];

    printf(" %9s %9s %7s", cell(text[0], figure_least(&side->wall_ms), 1),
           cell(text[1], figure_median(&side->wall_ms), 1),
           cell(text[2], figure_median(&side->peak_mib), 1));
}

static void print_row(const struct row *row)
{
    char text[3][CELL_BYTES];

    printf("%5u", 1U << row->dims);
    print_side(&row->simgrid);
    print_side(&row->ecube);
    printf(" %11.1f %8s %7s %9s\n", closed_form_us(row),
           cell(text[0], figure_least_quotient(&row->simgrid.wall_ms, &row->ecube.wall_ms), 1),
           cell(text[1], figure_quotient(&row->simgrid.wall_ms, &row->ecube.wall_ms), 1),
           cell(text[2], figure_median(&row->event_rate), 2));
}

static json_t *row_to_json(const struct row *row)
{
    return json_pack("{s:i, s:i, s:f, s:o, s:o, s:f, s:f, s:f}", "nodes", 1 << row->dims, "bytes",
                     (int)BYTES, "closed_form_us", closed_form_us(row), "simgrid",
                     side_to_json(&row->simgrid), "ecube", side_to_json(&row->ecube), "events",
                     row->events, "events_per_second", 1e6 * figure_median(&row->event_rate),
                     "bytes_per_node", row->node_bytes);
}

static void measure(const char *build, struct row *row)
{
    name_side(&row->simgrid, "SimGrid", row->dims);
    name_side(&row->ecube, "ecube sim", row->dims);
    snprintf(row->event_name, sizeof row->event_name, "events of ecube sim, %u nodes",
             1U << row->dims);
    row->event_rate = (struct figure){.name = row->event_name, .unit = "million/s"};
    for (unsigned round = 0; round < row->rounds; round++) {
        run_simgrid(build, row);
        for (unsigned run = 0; run < row->runs; run++) {
            run_ecube(build, row);
        }
    }
}

static double median_queue_rate(void)
{
    struct figure rate = {.name = "queue alone, 1024 events under way", .unit = "million/s"};

    for (unsigned round = 0; round < QUEUE_ROUNDS; round++) {
        figure_add(&rate, queue_rate(1024));
    }
    return figure_median(&rate);
}

json_t *simulation_run(const char *build, struct ratio ratios[SIMULATION_RATIOS])
{
    static struct row rows[SIZES] = {
        {.dims = 6, .rounds = 25, .runs = 5},
        {.dims = 8, .rounds = 25, .runs = 8},
        {.dims = 10, .rounds = 3, .runs = 8},
    };
    json_t *list = json_array();

    for (unsigned i = 0; i < SIZES; i++) {
        measure(build, &rows[i]);
    }
    printf(
        "\ncomplete exchange, %d bytes per pair; both show the closed form's time\n"
        "            SimGrid, wall ms                  ours, wall ms                SimGrid/ours\n"
        "nodes   fastest    median     MiB   fastest    median     MiB    model us  fastest  median"
        "  Mevent/s\n",
        BYTES);
    for (unsigned i = 0; i < SIZES; i++) {
        print_row(&rows[i]);
        json_array_append_new(list, row_to_json(&rows[i]));
    }
    ratios[0] =
        (struct ratio){"simulation: SimGrid's wall time over ours, 256 nodes",
                       figure_quotient(&rows[1].simgrid.wall_ms, &rows[1].ecube.wall_ms), 10, true};
    ratios[1] =
        (struct ratio){"simulation: SimGrid's wall time over ours, 1024 nodes",
                       figure_quotient(&rows[2].simgrid.wall_ms, &rows[2].ecube.wall_ms), 10, true};
    ratios[2] = (struct ratio){"simulation: queue alone, million events/s, 1024 under way",
                               median_queue_rate(), 5, true};
    ratios[3] = (struct ratio){"simulation: whole run, million events/s, 1024 nodes",
                               figure_median(&rows[2].event_rate), 5, true};
    return list;
}
