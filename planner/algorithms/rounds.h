/*
 * rounds.h - the circuits of a complete exchange, the ways that each has, and in which round it
 * goes over which; rounds.c says how.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

enum { WAYS_MAX = 4 };

/* A way from a node to another: ports and links, of the pools. */
struct way {
    uint32_t at, hops;
};

struct transfer {
    uint32_t from, to;
    struct way way[WAYS_MAX];
    unsigned ways;
    uint32_t weight, draw;
};

struct search {
    const struct network *network;
    unsigned at_once; /* circuits that a node may send, and receive, in a round; PORTS_ALL: any */
    struct transfer *transfers; /* by sender, then by receiver */
    uint32_t count;
    uint8_t *ports;
    uint16_t *links;
    uint32_t used; /* of both pools */
    uint32_t *load, *sends, *receives;
    struct transfer **order; /* those that have not gone, by weight */
    uint32_t left;
    /* of each transfer: in which round it goes, over which of its ways; and the best so far */
    uint32_t *round, *way, rounds;
    uint32_t *best_round, *best_way, best_rounds;
};

/* All transfers and their ways; their end. */
void rounds_begin(struct search *s);
void rounds_end(struct search *s);

/* The place of a transfer. */
static inline uint32_t transfer_of(const struct search *s, uint32_t from, uint32_t to)
{
    return from * (s->network->nodes - 1) + to - (to > from);
}

/* Puts all transfers into rounds by their weights, as often as is good for the network, and keeps
 * the fewest. */
void rounds_list(struct search *s);

/* The plan of the best rounds. */
struct plan *rounds_plan(const struct search *s, const struct plan_request *request);

/* Of many circuits the ports are settled beforehand, where they count: those of both ends. */
static inline unsigned rounds_port(const struct search *s, const struct transfer *transfer)
{
    return s->at_once == PORTS_ALL
               ? 0
               : network_difference(s->network, transfer->to, transfer->from) % s->at_once;
}

/* Puts all transfers into rounds, each into the first that is free, and keeps them if they are
 * fewer than before (rounds_fit.c). */
void rounds_fit(struct search *s, unsigned trial);

/* Keeps the rounds of all transfers if they are fewer than before. */
void rounds_keep(struct search *s);
