/*
 * recorder.h - what a node notes of its own work (wire/record.h): a ring of records in memory that
 * its owner gives.
 *
 * When the ring is full, the oldest record makes room: what people look for after a run that did
 * not end well is its end, and whoever wants all of it gives more memory. How many are lost is
 * known.
 *
 *     written 11, room 4     number  7   8   9  10       numbers 0 to 6 are lost
 *                            place   3   0   1   2
 *
 * Nothing here changes what happens or when. A router that has no recorder, which is usual, asks
 * one pointer.
 *
 * Units    ns of model time
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "router/port.h"
#include "wire/record.h"

struct router;
struct source;

/* Circuits of a link that are set up over it and have no answer yet, oldest first. */
struct recorder_link {
    uint8_t before; /* set-ups from before the recorder began, which are answered first */
    uint8_t first, count;
    struct node_record passing[CIRCUITS_MAX];
    uint32_t frames, repeats, damaged; /* of the channel, when the recorder began */
};

/* Its head is as in wire/record.h. */
struct recorder {
    uint32_t sign, generation;
    uint64_t written;
    uint32_t room, at;
    struct node_record *records;
    struct node_record step; /* of the collective under way: its rows so far; kind 0: none */
    struct recorder_link links[PORTS_MAX];
};

_Static_assert(offsetof(struct recorder, generation) == 4 &&
                   offsetof(struct recorder, written) == 8 &&
                   offsetof(struct recorder, room) == 16 && offsetof(struct recorder, at) == 20,
               "debuggers find them there");

/* Bytes of memory for so many records. */
uint64_t recorder_bytes(uint32_t records);

/* A router's, which begins with an empty ring of at most so many records, as far as the memory
 * goes; that begins at a multiple of 8. Of the program of that generation. NULL: there is room for
 * none. */
struct recorder *recorder_begin(void *memory, uint64_t bytes, uint32_t records, uint8_t generation,
                                struct router *router);

/* Adds a record. One whose times go back, for a neighbour has said so, gets times that do not. */
void recorder_write(struct recorder *recorder, const struct node_record *record);

/* Adds what one row of a plan has come to: rows of one step are one record. */
void recorder_row(struct recorder *recorder, const struct node_record *row);
/* The present step has no more rows. */
void recorder_step_over(struct recorder *recorder);

/* The number of the oldest record that is kept; equal to `written`: there is none. */
static inline uint64_t recorder_oldest(const struct recorder *recorder)
{
    return recorder->written > recorder->room ? recorder->written - recorder->room : 0;
}

/* A record that is kept, by its number. */
static inline const struct node_record *recorder_at(const struct recorder *recorder,
                                                    uint64_t number)
{
    return &recorder->records[number % recorder->room];
}

/* The router's own. An OPEN is about to pass a link, its fields not changed yet; the oldest set-up
 * over the link is answered, and when the link was free before is still known. */
void recorder_passes(struct router *router, unsigned in, unsigned port, const uint8_t *packet);
void recorder_answered(struct router *router, unsigned port, int status, uint64_t done_ns);
/* The circuit of a source is answered. */
void recorder_source(struct router *router, const struct source *source, int status,
                     uint64_t done_ns);
/* The circuit at a port is accepted; ports are free as they were before. */
void recorder_sink(struct router *router, unsigned port, const struct circuit_sink *sink,
                   uint64_t start_ns, uint64_t done_ns);

/* The run is over: adds the circuits that are not, at their source, on their links, and at their
 * receiver, with what they wait for; and the frames of links that had to repair some. Nothing more
 * is noted. */
void recorder_close(struct router *router);
/* Notes again, behind what is there. */
void recorder_open(struct recorder *recorder, struct router *router);
