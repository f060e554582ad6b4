/*
 * rotated.h - what the nodes of a line do in the algorithms whose parts are rotated over dimensions
 * (rotated.c: blocks; rotated_whole.c: whole vectors).
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum rotated_way { ROTATED_NEIGHBOURS, ROTATED_THREES, ROTATED_PAIRS, ROTATED_WAYS };

/* In a step the node at one place of a line gives to that at another. */
struct line_move {
    uint32_t step, from, to;
};

struct line {
    struct line_move *moves;
    uint32_t count, steps;
};

/* The nodes of a dimension, and the leaders of groups of two and three: [0, *count). */
struct line line_of(const struct network_dimension *dim, enum rotated_way way);
uint32_t *line_leaders(uint32_t size, uint32_t *count);
void line_free(struct line *line);

/* The dimensions longer than one node: how many. */
unsigned rotated_dims(const struct network *network, unsigned dims[NETWORK_DIMS_MAX]);

/* Whether a part mirrored does something else, so that it helps to have two halves: how many. */
unsigned rotated_halves(const struct network *network, enum rotated_way way);

/* A node with another place in its line of a dimension, as a half of a part has it. */
uint32_t rotated_place(const struct network *network, enum rotated_way way, unsigned dimension,
                       uint32_t node, uint32_t place, unsigned half);
