/*
 * circuits.h - the circuits of a run or of a plan, added up: what each link carried, who sent how
 * much to whom, and the circuits of each step of a collective.
 *
 * What programs send and what the host downloads are added up apart. Sums are of all circuits;
 * those of steps are kept up to a number that a browser bears.
 *
 *     links    [from, to, circuits, bytes, busy, waited, and the same four of downloads]
 *     pairs    [from, to, circuits, bytes, and the same two of downloads]
 *     steps    {collective, run, step, begin_us, end_us, circuits: [[from, to, bytes]], links: [i]}
 *
 * Units    us of model time, bytes
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

enum {
    CIRCUITS_KEPT_MAX = 300000, /* of steps, with the links that they go over */
    CIRCUITS_NO_STEP = -1
};

struct circuit_sums;

/* From node to node; the host is behind the last one. */
struct shown_circuit {
    uint32_t from, to;
    uint64_t bytes;
    uint32_t collective; /* its number in the run */
    int32_t step;        /* CIRCUITS_NO_STEP: a message, or a download */
    bool download;
    double begin_us, end_us;
};

struct circuit_sums *circuit_sums_make(const struct network *network);
void circuit_sums_free(struct circuit_sums *sums);

/* What a collective is, for people. */
void circuit_sums_name(struct circuit_sums *sums, uint32_t collective, const char *name);

/* A circuit, once; and each link that it goes over, which leaves `node` at `port`, from when that
 * is its own on. */
void circuit_sums_add(struct circuit_sums *sums, const struct shown_circuit *circuit);
void circuit_sums_add_link(struct circuit_sums *sums, const struct shown_circuit *circuit,
                           uint32_t node, unsigned port, double waited_us);

/* Sets links, pairs, steps, and steps_left_out of an object. */
void circuit_sums_put(struct circuit_sums *sums, json_t *object);

/* Links without a load, in the same order: that of nodes and their ports. The place there of each
 * link, by node and port: the caller's to free. */
json_t *circuit_no_links(const struct network *network);
uint32_t *circuit_link_places(const struct network *network);
