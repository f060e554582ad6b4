/*
 * hamilton.h - all nodes in an order in which each is next to the one before: a Hamiltonian cycle,
 * where the last is next to the first, or else a path.
 *
 *     one dimension that wraps      the ring itself
 *     a dimension of even size      along all others and back: one column is kept for the way back
 *     all odd, and wrapping         row by row, each begun where the one before ended; rows go
 *                                   forth or back so that the last one ends where the first began
 *     else there is no cycle        the path: each dimension there and back by turns
 *
 *     mesh:2x3  0 1 2     0 1 2 5 4 3        mesh:3x3  0 1 2     0 1 2 5 4 3 6 7 8, a path
 *               3 4 5                                  3 4 5
 *                                                      6 7 8
 *
 * Why there is no cycle in the last case: nodes of even and of odd sums of coordinates take turns
 * on any way through a mesh, and of an odd number of nodes there is one more of the even ones.
 *
 * Context  any; pure
 * Source   even: Ozveren, LIDS-P-1721 (1987), 2.1 (rings inside meshes); cubes: Gray codes. Odd
 *          tori: rows that shift by one, as counted in hamilton.c
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"

/* Whether a network has such a cycle; one and two nodes are a cycle here. */
bool hamilton_has_cycle(const struct network *network);

/* Writes the nodes in that order, as many as the network has: the cycle, or the path where there is
 * none. Returns hamilton_has_cycle. */
bool hamilton_order(const struct network *network, uint32_t *at);
