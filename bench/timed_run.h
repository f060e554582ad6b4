/*
 * timed_run.h - what a command takes: wall time from fork to exit, and the memory of its largest
 * process.
 *
 * The command ends after TIMED_RUN_SECONDS at the latest, and with this process, whatever ends it.
 *
 * Units    seconds, MiB
 * Errors   false after a message on stderr: the command could not start, ended with another status
 *          than 0, or took too long
 * Context  no other child may be waited for
 */
#pragma once

#include <stdbool.h>

enum { TIMED_RUN_WORDS_MAX = 32, TIMED_RUN_SECONDS = 900 };

struct timed_run {
    double wall_s;
    double
        peak_mib; /* of the largest process; at least that of the caller, which it is forked from */
};

/* Runs the words, which a NULL ends, with stdout and stderr in the file `output`. */
bool timed_run(const char *const *words, const char *output, struct timed_run *run);
