/*
 * output.h - the files of --json and --trace: opened before the run, so that an unwritable one is
 * told then.
 *
 * `--json -` is standard output. What reads it expects one JSON object, so all else that is written
 * to standard output from then on goes to standard error.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/console/message.h"

struct output {
    const char *path; /* NULL: none was asked for */
    const char *what; /* for messages */
    int fd;
    bool made;  /* it did not exist before */
    bool taken; /* it is what standard output was */
};

/* Of results: a file, or "-". */
int output_open(struct output *output, const char *path, struct message *message);

/* The same for a file that is no JSON object of results but, say, a trace. */
int output_open_as(struct output *output, const char *what, const char *path,
                   struct message *message);

/* Empties the file, for its owner to write to `fd`. */
int output_begin(struct output *output, struct message *message);

/* Replaces what is in the file by one object, and closes it. */
int output_write(struct output *output, const json_t *object, struct message *message);

/* Closes it; removes it when output_open made it. */
void output_drop(struct output *output);
