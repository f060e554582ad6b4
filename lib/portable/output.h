/*
 * output.h - the table of what the program leaves for the host (wire/output.h).
 *
 * Invariants
 * - Wherever the program is stopped, the table that the kernel knows is whole, and each piece has
 *   the bytes that it should: a table with other pieces is made beside it, and becomes the one by
 *   the call; within a table one word is written at a time.
 * - Once there is a table, one with no more names needs no memory.
 *
 * Errors   negative enum ecube_error: ECUBE_E_FULL when there is no memory, or there are more than
 *          ECUBE_PIECES_MAX pieces; ECUBE_E_SYSCALL of a kernel that takes no output
 * Context  node programs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A file, if there are any; its owner fills all but `piece`. */
struct output_file {
    struct output_file *next;
    const char *name;
    bool leaves; /* it comes back to the host; else it stays where it is */
    const uint8_t *data;
    uint32_t bytes;
    uint32_t piece; /* its place in the table; 0: none */
};

/* All of them. */
extern struct output_file *ecube_output_files;

/* Makes the table anew, as the list is now: files came, went, or have another name. With an error
 * the table stays what it was. */
int ecube_output_rebuild(void);

/* A file's data have moved, to a copy of what they were; or it has more bytes, which are written,
 * or fewer. One of both at a time. */
void ecube_output_update(const struct output_file *file);
