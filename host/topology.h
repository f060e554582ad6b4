/*
 * topology.h - which nodes there are and which cables join them.
 *
 * cube:D has nodes 0 to 2^D - 1. Port p < D of node x is dimension p, its cable goes to port p of
 * node x ^ (1 << p). Node 0 and every node 2^i also have a host link, at port D. Host link 0 goes
 * to node 0, host link i + 1 to node 2^i.
 *
 * Example  cube:2: cables 0-1 and 2-3 (dimension 0), 0-2 and 1-3 (dimension 1); host links at nodes
 *          0, 1 and 2
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/message.h"

enum {
    TOPOLOGY_DIMS_MAX = 7,
    TOPOLOGY_NODES_MAX = 128,
    TOPOLOGY_HOST_LINKS_MAX = 8,
    TOPOLOGY_PORTS_MAX = 8
};

struct topology {
    char name[16]; /* as the user wrote it */
    unsigned dims;
    uint32_t nodes;
};

/* Reads "cube:4"; a mesh of processes has at most TOPOLOGY_DIMS_MAX dimensions. */
int topology_parse(struct topology *topology, const char *text, struct message *message);
/* The same with another bound, for networks that are only simulated. */
int topology_parse_cube(struct topology *topology, const char *text, unsigned dims_max,
                        struct message *message);

/* True when the node has a host link. */
bool topology_has_host_link(uint32_t node);

/* Ports of a node, the host link's included. */
unsigned topology_ports(const struct topology *topology, uint32_t node);

/* The node at host link number index. */
uint32_t topology_host_peer(unsigned index);

/* The dimension of the cable a-b, or -1 when there is none. */
int topology_dimension(const struct topology *topology, uint32_t a, uint32_t b);

/* Reads "A-B", a cable of the network. */
int topology_parse_cable(const struct topology *topology, const char *text, uint32_t ends[2],
                         struct message *message);

/* Reads a node number. */
int topology_parse_node(const struct topology *topology, const char *text, uint32_t *node,
                        struct message *message);
