#include "bench/simgrid_run.h"

#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 300,
    LINE_BYTES = 200,
    ENVELOPE_BYTES = 16,
    COMMAND_WORDS_MAX = 10,
    COLLECTIVE_SECONDS = 40 /* where links are shared among many messages it takes hours */
};

static bool write_platform(const char *path, unsigned dims, const struct profile *profile)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "  <cluster id=\"cube\" prefix=\"node\" suffix=\"\" radical=\"0-%u\" speed=\"1Gf\"\n"
            "           bw=\"%.17gBps\" lat=\"%uns\" sharing_policy=\"SPLITDUPLEX\"\n"
            "           loopback_bw=\"1e15Bps\" loopback_lat=\"0s\"\n"
            "           topology=\"TORUS\" topo_parameters=\"2",
            (1U << dims) - 1, 1e9 / profile->element_ns, profile->tau_ns + profile->element_ns);
    for (unsigned dim = 1; dim < dims; dim++) {
        fputs(",2", file);
    }
    fputs("\"/>\n</platform>\n", file);
    return fclose(file) == 0;
}

static bool write_hosts(const char *path, unsigned dims)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    for (unsigned node = 0; node < 1U << dims; node++) {
        fprintf(file, "node%u\n", node);
    }
    return fclose(file) == 0;
}

/* The time in the line "simulated_us TIME"; -1: there is none. */
static double read_time(const char *output)
{
    FILE *file = fopen(output, "r");
    char line[LINE_BYTES];
    double time_us = -1;
    while (file && time_us < 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "simulated_us %lf", &time_us) != 1) {
            time_us = -1;
        }
    }
    if (file) {
        fclose(file);
    }
    return time_us;
}

/* What is told to smpirun beside the platform, and how long it may take. */
struct command {
    const char *option; /* of its own; NULL: none */
    const char *program;
    bool privatized;                      /* its variables: a copy of it for each rank */
    const char *words[COMMAND_WORDS_MAX]; /* of the program, a NULL behind them */
    unsigned limit_s;
};

/* Writes the platform and runs a program on it; its output goes to the file `output`. */
static int start(const struct simgrid_bench *bench, unsigned dims, const struct command *command,
                 const char *output, struct timed_run *run)
{
    char platform[PATH_BYTES], hosts[PATH_BYTES], program[PATH_BYTES], limit[16];
    char sending[2][64];
    const struct profile *profile = bench->profile;
    const char *words[COMMAND_WORDS_MAX + 24] = {
        /* smpirun starts another process, which would outlive it */
        "timeout", "-k", "5", limit, "smpirun", "-platform", platform, "-hostfile", hosts,
        /* latency plus size over bandwidth, without factors for TCP or for traffic the other way */
        "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
        /* only messages take time: neither the program's own work nor asking for the time does */
        "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", sending[0], sending[1],
        "--log=root.thres:warning"};
    unsigned count = 0;

    while (words[count]) {
        count++;
    }
    if (!command->privatized) {
        words[count++] = "-no-privatize";
    }
    if (command->option) {
        words[count++] = command->option;
    }
    words[count++] = program;
    for (unsigned i = 0; i < COMMAND_WORDS_MAX && command->words[i]; i++) {
        words[count++] = command->words[i];
    }
    snprintf(platform, sizeof platform, "%s/bench/cube-%u.xml", bench->build, dims);
    snprintf(hosts, sizeof hosts, "%s/bench/cube-%u.hosts", bench->build, dims);
    snprintf(program, sizeof program, "%s/bench/%s", bench->build, command->program);
    snprintf(limit, sizeof limit, "%u", command->limit_s);
    /* What a send costs keeps the sender busy before its message leaves; MPI_Sendrecv sends with
     * MPI_Isend. */
    uint32_t cost_ns = profile->xi_ns - (1 + ENVELOPE_BYTES) * profile->element_ns;
    snprintf(sending[0], sizeof sending[0], "--cfg=smpi/ois:0:%ue-9:0", cost_ns);
    snprintf(sending[1], sizeof sending[1], "--cfg=smpi/os:0:%ue-9:0", cost_ns);
    if (!write_platform(platform, dims, profile) || !write_hosts(hosts, dims)) {
        fprintf(stderr, "bench: cannot write %s or %s\n", platform, hosts);
        return -1;
    }
    return timed_run_within(command->limit_s + 10, words, output, run);
}

/* Likewise; false after a message: it has not ended well. */
static bool start_well(const struct simgrid_bench *bench, unsigned dims,
                       const struct command *command, const char *output, struct timed_run *run)
{
    char line[LINE_BYTES];
    int status = start(bench, dims, command, output, run);

    if (status) {
        timed_run_first_line(output, line, sizeof line);
        fprintf(stderr, "bench: smpirun ended with status %d: %s\n", status, line);
    }
    return status == 0;
}

bool simgrid_run(const struct simgrid_bench *bench, unsigned dims, unsigned bytes,
                 struct timed_run *run, double *simulated_us)
{
    char output[PATH_BYTES], amount[16];
    const struct command command = {.option = "--cfg=smpi/alltoall:pair",
                                    .program = "alltoall.so",
                                    .words = {amount},
                                    .limit_s = TIMED_RUN_SECONDS - 10};

    snprintf(output, sizeof output, "%s/bench/simgrid.out", bench->build);
    snprintf(amount, sizeof amount, "%u", bytes);
    *simulated_us = start_well(bench, dims, &command, output, run) ? read_time(output) : -1;
    return *simulated_us > 0;
}

bool simgrid_program(const struct simgrid_bench *bench, unsigned dims, const char *const words[2],
                     const char *option, bool privatized, const char *output, struct timed_run *run)
{
    char program[PATH_BYTES];
    const struct command command = {.option = option,
                                    .program = program,
                                    .privatized = privatized,
                                    .words = {words[1]},
                                    .limit_s = TIMED_RUN_SECONDS - 10};

    snprintf(program, sizeof program, "smpi/%s.so", words[0]);
    return start_well(bench, dims, &command, output, run);
}

/* The times in lines "collective NAME BYTES TIME". */
static void read_times(const char *output, const uint32_t *sizes, unsigned count, double *us)
{
    FILE *file = fopen(output, "r");
    char line[LINE_BYTES];
    unsigned bytes;
    double time_us;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "collective %*s %u %lf", &bytes, &time_us) == 2) {
            for (unsigned i = 0; i < count; i++) {
                if (sizes[i] == bytes) {
                    us[i] = time_us;
                }
            }
        }
    }
    if (file) {
        fclose(file);
    }
}

void simgrid_collective(const struct simgrid_bench *bench, unsigned dims, const char *selector,
                        const char *name, const uint32_t *sizes, unsigned count, double *us)
{
    char output[PATH_BYTES], option[64], amounts[COMMAND_WORDS_MAX][16];
    struct command command = {.option = option,
                              .program = "collectives.so",
                              .words = {name},
                              .limit_s = COLLECTIVE_SECONDS};
    struct timed_run run;

    snprintf(output, sizeof output, "%s/bench/simgrid.out", bench->build);
    snprintf(option, sizeof option, "--cfg=smpi/coll-selector:%s", selector);
    for (unsigned i = 0; i < count; i++) {
        us[i] = -1;
        if (i + 2 < COMMAND_WORDS_MAX) {
            snprintf(amounts[i], sizeof amounts[i], "%u", sizes[i]);
            command.words[i + 1] = amounts[i];
        }
    }
    int status = start(bench, dims, &command, output, &run);
    if (status) {
        fprintf(stderr, "bench: SimGrid's %s of %u nodes by %s ended with status %d\n", name,
                1U << dims, selector, status);
    }
    read_times(output, sizes, count, us);
}
