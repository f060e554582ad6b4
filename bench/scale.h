/*
 * scale.h - one point of the scale report: an operation on a cube of one size, measured or left
 * out.
 *
 * Units    us of model time, seconds of wall time, MiB, bytes
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { SCALE_BYTES = 1000, SCALE_REASON_MAX = 160 };

enum scale_state {
    SCALE_EXACT,    /* measured; model time is what was predicted */
    SCALE_WRONG,    /* measured; it is not, or a receipt is missing */
    SCALE_FAILED,   /* the run ended badly: `reason` */
    SCALE_LEFT_OUT, /* not run, or not to its end: `reason`; the figures are estimates, 0: none */
};

struct scale_row {
    const char *operation;
    unsigned dims;
    enum scale_state state;
    double model_us, closed_us, bound_us;
    double events, event_rate; /* of the whole run, per second of processor time */
    double node_bytes;         /* what the simulator holds for a node */
    double wall_s, peak_mib;
    char reason[SCALE_REASON_MAX];
};

/* Prints the measured rows of each operation, in the order of `operations`, then those left out. */
void scale_print(const struct scale_row *rows, unsigned count, const char *const *operations);

/* Writes the measured rows for gnuplot, a block for each operation; false: the file cannot be
 * written. */
bool scale_write_data(const char *path, const struct scale_row *rows, unsigned count,
                      const char *const *operations);

/* Writes all rows as one JSON object; false: the file cannot be written. */
bool scale_write_json(const char *path, const struct scale_row *rows, unsigned count);
