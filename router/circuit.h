/*
 * circuit.h - a circuit at its two ends: what its source sends, and where its bytes go.
 *
 * The owner names each end by a token of its own, which the notices of the circuit carry.
 *
 * Units    bytes; model time in ns
 */
#pragma once

#include <stdint.h>

#include "wire/circuit.h"

/* A circuit to be sent: the message is data[0] then data[1]. */
struct circuit_source {
    uint32_t dst;
    uint32_t match;
    uint32_t tag;
    /* enum open_flag; OPEN_INLINE only up to open_inline_max bytes, all in data[0] */
    uint8_t flags;
    uint8_t generation; /* of a message: tells its program from the one before */
    uint16_t epoch;     /* with OPEN_SCHEDULE */
    /* with OPEN_SCHEDULE or OPEN_ROUTE: a hop list as packed; one of more than OPEN_COPY_MAX bytes
     * stays where it is, as data does */
    const uint8_t *hops;
    uint64_t issue_ns; /* model time at which the source issues it */
    const uint8_t *data[2];
    uint32_t bytes[2];
    uint32_t token;
};

/* Where an arriving circuit goes. */
struct circuit_sink {
    uint8_t *data;
    uint32_t room; /* a longer message is taken off the link, and reported as E_TRUNCATED */
    uint32_t token;
    uint64_t ready_ns; /* model time at which the receiver was ready */
};
