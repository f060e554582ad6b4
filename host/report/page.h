/*
 * page.h - a run as one HTML page that needs nothing else: tables, drawings, a timeline.
 *
 * The tables are written here, so that they are there without a script; the script draws from the
 * same data, which stands in the page as JSON. What programs and files say is text: it is escaped
 * in both, and the page allows no script but its own (by digest).
 *
 * The page is XML as well, so a parser that forgives nothing can check it.
 *
 * Errors   -1: a message says what is wrong with the result, with its file and line
 * Context  the tool
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "host/console/kept.h"
#include "host/console/message.h"
#include "network/network.h"

enum { PAGE_NODES_MAX = 4096 /* of which all nodes and links are in the tables */ };

struct page {
    json_t *run;    /* what --json has written, or the same of a plan (host/plan/plan_page.c) */
    json_t *events; /* events.h, circuits.h; NULL: there are no records */
    FILE *output;   /* what programs have printed; NULL: that is not shown */
    const struct kept_lines *lines; /* the same, as it came; NULL, or empty: likewise */
    struct network network;
};

/* Reads what run, load or sim have written, and its network. */
int page_read(struct page *page, FILE *file, const char *path, struct message *message);
/* The same of an object, which is the page's from now on, also on failure. */
int page_take(struct page *page, json_t *run, const char *path, struct message *message);
/* Where its timeline is, and the timeline's digest; NULL: it has none. */
const char *page_trace(const struct page *page);
const char *page_trace_digest(const struct page *page);
/* Writes the page; errors are the file's. */
void page_write(const struct page *page, FILE *file);
void page_free(struct page *page);
