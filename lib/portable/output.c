/*
 * output.c - the table of what the program leaves for the host, and ecube_output.
 *
 *            +-- old table      the kernel reads one of them
 *     call --+
 *            +-- new table      the other is free to be written; both have the same room
 */
#include "lib/portable/output.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"
#include "lib/portable/data.h"
#include "wire/output.h"

enum { ROOM_LEAST = 256 };

struct output_file *ecube_output_files;

/* What ecube_output has named. */
static struct ecube_abi_piece named;

/* The table that the kernel knows, and the one that it does not know. */
static struct {
    uint8_t *now, *other;
    uint32_t room;
} tables;

/* Pieces, and bytes of the table with its names. */
static uint32_t measure(uint32_t *bytes)
{
    uint32_t pieces = OUTPUT_FIRST_FILE;

    *bytes = OUTPUT_HEADER_BYTES;
    for (const struct output_file *file = ecube_output_files; file; file = file->next) {
        if (file->leaves) {
            pieces++;
            *bytes += (uint32_t)strlen(file->name) + 1;
        }
    }
    *bytes += pieces * OUTPUT_PIECE_BYTES;
    return pieces;
}

static volatile struct ecube_abi_piece *piece_at(uint8_t *table, uint32_t piece)
{
    return (volatile struct ecube_abi_piece *)(void *)(table + OUTPUT_HEADER_BYTES) + piece;
}

static void set_piece(uint8_t *table, uint32_t piece, uint32_t address, uint32_t bytes)
{
    piece_at(table, piece)->address = address;
    piece_at(table, piece)->bytes = bytes;
}

static void fill(uint8_t *table, uint32_t pieces, uint32_t bytes)
{
    uint32_t piece = OUTPUT_FIRST_FILE;
    char *name = (char *)table + OUTPUT_HEADER_BYTES + pieces * OUTPUT_PIECE_BYTES;

    output_head_pack(table, pieces);
    set_piece(table, 0, ecube_address(table), bytes);
    set_piece(table, 1, named.address, named.bytes);
    for (const struct output_file *file = ecube_output_files; file; file = file->next) {
        if (file->leaves) {
            set_piece(table, piece++, ecube_address(file->data), file->bytes);
            strcpy(name, file->name);
            name += strlen(name) + 1;
        }
    }
}

/* The kernel knows the table. */
static void number_files(void)
{
    uint32_t piece = OUTPUT_FIRST_FILE;

    for (struct output_file *file = ecube_output_files; file; file = file->next) {
        file->piece = file->leaves ? piece++ : 0;
    }
}

/* The table is written before the kernel hears of it: the call reads memory. */
static int name_table(uint8_t *table, uint32_t pieces)
{
    return ecube_call(ECUBE_CALL_OUTPUT, ecube_address(table + OUTPUT_HEADER_BYTES), pieces);
}

/* Two tables with more room, of which the first becomes the one. */
static int enlarge(uint32_t pieces, uint32_t bytes)
{
    uint32_t room = bytes > ROOM_LEAST ? 2 * bytes : ROOM_LEAST;
    uint8_t *now = malloc(room), *other = malloc(room), *before = tables.now;
    int status = ECUBE_E_FULL;

    if (now && other) {
        fill(now, pieces, bytes);
        status = name_table(now, pieces);
    }
    if (status < 0) {
        free(now);
        free(other);
        return status;
    }
    free(before);
    free(tables.other);
    tables.now = now;
    tables.other = other;
    tables.room = room;
    return ECUBE_OK;
}

/* In the table that the kernel does not know. */
static int swap(uint32_t pieces, uint32_t bytes)
{
    uint8_t *table = tables.other;

    fill(table, pieces, bytes);
    int status = name_table(table, pieces);
    if (status < 0) {
        return status;
    }
    tables.other = tables.now;
    tables.now = table;
    return ECUBE_OK;
}

int ecube_output_rebuild(void)
{
    uint32_t bytes, pieces = measure(&bytes);

    if (pieces > ECUBE_PIECES_MAX) {
        return ECUBE_E_FULL;
    }
    int status = bytes > tables.room ? enlarge(pieces, bytes) : swap(pieces, bytes);
    if (status == ECUBE_OK) {
        number_files();
    }
    return status;
}

/* What was written to the file's memory lies there before the table says so. */
void ecube_output_update(const struct output_file *file)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (file->piece > 0) {
        set_piece(tables.now, file->piece, ecube_address(file->data), file->bytes);
    }
    atomic_signal_fence(memory_order_seq_cst);
}

static int name_output(const void *data, size_t bytes)
{
    struct ecube_abi_piece before = named;

    if (!ecube_data_inside(data, bytes)) {
        return ECUBE_E_FAULT;
    }
    named = (struct ecube_abi_piece){ecube_address(data), (uint32_t)bytes};
    int status = ecube_output_rebuild();
    if (status < 0) {
        named = before;
    }
    return status;
}

int ecube_output(const void *data, size_t bytes)
{
    struct ecube_called called = {
        .number = ECUBE_CALLED_OUTPUT,
        .message = {{.data = ecube_address(data),
                     .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX}}};

    return ecube_returns(&called, name_output(data, bytes));
}
