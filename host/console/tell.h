/*
 * tell.h - what the owner of a machine is told: events as JSON objects, and lines that programs
 * have printed.
 *
 * In `emit` and `print` the owner may look, and no more: whatever begins or ends something waits
 * until nothing is being told.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>

#include "host/console/line.h"

struct teller {
    void *context;
    void (*emit)(void *context, json_t *event); /* takes over the reference */
    /* A program has printed a line; machine_line_taken is owed for it. */
    void (*print)(void *context, const struct line *line);
    json_t *troubles; /* told since the boot began, or the load of the present job */
    unsigned telling; /* calls of emit and print under way */
};

/* Takes over the reference; NULL: there was no memory for it. */
void tell_event(struct teller *teller, json_t *event);

void tell_line(struct teller *teller, const struct line *line);

void tell_progress(struct teller *teller, const char *phase, unsigned done, unsigned total);

/* Tells what went wrong: in words, and as members for programs, of which "kind" and "nodes" are
 * always there (doc/json.md lists them). Takes over the members. */
void tell_trouble(struct teller *teller, json_t *members, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same without telling it now: it stands in `troubles`. */
void tell_quietly(struct teller *teller, json_t *members, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells what another teller has kept quietly. */
void tell_troubles(struct teller *teller, json_t *troubles);

/* Members of a trouble with one node. */
json_t *tell_node_members(const char *kind, uint32_t node);

/* The trouble that `count` more of the same are not told one by one; 0: nothing is told. */
void tell_more(struct teller *teller, const char *kind, unsigned count, const char *text);
