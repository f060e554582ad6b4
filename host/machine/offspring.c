/*
 * offspring.c - finds and kills what the processes of nodes have started.
 *
 * The search goes through all of /proc, so it is done only when a node has died and at the end. A
 * process is opened (pidfd) before its environment is read: then its number cannot pass to another
 * process between the look and the signal.
 */
#include "host/machine/offspring.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "ECUBE_NODE="

enum { NO_NODE = -1, END_TRIES = 40, END_PAUSE_US = 50000 };

void offspring_name_run(char run[OFFSPRING_RUN_BYTES])
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, 0) != sizeof number) {
        number = (uint64_t)getpid();
    }
    snprintf(run, OFFSPRING_RUN_BYTES, "%016llx", (unsigned long long)number);
}

void offspring_mark(const char *run, uint32_t node)
{
    char value[OFFSPRING_RUN_BYTES + 12];

    snprintf(value, sizeof value, "%s.%u", run, (unsigned)node);
    setenv("ECUBE_NODE", value, 1);
}

/* The node of that run in a process's environment, whose strings end with zero bytes. */
static long find_mark(FILE *environment, const char *run)
{
    char *string = NULL;
    size_t room = 0, run_bytes = strlen(run);
    long node = NO_NODE;

    while (node == NO_NODE && getdelim(&string, &room, '\0', environment) > 0) {
        const char *value = string + sizeof MARK - 1;

        if (strncmp(string, MARK, sizeof MARK - 1) == 0 && strncmp(value, run, run_bytes) == 0 &&
            value[run_bytes] == '.') {
            node = strtol(value + run_bytes + 1, NULL, 10);
        }
    }
    free(string);
    return node;
}

static long node_of(const char *pid, const char *run)
{
    char path[64];
    struct stat status;
    FILE *environment;
    long node;

    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    /* Other users' environments cannot be read, and root's tool must leave them alone. */
    if (stat(path, &status) != 0 || status.st_uid != getuid()) {
        return NO_NODE;
    }
    environment = fopen(path, "re");
    node = environment ? find_mark(environment, run) : NO_NODE;
    if (environment) {
        fclose(environment);
    }
    return node;
}

unsigned offspring_kill(const char *run, bool (*condemned)(const void *context, uint32_t node),
                        const void *context)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    unsigned killed = 0;

    while (processes && (entry = readdir(processes)) != NULL) {
        int process = isdigit((unsigned char)entry->d_name[0])
                          ? pidfd_open((pid_t)strtol(entry->d_name, NULL, 10), 0)
                          : -1;
        long node = process < 0 ? NO_NODE : node_of(entry->d_name, run);

        if (node != NO_NODE && (!condemned || condemned(context, (uint32_t)node))) {
            killed += pidfd_send_signal(process, SIGKILL, NULL, 0) == 0;
        }
        if (process >= 0) {
            close(process);
        }
    }
    if (processes) {
        closedir(processes);
    }
    return killed;
}

/* One that has been killed has no environment any more; one that was just being started shows when
 * it is looked for again. */
void offspring_end(const char *run)
{
    for (unsigned i = 0; i < END_TRIES && offspring_kill(run, NULL, NULL) > 0; i++) {
        usleep(END_PAUSE_US);
    }
}
