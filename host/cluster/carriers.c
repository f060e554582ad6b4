#include "host/cluster/carriers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/cluster/peers.h"

static bool leads_out(const struct network *network, const struct node_range *range, uint32_t node,
                      unsigned port, uint32_t *peer)
{
    *peer = network_neighbour(network, node, port);
    return *peer != NETWORK_NO_NODE && *peer - range->first >= range->count;
}

int carriers_open(struct carriers *carriers, const struct network *network,
                  const struct node_range *range, struct message *message)
{
    *carriers = (struct carriers){
        .ends = calloc((size_t)range->count * network->ports + 1, sizeof *carriers->ends)};
    if (!carriers->ends) {
        return message_set(message, "out of memory");
    }
    for (uint32_t node = range->first; node < range->first + range->count; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            struct carrier_end *end = &carriers->ends[carriers->count];
            uint32_t peer;

            if (!leads_out(network, range, node, port, &peer)) {
                continue;
            }
            *end = (struct carrier_end){
                .node = node, .port = port, .carrier = {.kind = CARRIER_CONNECTS, .fd = -1}};
            carriers->count++;
            if (node < peer) {
                end->carrier.kind = CARRIER_LISTENS;
                end->carrier.fd = peers_listen(NULL, NULL, message);
                if (end->carrier.fd < 0) {
                    carriers_close(carriers);
                    return -1;
                }
                end->carrier.port = peers_port_of(end->carrier.fd);
            }
        }
    }
    return 0;
}

void carriers_close(struct carriers *carriers)
{
    for (unsigned i = 0; i < carriers->count; i++) {
        if (carriers->ends[i].carrier.fd >= 0 && !carriers->ends[i].taken) {
            close(carriers->ends[i].carrier.fd);
        }
    }
    free(carriers->ends);
    *carriers = (struct carriers){0};
}

json_t *carriers_describe(const struct carriers *carriers)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < carriers->count; i++) {
        const struct carrier_end *end = &carriers->ends[i];

        if (end->carrier.kind == CARRIER_LISTENS) {
            json_array_append_new(list, json_pack("[i, i, i]", (int)end->node, (int)end->port,
                                                  (int)end->carrier.port));
        }
    }
    return list;
}

struct carrier_end *carriers_find(const struct carriers *carriers, uint32_t node, unsigned port)
{
    for (unsigned i = 0; i < carriers->count; i++) {
        if (carriers->ends[i].node == node && carriers->ends[i].port == port) {
            return &carriers->ends[i];
        }
    }
    return NULL;
}

bool carriers_learn(struct carriers *carriers, const json_t *list)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        struct carrier_end *end;
        int node, port, tcp;
        const char *host;

        if (json_unpack((json_t *)(uintptr_t)item, "[i, i, s, i]", &node, &port, &host, &tcp) !=
            0) {
            return false;
        }
        end = carriers_find(carriers, (uint32_t)node, (unsigned)port);
        if (!end || end->carrier.kind != CARRIER_CONNECTS) {
            return false;
        }
        snprintf(end->carrier.host, sizeof end->carrier.host, "%s", host);
        end->carrier.port = (uint16_t)tcp;
    }
    return true;
}

int carriers_give(struct carriers *carriers, uint32_t node, unsigned port,
                  struct board_carrier *carrier, struct message *message)
{
    struct carrier_end *end = carriers_find(carriers, node, port);

    if (!end || end->carrier.port == 0) {
        return message_set(message, "nobody has said where the cable of node %u at port %u leads",
                           (unsigned)node, port);
    }
    end->taken = true;
    *carrier = end->carrier;
    return 0;
}
