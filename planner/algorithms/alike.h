/*
 * alike.h - the networks whose plans a network can take: the same network under other names of its
 * nodes, or one whose links are all among its own.
 *
 *     torus, sides of 4 and 2 alone      the cube of as many nodes, and its torus of sides of 4
 *     mesh, sides of 2 alone             the same
 *     cube                               its torus of sides of 4, and one of 2 if there is one left
 *     other meshes and tori              the sides sorted, up and down
 *     ring of at most 32 nodes           mesh:1xN: its nodes in a line
 *
 * A ring of four nodes is a square. So a side of 4 is two dimensions of a cube, whose bits a
 * reflected Gray code gives:
 *
 *     coordinate   0   1   2   3         00 --- 01
 *     bits        00  01  11  10          |      |
 *                                        10 --- 11
 *
 * A network with a map that keeps neighbours has also that which its ranks form; others of these
 * do not keep the order of its ranks.
 *
 * Sides of 1 are no sides. Not all networks that are the same are given: of each a few, so that
 * what one of them knows the others do. A larger network in which one lies is not among them: its
 * plans pass through nodes outside.
 *
 * Units    ranks
 * Errors   none
 * Context  host; pure but for memory
 * Source   Saad & Schultz, IEEE Trans. Computers 37(7), 1988, 867-872 (Gray codes, tori in cubes)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

enum { ALIKE_MAX = 4 };

/* Whether a network is a cube, or one under other names of its nodes: sides of 2 and rings of 4. */
bool alike_to_cube(const struct network *network);

/* The networks whose plans a network can take; returns how many. */
unsigned alike_networks(const struct network *network, struct network others[ALIKE_MAX]);

/* The node of one network that a node of the other becomes, one of the two being among those whose
 * plans the other can take. There and back it is the same node; node 0 stays node 0. */
uint32_t alike_node(const struct network *from, const struct network *network, uint32_t node);

/* The same of all nodes of `from`; the caller's to free. */
uint32_t *alike_map(const struct network *from, const struct network *network);

/* Whether that keeps the order of ranks: all nodes stay what they are. */
bool alike_keeps_order(const struct network *from, const struct network *network);

/* Whether for every reversal of dimensions of `network` there is one of `from`: that of a ring of
 * four inverts the higher bit of its code. */
bool alike_keeps_reversals(const struct network *from, const struct network *network);

/* Whether a map makes a translation of every translation. */
bool alike_keeps_translations(const struct network *from, const struct network *network,
                              const uint32_t *map);
