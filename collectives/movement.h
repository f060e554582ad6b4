/*
 * movement.h - the movements of an exchange from all to some: by powers of two on a ring of places.
 *
 * The places are those of the ring that the ranks form: on a cube along the binary-reflected Gray
 * code, where place i is rank i XOR i / 2, elsewhere in the order of ranks. A movement takes a
 * block of each place i to place i + 2^j, or i - 2^j, modulo N. There is one for each 2^j below N;
 * of a power of two + N / 2 and - N / 2 are the same movement, which is there once.
 *
 *     N = 8    +1 -1 +2 -2 +4       movements 0 to 4
 *     N = 6    +1 -1 +2 -2 +4 -4    movements 0 to 5; +2 and -4 lead to the same place
 *
 * A node has a slot for each movement that is asked for: for all in their order, then maybe +1 and
 * -1 once more (MOVEMENT_AGAIN and the number behind it), or for one alone.
 *
 * Units    movements, slots, ranks, places
 * Context  any; pure
 * Source   Hu, Optimal All-to-Some Personalized Communication on Hypercubes, sections 1 and 3;
 *          the movements are the functions of PM2I networks: Siegel, Interconnection Networks for
 *          Large Scale Parallel Processing (1985)
 * Names    the paper's node i is our place i; its element j is a block of movements 2 j and 2 j + 1
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/ecube/abi.h"
#include "network/network.h"

/* Numbers of movements are below MOVEMENTS_MAX. */
enum { MOVEMENT_AGAIN = 62, MOVEMENTS_MAX = 64, MOVEMENT_TEXT_MAX = 8 };

/* Slots of a node, by what stands in the place of the root; and the movement of a slot. */
uint32_t movement_slots(uint32_t nodes, uint32_t root);
uint32_t movement_of(uint32_t nodes, uint32_t root, uint32_t slot);

/* The slot of a movement; UINT32_MAX: none. */
uint32_t movement_slot(uint32_t nodes, uint32_t root, uint32_t movement);

/* The rank at the end of a movement from a rank, or (back) from which it leads there. */
uint32_t movement_rank(const struct network *guest, uint32_t movement, uint32_t rank, bool back);

/* The place of a rank on the ring, and the rank at a place. */
uint32_t movement_place(const struct network *guest, uint32_t rank);
uint32_t movement_rank_at(const struct network *guest, uint32_t place);

/* "+2", "-0": sign and exponent; "++0" and "--0" for what is there once more. And back;
 * MOVEMENTS_MAX: it is none. */
void movement_text(uint32_t movement, char text[MOVEMENT_TEXT_MAX]);
uint32_t movement_read(const char *text, const char **end);
