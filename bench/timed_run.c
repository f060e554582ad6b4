#include "bench/timed_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int KILL_AFTER_MS = 5000; /* from the first, polite signal */

static _Noreturn void become_command(const char *const *words, const char *output)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) {
        dup2(file, 1);
        dup2(file, 2);
        execvp(words[0], (char *const *)words);
    }
    dprintf(2, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/* Waits until a child has ended, so long at most; true: it has. */
static bool ended_within(pid_t child, int limit_ms)
{
    struct pollfd ends = {.fd = pidfd_open(child, 0), .events = POLLIN};
    int ready = -1;

    while (ends.fd >= 0 && (ready = poll(&ends, 1, limit_ms)) < 0 && errno == EINTR) {
    }
    if (ends.fd >= 0) {
        close(ends.fd);
    }
    return ready > 0;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void timed_run_first_line(const char *output, char *line, int line_bytes)
{
    FILE *file = fopen(output, "r");
    line[0] = '\0';
    if (file) {
        if (fgets(line, line_bytes, file)) {
            line[strcspn(line, "\n")] = '\0';
        }
        fclose(file);
    }
}

int timed_run_within(unsigned limit_s, const char *const *words, const char *output,
                     struct timed_run *run)
{
    struct timespec begin, end;
    struct rusage usage = {0};
    int status = -1;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = fork();
    if (child == 0) {
        become_command(words, output);
    }
    bool late = child > 0 && !ended_within(child, (int)limit_s * 1000);
    if (late) {
        kill(child, SIGTERM);
        if (!ended_within(child, KILL_AFTER_MS)) {
            kill(child, SIGKILL);
        }
    }
    while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    run->wall_s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    run->processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    run->peak_mib = (double)usage.ru_maxrss / 1024;
    if (late) {
        return TIMED_RUN_LATE;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool timed_run(const char *const *words, const char *output, struct timed_run *run)
{
    int status = timed_run_within(TIMED_RUN_SECONDS, words, output, run);
    if (status != 0) {
        char line[200];
        timed_run_first_line(output, line, sizeof line);
        fprintf(stderr, "bench: %s failed%s: %s\n", words[0],
                status == TIMED_RUN_LATE ? " (took too long)" : "", line);
    }
    return status == 0;
}
