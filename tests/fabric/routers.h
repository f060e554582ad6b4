/*
 * routers.h - a network of routers alone in one process, stepped in random order; a test is the
 * owner of them all.
 */
#pragma once

#include "network/network.h"
#include "router/router.h"
#include "tests/fabric/memory_link.h"

struct routers_node {
    struct router router;
    struct memory_end ends[PORTS_MAX];
    struct link *links[PORTS_MAX];
    void *memory;
};

struct routers {
    struct network network;
    struct routers_node *nodes;
    uint64_t seed, now_us;
    struct memory_fault fault;
    /* The test: takes a notice of a router's; NULL: nobody does. */
    void (*take)(struct routers *all, uint32_t rank, const struct notice *notice);
};

/* All links are up. */
struct routers *routers_make(const char *network, uint64_t seed, struct memory_fault fault,
                             struct profile profile);
void routers_free(struct routers *all);

/* Each router steps once, in random order, and is asked what it has to tell; false when nothing
 * moved and nothing is on a link. */
bool routers_round(struct routers *all);

/* Rounds until all is quiet, in which no time passes but theirs. */
void routers_settle(struct routers *all);

/* Rounds until `done`, with as much time as it takes; false when it never is. */
bool routers_run(struct routers *all, bool (*done)(struct routers *all));

/* The link that leads from a node to its neighbour is cut. */
void routers_cut(struct routers *all, uint32_t from, uint32_t to);

/* The port of a node that leads to its neighbour. */
unsigned routers_port(const struct routers *all, uint32_t from, uint32_t to);
