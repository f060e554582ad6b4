/*
 * machine_run.h - runs the tool, which runs a program on a machine of its own, and reads what it
 * measured.
 *
 * The words "ecube ..." are given as a format; spaces separate them. A run ends after its limit at
 * the latest, and with the bench.
 *
 * Units    ms, us, bytes
 * Errors   false after a message on stderr, with what the tool said beside progress
 */
#pragma once

#include <stdbool.h>

enum { MACHINE_RUN_SECONDS = 180 };

struct machine_result {
    double boot_ms;
    double bytes, wall_us; /* of the last report of the program */
    double processor_us;   /* of the tool and its QEMUs, all threads, from start to end */
    double download_ms, host_bytes, host_sends; /* of the download: what the host sent in it */
    double gather_ms;
};

/* Runs "BUILD/ecube WORDS"; processor_us, which may be NULL, becomes that of all its processes. */
__attribute__((format(printf, 3, 4))) bool machine_run_tool(const char *build, double *processor_us,
                                                            const char *words, ...);

/* Runs "BUILD/ecube run WORDS". When it fails, or reports nothing, what is missing is -1. */
__attribute__((format(printf, 3, 4))) bool machine_run(const char *build,
                                                       struct machine_result *result,
                                                       const char *words, ...);
