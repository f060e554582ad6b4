/*
 * bench.c - bench BUILD "QEMU COMMAND" [PART [RUNS]]: the ratios between the mesh and the raw
 * device, as a table and as JSON.
 *
 * Raw and real runs alternate, ROUNDS times, so that both see the same machine; a figure is the
 * median of its rounds. Ratios that a bound speaks of are made from those medians.
 */
#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/figure.h"
#include "bench/raw_run.h"
#include "bench/simulation.h"
#include "bench/stalls.h"

enum {
    ROUNDS = 5,
    STREAM_BYTES = 65536,
    STREAM_COUNT = 6000,
    PINGS = 5000,
    EXCHANGE_BYTES = 65536,
    COMMAND_MAX = 1024,
    IDLE_SECONDS = 3
};

enum figure_index {
    RAW_STREAM,
    STREAM,
    RAW_RELAY,
    RELAY,
    RAW_PING,
    PING,
    RAW_BOOT_16,
    BOOT_16,
    RAW_BOOT_64,
    BOOT_64,
    RAW_EXCHANGE,
    EXCHANGE,
    MEMORY,
    IDLE,
    FIGURES
};

static struct figure figures[FIGURES] = {
    [RAW_STREAM] = {.name = "raw link, 64 KiB", .unit = "MB/s"},
    [STREAM] = {.name = "link, program to program", .unit = "MB/s"},
    [RAW_RELAY] = {.name = "raw relay, two links", .unit = "MB/s"},
    [RELAY] = {.name = "two links, program to program", .unit = "MB/s"},
    [RAW_PING] = {.name = "raw round trip, 8 bytes", .unit = "us"},
    [PING] = {.name = "round trip, program to program", .unit = "us"},
    [RAW_BOOT_16] = {.name = "16 bare QEMUs print a byte", .unit = "ms"},
    [BOOT_16] = {.name = "16 nodes booted", .unit = "ms"},
    [RAW_BOOT_64] = {.name = "64 bare QEMUs print a byte", .unit = "ms"},
    [BOOT_64] = {.name = "64 nodes booted", .unit = "ms"},
    [RAW_EXCHANGE] = {.name = "raw links, bytes and hops of AAP", .unit = "ms"},
    [EXCHANGE] = {.name = "complete exchange, 64 KiB, 16 nodes", .unit = "ms"},
    [MEMORY] = {.name = "memory of a node (64 nodes)", .unit = "MB"},
    [IDLE] = {.name = "CPU of 64 waiting nodes", .unit = "% of a core"},
};

static struct {
    json_t *rows; /* NULL: not measured */
    struct ratio ratios[SIMULATION_RATIOS];
} simulation;

static struct {
    json_t *rows; /* NULL: not measured */
    unsigned runs;
} stalls = {.runs = STALLS_RUNS};

static const char *build;
static struct raw_bench raw;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void add(enum figure_index index, double value)
{
    figure_add(&figures[index], value);
}

/* Runs a command with its words in build/bench/run.out; shows them when it fails. */
static int run_command(const char *command)
{
    char line[8 * COMMAND_MAX];

    snprintf(line, sizeof line,
             "%s >%s/bench/run.out 2>&1 || { grep -v ' of [0-9]' %s/bench/run.out >&2; exit 1; }",
             command, build, build);
    int status = system(line);
    if (status != 0) {
        fprintf(stderr, "bench: failed: %s\n", command);
    }
    return status;
}

/* Runs a program on a mesh; the object that --json wrote, or NULL. */
static json_t *run_mesh(const char *format, ...)
{
    char arguments[COMMAND_MAX], command[3 * COMMAND_MAX], path[COMMAND_MAX];
    json_t *result;
    va_list list;

    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(path, sizeof path, "%s/bench/run.json", build);
    snprintf(command, sizeof command, "%s/ecube run --json %s %s", build, path, arguments);
    unlink(path);
    result = run_command(command) == 0 ? json_load_file(path, 0, NULL) : NULL;
    unlink(path);
    return result;
}

/* The number `key` of the last report; -1: none. Consumes the object. */
static double last_report(json_t *object, const char *key)
{
    const json_t *reports = json_object_get(object, "reports");
    const json_t *report = json_array_get(reports, json_array_size(reports) - 1);
    double value = report ? json_number_value(json_object_get(report, key)) : -1;
    json_decref(object);
    return value;
}

static double stream_rate(const char *mesh)
{
    json_t *object =
        run_mesh("--mesh %s %s/bench/stream.elf %d %d", mesh, build, STREAM_BYTES, STREAM_COUNT);
    double bytes = last_report(json_incref(object), "bytes"), us = last_report(object, "wall_us");
    return us > 0 ? bytes / us : -1;
}

static void bench_links(void)
{
    const uint64_t bytes = (uint64_t)STREAM_BYTES * STREAM_COUNT;
    for (unsigned round = 0; round < ROUNDS; round++) {
        add(RAW_STREAM, raw_run_stream(&raw, 0, bytes) / 1e6);
        add(STREAM, stream_rate("cube:1"));
        add(RAW_RELAY, raw_run_stream(&raw, 1, bytes) / 1e6);
        add(RELAY, stream_rate("cube:2"));
        add(RAW_PING, raw_run_ping(&raw, PINGS) / 1e3);
        add(PING,
            last_report(run_mesh("--mesh cube:1 %s/bench/ping.elf %d", build, PINGS), "wall_us"));
    }
}

static double boot_ms(const char *mesh)
{
    json_t *object = run_mesh("--mesh %s %s/bench/nothing.elf", mesh, build);
    double value = object ? json_number_value(json_object_get(object, "boot_ms")) : -1;
    json_decref(object);
    return value;
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

/* N nodes send 64 KiB over N d / 2 hops in sum: what one raw link moves in the same time, using the
 * whole machine. */
static void bench_exchange(void)
{
    const double byte_hops = 16.0 * EXCHANGE_BYTES * (16 * 4 / 2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double rate = raw_run_stream(&raw, 0, (uint64_t)STREAM_BYTES * STREAM_COUNT);
        add(RAW_EXCHANGE, rate > 0 ? byte_hops / rate * 1e3 : -1);
        add(EXCHANGE, last_report(run_mesh("--mesh cube:4 %s/examples/complete_exchange.elf %d",
                                           build, EXCHANGE_BYTES),
                                  "wall_us") /
                          1e3);
    }
}

/* Adds up one number over the QEMUs that are this bench's descendants: those with its mark. */
static double sum_over_nodes(const char *mark, double (*measure)(const char *pid))
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    double sum = 0;

    while (directory && (entry = readdir(directory)) != NULL) {
        char path[300], environment[16384];
        FILE *file;
        size_t bytes;
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name)) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        file = fopen(path, "r");
        if (!file) {
            continue;
        }
        bytes = fread(environment, 1, sizeof environment - 1, file);
        fclose(file);
        environment[bytes] = '\0';
        if (memmem(environment, bytes, mark, strlen(mark))) {
            sum += measure(entry->d_name);
        }
    }
    if (directory) {
        closedir(directory);
    }
    return sum;
}

static bool is_qemu(const char *pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "r");
    bool yes = file && fgets(name, sizeof name, file) && strncmp(name, "qemu", 4) == 0;
    if (file) {
        fclose(file);
    }
    return yes;
}

static double pss_mb(const char *pid)
{
    char path[64], line[200];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%.20s/smaps_rollup", pid);
    FILE *file = is_qemu(pid) ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Pss: %lf", &kb) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return kb / 1024;
}

static double cpu_ticks(const char *pid)
{
    char path[64], line[1024] = "";
    unsigned long user = 0, system_time = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = is_qemu(pid) ? fopen(path, "r") : NULL;
    if (file && fgets(line, sizeof line, file)) {
        const char *after = strrchr(line, ')');
        if (after) {
            sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                   &system_time);
        }
    }
    if (file) {
        fclose(file);
    }
    return (double)(user + system_time);
}

static double count_one(const char *pid)
{
    return is_qemu(pid) ? 1 : 0;
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    interrupted = number;
}

/* A mesh of 64 nodes that has booted and waits; it is ended even when the bench is interrupted. */
static void bench_waiting(void)
{
    char mark[64], command[COMMAND_MAX];
    snprintf(mark, sizeof mark, "ECUBE_BENCH_MARK=%d", (int)getpid());
    putenv(mark);
    signal(SIGINT, note_interrupt);
    signal(SIGTERM, note_interrupt);
    snprintf(command, sizeof command, "%s/ecube up --name bench-%d --mesh cube:6", build,
             (int)getpid());
    if (run_command(command) != 0) {
        add(MEMORY, -1);
        add(IDLE, -1);
        return;
    }
    double nodes = sum_over_nodes(mark, count_one);
    add(MEMORY, sum_over_nodes(mark, pss_mb) / nodes);
    double before = sum_over_nodes(mark, cpu_ticks), start_us = now_us();
    sleep(IDLE_SECONDS);
    double ticks = sum_over_nodes(mark, cpu_ticks) - before;
    double seconds = (now_us() - start_us) / 1e6;
    figures[IDLE].tried = true; /* no tick at all is a result */
    figures[IDLE].values[figures[IDLE].count++] =
        100 * ticks / (double)sysconf(_SC_CLK_TCK) / seconds;
    snprintf(command, sizeof command, "%s/ecube down --name bench-%d", build, (int)getpid());
    run_command(command);
    if (interrupted) {
        exit(128 + interrupted);
    }
}

static void bench_simulation(void)
{
    simulation.rows = simulation_run(build, simulation.ratios);
}

static void bench_stalls(void)
{
    stalls.rows = stalls_run(&raw, stalls.runs);
}

static double quotient(enum figure_index a, enum figure_index b)
{
    return figure_quotient(&figures[a], &figures[b]);
}

/* What a second link costs the mesh, over what it costs the raw device. */
static double relay_ratio(void)
{
    double mesh = quotient(RELAY, STREAM), device = quotient(RAW_RELAY, RAW_STREAM);
    return mesh < 0 || device < 0 ? -1 : mesh / device;
}

static json_t *show(void)
{
    const struct ratio ratios[] = {
        {"link: bytes per second against the raw device", quotient(STREAM, RAW_STREAM), 0.85, true},
        {"link: round trip of 8 bytes against raw ping-pong", quotient(PING, RAW_PING), 1.5, false},
        {"relay: two links against one, over the same of the raw relay", relay_ratio(), 0.9, true},
        {"boot: 16 nodes against 16 bare QEMUs", quotient(BOOT_16, RAW_BOOT_16), 1.3, false},
        {"boot: 64 nodes against 64 bare QEMUs", quotient(BOOT_64, RAW_BOOT_64), 1.3, false},
        {"exchange: wall time against the raw links", quotient(EXCHANGE, RAW_EXCHANGE), 1.5, false},
    };
    json_t *root = json_object(), *list = json_array(), *measured = json_array();

    for (unsigned i = 0, shown = 0; i < FIGURES; i++) {
        if (figures[i].tried && !shown++) {
            puts("\nfigure (median)                                   value");
        }
        figure_show(&figures[i], measured);
    }
    puts("\nratio                                                             value   bound");
    for (unsigned i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        ratio_show(&ratios[i], list);
    }
    for (unsigned i = 0; simulation.rows && i < SIMULATION_RATIOS; i++) {
        ratio_show(&simulation.ratios[i], list);
    }
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
    if (stalls.rows) {
        json_object_set_new(root, "stalls", stalls.rows);
    }
    return root;
}

static const struct part {
    const char *name;
    void (*run)(void);
    bool only_by_name;
} parts[] = {
    {"links", bench_links, false},           {"boot", bench_boot, false},
    {"exchange", bench_exchange, false},     {"waiting", bench_waiting, false},
    {"simulation", bench_simulation, false}, {"stalls", bench_stalls, true},
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
