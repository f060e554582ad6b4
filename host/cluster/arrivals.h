/*
 * arrivals.h - the connections that come to a listening socket, until their first lines have.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "host/cluster/connection.h"

struct arrivals_owner {
    void *context;
    /* A connection has said what it is, and is the owner's now. The line is not. */
    void (*came)(void *context, struct connection *connection, const json_t *line);
    /* Somebody at this address has another key; NULL: nobody wants to know. */
    void (*foreign)(void *context, const char *address);
};

struct arrivals {
    struct arrivals_owner owner;
    uv_loop_t *loop;
    const struct tls_keys *keys;
    uv_poll_t poll;
    uv_timer_t timer;
    int listener;
    struct arrival *waiting;
};

/* Takes connections at this socket from now on; the socket stays the caller's. */
void arrivals_open(struct arrivals *arrivals, uv_loop_t *loop, int listener,
                   const struct tls_keys *keys, const struct arrivals_owner *owner);
