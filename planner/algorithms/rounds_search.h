/*
 * rounds_search.h - the rounds of a complete exchange, searched for; rounds_search.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/algorithms/rounds.h"

/* The version changes whenever the search finds other rounds. */
enum { SEARCHED_NODES_MAX = 64, ROUNDS_SEARCH_VERSION = 1 };

/* No exchange over circuits has fewer rounds. */
uint32_t rounds_bound(const struct network *network);

/* Puts all transfers into as few rounds as are found; over the first way of each then. */
void rounds_search(struct search *s);
