/*
 * output.h - the file of --json: opened before the run, so that an unwritable one is told then.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/message.h"

struct output {
    const char *path; /* NULL: none was asked for */
    int fd;
    bool made; /* it did not exist before */
};

int output_open(struct output *output, const char *path, struct message *message);

/* Replaces what is in the file by one object, and closes it. */
int output_write(struct output *output, const json_t *object, struct message *message);

/* Closes it; removes it when output_open made it. */
void output_drop(struct output *output);
