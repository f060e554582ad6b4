/*
 * events.h - what a page shows of a timeline: its events, what each link carried, who sent how much
 * to whom, and the circuits of each step of a collective.
 *
 * Read line by line from a file that trace/timeline.h has written; what is added up is of all
 * events, while events and circuits of steps are kept up to a number that a browser bears.
 *
 *     tracks   [process, name]
 *     events   [track, begin, length, name, kind]
 *     links    [from, to, circuits, bytes, busy, waited]
 *     pairs    [from, to, circuits, bytes]
 *     steps    {collective, run, step, begin_us, end_us, circuits: [[from, to, bytes]], links: [i]}
 *
 * Units    us of model time, bytes
 * Errors   NULL, and a message with file and line
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "host/console/message.h"
#include "network/network.h"

enum { EVENTS_MAX = 200000, EVENTS_CIRCUITS_MAX = 300000 };

/* The object of the page; `digest` becomes the SHA-256 of the file, in hexadecimal. */
json_t *events_read(FILE *file, const char *path, const struct network *network, char digest[65],
                    struct message *message);

/* Links without a load, in the same order: that of nodes and their ports. */
json_t *events_no_links(const struct network *network);
