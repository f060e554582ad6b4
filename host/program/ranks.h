/*
 * ranks.h - a set of ranks that have the same to tell, in words and for programs.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

enum { RANKS_TEXT_MAX = 160 };

/* In rising order. */
struct ranks {
    uint32_t count;
    uint32_t rank[];
};

/* An empty set with room for so many, to be freed. Memory is that of a machine's nodes: never NULL.
 */
struct ranks *ranks_make(uint32_t room);

/* "rank 1", "ranks 0, 2-1023", "ranks 0, 2, 4, 6, 8, 10 and 53 more" */
void ranks_text(const struct ranks *ranks, char text[RANKS_TEXT_MAX]);

/* The members of a trouble of theirs. */
json_t *ranks_members(const char *kind, const struct ranks *ranks);
