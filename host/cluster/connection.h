/*
 * connection.h - a TLS connection in an event loop, with what has come and what is to leave.
 *
 * At both ends of a control connection lines of JSON are read and written; of a stream (stream.h)
 * only the first line is one, and bytes follow.
 *
 * Context  the thread of the loop. No connection is freed while its owner is told something:
 *          connection_close takes effect when the loop turns
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "host/cluster/tls.h"

enum { CONNECTION_IN_MAX = 64 * 1024, CONNECTION_OUT_FULL = 64 * 1024 };

struct connection_owner {
    void *context;
    void (*moved)(void *context); /* the handshake is over, bytes have come or have left */
    void (*ended)(void *context, const char *why); /* once; not after connection_close */
};

struct connection {
    struct connection_owner owner;
    struct tls tls;
    uv_poll_t poll;
    int fd, events;
    bool began;     /* its handshake: until then a client waits to write, a server to read */
    bool connected; /* its handshake is over */
    bool finishes;  /* what comes is not wanted any more */
    bool closed;
    char in[CONNECTION_IN_MAX];
    size_t in_bytes;
    char *out;
    size_t out_bytes, out_room;
};

/* Takes the socket over, which does not block; NULL: no memory, and it is closed. */
struct connection *connection_open(uv_loop_t *loop, int fd, bool server,
                                   const struct tls_keys *keys,
                                   const struct connection_owner *owner);
void connection_close(struct connection *connection);
/* The same, when what is to leave has left and the other end has closed it, which reads first what
 * has come: a socket that is closed before takes bytes back. Its owner is told nothing any more. */
void connection_finish(struct connection *connection);

/* A complete line that has come; NULL: there is none now. One that is no JSON object ends the
 * connection. The reference is the caller's. */
json_t *connection_line(struct connection *connection);

/* Copies what a line says for the user, cut to the room: one line, whatever it holds. */
void connection_words(char *words, size_t room, const char *text);

/* Sends a line; takes over the reference. */
void connection_tell(struct connection *connection, json_t *line);

void connection_put(struct connection *connection, const void *bytes, size_t count);
/* The first bytes of `in` have been used. */
void connection_take(struct connection *connection, size_t count);
