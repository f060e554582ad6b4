/*
 * view.h - what a user sees of a run: console lines, progress, troubles, and the closing table.
 *
 * Program output and results go to stdout, all else to stderr. On a terminal progress is one
 * rewritten line.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct view {
    bool terminal;
    bool line_open; /* a progress line is on the screen */
    unsigned rank_width;
    char phase[16];
    uint64_t told_us; /* when the last progress was shown */
};

void view_init(struct view *view, unsigned nodes);

/* Shows one event of the mesh. */
void view_event(struct view *view, const json_t *event);

/* Takes an open progress line off the screen. */
void view_clear(struct view *view);

/* Shows the closing table, the boot line and the download line. */
void view_result(struct view *view, const json_t *result);
