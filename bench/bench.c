/*
 * bench.c - bench BUILD "QEMU COMMAND" [PART ...]: the ratios between the machine and bare
 * loops over its links, for both makers of links, as a table and as JSON.
 *
 * Bare and real runs of both makers alternate, ROUNDS times, so that all see the same computer; a
 * figure is the median of its rounds. Ratios that a bound speaks of are made from those medians.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/collectives.h"
#include "bench/download.h"
#include "bench/figure.h"
#include "bench/machine_run.h"
#include "bench/mpi.h"
#include "bench/raw_run.h"
#include "bench/simulation.h"
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
    LARGE_DIMS_MIN = 6,
    LARGE_DIMS_MAX = 7,
    LARGE_ROUNDS = 3,
    LARGE_COUNT = 1,
    POLLING_BYTES = 1000,
    POLLING_COUNT = 5,
    POLLING_DIMS_MIN = 2,
    POLLING_DIMS_MAX = 6,
    POLLING_DIMS = POLLING_DIMS_MAX - POLLING_DIMS_MIN + 1,
    EXCHANGE_SECONDS = 170,
    COMMAND_MAX = 1024
};

enum maker { SERIAL, SHARED, MAKERS };

static const char *const maker_names[MAKERS] = {"serial", "shared"};

/* Of each maker. */
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
    BOOT_16,
    BOOT_64,
    RAW_EXCHANGE,
    EXCHANGE,
    RAW_EXCHANGE_WORK,
    EXCHANGE_WORK,
    RAW_EXCHANGE_LARGE,
    EXCHANGE_LARGE = RAW_EXCHANGE_LARGE + 2,
    WAITING_2 = EXCHANGE_LARGE + 2,
    POLLING_2 = WAITING_2 + POLLING_DIMS,
    MEMORY = POLLING_2 + POLLING_DIMS,
    IDLE,
    FIGURES
};

static const struct {
    const char *name, *unit;
} names[FIGURES] = {
    [RAW_STREAM] = {"bare link, 64 KiB", "MB/s"},
    [STREAM] = {"link, program to program", "MB/s"},
    [RAW_STREAM_WORK] = {"bare link, processor time", "us"},
    [STREAM_WORK] = {"link, processor time of 64 KiB", "us"},
    [RAW_RELAY] = {"bare relay, two links", "MB/s"},
    [RELAY] = {"two links, program to program", "MB/s"},
    [RAW_RELAY_WORK] = {"bare relay, the same per hop", "us"},
    [RELAY_WORK] = {"two links, the same per hop", "us"},
    [RAW_PING] = {"bare round trip, 8 bytes", "us"},
    [PING] = {"round trip, program to program", "us"},
    [BOOT_16] = {"16 nodes booted", "ms"},
    [BOOT_64] = {"64 nodes booted", "ms"},
    [RAW_EXCHANGE] = {"bare exchange, 16 nodes, 64 KiB", "ms"},
    [EXCHANGE] = {"exchange, 16 nodes, 64 KiB", "ms"},
    [RAW_EXCHANGE_WORK] = {"bare exchange, processor time", "ms"},
    [EXCHANGE_WORK] = {"exchange, processor time", "ms"},
    [RAW_EXCHANGE_LARGE] = {"bare exchange, 64 nodes, 64 KiB", "ms"},
    [RAW_EXCHANGE_LARGE + 1] = {"bare exchange, 128 nodes", "ms"},
    [EXCHANGE_LARGE] = {"exchange, 64 nodes, 64 KiB", "ms"},
    [EXCHANGE_LARGE + 1] = {"exchange, 128 nodes", "ms"},
    [WAITING_2] = {"1,000 bytes on cube:2, waiting", "ms"},
    [WAITING_2 + 1] = {"1,000 bytes on cube:3, waiting", "ms"},
    [WAITING_2 + 2] = {"1,000 bytes on cube:4, waiting", "ms"},
    [WAITING_2 + 3] = {"1,000 bytes on cube:5, waiting", "ms"},
    [WAITING_2 + 4] = {"1,000 bytes on cube:6, waiting", "ms"},
    [POLLING_2] = {"1,000 bytes on cube:2, polling", "ms"},
    [POLLING_2 + 1] = {"1,000 bytes on cube:3, polling", "ms"},
    [POLLING_2 + 2] = {"1,000 bytes on cube:4, polling", "ms"},
    [POLLING_2 + 3] = {"1,000 bytes on cube:5, polling", "ms"},
    [POLLING_2 + 4] = {"1,000 bytes on cube:6, polling", "ms"},
    [MEMORY] = {"memory of a node (64 nodes)", "MB"},
    [IDLE] = {"processor time of 64 that wait", "% of a core"},
};

static struct figure figures[MAKERS][FIGURES];
/* What has no links. */
static struct figure bare_boots[2] = {{.name = "16 bare QEMUs print a byte", .unit = "ms"},
                                      {.name = "64 bare QEMUs print a byte", .unit = "ms"}};

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
    struct ratio ratios[MPI_RATIOS];
} programs;

static struct {
    json_t *measured; /* NULL: not measured */
    struct ratio ratios[DOWNLOAD_RATIOS];
} downloads;

static const char *build;
static struct raw_bench raw[MAKERS];

static void add(enum maker maker, enum figure_index index, double value)
{
    figure_add(&figures[maker][index], value);
}

/* What a unit of work takes, from a long and a short run: so start and end, which both have, do not
 * count. -1: one of them failed. */
static double per_unit(double long_us, double short_us, double units)
{
    return long_us > 0 && short_us > 0 ? (long_us - short_us) / units : -1;
}

/* us of processor time that 64 KiB take over a chain of bare links. */
static double raw_stream_work(enum maker maker, unsigned relays, double *bytes_per_us)
{
    struct raw_stream all, some;
    raw_run_stream(&raw[maker], relays, (uint64_t)STREAM_BYTES * STREAM_COUNT, &all);
    raw_run_stream(&raw[maker], relays, (uint64_t)STREAM_BYTES * STREAM_COUNT_SHORT, &some);
    *bytes_per_us = all.bytes_per_us;
    return per_unit(all.processor_us, some.processor_us, STREAM_COUNT - STREAM_COUNT_SHORT);
}

/* The program of `ecube bench` on a machine. */
#define COLLECTIVES "--links %s --network cube:%u --timeout %ds %s/examples/collectives.elf "

static void run_stream(enum maker maker, struct machine_result *result, unsigned dims,
                       unsigned count)
{
    machine_run(build, result, COLLECTIVES "--sends %u bandwidth %d", maker_names[maker], dims,
                MACHINE_RUN_SECONDS, build, count, STREAM_BYTES);
    result->bytes *= count;
}

/* The same from node 0 of a machine to its last. */
static double stream_work(enum maker maker, unsigned dims, double *bytes_per_us)
{
    struct machine_result all, some;
    run_stream(maker, &all, dims, STREAM_COUNT);
    run_stream(maker, &some, dims, STREAM_COUNT_SHORT);
    *bytes_per_us = all.wall_us > 0 ? all.bytes / all.wall_us : -1;
    return per_unit(all.processor_us, some.processor_us, STREAM_COUNT - STREAM_COUNT_SHORT);
}

static void bench_links(void)
{
    for (unsigned round = 0; round < MAKERS * ROUNDS; round++) {
        const enum maker maker = round % MAKERS;
        struct machine_result trips;
        double rate, work;
        work = raw_stream_work(maker, 0, &rate);
        add(maker, RAW_STREAM, rate);
        add(maker, RAW_STREAM_WORK, work);
        work = stream_work(maker, 1, &rate);
        add(maker, STREAM, rate);
        add(maker, STREAM_WORK, work);
        work = raw_stream_work(maker, 1, &rate);
        add(maker, RAW_RELAY, rate);
        add(maker, RAW_RELAY_WORK, work / 2);
        work = stream_work(maker, 2, &rate);
        add(maker, RELAY, rate);
        add(maker, RELAY_WORK, work / 2);
        add(maker, RAW_PING, raw_run_ping(&raw[maker], PINGS) / 1e3);
        machine_run(build, &trips, COLLECTIVES "--iterations %d latency 8", maker_names[maker], 1,
                    MACHINE_RUN_SECONDS, build, PINGS);
        add(maker, PING, 2 * trips.wall_us);
    }
}

static double boot_ms(enum maker maker, const char *network)
{
    struct machine_result result;
    machine_run(build, &result, "--links %s --network %s %s/bench/nothing.elf", maker_names[maker],
                network, build);
    return result.boot_ms;
}

static void bench_boot(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        figure_add(&bare_boots[0], raw_run_boot(&raw[SERIAL], 16) / 1e3);
        add(SERIAL, BOOT_16, boot_ms(SERIAL, "cube:4"));
        add(SHARED, BOOT_16, boot_ms(SHARED, "cube:4"));
        figure_add(&bare_boots[1], raw_run_boot(&raw[SERIAL], 64) / 1e3);
        add(SERIAL, BOOT_64, boot_ms(SERIAL, "cube:6"));
        add(SHARED, BOOT_64, boot_ms(SHARED, "cube:6"));
    }
}

/* So many times, after one that does not count. */
static void run_exchange(enum maker maker, struct machine_result *result, unsigned dims,
                         unsigned bytes, unsigned count, const char *option)
{
    machine_run(build, result, COLLECTIVES "--iterations %u --check-once %s exchange %u",
                maker_names[maker], dims, EXCHANGE_SECONDS, build, count, option, bytes);
}

static void bench_bare_exchange(enum maker maker)
{
    struct raw_exchange many, one;
    raw_run_exchange(&raw[maker], EXCHANGE_DIMS, EXCHANGE_COUNT, &many);
    raw_run_exchange(&raw[maker], EXCHANGE_DIMS, 1, &one);
    add(maker, RAW_EXCHANGE, many.wall_us / 1e3);
    add(maker, RAW_EXCHANGE_WORK,
        per_unit(many.processor_us, one.processor_us, EXCHANGE_COUNT - 1) / 1e3);
}

static void bench_large_exchange(unsigned dims)
{
    const unsigned large = dims - LARGE_DIMS_MIN;
    for (enum maker maker = 0; maker < MAKERS; maker++) {
        struct machine_result result;
        struct raw_exchange bare;
        raw_run_exchange(&raw[maker], dims, LARGE_COUNT, &bare);
        add(maker, RAW_EXCHANGE_LARGE + large, bare.wall_us / 1e3);
        run_exchange(maker, &result, dims, EXCHANGE_BYTES, LARGE_COUNT, "");
        add(maker, EXCHANGE_LARGE + large, result.wall_us / 1e3);
    }
}

static void bench_exchange(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (enum maker maker = 0; maker < MAKERS; maker++) {
            struct machine_result many, one;
            bench_bare_exchange(maker);
            run_exchange(maker, &many, EXCHANGE_DIMS, EXCHANGE_BYTES, EXCHANGE_COUNT, "");
            run_exchange(maker, &one, EXCHANGE_DIMS, EXCHANGE_BYTES, 1, "");
            add(maker, EXCHANGE, many.wall_us / 1e3);
            add(maker, EXCHANGE_WORK,
                per_unit(many.processor_us, one.processor_us, EXCHANGE_COUNT - 1) / 1e3);
        }
    }
    for (unsigned round = 0; round < LARGE_ROUNDS; round++) {
        for (unsigned dims = LARGE_DIMS_MIN; dims <= LARGE_DIMS_MAX; dims++) {
            bench_large_exchange(dims);
        }
    }
}

static void poll_and_wait(enum maker maker, unsigned i)
{
    struct machine_result result;
    const struct figure *polling = &figures[maker][POLLING_2 + i];
    if (polling->tried && polling->count == 0) {
        return; /* it took too long once: no need to wait for that in every round */
    }
    run_exchange(maker, &result, POLLING_DIMS_MIN + i, POLLING_BYTES, POLLING_COUNT, "");
    add(maker, WAITING_2 + i, result.wall_us / 1e3);
    run_exchange(maker, &result, POLLING_DIMS_MIN + i, POLLING_BYTES, POLLING_COUNT, "--poll");
    add(maker, POLLING_2 + i, result.wall_us / 1e3);
}

static void bench_polling(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < POLLING_DIMS; i++) {
            poll_and_wait(SERIAL, i);
            poll_and_wait(SHARED, i);
        }
    }
}

static void bench_waiting(void)
{
    for (enum maker maker = 0; maker < MAKERS; maker++) {
        waiting_run(build, maker_names[maker], &figures[maker][MEMORY], &figures[maker][IDLE]);
    }
}

static void bench_simulation(void)
{
    simulation.rows = simulation_run(build, simulation.ratios);
}

static void bench_collectives(void)
{
    collectives.rows = collectives_run(build, collectives.ratios);
}

static void bench_programs(void)
{
    programs.rows = mpi_run(build, programs.ratios);
}

static void bench_download(void)
{
    const struct download_bench benches[MAKERS] = {{maker_names[SERIAL], &raw[SERIAL]},
                                                   {maker_names[SHARED], &raw[SHARED]}};

    downloads.measured = json_array();
    download_run(build, benches, downloads.measured, downloads.ratios);
}

/* A figure of links in shared memory over another of the same. */
static double shared_quotient(enum figure_index a, enum figure_index b)
{
    return figure_quotient(&figures[SHARED][a], &figures[SHARED][b]);
}

/* One maker's figure over the other's. */
static double maker_quotient(enum figure_index index, enum maker a, enum maker b)
{
    return figure_quotient(&figures[a][index], &figures[b][index]);
}

static struct ratio polling_ratio(enum maker maker, unsigned dims)
{
    static char texts[MAKERS][POLLING_DIMS][64];
    const unsigned i = dims - POLLING_DIMS_MIN;
    const struct figure *own = figures[maker];
    snprintf(texts[maker][i], sizeof texts[maker][i],
             "polling, %s: 1,000 bytes on cube:%u, against waiting", maker_names[maker], dims);
    return (struct ratio){texts[maker][i],
                          figure_quotient(&own[POLLING_2 + i], &own[WAITING_2 + i]), 4, false};
}

/* Processor time itself: its bound is none at all. */
static double idle(enum maker maker)
{
    const struct figure *figure = &figures[maker][IDLE];
    return figure->tried ? figure_median(figure) : NAN;
}

static void show_ratios(json_t *list)
{
    const struct ratio ratios[] = {
        {"link, shared: bytes per second against the bare ring",
         shared_quotient(STREAM, RAW_STREAM), 0.3, true},
        {"link: bytes per second, shared against serial", maker_quotient(STREAM, SHARED, SERIAL), 2,
         true},
        {"link, shared: round trip of 8 bytes against the bare ring",
         shared_quotient(PING, RAW_PING), 1.5, false},
        {"relay: bytes per second, shared against serial", maker_quotient(RELAY, SHARED, SERIAL), 2,
         true},
        {"exchange, shared: 16 nodes against the bare exchange",
         shared_quotient(EXCHANGE, RAW_EXCHANGE), 3, false},
        {"exchange: 16 nodes, serial over shared", maker_quotient(EXCHANGE, SERIAL, SHARED), 1.5,
         true},
        {"exchange: 64 nodes, serial over shared", maker_quotient(EXCHANGE_LARGE, SERIAL, SHARED),
         1, true},
        {"exchange: 128 nodes, serial over shared",
         maker_quotient(EXCHANGE_LARGE + 1, SERIAL, SHARED), 1, true},
        {"boot, shared: 16 nodes against 16 bare QEMUs",
         figure_quotient(&figures[SHARED][BOOT_16], &bare_boots[0]), 1.3, false},
        {"boot, shared: 64 nodes against 64 bare QEMUs",
         figure_quotient(&figures[SHARED][BOOT_64], &bare_boots[1]), 1.2, false},
        {"waiting, serial: processor time of 64 nodes, % of a core", idle(SERIAL), 0, false},
        {"waiting, shared: processor time of 64 nodes, % of a core", idle(SHARED), 0, false},
        polling_ratio(SERIAL, 2),
        polling_ratio(SERIAL, 3),
        polling_ratio(SERIAL, 4),
        polling_ratio(SERIAL, 5),
        polling_ratio(SERIAL, 6),
        polling_ratio(SHARED, 2),
        polling_ratio(SHARED, 3),
        polling_ratio(SHARED, 4),
        polling_ratio(SHARED, 5),
        polling_ratio(SHARED, 6),
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
    ratios_show(ratios, sizeof ratios / sizeof ratios[0], list);
    if (programs.rows) {
        ratios_show(programs.ratios, MPI_RATIOS, list);
    }
    if (downloads.measured) {
        ratios_show(downloads.ratios, DOWNLOAD_RATIOS, list);
    }
}

static void show_raw_runs(json_t *root)
{
    json_t *list = json_array();
    for (enum maker maker = 0; maker < MAKERS; maker++) {
        const struct raw_bench *bench = &raw[maker];
        if (bench->runs > 0) {
            printf("%sbare runs, %s, that stood still: %u of %u%s\n", maker == SERIAL ? "\n" : "",
                   maker_names[maker], bench->stood_still, bench->runs,
                   bench->stood_still > 0 ? "  (a wake-up was lost: README.md of the board)" : "");
            json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "links", maker_names[maker],
                                                  "runs", (int)bench->runs, "stood_still",
                                                  (int)bench->stood_still));
        }
    }
    json_object_set_new(root, "raw_runs", list);
}

static json_t *show(void)
{
    json_t *root = json_object(), *list = json_array(), *measured = json_array();

    figures_show_pairs(figures[SERIAL], figures[SHARED], FIGURES, measured);
    figures_show(bare_boots, sizeof bare_boots / sizeof bare_boots[0], measured);
    show_ratios(list);
    json_object_set_new(root, "ratios", list);
    json_object_set_new(root, "figures", measured);
    show_raw_runs(root);
    if (simulation.rows) {
        json_object_set_new(root, "simulation", simulation.rows);
    }
    if (programs.rows) {
        json_object_set_new(root, "programs", programs.rows);
    }
    if (collectives.rows) {
        json_object_set_new(root, "collectives", collectives.rows);
    }
    if (downloads.measured) {
        json_object_set_new(root, "download", downloads.measured);
    }
    return root;
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"links", bench_links},       {"boot", bench_boot},
    {"exchange", bench_exchange}, {"polling", bench_polling},
    {"waiting", bench_waiting},   {"simulation", bench_simulation},
    {"programs", bench_programs}, {"collectives", bench_collectives},
    {"download", bench_download},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

/* False: there is no part of that name. */
static bool run_part(const char *name)
{
    for (unsigned i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            parts[i].run();
            return true;
        }
    }
    fprintf(stderr, "bench: no part '%s'; one of:", name);
    for (unsigned i = 0; i < PARTS; i++) {
        fprintf(stderr, " %s", parts[i].name);
    }
    fputc('\n', stderr);
    return false;
}

/* Runs the parts that are named, or all. */
static bool run_parts(char **wanted, int count)
{
    bool good = true;

    for (unsigned i = 0; count == 0 && i < PARTS; i++) {
        parts[i].run();
    }
    for (int i = 0; good && i < count; i++) {
        good = run_part(wanted[i]);
    }
    return good;
}

int main(int argc, char **argv)
{
    char image[COMMAND_MAX], path[COMMAND_MAX];
    if (argc < 3) {
        fprintf(stderr, "usage: bench BUILD \"QEMU COMMAND\" [PART ...]\n");
        return 2;
    }
    build = argv[1];
    snprintf(image, sizeof image, "%s/bench/raw.elf", build);
    snprintf(path, sizeof path, "%s/bench.json", build);
    for (enum maker maker = 0; maker < MAKERS; maker++) {
        raw[maker] = (struct raw_bench){.qemu = argv[2], .image = image, .shared = maker == SHARED};
        for (unsigned i = 0; i < FIGURES; i++) {
            figures[maker][i] = (struct figure){
                .name = names[i].name, .unit = names[i].unit, .of = maker_names[maker]};
        }
    }
    if (!run_parts(argv + 3, argc - 3)) {
        return 2;
    }
    json_t *root = show();
    int status = json_dump_file(root, path, JSON_INDENT(2));
    json_decref(root);
    printf("\nwritten to %s\n", path);
    return status == 0 ? 0 : 1;
}
