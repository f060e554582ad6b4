/*
 * shared_links.h - the links in shared memory of a machine: their memory, and how nodes ring.
 *
 * A link is one memory file that two QEMUs map, sealed so that none can change its size. A node is
 * rung through its eventfd. Its QEMU's ivshmem device is told of both in the words of an ivshmem
 * server, which are written into a socket before the QEMU starts: the neighbours whom it may ring,
 * then the memory that is the node's card, then its own eventfd. In another order a neighbour would
 * become known while the node already runs, and be rung in vain. A QEMU gets the memory of its own
 * links and nothing else.
 *
 * A link is lost by a word in its memory, and a bell to both ends. This is what a socket's end is
 * for a serial line.
 *
 * Errors   -1 and a message
 * Source   QEMU, docs/specs/ivshmem-spec.txt, Client-Server protocol; hw/misc/ivshmem.c;
 *          memfd_create(2), fcntl(2) F_ADD_SEALS
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/computer/limits.h"
#include "host/console/message.h"

struct shared_link_end {
    int link; /* -1: this port has none */
    unsigned side;
};

struct shared_link {
    int fd;
    bool lost;
};

struct shared_links {
    uint32_t nodes;
    struct shared_link_end (*ends)[MACHINE_PORTS_MAX]; /* of each node */
    struct shared_link *links;
    unsigned link_count, link_max;
    int *event_fds;   /* of each node */
    uint32_t spin_us; /* what the nodes' cards say, 0 at first */
};

/* Room for so many nodes and links. */
int shared_links_init(struct shared_links *links, uint32_t nodes, unsigned link_max,
                      struct message *message);

/* Makes the link between port p of node a and port q of node b. */
int shared_links_join(struct shared_links *links, uint32_t a, unsigned p, uint32_t b, unsigned q,
                      struct message *message);

/* Exchanges what is plugged into two ports. */
void shared_links_swap(struct shared_links *links, uint32_t a, unsigned p, uint32_t b, unsigned q);

/* The link memories of a node in the order of its card; their number. */
unsigned shared_links_memories(const struct shared_links *links, uint32_t node,
                               int fds[MACHINE_PORTS_MAX]);

/* Writes what a node's ivshmem device will read; *fd is the end of the socket for its QEMU. Waits a
 * bounded time when too many descriptors are under way to other nodes. */
int shared_links_tell(const struct shared_links *links, uint32_t node, unsigned port_count, int *fd,
                      struct message *message);

/* Takes away the carrier of the link at a port; false when there is none, or no more. */
bool shared_links_lose(struct shared_links *links, uint32_t node, unsigned port);

void shared_links_free(struct shared_links *links);
