/*
 * output.h - what a program leaves for the host: the data that it has named (ecube_output), and the
 * files that it has written.
 *
 * The program keeps a table of pieces in its memory and names it to the kernel once
 * (ECUBE_CALL_OUTPUT). When it has ended, the host fetches the pieces one behind the other. The
 * first piece is this, and begins with the table itself, so that what the kernel has read and
 * what the host reads are the same, wherever the program was stopped:
 *
 *   0 pieces u32 | 4 spare u32 | 8 the table: address u32, bytes u32 of each piece |
 *   the names of the files, each ended by a zero byte
 *
 *   piece 0  this
 *   piece 1  what ecube_output has named
 *   piece 2  and so on: the files that were written, in the order of their names here
 *
 * Units    bytes
 * Context  any; pure. output_open is false for bytes that are no output
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/ecube/abi.h"
#include "wire/bytes.h"

enum { OUTPUT_HEADER_BYTES = 8, OUTPUT_PIECE_BYTES = 8, OUTPUT_FIRST_FILE = 2 };

struct output {
    const uint8_t *bytes;
    uint32_t pieces;
    const char *names; /* of the files, behind each other */
};

/* The head of the first piece, before the table. */
static inline void output_head_pack(uint8_t *bytes, uint32_t pieces)
{
    put32(bytes, pieces);
    put32(bytes + 4, 0);
}

/* A piece, as the table says it that lies at `table`. */
static inline struct ecube_abi_piece output_piece_at(const uint8_t *table, uint32_t piece)
{
    const uint8_t *at = table + piece * OUTPUT_PIECE_BYTES;

    return (struct ecube_abi_piece){get32(at), get32(at + 4)};
}

static inline uint32_t output_piece_bytes(const struct output *output, uint32_t piece)
{
    return output_piece_at(output->bytes + OUTPUT_HEADER_BYTES, piece).bytes;
}

/* Looks whether `length` bytes, all pieces of a program's output, are what they should be: pieces
 * that fill them, and a name for each file. */
static inline bool output_open(struct output *output, const uint8_t *bytes, uint64_t length)
{
    uint64_t all = 0;
    uint32_t names, ends = 0;

    if (length < OUTPUT_HEADER_BYTES) {
        return false;
    }
    *output = (struct output){.bytes = bytes, .pieces = get32(bytes)};
    if (output->pieces < OUTPUT_FIRST_FILE || output->pieces > ECUBE_PIECES_MAX) {
        return false;
    }
    names = OUTPUT_HEADER_BYTES + output->pieces * OUTPUT_PIECE_BYTES;
    if (length < names || output_piece_bytes(output, 0) < names) {
        return false;
    }
    output->names = (const char *)bytes + names;
    for (uint32_t i = 0; i < output->pieces; i++) {
        all += output_piece_bytes(output, i);
    }
    if (all != length) {
        return false;
    }
    for (uint32_t i = names; i < output_piece_bytes(output, 0); i++) {
        ends += bytes[i] == 0;
    }
    return ends >= output->pieces - OUTPUT_FIRST_FILE;
}
