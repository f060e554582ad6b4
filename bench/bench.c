/*
 * bench.c - bench BUILD "QEMU COMMAND" [PART [RUNS]]: the ratios between the machine and the raw
 * device, as a table and as JSON.
 *
 * Raw and real runs alternate, ROUNDS times, so that both see the same machine; a figure is the
 * median of its rounds. Ratios that a bound speaks of are made from those medians.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collectives/report.h"
#include "bench/debugger.h"
#include "bench/figure.h"
#include "bench/machine_run.h"
#include "bench/raw_run.h"
#include "bench/simulation.h"
#include "bench/stalls.h"
#include "bench/waiting.h"

enum {
    ROUNDS = 5,
    STREAM_BYTES = 65536,
    STREAM_COUNT = 6000,
    STREAM_COUNT_SHORT = 600,
    PINGS = 5000,
    EXCHANGE_BYTES = 65536,
    EXCHANGE_DIMS = 4,
    EXCHANGE_COUNT = 9,
    POLLING_BYTES = 1000,
    POLLING_COUNT = 5,
    POLLING_DIMS_MIN = 2,
    POLLING_DIMS_MAX = 6,
    POLLING_DIMS = POLLING_DIMS_MAX - POLLING_DIMS_MIN + 1,
    POLLING_SECONDS = 60,
    COMMAND_MAX = 1024
};

enum figure_index {
    RAW_STREAM,
    STREAM,
    RAW_STREAM_WORK,
    STREAM_WORK,
    RAW_RELAY,
    RELAY,
    RAW_RELAY_WORK,
    RELAY_WORK,
    RAW_PING,
    PING,
    RAW_BOOT_16,
    BOOT_16,
    RAW_BOOT_64,
    BOOT_64,
    RAW_EXCHANGE_WORK,
    EXCHANGE_WORK,
    RAW_EXCHANGE,
    EXCHANGE,
    WAITING_2,
    POLLING_2 = WAITING_2 + POLLING_DIMS,
    MEMORY = POLLING_2 + POLLING_DIMS,
    IDLE,
    FIGURES
};

static struct figure figures[FIGURES] = {
    [RAW_STREAM] = {.name = "raw link, 64 KiB, copied by the receiver", .unit = "MB/s"},
    [STREAM] = {.name = "link, program to program", .unit = "MB/s"},
    [RAW_STREAM_WORK] = {.name = "raw link, processor time per 64 KiB", .unit = "us"},
    [STREAM_WORK] = {.name = "link, processor time per 64 KiB", .unit = "us"},
    [RAW_RELAY] = {.name = "raw relay, two links, copied", .unit = "MB/s"},
    [RELAY] = {.name = "two links, program to program", .unit = "MB/s"},
    [RAW_RELAY_WORK] = {.name = "raw relay, the same per hop", .unit = "us"},
    [RELAY_WORK] = {.name = "two links, the same per hop", .unit = "us"},
    [RAW_PING] = {.name = "raw round trip, 8 bytes", .unit = "us"},
    [PING] = {.name = "round trip, program to program", .unit = "us"},
    [RAW_BOOT_16] = {.name = "16 bare QEMUs print a byte", .unit = "ms"},
    [BOOT_16] = {.name = "16 nodes booted", .unit = "ms"},
    [RAW_BOOT_64] = {.name = "64 bare QEMUs print a byte", .unit = "ms"},
    [BOOT_64] = {.name = "64 nodes booted", .unit = "ms"},
    [RAW_EXCHANGE_WORK] = {.name = "raw links, AAP's hops, processor time", .unit = "ms"},
    [EXCHANGE_WORK] = {.name = "exchange of 64 KiB, 16 nodes, the same", .unit = "ms"},
    [RAW_EXCHANGE] = {.name = "raw links, the same on all processors", .unit = "ms"},
    [EXCHANGE] = {.name = "exchange of 64 KiB, 16 nodes, wall time", .unit = "ms"},
    [WAITING_2] = {.name = "exchange of 1,000 bytes, cube:2, waiting", .unit = "ms"},
    [WAITING_2 + 1] = {.name = "exchange of 1,000 bytes, cube:3, waiting", .unit = "ms"},
    [WAITING_2 + 2] = {.name = "exchange of 1,000 bytes, cube:4, waiting", .unit = "ms"},
    [WAITING_2 + 3] = {.name = "exchange of 1,000 bytes, cube:5, waiting", .unit = "ms"},
    [WAITING_2 + 4] = {.name = "exchange of 1,000 bytes, cube:6, waiting", .unit = "ms"},
    [POLLING_2] = {.name = "exchange of 1,000 bytes, cube:2, polling", .unit = "ms"},
    [POLLING_2 + 1] = {.name = "exchange of 1,000 bytes, cube:3, polling", .unit = "ms"},
    [POLLING_2 + 2] = {.name = "exchange of 1,000 bytes, cube:4, polling", .unit = "ms"},
    [POLLING_2 + 3] = {.name = "exchange of 1,000 bytes, cube:5, polling", .unit = "ms"},
    [POLLING_2 + 4] = {.name = "exchange of 1,000 bytes, cube:6, polling", .unit = "ms"},
    [MEMORY] = {.name = "memory of a node (64 nodes)", .unit = "MB"},
    [IDLE] = {.name = "CPU of 64 waiting nodes", .unit = "% of a core"},
};

static struct {
    json_t *rows; /* NULL: not measured */
    struct ratio ratios[SIMULATION_RATIOS];
} simulation = {.ratios = {{.value = NAN}, {.value = NAN}, {.value = NAN}, {.value = NAN}}};

static struct {
    json_t *rows; /* NULL: not measured */
    struct ratio ratios[COLLECTIVES_RATIOS];
} collectives = {
    .ratios = {{.value = NAN}, {.value = NAN}, {.value = NAN}, {.value = NAN}, {.value = NAN}}};

static struct {
    json_t *rows; /* NULL: not measured */
    unsigned runs;
} stalls = {.runs = STALLS_RUNS};

static json_t *debugger_rows; /* NULL: not measured */

static const char *build;
static struct raw_bench raw;

static void add(enum figure_index index, double value)
{
    figure_add(&figures[index], value);
}

/* What a unit of work takes, from a long and a short run: so start and end, which both have, do not
 * count. -1: one of them failed. */
static double per_unit(double long_us, double short_us, double units)
{
    return long_us > 0 && short_us > 0 ? (long_us - short_us) / units : -1;
}

/* us of processor time that 64 KiB take over a chain of raw links. */
static double raw_stream_work(unsigned relays, double *bytes_per_us)
{
    struct raw_stream all, some;
    raw_run_stream(&raw, relays, (uint64_t)STREAM_BYTES * STREAM_COUNT, &all);
    raw_run_stream(&raw, relays, (uint64_t)STREAM_BYTES * STREAM_COUNT_SHORT, &some);
    *bytes_per_us = all.bytes_per_us;
    return per_unit(all.processor_us, some.processor_us, STREAM_COUNT - STREAM_COUNT_SHORT);
}

/* The same from node 0 of a machine to its last. */
static double stream_work(const char *network, double *bytes_per_us)
{
    struct machine_result all, some;
    machine_run(build, &all, "--network %s %s/bench/stream.elf %d %d", network, build, STREAM_BYTES,
                STREAM_COUNT);
    machine_run(build, &some, "--network %s %s/bench/stream.elf %d %d", network, build,
                STREAM_BYTES, STREAM_COUNT_SHORT);
    *bytes_per_us = all.wall_us > 0 ? all.bytes / all.wall_us : -1;
    return per_unit(all.processor_us, some.processor_us, STREAM_COUNT - STREAM_COUNT_SHORT);
}

static void add_stream(enum figure_index rate, enum figure_index work, unsigned hops, double value,
                       double work_us)
{
    add(rate, value);
    add(work, work_us / hops);
}

static void bench_links(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct machine_result trips;
        double rate, work;
        work = raw_stream_work(0, &rate);
        add_stream(RAW_STREAM, RAW_STREAM_WORK, 1, rate, work);
        work = stream_work("cube:1", &rate);
        add_stream(STREAM, STREAM_WORK, 1, rate, work);
        work = raw_stream_work(1, &rate);
        add_stream(RAW_RELAY, RAW_RELAY_WORK, 2, rate, work);
        work = stream_work("cube:2", &rate);
        add_stream(RELAY, RELAY_WORK, 2, rate, work);
        add(RAW_PING, raw_run_ping(&raw, PINGS) / 1e3);
        machine_run(build, &trips, "--network cube:1 %s/bench/ping.elf %d", build, PINGS);
        add(PING, trips.wall_us);
    }
}

static double boot_ms(const char *network)
{
    struct machine_result result;
    machine_run(build, &result, "--network %s %s/bench/nothing.elf", network, build);
    return result.boot_ms;
}

static void bench_boot(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        add(RAW_BOOT_16, raw_run_boot(&raw, 16) / 1e3);
        add(BOOT_16, boot_ms("cube:4"));
        add(RAW_BOOT_64, raw_run_boot(&raw, 64) / 1e3);
        add(BOOT_64, boot_ms("cube:6"));
    }
}

static void run_exchange(struct machine_result *result, unsigned dims, unsigned bytes,
                         unsigned count, const char *how)
{
    machine_run(build, result, "--network cube:%u --timeout %ds %s/bench/exchange.elf %u %u %s",
                dims, POLLING_SECONDS, build, bytes, count, how);
}

/* N nodes send 64 KiB over N N d / 2 hops in sum. What a raw link's processor time for as many is,
 * shared among all processors, no software over these links goes below. */
static void bench_exchange(void)
{
    const double hops = (1 << EXCHANGE_DIMS) * (1 << EXCHANGE_DIMS) * EXCHANGE_DIMS / 2.0;
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct machine_result many, one;
        double rate, work = raw_stream_work(0, &rate);
        run_exchange(&many, EXCHANGE_DIMS, EXCHANGE_BYTES, EXCHANGE_COUNT, "wait");
        run_exchange(&one, EXCHANGE_DIMS, EXCHANGE_BYTES, 1, "wait");
        add(RAW_EXCHANGE_WORK, work * hops / 1e3);
        add(EXCHANGE_WORK, per_unit(many.processor_us, one.processor_us, EXCHANGE_COUNT - 1) / 1e3);
        add(RAW_EXCHANGE, work * hops / processors / 1e3);
        add(EXCHANGE, many.wall_us / 1e3);
    }
}

static void bench_polling(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < POLLING_DIMS; i++) {
            struct machine_result result;
            if (figures[POLLING_2 + i].tried && figures[POLLING_2 + i].count == 0) {
                continue; /* it took too long once: no need to wait for that in every round */
            }
            run_exchange(&result, POLLING_DIMS_MIN + i, POLLING_BYTES, POLLING_COUNT, "wait");
            add(WAITING_2 + i, result.wall_us / 1e3);
            run_exchange(&result, POLLING_DIMS_MIN + i, POLLING_BYTES, POLLING_COUNT, "poll");
            add(POLLING_2 + i, result.wall_us / 1e3);
        }
    }
}

static void bench_waiting(void)
{
    waiting_run(build, &figures[MEMORY], &figures[IDLE]);
}

static void bench_simulation(void)
{
    simulation.rows = simulation_run(build, simulation.ratios);
}

static void bench_collectives(void)
{
    collectives.rows = collectives_run(build, collectives.ratios);
}

static void bench_stalls(void)
{
    stalls.rows = stalls_run(&raw, stalls.runs);
}

static void bench_debugger(void)
{
    debugger_rows = debugger_run(build, raw.qemu);
}

static double quotient(enum figure_index a, enum figure_index b)
{
    return figure_quotient(&figures[a], &figures[b]);
}

/* What a second link costs the machine, over what it costs the raw device. */
static double relay_ratio(void)
{
    double machine = quotient(RELAY, STREAM), device = quotient(RAW_RELAY, RAW_STREAM);
    return machine < 0 || device < 0 ? -1 : machine / device;
}

static struct ratio polling_ratio(unsigned dims)
{
    static char names[POLLING_DIMS][64];
    const unsigned i = dims - POLLING_DIMS_MIN;
    snprintf(names[i], sizeof names[i],
             "polling: exchange of 1,000 bytes on cube:%u, against waiting", dims);
    return (struct ratio){names[i], quotient(POLLING_2 + i, WAITING_2 + i), 4, false};
}

static json_t *show(void)
{
    const struct ratio ratios[] = {
        {"link: bytes per second against the copying raw link", quotient(STREAM, RAW_STREAM), 0.7,
         true},
        {"link: round trip of 8 bytes against raw ping-pong", quotient(PING, RAW_PING), 1.5, false},
        {"relay: two links against one, over the same of the raw relay", relay_ratio(), 0.9, true},
        {"boot: 16 nodes against 16 bare QEMUs", quotient(BOOT_16, RAW_BOOT_16), 1.3, false},
        {"boot: 64 nodes against 64 bare QEMUs", quotient(BOOT_64, RAW_BOOT_64), 1.3, false},
        {"exchange: wall time against the raw links' processor time",
         quotient(EXCHANGE, RAW_EXCHANGE), 2, false},
        polling_ratio(2),
        polling_ratio(3),
        polling_ratio(4),
        polling_ratio(5),
        polling_ratio(6),
        simulation.ratios[0],
        simulation.ratios[1],
        simulation.ratios[2],
        simulation.ratios[3],
        collectives.ratios[0],
        collectives.ratios[1],
        collectives.ratios[2],
        collectives.ratios[3],
        collectives.ratios[4],
    };
    json_t *root = json_object(), *list = json_array(), *measured = json_array();

    figures_show(figures, FIGURES, measured);
    ratios_show(ratios, sizeof ratios / sizeof ratios[0], list);
    json_object_set_new(root, "ratios", list);
    json_object_set_new(root, "figures", measured);
    if (raw.runs > 0) {
        printf("\nraw runs that stood still: %u of %u%s\n", raw.stood_still, raw.runs,
               raw.stood_still > 0 ? "  (a wake-up was lost: board/virt/README.md)" : "");
        json_object_set_new(
            root, "raw_runs",
            json_pack("{s:i, s:i}", "runs", (int)raw.runs, "stood_still", (int)raw.stood_still));
    }
    if (simulation.rows) {
        json_object_set_new(root, "simulation", simulation.rows);
    }
    if (collectives.rows) {
        json_object_set_new(root, "collectives", collectives.rows);
    }
    if (stalls.rows) {
        json_object_set_new(root, "stalls", stalls.rows);
    }
    if (debugger_rows) {
        json_object_set_new(root, "debugger", debugger_rows);
    }
    return root;
}

static const struct part {
    const char *name;
    void (*run)(void);
    bool only_by_name;
} parts[] = {
    {"links", bench_links, false},
    {"boot", bench_boot, false},
    {"exchange", bench_exchange, false},
    {"polling", bench_polling, false},
    {"waiting", bench_waiting, false},
    {"simulation", bench_simulation, false},
    {"collectives", bench_collectives, false},
    {"debugger", bench_debugger, false},
    {"stalls", bench_stalls, true},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

/* Runs the part of that name, or all for NULL; false: there is none. */
static bool run_parts(const char *only)
{
    bool found = false;
    for (unsigned i = 0; i < PARTS; i++) {
        if (only ? strcmp(parts[i].name, only) == 0 : !parts[i].only_by_name) {
            parts[i].run();
            found = true;
        }
    }
    if (!found) {
        fprintf(stderr, "bench: no part '%s'; one of:", only);
        for (unsigned i = 0; i < PARTS; i++) {
            fprintf(stderr, " %s", parts[i].name);
        }
        fputc('\n', stderr);
    }
    return found;
}

int main(int argc, char **argv)
{
    char image[COMMAND_MAX], path[COMMAND_MAX];
    if (argc < 3) {
        fprintf(stderr, "usage: bench BUILD \"QEMU COMMAND\" [PART [RUNS]]\n");
        return 2;
    }
    build = argv[1];
    snprintf(image, sizeof image, "%s/bench/raw.elf", build);
    snprintf(path, sizeof path, "%s/bench.json", build);
    raw = (struct raw_bench){.qemu = argv[2], .image = image};
    if (argc > 4) {
        stalls.runs = (unsigned)atoi(argv[4]);
    }
    if (!run_parts(argc > 3 ? argv[3] : NULL)) {
        return 2;
    }
    json_t *root = show();
    int status = json_dump_file(root, path, JSON_INDENT(2));
    json_decref(root);
    printf("\nwritten to %s\n", path);
    return status == 0 ? 0 : 1;
}
