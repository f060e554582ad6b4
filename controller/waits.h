/*
 * waits.h - who waits for whom, from what the nodes have answered (STATE).
 *
 * Units    ranks
 * Context  any; only looks
 * Source   Coffman, Elphick & Shoshani, System deadlocks, Computing Surveys 3(2), 1971: circular
 *          wait
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct controller;
struct node_answer;

/* The rank that the program of `rank` waits for, when it is one; else `rank` itself. */
uint32_t waits_for(const struct controller *controller, uint32_t rank);

/* Whether who answers so waits to send to a node whose places for messages are all taken. */
bool waits_for_room(const struct controller *controller, const struct node_answer *answer);

/* The rank that keeps a node from beginning a collective, as far as the answers tell: it has not
 * called it yet. The own rank when the node is not about to begin one. */
uint32_t waits_missing(const struct controller *controller, uint32_t rank);

/* A circle of programs that wait for each other: its length, and the first `room` of its ranks,
 * each of which waits for the next; 0: there is none. */
uint32_t waits_circle(const struct controller *controller, uint32_t *ranks, uint32_t room);
