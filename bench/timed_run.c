#include "bench/timed_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the child: becomes timeout(1), which ends the command with all its processes. */
static _Noreturn void become_command(unsigned limit_s, const char *const *words, const char *output)
{
    char limit[16];
    const char *all[TIMED_RUN_WORDS_MAX + 5] = {"timeout", "-k", "5", limit};
    unsigned used = 4;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    snprintf(limit, sizeof limit, "%u", limit_s);
    for (unsigned i = 0; i < TIMED_RUN_WORDS_MAX && words[i]; i++) {
        all[used++] = words[i];
    }
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) {
        dup2(file, 1);
        dup2(file, 2);
        execvp(all[0], (char *const *)all);
    }
    dprintf(2, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
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
        become_command(limit_s, words, output);
    }
    while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    run->wall_s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    run->peak_mib = (double)usage.ru_maxrss / 1024;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool timed_run(const char *const *words, const char *output, struct timed_run *run)
{
    int status = timed_run_within(TIMED_RUN_SECONDS, words, output, run);
    if (status != 0) {
        char line[200];
        timed_run_first_line(output, line, sizeof line);
        fprintf(stderr, "bench: %s failed%s: %s\n", words[0],
                status == 124 ? " (took too long)" : "", line);
    }
    return status == 0;
}
