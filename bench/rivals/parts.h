/*
 * parts.h - what the libraries' algorithms are made of, on N = 2^d nodes, rank 0 the root.
 *
 * Each part goes on where the draft has arrived. Work has N slots where a part divides it among
 * nodes (halve, grow, rings, scatter, gather); else any number.
 *
 *     halve     d exchanges of halves: a node keeps, and combines, one half of what it had
 *     grow      the same backwards: what two nodes have goes to both
 *
 *     N = 4, FAR_FIRST     0 <-> 2 of 2 slots, 0 <-> 1 of 1 slot: node r keeps slot r
 *            NEAR_FIRST    0 <-> 1 of 2 slots, 0 <-> 2 of 1 slot: node r keeps slot r mirrored
 *
 * Context  host
 * Source   SimGrid 3.32, src/smpi/colls; the file of each is named in comparators.c
 */
#pragma once

#include "bench/rivals/draft.h"

/* Which dimension is the first of a halving; for 2^d nodes the last of the growing behind it. */
enum order { NEAR_FIRST, FAR_FIRST };

/* How work goes from the root to all. */
enum spreading { BINOMIAL, FOURS, BINARY, CHAIN, SCATTER_DOUBLING, SCATTER_RING };

/* The first slot that a node has after so many halvings. */
uint32_t part_low(const struct draft *draft, uint32_t node, unsigned halvings, enum order order);

void part_halve(struct draft *draft, enum order order);
void part_grow(struct draft *draft, enum order order);
void part_exchange_all(struct draft *draft); /* d exchanges of all work, combined */

/* Round the ring of ranks, one slot per step: combined until node r has slot r of all; from there
 * to all. */
void part_ring_combine(struct draft *draft);
void part_ring_gather(struct draft *draft);

/* Work of the root to all, in pieces of so many slots (binary, chain); slot r to node r; slot r of
 * node r to the root; all of it combined at the root, slot by slot in a pipeline. */
void part_spread(struct draft *draft, enum spreading how, uint32_t piece);
void part_scatter(struct draft *draft);
void part_gather(struct draft *draft, bool binomial);
void part_reduce(struct draft *draft);
