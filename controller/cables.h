/*
 * cables.h - the network that the nodes have found, against the one that was built.
 *
 * A node without a host link has its number from the first neighbour that knows its own, so a
 * crossed cable may give it another node's. It then tells nothing under its own number, and what
 * its neighbours find is a second node of the other's. Whom a cable really leads to is known from
 * its other end: what the number's owner does not tell of itself, the silent node has.
 *
 * It may pass that number's neighbours on, and so make more nodes silent. Then the answers may not
 * say which cables are crossed: a cable would lead to where the right one is. What ends find is
 * told all the same, but not where the cables lead (unsure).
 *
 * When two nodes have taken each other's numbers, their other cables are told instead: the same
 * network.
 *
 * Example  cube:3, 1-3 and 5-7 crossed: 1 leads to 7 and makes a second 3 of it; nobody is 7. Node
 *          6 finds a node 3 at its port 0. The real 3 has node 2 there, so it is 7
 * Units    ranks, ports
 * Context  any; only looks. Takes time in the number of links
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct controller;

enum cable_fault_kind {
    CABLE_CROSSED,      /* it leads elsewhere */
    CABLE_MISSING,      /* neither end hears the other */
    CABLE_ONE_WAY,      /* one end hears the other */
    CABLE_NODE_SILENT,  /* `node` tells nothing, and nothing else explains it */
    CABLE_HOST_MISSING, /* `node` does not find the host */
    CABLE_FAULT_KINDS
};

/* What a node finds at a port. */
enum cable_finding {
    FINDS_NOTHING,   /* it hears nothing */
    FINDS_RIGHT,     /* it sees the link up, with the right end */
    FINDS_OTHER,     /* another end: peer, port */
    FINDS_HOST,      /* the host */
    FINDS_NAMELESS,  /* a node that does not know its number */
    FINDS_ONE_WAY,   /* it hears the other end but is not heard */
    FINDS_LOST,      /* it had the link and lost it */
    FINDS_UNREPORTED /* the node has told nothing */
};

struct cable_end {
    enum cable_finding finding;
    uint32_t peer; /* FINDS_OTHER */
    uint8_t port;
    bool known;      /* CABLE_CROSSED: where it really leads: */
    uint32_t really; /* a node, */
    uint8_t really_port;
};

struct cable_fault {
    enum cable_fault_kind kind;
    uint32_t node, peer; /* its two ends; of a node or a host link: node alone */
    unsigned dimension;
    bool unsure;             /* CABLE_CROSSED: it may be right, and one beside it crossed */
    struct cable_end end[2]; /* as node and as peer find it */
};

/* Lists what is wrong, crossed cables first, the first `room` of them; returns how many there are.
 */
unsigned cables_find(const struct controller *controller, struct cable_fault *faults,
                     unsigned room);

/* How many nodes have told of their links. */
uint32_t cables_reported(const struct controller *controller);
