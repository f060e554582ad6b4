/*
 * host_link.h - the host as a router among the nodes, driven by the event loop.
 *
 * Owns one socket_link per host link, the router over them, and an outbox for packets that find no
 * free slot. Whatever the router has to tell goes to the notice function, one notice at a time.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/socket_link.h"
#include "host/machine.h"
#include "host/message.h"
#include "router/notice.h"
#include "router/router.h"
#include "router/state.h"

enum { OUTBOX_MAX = 1024, OUTBOX_BODY_MAX = 64 };

struct outbox_packet {
    uint8_t kind;
    uint8_t bytes;
    uint32_t dst;
    uint8_t body[OUTBOX_BODY_MAX];
};

struct host_links {
    struct router router;
    struct network network;
    struct router_config config;
    void *router_memory;
    unsigned count;
    struct socket_link sockets[MACHINE_HOST_LINKS_MAX];
    struct link *links[MACHINE_HOST_LINKS_MAX];
    uint32_t peers[MACHINE_HOST_LINKS_MAX];
    uv_poll_t polls[MACHINE_HOST_LINKS_MAX];
    int poll_events[MACHINE_HOST_LINKS_MAX];
    uv_timer_t timer;
    unsigned handles_open;
    bool pumping;
    struct outbox_packet *outbox; /* ring */
    unsigned outbox_first, outbox_count;
    uint64_t packets; /* received so far */
    void (*notice)(void *context, const struct notice *notice);
    void *context;
};

/* Attaches to the host's ends; `fds[i]` is the link to network_host_node(i). A link of the host or
 * of any node that is silent for patience_ms (0: as router.h says) is dead. */
int host_links_start(struct host_links *host, uv_loop_t *loop, const struct network *network,
                     const struct profile *profile, uint32_t patience_ms, const int *fds,
                     struct message *message);

/* Begins anew on the same sockets, as nodes do that were reset: what was to be sent is forgotten,
 * half a frame stays half, and what the cables still bring of before is nobody's. */
void host_links_restart(struct host_links *host);

/* Lets the router do all that it can now. */
void host_links_pump(struct host_links *host);

/* Queues a packet; it goes when the router has a slot. False when the outbox is full. */
__attribute__((warn_unused_result)) bool host_links_send(struct host_links *host, uint8_t kind,
                                                         uint32_t dst, const void *body,
                                                         uint32_t bytes);

/* Whether nothing of what circuits were given to send is still read, by the router or by a socket.
 */
bool host_links_quiet(const struct host_links *host);

/* Closes the loop's handles; host_links_free after the loop has run once more. */
void host_links_close(struct host_links *host);
void host_links_free(struct host_links *host);
