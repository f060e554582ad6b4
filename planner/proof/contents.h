/*
 * contents.h - what lies in the slots of one space of one node: ranges of blocks with names.
 *
 * A content says for `count` slots which blocks lie there: `block`, block + delta, and so on.
 * Neighbours that go on alike are joined, so a space in order is one content, however large it is.
 * Of a reduction `whose` says what has been combined: a set of up to 64 nodes, or the sum of their
 * names.
 *
 * Units    slots
 * Context  host
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct content {
    uint32_t slot, count;
    uint64_t block, delta; /* modulo 2^64 */
    uint64_t whose[2];
    uint32_t written, sent; /* 1 + the step in which it was written, last sent; 0: never */
    bool received;          /* by a circuit, which may still be bringing it */
};

struct contents {
    struct content *list; /* by slot */
    uint32_t count;
};

/* The place of the first range that ends behind a slot. */
uint32_t contents_find(const struct contents *contents, uint32_t slot);

/* The part of a range that lies in `count` slots from `first` on; its count is 0 when none does. */
struct content content_part(const struct content *content, uint32_t first, uint32_t count);

/* Appends to a list of ranges whose slots follow each other. */
void contents_append(struct contents *contents, const struct content *content);

/* What lies in the slots that `cargo` covers, without a gap, is it from now on. */
void contents_put(struct contents *contents, const struct contents *cargo);

void contents_free(struct contents *contents);
