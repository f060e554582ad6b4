/*
 * limits.h - how large a machine of processes may be: one QEMU for each node, one piece
 * of shared memory or one socket pair for each link.
 */
#pragma once

#include "network/network.h"
#include "network/text.h"

enum {
    COMPUTER_NODES_MAX = 128, /* of a machine's nodes, on one computer */
    MACHINE_NODES_MAX = 512,
    MACHINE_PORTS_MAX = 9, /* of a node, the host link's included: torus:3x3x3x3 has 8 and one */
    MACHINE_HOST_LINKS_MAX = NETWORK_HOST_LINKS_MAX
};

static const struct network_limits machine_limits = {.nodes = MACHINE_NODES_MAX,
                                                     .place = "on QEMU"};
static const struct network_limits computer_limits = {
    .nodes = COMPUTER_NODES_MAX, .place = "on QEMU on one computer ('ecube agent' takes several)"};

/* Whether a port of a node has a link. */
static inline bool machine_has_link(const struct network *network, uint32_t node, unsigned port)
{
    return port == network->ports ? network_host_link_of(network, node) >= 0
                                  : network_neighbour(network, node, port) != NETWORK_NO_NODE;
}

/* One more than the highest port of a node that has a link, the host link's included: what the node
 * itself counts. Below it a path's end node has ports without a link. */
static inline unsigned machine_ports(const struct network *network, uint32_t node)
{
    unsigned ports = network->ports + 1u;

    while (ports > 0 && !machine_has_link(network, node, ports - 1)) {
        ports--;
    }
    return ports;
}
