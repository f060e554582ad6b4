/*
 * run_report.h - --report of the verbs that run something: the page of that run.
 *
 * The page needs records, so there is a timeline: that of --trace, or one of its own in a file
 * without a name, which is gone with the tool.
 *
 *     run_report_open (before anything starts), the run, run_report_take, run_report_write
 *
 * Errors   -1 and a message; what is not wanted does nothing
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/command/output.h"
#include "host/console/kept.h"
#include "host/console/message.h"
#include "host/report/page.h"

struct run_report {
    struct output page;
    FILE *trace; /* of its own; NULL: there is none, or the user's */
    char trace_path[48];
    struct kept_lines output; /* of programs */
};

/* Opens a page that `option` names, which standard output cannot be; NULL: none is wanted. */
int run_report_open_page(struct output *output, const char *option, const char *path,
                         struct message *message);

/* Opens the page; `trace` is the file of --trace, and becomes one where the user wants none. */
int run_report_open(struct run_report *report, const char *path, const char **trace,
                    const char *json, struct message *message);
/* Where the page wants what programs print; NULL: nowhere. */
struct kept_lines *run_report_output(struct run_report *report);

/* The result says of a timeline without a name that it has none. */
void run_report_take(const struct run_report *report, json_t *result);
/* Writes the page of a result. */
int run_report_write(struct run_report *report, json_t *result, struct message *message);
/* Without a page. */
void run_report_drop(struct run_report *report);

/* Writes a page to its file, and closes that. */
int run_report_put(const struct page *page, struct output *output, struct message *message);
