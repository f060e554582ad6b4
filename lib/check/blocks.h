/*
 * blocks.h - a heap that finds out what a program does to it: writes beyond a block, writes to
 * what it has freed, frees of what is no block.
 *
 * What is known of a block lies in a table at the far end of the memory, so a wild write spoils no
 * bookkeeping. In its memory a block lies between guards:
 *
 *     | slack | front guard: 16 bytes | block | back guard: 16 bytes, more up to a multiple of 16 |
 *
 * A freed block is filled with a pattern and kept for a while (the quarantine).
 *
 *     low                                                                  high
 *     | blocks, free pieces, quarantine ...  ---> grows   grows <---  table |
 *
 * Units    bytes; places are addresses in the program
 * Errors   NULL: no memory; what a program did wrong is a finding
 * Context  node programs; pure but for the memory that it was given
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/finding.h"

enum {
    BLOCKS_ALIGNMENT = 16,
    BLOCKS_QUARANTINE_BYTES = 1 << 20, /* kept back at most, but always the last one freed */
    BLOCKS_BINS = 32
};

/* A heap. Its members are blocks.c's. */
struct blocks {
    uint8_t *memory;
    uint32_t bytes;                    /* of all memory */
    uint32_t pieces_end;               /* so far blocks and free pieces reach, from the low end */
    uint32_t count;                    /* entries of the table, from the high end */
    uint32_t highest;                  /* the piece that ends at pieces_end */
    uint32_t unused;                   /* entries to use again */
    uint32_t free_pieces[BLOCKS_BINS]; /* by the logarithm of their size */
    uint32_t oldest, newest;           /* of the quarantine */
    uint32_t quarantined;              /* its bytes */
    uint32_t cursor;                   /* what ecube_blocks_look looks at next */
};

/* Makes a heap of memory; address and size must be multiples of BLOCKS_ALIGNMENT. */
void ecube_blocks_init(struct blocks *blocks, void *memory, uint32_t bytes);

/* A block at a multiple of `alignment`, a power of two; `place` is told with findings. Another
 * block may be found to be spoilt meanwhile. */
void *ecube_blocks_take(struct blocks *blocks, uint32_t bytes, uint32_t alignment, uint32_t place,
                        struct finding *found);

/* Takes a block back. False: it is none, or it or another is spoilt. */
bool ecube_blocks_release(struct blocks *blocks, void *block, uint32_t place,
                          struct finding *found);

/* The bytes of a block that the program has. False: it is none. */
bool ecube_blocks_size(struct blocks *blocks, const void *block, uint32_t *bytes,
                       struct finding *found);

/* Looks at the next 256 blocks, of freed ones at 8 KiB of each and 32 KiB of all. False: one is
 * spoilt. */
bool ecube_blocks_look(struct blocks *blocks, struct finding *found);

/* Looks at all of all blocks; how many are spoilt, and the first `room` of them. */
uint32_t ecube_blocks_look_at_all(struct blocks *blocks, struct finding *found, uint32_t room);
