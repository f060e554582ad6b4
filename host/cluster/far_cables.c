#include "host/cluster/far_cables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cluster/stream.h"

enum { TRY_MS = 5000 }; /* to reach another computer */

static int open_end(struct far_cables *cables, uint32_t node, unsigned port,
                    struct message *message)
{
    struct cable_end *end = &cables->ends[cables->count];
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return message_set(message, "cannot make a link (socketpair): %s", strerror(errno));
    }
    *end = (struct cable_end){.cables = cables,
                              .node = node,
                              .peer = network_neighbour(&cables->network, node, port),
                              .port = port,
                              .node_fd = fds[0],
                              .fd = fds[1]};
    cables->count++;
    return 0;
}

int far_cables_open(struct far_cables *cables, uv_loop_t *loop, const struct network *network,
                    const struct node_range *range, struct message *message)
{
    cables->loop = loop;
    cables->network = *network;
    cables->ends = calloc((size_t)range->count * network->ports + 1, sizeof *cables->ends);
    if (!cables->ends) {
        return message_set(message, "out of memory");
    }
    for (uint32_t node = range->first; node < range->first + range->count; node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t peer = network_neighbour(network, node, port);

            if (peer != NETWORK_NO_NODE && peer - range->first >= range->count &&
                open_end(cables, node, port, message) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

static void close_once(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void far_cables_close(struct far_cables *cables)
{
    for (unsigned i = 0; i < cables->count; i++) {
        struct cable_end *end = &cables->ends[i];

        close_once(&end->node_fd);
        close_once(&end->fd);
        if (end->connection) {
            connection_close(end->connection);
        }
    }
    free(cables->ends);
    *cables = (struct far_cables){0};
}

/* The end at a port; NULL: the cable does not lead out of the range. */
static struct cable_end *find(struct far_cables *cables, uint32_t node, unsigned port)
{
    for (unsigned i = 0; i < cables->count; i++) {
        if (cables->ends[i].node == node && cables->ends[i].port == port) {
            return &cables->ends[i];
        }
    }
    return NULL;
}

static void join(struct cable_end *end, struct connection *connection)
{
    int fd = end->fd;

    end->fd = -1;
    end->connection = NULL;
    stream_join(end->cables->loop, connection, fd);
}

bool far_cables_take(struct far_cables *cables, struct connection *connection, const json_t *line)
{
    struct cable_end *end;
    int node, port;

    if (json_unpack((json_t *)(uintptr_t)line, "{s:i, s:i}", "node", &node, "port", &port) != 0) {
        return false;
    }
    end = find(cables, (uint32_t)node, (unsigned)port);
    if (!end || end->peer < end->node || end->fd < 0) {
        return false;
    }
    join(end, connection);
    return true;
}

int far_cables_give(struct far_cables *cables, uint32_t node, unsigned port, int *fd,
                    struct message *message)
{
    struct cable_end *end = find(cables, node, port);

    if (!end || end->node_fd < 0) {
        return message_set(message, "the cable of node %u at port %u leads nowhere", (unsigned)node,
                           port);
    }
    *fd = end->node_fd;
    end->node_fd = -1;
    return 0;
}

/* The other end has the same key. */
static void on_moved(void *context)
{
    struct cable_end *end = context;
    struct far_cables *cables = end->cables;

    join(end, end->connection);
    if (--cables->waiting == 0) {
        cables->connected(cables->context);
    }
}

static void on_ended(void *context, const char *why)
{
    struct cable_end *end = context;
    struct message message;

    end->connection = NULL;
    message_set(&message, "cannot connect link %u-%u to computer %s: %s", (unsigned)end->peer,
                (unsigned)end->node, end->computer, why);
    end->cables->refused(end->cables->context, message.text);
}

static const struct cable_place *place_of(const struct cable_place *places, unsigned count,
                                          uint32_t node)
{
    for (unsigned i = 0; i < count; i++) {
        if (node - places[i].range.first < places[i].range.count) {
            return &places[i];
        }
    }
    return NULL;
}

static int connect_end(struct cable_end *end, const struct tls_keys *keys,
                       const struct cable_place *place, unsigned patience_ms,
                       struct message *message)
{
    const struct connection_owner owner = {.context = end, .moved = on_moved, .ended = on_ended};
    const struct network *network = &end->cables->network;
    int fd = peers_dial(place->host, place->port, patience_ms);

    snprintf(end->computer, sizeof end->computer, "%s", place->computer);
    if (fd < 0) {
        return message_set(message, "cannot reach computer %.64s at %.64s, port %s: %s",
                           place->computer, place->host, place->port, strerror(errno));
    }
    end->connection = connection_open(end->cables->loop, fd, false, keys, &owner);
    if (!end->connection) {
        return message_set(message, "out of memory");
    }
    connection_tell(end->connection,
                    json_pack("{s:s, s:i, s:i}", "role", "cable", "node", (int)end->peer, "port",
                              (int)network_far_port(network, end->port)));
    return 0;
}

/* The first to each computer is waited for, since only that tells why one cannot be reached; the
 * others connect at the same time. */
void far_cables_connect(struct far_cables *cables, const struct tls_keys *keys,
                        const struct cable_place *places, unsigned place_count)
{
    bool reached[DIVISION_COMPUTERS_MAX] = {false};
    struct message message;

    for (unsigned i = 0; i < cables->count; i++) {
        struct cable_end *end = &cables->ends[i];
        const struct cable_place *place = place_of(places, place_count, end->peer);

        if (end->peer > end->node) {
            continue;
        }
        if (!place) {
            cables->refused(cables->context, "nobody has said who has its neighbours");
            return;
        }
        if (connect_end(end, keys, place, reached[place - places] ? 0 : TRY_MS, &message) != 0) {
            cables->refused(cables->context, message.text);
            return;
        }
        reached[place - places] = true;
        cables->waiting++;
    }
    if (cables->waiting == 0) {
        cables->connected(cables->context);
    }
}
