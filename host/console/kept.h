/*
 * kept.h - the first lines that programs print, kept for who shows them when the run is over.
 *
 * Context  the tool; memory from malloc, whose failure ends the process
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/console/line.h"

enum { KEPT_LINES_MAX = 10000, KEPT_BYTES_MAX = 1 << 18 };

struct kept_line {
    uint32_t rank;
    uint8_t stream; /* enum ecube_stream */
    size_t at, bytes;
};

struct kept_lines {
    struct kept_line *lines;
    size_t count;
    char *text; /* any bytes */
    size_t bytes;
    uint64_t left_out; /* lines, from the first on for which there was no place */
};

void kept_add(struct kept_lines *kept, const struct line *line);
void kept_free(struct kept_lines *kept);
