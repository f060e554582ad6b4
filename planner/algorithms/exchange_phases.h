/*
 * exchange_phases.h - in which phase of the complete exchange each block goes over which link: the
 * tables that are moved to every node; exchange_table.c says what they are.
 *
 * Units    nodes, ports, hops
 * Errors   none
 * Context  host
 */
#pragma once

#include "network/network.h"

enum {
    PHASES_CLASSES = 2, /* of nodes */
    PHASES_MACHINES_MAX = PHASES_CLASSES * NETWORK_PORTS_MAX
};

/* A block of node 0's, or of the first node of the other class; a machine is a port of a class. */
struct packet {
    uint32_t source, to, at; /* nodes */
    uint32_t scratch;        /* the first of its slots */
    uint32_t left, done;     /* hops */
    uint32_t in[NETWORK_DIMS_MAX];
    uint8_t port[NETWORK_DIMS_MAX];
    uint32_t machine, draw; /* in the phase at hand; UINT32_MAX: it stays */
};

/* A hop: from where the block is then. */
struct hop {
    uint32_t phase, packet, from, number;
    uint8_t port;
};

struct tables {
    const struct network *network;
    unsigned classes, split; /* dimension whose coordinate is even or odd */
    unsigned machines;
    struct packet *first, *packets; /* as they are at first, and in the phase at hand */
    uint32_t count, hops, scratch;
    struct packet **order;
    uint32_t load[PHASES_MACHINES_MAX], most; /* blocks that machines carry; the busiest */
    uint32_t taken[PHASES_MACHINES_MAX], least[PHASES_MACHINES_MAX], length;
    struct hop *table;
    uint32_t table_count, phases;
    uint32_t draw;
};

/* The tables of a network that looks the same from every node. */
void phases_find(struct tables *tables, const struct network *network);
void phases_free(struct tables *tables);

/* Of nodes with an even coordinate and with an odd one, where there are two tables; else 0. */
unsigned phases_class(const struct tables *tables, uint32_t node);

/* The port of nodes of a class, as tables count them. */
static inline unsigned phases_machine(const struct tables *tables, unsigned class, unsigned port)
{
    return class * tables->network->ports + port;
}
