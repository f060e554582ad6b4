/*
 * view.h - what a user sees of a run: console lines, progress, troubles, and the closing table.
 *
 * What programs print goes where they print it, standard output or standard error; all else, tables
 * and the last lines too, goes to standard error. On a terminal progress is one rewritten line
 * (plain lines on a dumb one), and what programs print stays on its line; elsewhere their bytes are
 * left as they are.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/console/kept.h"
#include "host/console/line.h"
#include "host/console/sink.h"

struct view {
    struct sink *sink;
    struct kept_lines *kept; /* what programs print goes there, too; NULL: nowhere */
    bool quiet;              /* only what programs print, and troubles */
    bool terminal;           /* standard error is one, ... */
    bool shown_terminal;     /* ... standard output is */
    bool redraws;            /* standard error takes a line that is drawn anew */
    bool line_open;          /* a progress line is on the screen */
    unsigned reports; /* lines that programs are to report, who show how far they are; 0: unknown */
    unsigned reported; /* of them */
    unsigned rank_width;
    char phase[16];
    unsigned done;     /* of the last progress */
    uint64_t begun_us; /* when its phase began */
    uint64_t told_us;  /* when the last progress was shown */
};

void view_init(struct view *view, struct sink *sink, unsigned nodes, bool quiet);

/* Of so many nodes the ranks are shown in one column. */
void view_set_nodes(struct view *view, unsigned nodes);

/* Shows a line that a program has printed; its receipt comes back from the sink. */
void view_line(struct view *view, const struct line *line);

/* Shows one event of the machine. */
void view_event(struct view *view, const json_t *event);

/* Takes an open progress line off the screen. */
void view_clear(struct view *view);

/* The same; then waits until all is written, and ends. */
void view_close(struct view *view);

/* "ecube: " and a line on what went wrong. */
void view_trouble(struct view *view, const char *text);

/* Shows the closing table, the boot line and the download line. */
void view_result(struct view *view, const json_t *result);
