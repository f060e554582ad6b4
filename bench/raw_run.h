/*
 * raw_run.h - the raw image in QEMU processes that are joined by shared memory or by socketpairs:
 * what the links can do at best.
 *
 * Every call starts its processes, waits for the result line, and ends them; they die with the
 * bench in any case. A run whose processes all wait, so that no result can come, is counted.
 *
 * Units    bytes, us, ns
 * Errors   false or a negative number after a message on stderr
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct raw_bench {
    /* QEMU and the options of the board, words separated by spaces */
    const char *qemu;
    const char *image;          /* build/bench/raw.elf */
    bool shared;                /* links are in shared memory, not serial lines */
    unsigned runs, stood_still; /* counted here: those of several nodes */
};

/* Of one stream. */
struct raw_stream {
    double bytes_per_us;
    double processor_us; /* of all its processes, their start included */
};

/* Sends `bytes` through a chain of a sender, `relays` relays and a receiver that copies them. */
bool raw_run_stream(struct raw_bench *bench, unsigned relays, uint64_t bytes,
                    struct raw_stream *stream);

/* ns of the median round trip of 8 bytes over one link. */
double raw_run_ping(struct raw_bench *bench, uint32_t count);

/* Of complete exchanges. */
struct raw_exchange {
    double wall_us; /* the median of the slowest nodes' */
    double processor_us;
};

/* Runs `count` complete exchanges of 64 KiB on a hypercube. */
bool raw_run_exchange(struct raw_bench *bench, unsigned dims, unsigned count,
                      struct raw_exchange *exchange);

/* us from the first start until `nodes` processes have each printed a byte. */
double raw_run_boot(struct raw_bench *bench, unsigned nodes);
