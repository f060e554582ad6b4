/*
 * route.h - which port leads one hop closer to a node.
 *
 * Dimension order (e-cube): correct the lowest differing dimension first. Without wraparound links
 * no set of waiting circuits can form a cycle, so circuits cannot deadlock.
 *
 * Example  from 3 (0011) to 12 (1100): ports 0, 1, 2, 3 through nodes 2, 0, 4
 * Units    port numbers: port p of a cube node is dimension p
 * Context  any; pure
 * Source   Dally & Seitz 1987, IEEE Trans. Computers C-36(5):547-553
 */
#pragma once

#include <stdint.h>

/* The port of the next hop; from and to differ. */
static inline unsigned route_cube(uint32_t from, uint32_t to)
{
    return (unsigned)__builtin_ctz(from ^ to);
}

/* The number of hops. */
static inline unsigned route_hops(uint32_t from, uint32_t to)
{
    return (unsigned)__builtin_popcount(from ^ to);
}

/* The node with a host link that is on the e-cube way from the host to a node: its highest bit
 * alone, or node 0. */
static inline uint32_t route_root(uint32_t node)
{
    return node ? 1u << (31 - __builtin_clz(node)) : 0;
}
