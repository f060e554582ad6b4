/*
 * line.h - one line that a program has printed, on its way to a reader.
 *
 * It crosses the border of a process as an event {event: "console", rank, stream, text}, or with
 * its bytes as hexadecimal digits in `hex` where they are no text that JSON can carry.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What is told when a line has been written out, so that its program may print more. */
struct line_receipt {
    uint32_t job, node;
    uint32_t bytes; /* that the program has printed; 0: nobody waits for it */
};

struct line {
    uint32_t rank;
    uint8_t stream;   /* enum ecube_stream */
    const char *text; /* without what ends the line; any bytes */
    size_t bytes;
    struct line_receipt receipt;
};

json_t *line_to_json(const struct line *line);

/* Reads an event back; its text lies in the event, or in *memory, which is the caller's to free. */
bool line_from_json(struct line *line, const json_t *event, char **memory);

/* Whether the bytes are UTF-8 without zero bytes. */
bool line_is_text(const char *bytes, size_t count);

/* Appends the bytes to the file so that they stay on their line of a terminal: control characters
 * and what is no UTF-8 appear as \xNN. */
void line_write_shown(FILE *file, const char *bytes, size_t count);
