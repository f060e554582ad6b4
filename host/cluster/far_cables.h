/*
 * far_cables.h - the cables that lead out of a range of nodes, which agents carry.
 *
 * Each end is a socketpair: one socket is the node's, as of any serial line, the other is joined
 * (stream.h) to a connection to the agent that has the other end. The agent of the higher node
 * connects; the first line names the end at the lower node:
 *
 *     {"role": "cable", "node": 3, "port": 2}
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/cluster/connection.h"
#include "host/cluster/division.h"
#include "host/cluster/peers.h"
#include "network/network.h"

struct cable_end {
    struct far_cables *cables;
    uint32_t node, peer;
    char computer[64]; /* of the peer, if this end connects */
    unsigned port;
    int node_fd, fd;               /* -1: the launcher has it; a stream has it */
    struct connection *connection; /* whose handshake is not over */
};

/* Where the agent of other nodes takes cables. */
struct cable_place {
    struct node_range range;
    const char *computer, *host;
    char port[PEERS_PORT_MAX];
};

struct far_cables {
    uv_loop_t *loop;
    struct network network;
    struct cable_end *ends;  /* by node and port */
    unsigned count, waiting; /* of ends that connect, those whose connections are not there yet */
    void *context;
    void (*connected)(void *context); /* all that far_cables_connect has begun are */
    void (*refused)(void *context, const char *text); /* one cannot be; maybe once for each */
};

/* Lists the ends of a range and makes their sockets. */
int far_cables_open(struct far_cables *cables, uv_loop_t *loop, const struct network *network,
                    const struct node_range *range, struct message *message);
void far_cables_close(struct far_cables *cables);

/* Connects those whose lower node is elsewhere: `connected` or `refused` is told, maybe at once. */
void far_cables_connect(struct far_cables *cables, const struct tls_keys *keys,
                        const struct cable_place *places, unsigned place_count);

/* Takes a connection whose first line is of a cable over; false: of none that waits here, and the
 * connection is the caller's still. */
bool far_cables_take(struct far_cables *cables, struct connection *connection, const json_t *line);

/* Gives the node's socket of an end to the launcher (launcher_far.cable). */
int far_cables_give(struct far_cables *cables, uint32_t node, unsigned port, int *fd,
                    struct message *message);
