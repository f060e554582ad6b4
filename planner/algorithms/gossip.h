/*
 * gossip.h - who tells whom in which step, so that at last all nodes have heard of all: searched
 * for short blocks. gossip_search.c says how.
 *
 *     ring:6    pairs 0-1 2-3 4-5, then 1-2 3-4 5-0, then the first again: after three steps of one
 *               hop each node has heard of two, four, all six
 *
 * Context  host
 */
#pragma once

#include "network/network.h"

/* The version changes whenever the search finds another one. */
enum { GOSSIP_NODES_MAX = 32, GOSSIP_STEPS_MAX = 7, GOSSIP_VERSION = 1 };

struct gossip {
    uint32_t steps;
    /* to whom each node tells all that it knows; itself: to nobody. To none do two. */
    uint8_t to[GOSSIP_STEPS_MAX][GOSSIP_NODES_MAX];
};

/* The links from each node to each, in dimension order. */
struct gossip_paths {
    uint32_t nodes, links;
    uint8_t hops[GOSSIP_NODES_MAX][GOSSIP_NODES_MAX];
    uint16_t link[GOSSIP_NODES_MAX][GOSSIP_NODES_MAX][GOSSIP_NODES_MAX];
};

void gossip_find_paths(struct gossip_paths *paths, const struct network *network);

/* The nodes that tell in a step, in the order in which their circuits are served: those that share
 * a link one after the other, the longest first. Returns how many. */
uint32_t gossip_order(const struct gossip_paths *paths, const uint8_t *to, uint8_t *order);

/* The best that is found for blocks of so many bytes. */
void gossip_search(const struct network *network, uint32_t bytes, struct gossip *best);
