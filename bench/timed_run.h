/*
 * timed_run.h - what a command takes: wall time from fork to exit, processor time, and the memory
 * of its largest process.
 *
 * The command ends after its limit at the latest, and with this process, whatever ends it. One that
 * starts others goes under timeout(1), which ends them too.
 *
 * Units    seconds, MiB
 * Errors   false after a message on stderr: the command could not start, ended with another status
 *          than 0, or took too long
 * Context  no other child may be waited for
 */
#pragma once

#include <stdbool.h>

enum {
    TIMED_RUN_SECONDS = 900,
    TIMED_RUN_LATE = 124 /* status of a command that took too long */
};

struct timed_run {
    double wall_s;
    double processor_s; /* of the command and of what it started and waited for, all threads */
    double
        peak_mib; /* of the largest process; at least that of the caller, which it is forked from */
};

/* Runs the words, which a NULL ends, with stdout and stderr in the file `output`, for
 * TIMED_RUN_SECONDS at most. */
bool timed_run(const char *const *words, const char *output, struct timed_run *run);

/* The same with a limit of its own and without a message: the command's exit status,
 * TIMED_RUN_LATE, or 128 and more when a signal ended it. */
int timed_run_within(unsigned limit_s, const char *const *words, const char *output,
                     struct timed_run *run);

/* The first line that a command wrote to `output`, for a message; empty: none. */
void timed_run_first_line(const char *output, char *line, int line_bytes);
