/*
 * text_lines.c - what a program prints, from pieces of a packet's size to lines, with its bound.
 *
 * Three counts of bytes, modulo 2^32: received from the node, written by the reader's side, told to
 * the node as taken. A node may be CONSOLE_WINDOW bytes ahead of what it was told.
 */
#include "host/console/text_lines.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "include/ecube/abi.h"
#include "wire/run.h"

enum {
    TOLD_LATE_MAX = CONSOLE_WINDOW / 4, /* bytes taken that a node may not know of yet */
    ROOM_FIRST = 256,
    UTF8_BYTES_MAX = 4
};

void text_lines_begin(struct text_lines *lines, uint32_t job, uint32_t node, uint32_t rank)
{
    for (unsigned i = 0; i < TEXT_STREAMS; i++) {
        free(lines->parts[i].data);
    }
    *lines = (struct text_lines){.job = job, .node = node, .rank = rank};
}

void text_lines_written(struct text_lines *lines, uint32_t bytes)
{
    lines->written += bytes;
}

bool text_lines_due(struct text_lines *lines, uint32_t *taken)
{
    uint32_t begun = 0;

    *taken = lines->written;
    for (unsigned i = 0; i < TEXT_STREAMS; i++) {
        begun += lines->parts[i].bytes;
    }
    /* Nothing but lines that have not ended is left: they cannot be written before they end, and
     * could not end if their node had to wait. So they count as taken. */
    if (lines->received - lines->written == begun) {
        *taken += begun;
    }
    if ((int32_t)(*taken - lines->told) < TOLD_LATE_MAX) {
        return false;
    }
    lines->told = *taken;
    return true;
}

/* Tells the first bytes of what is there of a line. */
static void show_line(struct text_lines *lines, struct teller *teller, unsigned stream,
                      uint32_t bytes, bool ended)
{
    struct text_part *part = &lines->parts[stream];
    struct line line = {.rank = lines->rank,
                        .stream = stream ? ECUBE_STREAM_ERROR : ECUBE_STREAM_OUTPUT,
                        .text = part->bytes ? part->data : "",
                        .bytes = bytes,
                        .receipt = {lines->job, lines->node, bytes + ended}};

    tell_line(teller, &line);
    part->bytes -= bytes;
    if (part->bytes > 0) {
        memmove(part->data, part->data + bytes, part->bytes);
    }
}

/* How many bytes of a full line to show: not those of a UTF-8 character that has only begun. */
static uint32_t whole_bytes(const char *line, uint32_t bytes)
{
    uint32_t last = bytes - 1;

    while (last > bytes - UTF8_BYTES_MAX && ((uint8_t)line[last] & 0xc0) == 0x80) {
        last--;
    }
    uint8_t first = (uint8_t)line[last];
    unsigned length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

    return last + length > bytes ? last : bytes;
}

static void append(struct text_part *part, const uint8_t *data, uint32_t bytes)
{
    uint32_t room = part->room ? part->room : ROOM_FIRST;

    while (room < part->bytes + bytes) {
        room *= 2;
    }
    if (room != part->room) {
        part->data = realloc(part->data, room);
        CHECK(part->data);
        part->room = room;
    }
    memcpy(part->data + part->bytes, data, bytes);
    part->bytes += bytes;
}

void text_lines_add(struct text_lines *lines, struct teller *teller, uint8_t stream,
                    const uint8_t *text, uint32_t text_bytes)
{
    unsigned index = stream == ECUBE_STREAM_ERROR;
    struct text_part *part = &lines->parts[index];
    uint32_t at = 0;

    /* More than it may: a node's word is not trusted with our memory. */
    if (lines->received - lines->told + text_bytes > CONSOLE_WINDOW) {
        return;
    }
    while (at < text_bytes) {
        const uint8_t *from = text + at, *end = memchr(from, '\n', text_bytes - at);
        uint32_t bytes = end ? (uint32_t)(end - from) : text_bytes - at;

        if (part->bytes + bytes > TEXT_LINE_MAX) {
            show_line(lines, teller, index, whole_bytes(part->data, part->bytes), false);
        }
        append(part, from, bytes);
        lines->received += bytes + (end != NULL);
        if (end) {
            show_line(lines, teller, index, part->bytes, true);
        }
        at += bytes + (end != NULL);
    }
}

void text_lines_end(struct text_lines *lines, struct teller *teller)
{
    for (unsigned i = 0; i < TEXT_STREAMS; i++) {
        if (lines->parts[i].bytes > 0) {
            show_line(lines, teller, i, lines->parts[i].bytes, false);
        }
    }
}
