/*
 * events.h - what a page shows of a timeline: its events, and its circuits added up (circuits.h).
 *
 * Read line by line from a file that trace/timeline.h has written. Events are kept up to a number
 * that a browser bears.
 *
 *     tracks   [process, name]
 *     events   [track, begin, length, name, kind]
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

enum { EVENTS_MAX = 200000 };

/* The object of the page; `digest` becomes the SHA-256 of the file, in hexadecimal. */
json_t *events_read(FILE *file, const char *path, const struct network *network, char digest[65],
                    struct message *message);
