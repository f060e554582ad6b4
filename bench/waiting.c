#include "bench/waiting.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/machine_run.h"

enum { IDLE_SECONDS = 3 };

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
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

static void measure(const char *build, const char *links, struct figure *memory,
                    struct figure *idle)
{
    static char mark[64]; /* part of the environment from here on */
    snprintf(mark, sizeof mark, "ECUBE_BENCH_MARK=%d", (int)getpid());
    putenv(mark);
    if (!machine_run_tool(build, NULL, "up --links %s --name bench-%d --network cube:6", links,
                          (int)getpid())) {
        figure_add(memory, -1);
        figure_add(idle, -1);
        return;
    }
    double nodes = sum_over_nodes(mark, count_one);
    figure_add(memory, sum_over_nodes(mark, pss_mb) / nodes);
    double before = sum_over_nodes(mark, cpu_ticks), start_us = now_us();
    sleep(IDLE_SECONDS);
    double ticks = sum_over_nodes(mark, cpu_ticks) - before;
    double seconds = (now_us() - start_us) / 1e6;
    idle->tried = true; /* no tick at all is a result */
    idle->values[idle->count++] = 100 * ticks / (double)sysconf(_SC_CLK_TCK) / seconds;
    machine_run_tool(build, NULL, "down --name bench-%d", (int)getpid());
}

void waiting_run(const char *build, const char *links, struct figure *memory, struct figure *idle)
{
    signal(SIGINT, note_interrupt);
    signal(SIGTERM, note_interrupt);
    measure(build, links, memory, idle);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (interrupted) {
        exit(128 + interrupted);
    }
}
