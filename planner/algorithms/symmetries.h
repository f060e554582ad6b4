/*
 * symmetries.h - maps of a network onto itself, and groups of them that move every node.
 *
 * A map moves the nodes of each ring by so many places and may turn paths round. So it is known by
 * the node to which it brings node 0, and a group of maps is a set of nodes.
 *
 *     ring:6      {0 3}: nothing, and half-way round
 *     mesh:3x4    {0 11}: nothing, and both dimensions turned round; of mesh:3x3 the middle would
 *                 stay where it is
 *
 * Every map of a group but the first moves all nodes, and with them all links. So nodes, links and
 * pairs of nodes fall into orbits as large as the group.
 *
 * Units    ranks
 * Context  host; pure
 */
#pragma once

#include "network/network.h"

enum { SYMMETRIES_NODES_MAX = 64 };

/* Where a map brings a node. */
uint32_t symmetry_image(const struct network *network, uint32_t map, uint32_t node);

/* The port that leads from a node's image to where its port led. */
unsigned symmetry_port(const struct network *network, uint32_t map, uint32_t node, unsigned port);

/* The groups that two maps make, the largest first, the last one {0}: as many as there is room for.
 * Bit v of a group: it has the map that brings node 0 to v. Returns how many. */
unsigned symmetries_find(const struct network *network, uint64_t *groups, unsigned room);
