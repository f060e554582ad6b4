/*
 * clients.h - the tools that are connected to the process which holds a machine: what they ask, and
 * what they are told.
 *
 * Nothing ends while somebody is told something: a client that has hung up, or whose connection
 * fails, is taken away from the top of the loop, when nobody is in the middle of anything.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "host/console/line.h"

enum { CLIENTS_MAX = 32 };

struct clients;

struct client {
    struct clients *clients;
    struct client *next;
    uv_pipe_t pipe;
    char *request; /* what has come of the line */
    size_t request_bytes;
    bool asked;        /* the line was complete */
    bool listed;       /* there was room for it among those that are told of events and answers */
    bool doomed;       /* to be taken away */
    uint32_t left_out; /* events that it was to be shown, but had no room for */
    /* what its owner notes of it */
    bool listens;     /* to console lines */
    bool wants_nodes; /* waits for the answer to a query */
    bool wants_links; /* and for what nodes' links have carried */
};

struct clients_owner {
    void *context;
    /* A client has asked; NULL: that was no JSON. */
    void (*request)(void *context, struct client *client, const json_t *request);
    /* The client's connection has taken a line. */
    void (*taken)(void *context, const struct line_receipt *receipt);
    /* The client is no more when this returns. */
    void (*gone)(void *context, struct client *client);
};

struct clients {
    struct clients_owner owner;
    uv_pipe_t listener;
    uv_async_t reaper;
    struct client *first;
    unsigned listed_count;
};

/* Takes connections at a socket of this path. Returns 0, or libuv's error. */
int clients_listen(struct clients *clients, uv_loop_t *loop, const char *path,
                   const struct clients_owner *owner);

/* Takes no more connections. */
void clients_deafen(struct clients *clients);

/* The same, and ends those that there are without a word to the owner; their
 * memory is free when the loop has run out. */
void clients_close(struct clients *clients);

/* Whether it has hung up, though that may not have come to the loop yet. */
bool client_hung_up(const struct client *client);

/* One line for one client; takes over the event. */
void client_tell(struct client *client, json_t *event);

/* The same, with a receipt that comes back when the connection has taken it. */
void client_tell_line(struct client *client, json_t *event, const struct line_receipt *receipt);

/* The same, for one who only looks on: where too much waits for it already, it is left out. When
 * there is room again, the client is told how much it has missed. */
void client_show(struct client *client, json_t *event);

/* The same, with a refusal of what it has asked. */
void client_refuse(struct client *client, const char *text);
