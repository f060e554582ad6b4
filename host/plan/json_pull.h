/*
 * json_pull.h - reads JSON piece by piece, and knows in which line it is.
 *
 * For files that may be large or damaged: nothing is kept but what the caller takes, and what is
 * wrong is told with its line. The caller asks for what must come next:
 *
 *     json_pull_begin(&pull, '{', ...)
 *     while (json_pull_more(&pull, '}', &more, ...) == 0 && more)
 *         json_pull_key(...), json_pull_number(...)
 *
 * Units    lines from 1; a decimal of microseconds is given in ns
 * Errors   -1, and a message that begins with file and line
 * Context  the tool
 * Source   RFC 8259
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/console/message.h"

enum { JSON_TEXT_MAX = 256, JSON_BUFFER_BYTES = 1 << 16 };

struct json_pull {
    FILE *file;
    const char *path; /* for messages */
    struct message *message;
    uint64_t line, bytes;     /* that have been read */
    uint64_t bytes_max;       /* more is refused */
    size_t at, end;           /* in the buffer */
    bool first;               /* nothing of the present object or array has been read */
    char text[JSON_TEXT_MAX]; /* the last string */
    char buffer[JSON_BUFFER_BYTES];
};

void json_pull_open(struct json_pull *pull, FILE *file, const char *path, uint64_t bytes_max,
                    struct message *message);

/* What is wrong in the line that it is in; -1. */
int json_pull_fail(struct json_pull *pull, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first character of what comes next; 0: the file is over, or cannot be read. */
char json_pull_peek(struct json_pull *pull);

/* '{' or '['. */
int json_pull_begin(struct json_pull *pull, char bracket);
/* Whether there is one more member or element; if not, the bracket that ends them is taken. */
int json_pull_more(struct json_pull *pull, char bracket, bool *more);
/* The name of a member, into `text`, and the colon. */
int json_pull_key(struct json_pull *pull);
int json_pull_string(struct json_pull *pull);
/* A whole number from 0 to `most`. */
int json_pull_number(struct json_pull *pull, uint64_t most, uint64_t *number);
/* A number with up to three digits behind the point, in thousandths. */
int json_pull_thousandths(struct json_pull *pull, uint64_t *number);
int json_pull_truth(struct json_pull *pull, bool *truth);
int json_pull_null(struct json_pull *pull);
/* Any value, which nobody wants to know. */
int json_pull_skip(struct json_pull *pull);
/* Nothing but space comes behind. */
int json_pull_end(struct json_pull *pull);
