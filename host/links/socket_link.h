/*
 * socket_link.h - a maker of drivers/link/link.h over the host's end of a non-blocking stream
 * socket.
 *
 * Segments queue as pointers and leave by one sendmsg; a chunk is one read into a free receive
 * buffer.
 *
 * Units    bytes
 * Errors   E_FULL from send when SOCKET_LINK_SEGMENTS are queued
 */
#pragma once

#include <stdbool.h>
#include <sys/uio.h>

#include "drivers/link/link.h"

enum { SOCKET_LINK_SEGMENTS = 256 };

struct socket_link {
    struct link link;
    int fd;
    struct iovec queue[SOCKET_LINK_SEGMENTS]; /* ring of segments not yet with the socket */
    unsigned first, count;
    uint32_t sent_count;
    uint8_t *memory; /* LINK_BUFFERS_MAX buffers */
    uint16_t free_buffers[LINK_BUFFERS_MAX];
    unsigned free_count;
};

/* False: out of memory. */
bool socket_link_init(struct socket_link *socket_link, int fd);
/* Forgets what was queued and received. */
void socket_link_restart(struct socket_link *socket_link);
void socket_link_close(struct socket_link *socket_link);

/* True when segments wait for the socket to take them, or buffers are free to receive into. */
bool socket_link_wants_write(const struct socket_link *socket_link);
bool socket_link_wants_read(const struct socket_link *socket_link);

/* Hands queued segments to the socket; kick() does the same. */
void socket_link_flush(struct socket_link *socket_link);
