/*
 * orbits.h - the circuits of a complete exchange by a group of maps (symmetries.h): a circuit and
 * its images, which go at the same time, are an orbit.
 *
 * What a circuit takes are things: the classes of its links, of its sender and of its receiver. Two
 * orbits can go at the same time if no thing of one is of the other. A way is the shortest, in any
 * order of dimensions, either way round a ring where both are as long; its own images do not meet
 * on it.
 *
 * Context  host; memory from malloc
 */
#pragma once

#include "network/network.h"

/* A way of an orbit: its first circuit's ports, and which classes of links, senders and receivers
 * it takes. */
struct orbit_way {
    uint32_t ports_at, things_at, hops;
};

struct orbit {
    uint32_t from, to; /* its first circuit */
    uint32_t way_at, ways;
};

/* All orbits, by a group. */
struct orbits {
    const struct network *network;
    uint64_t group;
    uint32_t things;                   /* classes of links, then of senders, then of receivers */
    uint16_t *link_class, *node_class; /* of node * ports + port, and of a node */
    uint32_t link_classes, node_classes;
    struct orbit *list;
    uint32_t count;
    struct orbit_way *ways;
    uint32_t way_count;
    uint8_t *ports;
    uint32_t port_count;
    uint16_t *taken; /* things of ways */
    uint32_t taken_count;
};

/* False: the images of some circuit meet on all of its ways. */
bool orbits_make(struct orbits *orbits, const struct network *network, uint64_t group);
void orbits_free(struct orbits *orbits);
