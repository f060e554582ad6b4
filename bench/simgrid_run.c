#include "bench/simgrid_run.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 300, LINE_BYTES = 200, ENVELOPE_BYTES = 16 };

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

bool simgrid_run(const struct simgrid_bench *bench, unsigned dims, unsigned bytes,
                 struct timed_run *run, double *simulated_us)
{
    char platform[PATH_BYTES], hosts[PATH_BYTES], program[PATH_BYTES], output[PATH_BYTES];
    char startup[64], amount[16], limit[16];
    const struct profile *profile = bench->profile;
    const char *words[] = {
        /* smpirun starts another process, which would outlive it */
        "timeout", "-k", "5", limit, "smpirun", "-platform", platform, "-hostfile", hosts,
        /* the program's variables are the same for all ranks: no copy of it for each */
        "-no-privatize",
        /* latency plus size over bandwidth, without factors for TCP or for traffic the other way */
        "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
        /* only messages take time: neither the program's own work nor asking for the time does */
        "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", startup,
        "--cfg=smpi/alltoall:pair", "--log=root.thres:warning", program, amount, NULL};

    snprintf(platform, sizeof platform, "%s/bench/cube-%u.xml", bench->build, dims);
    snprintf(hosts, sizeof hosts, "%s/bench/cube-%u.hosts", bench->build, dims);
    snprintf(program, sizeof program, "%s/bench/alltoall.so", bench->build);
    snprintf(output, sizeof output, "%s/bench/simgrid.out", bench->build);
    snprintf(amount, sizeof amount, "%u", bytes);
    snprintf(limit, sizeof limit, "%d", TIMED_RUN_SECONDS - 10);
    /* MPI_Sendrecv sends with MPI_Isend, whose cost keeps the sender busy before its message leaves
     */
    snprintf(startup, sizeof startup, "--cfg=smpi/ois:0:%ue-9:0",
             profile->xi_ns - (1 + ENVELOPE_BYTES) * profile->element_ns);
    if (!write_platform(platform, dims, profile) || !write_hosts(hosts, dims)) {
        fprintf(stderr, "bench: cannot write %s or %s\n", platform, hosts);
        return false;
    }
    *simulated_us = timed_run(words, output, run) ? read_time(output) : -1;
    return *simulated_us > 0;
}
