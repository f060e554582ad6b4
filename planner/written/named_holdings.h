/*
 * named_holdings.h - which blocks a node has, by name, and in which slots, while a written plan is
 * laid down.
 *
 * What a program has before the operation is held from the beginning, and is entered when it is
 * first asked for.
 *
 * Units    slots, names (named.h)
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { SPACE_NONE = SPACES };

/* A slot of a node; space SPACE_NONE: there is none. */
struct place {
    uint32_t space, slot;
};

static inline bool same_place(struct place a, struct place b)
{
    return a.space == b.space && a.slot == b.slot;
}

/* The combined contributions of a set of ranks, and where they lie. */
struct sum {
    struct sum *next;
    struct place at;
    uint64_t *set;
};

/* What a node has of one block. */
struct holding {
    uint32_t node, name;
    struct place at;    /* the block; of a reduction the node's own sum */
    struct place other; /* the second place of a sum that was sent while it grew */
    uint32_t sent_step; /* 1 + the last step in which `at` was sent */
    uint32_t scratches; /* slots of scratch that it has been given */
    struct sum *sums;   /* all that the node has, where contributions are said */
};

struct holdings {
    struct holding **buckets;
    uint32_t bucket_count, count;
};

/* A node's holding of a block; *made: it is new, and holds what the program has. It stays where it
 * is. */
struct holding *holdings_find(struct holdings *holdings, const struct plan *plan, uint32_t node,
                              uint32_t name, bool *made);
void holdings_free(struct holdings *holdings);

/* A slot of scratch that nothing has been in, of the size of the block. */
struct place holdings_scratch(struct plan *plan, struct holding *holding);

void sums_add(struct sum **sums, struct place at, uint64_t *set);
void sums_remove(struct sum **sums, struct sum *sum);
/* The sum in a slot; NULL: there is none. */
struct sum *sums_at(struct sum *sums, struct place at);

/* The name of what belongs into a slot of SEND at first, of RECEIVE at last. */
uint32_t name_in(const struct plan *plan, enum space space, uint32_t node, uint32_t slot);

/* Where a node is to have a block at last. */
struct place place_promised(const struct plan *plan, uint32_t node, uint32_t name);
