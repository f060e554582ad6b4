/*
 * mesh_console.c - what programs print: from packets to lines, and back to the nodes how much their
 * reader has taken.
 *
 * A node holds its program back when CONSOLE_WINDOW bytes of its text are not taken. A line counts
 * as taken when its owner has written it out. Text of a line that has not ended counts as soon as
 * nothing else of its node waits, or a line longer than the window would never end.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "host/mesh_internal.h"
#include "include/ecube/abi.h"

enum {
    TOLD_LATE_MAX = CONSOLE_WINDOW / 4, /* bytes taken that a node may not know of yet */
    UTF8_BYTES_MAX = 4
};

/* Tells the node what has been taken, when it is worth a packet. */
static void tell_taken(struct mesh *mesh, uint32_t rank)
{
    struct mesh_console *console = &mesh->nodes[rank].console;
    uint32_t begun = 0, taken = console->written;
    uint8_t body[TAKEN_BYTES];

    for (unsigned i = 0; i < MESH_STREAMS; i++) {
        begun += console->lines[i].bytes;
    }
    if (console->received - console->written == begun) {
        taken += begun;
    }
    if ((int32_t)(taken - console->told) < TOLD_LATE_MAX) {
        return;
    }
    console->told = taken;
    taken_pack(body, &(struct taken_body){.bytes = taken, .generation = (uint8_t)mesh->job_number});
    mesh_send(mesh, PACKET_TAKEN, rank, body, sizeof body);
}

void mesh_line_taken(struct mesh *mesh, const struct line_receipt *receipt)
{
    if (receipt->job != mesh->job_number || mesh->phase != MESH_RUN ||
        !mesh->nodes[receipt->rank].running) {
        return; /* of a program that is over */
    }
    mesh->nodes[receipt->rank].console.written += receipt->bytes;
    tell_taken(mesh, receipt->rank);
    host_links_pump(&mesh->host);
}

/* Shows the first bytes of what is there of a line. */
static void show_line(struct mesh *mesh, uint32_t rank, unsigned stream, uint32_t bytes, bool ended)
{
    struct mesh_text *text = &mesh->nodes[rank].console.lines[stream];
    struct line line = {.rank = rank,
                        .stream = stream ? ECUBE_STREAM_ERROR : ECUBE_STREAM_OUTPUT,
                        .text = text->bytes ? text->data : "",
                        .bytes = bytes,
                        .receipt = {mesh->job_number, rank, bytes + ended}};

    mesh->telling++;
    mesh->owner.print(mesh->owner.context, &line);
    mesh->telling--;
    text->bytes -= bytes;
    if (text->bytes > 0) {
        memmove(text->data, text->data + bytes, text->bytes);
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

static void add_text(struct mesh_text *text, const uint8_t *data, uint32_t bytes)
{
    uint32_t room = text->room ? text->room : LINE_ROOM_FIRST;

    while (room < text->bytes + bytes) {
        room *= 2;
    }
    if (room != text->room) {
        text->data = realloc(text->data, room);
        CHECK(text->data);
        text->room = room;
    }
    memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
}

void mesh_take_console(struct mesh *mesh, uint32_t rank, const struct console_body *told)
{
    struct mesh_console *console = &mesh->nodes[rank].console;
    unsigned stream = told->stream == ECUBE_STREAM_ERROR;
    struct mesh_text *text = &console->lines[stream];
    uint32_t at = 0;

    if (console->received - console->told + told->text_bytes > CONSOLE_WINDOW) {
        return; /* a node that keeps to the rules sends no such packet */
    }
    while (at < told->text_bytes) {
        const uint8_t *from = told->text + at, *end = memchr(from, '\n', told->text_bytes - at);
        uint32_t bytes = end ? (uint32_t)(end - from) : told->text_bytes - at;

        if (text->bytes + bytes > CONSOLE_LINE_MAX) {
            show_line(mesh, rank, stream, whole_bytes(text->data, text->bytes), false);
        }
        add_text(text, from, bytes);
        console->received += bytes + (end != NULL);
        if (end) {
            show_line(mesh, rank, stream, text->bytes, true);
        }
        at += bytes + (end != NULL);
    }
    tell_taken(mesh, rank);
}

void mesh_console_begin(struct mesh *mesh, uint32_t rank)
{
    struct mesh_console *console = &mesh->nodes[rank].console;

    for (unsigned i = 0; i < MESH_STREAMS; i++) {
        free(console->lines[i].data);
    }
    *console = (struct mesh_console){0};
}

void mesh_console_end(struct mesh *mesh, uint32_t rank)
{
    for (unsigned i = 0; i < MESH_STREAMS; i++) {
        uint32_t bytes = mesh->nodes[rank].console.lines[i].bytes;

        if (bytes > 0) {
            show_line(mesh, rank, i, bytes, false);
        }
    }
}
