/*
 * data.h - what the host has brought along with the program, as its private block says
 * (wire/run.h).
 *
 * Context  node programs
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One entry of the block. */
struct data_entry {
    uint32_t next; /* for ecube_data_next: the number of the entry behind it */
    uint32_t kind; /* enum block_kind */
    void *data;
    uint32_t bytes;
    const char *name;
};

/* Takes the private block, before all else here. False: it is none, for its strings do not end in
 * it, or names memory that is not the program's. */
bool ecube_data_open(const void *block, uint32_t block_bytes);

/* Goes on to the next entry, from one that is all 0 to the first. False: there are no more. */
bool ecube_data_next(struct data_entry *entry);

/* The first entry of a kind. False: there is none. */
bool ecube_data_find(uint32_t kind, struct data_entry *entry);

/* Whether the program may name this memory to the kernel, to be read: what is live of the stack,
 * the image, what came with it, the heap. No bytes may lie anywhere. */
bool ecube_data_inside(const void *data, size_t bytes);
