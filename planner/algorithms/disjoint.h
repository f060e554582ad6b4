/*
 * disjoint.h - spanning trees from one root of which no two share a directed link.
 *
 * Units    ranks, hops
 * Context  host
 */
#pragma once

#include <stdint.h>

#include "network/network.h"

struct disjoint {
    uint32_t *parent; /* [tree * nodes + node]; the root's own is NETWORK_NO_NODE */
    uint32_t *depth;  /* hops from the root in the tree */
    uint32_t trees, nodes, deepest;
};

/* As many as there can be: as the root has links, or the node with the fewest. */
struct disjoint disjoint_make(const struct network *network, uint32_t root);
void disjoint_free(struct disjoint *disjoint);
