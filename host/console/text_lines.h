/*
 * text_lines.h - what one program prints: from packets' text to lines, and back to its node how
 * much its reader has taken.
 *
 * A node holds its program back when CONSOLE_WINDOW bytes of its text are not taken. A line counts
 * as taken when its reader has written it out. Text of a line that has not ended counts as soon as
 * nothing else of its node waits, or a line longer than the window would never end.
 *
 * Units    bytes of text since the program's start, modulo 2^32
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/console/line.h"
#include "host/console/tell.h"

enum {
    TEXT_LINE_MAX = 1 << 20, /* a longer line is shown in pieces */
    TEXT_STREAMS = 2         /* a program's standard output and standard error */
};

struct text_part {
    char *data;
    uint32_t bytes, room;
};

struct text_lines {
    uint32_t job, node, rank;             /* whose program prints */
    struct text_part parts[TEXT_STREAMS]; /* lines that have not ended */
    uint32_t received;
    uint32_t written; /* by the reader */
    uint32_t told;    /* to the node as taken */
};

/* A program starts: nothing has been printed. Frees what the one before has left. */
void text_lines_begin(struct text_lines *lines, uint32_t job, uint32_t node, uint32_t rank);

/* A program has printed text to a stream (enum ecube_stream): the lines that end are told. Text
 * beyond the window is thrown away: a node that keeps to the rules sends none. */
void text_lines_add(struct text_lines *lines, struct teller *teller, uint8_t stream,
                    const uint8_t *text, uint32_t bytes);

/* A line that was told has been written out, or thrown away. */
void text_lines_written(struct text_lines *lines, uint32_t bytes);

/* Whether it is worth a packet to tell the node what has been taken: how much, in all. */
bool text_lines_due(struct text_lines *lines, uint32_t *taken);

/* The program is over: what it has begun to print is told. */
void text_lines_end(struct text_lines *lines, struct teller *teller);
