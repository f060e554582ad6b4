/*
 * input_file.h - files that people give for the tool to read; "-" is standard input.
 *
 * To a pipe with a name nobody may ever write, and to open it would wait for that: so it is opened
 * without waiting, and given up when nobody writes for ten seconds.
 *
 * Errors   NULL and one line: there is none, it cannot be read, it is a directory
 * Context  the tool
 */
#pragma once

#include <stdio.h>

#include "host/console/message.h"

/* `what` is for the message: "cannot read the plan x.json: No such file or directory". */
FILE *input_file_open(const char *path, const char *what, struct message *message);
void input_file_close(FILE *file);
