/*
 * gdb_port.h - the socket nK.gdb of one node, and the GDBs that come to it.
 *
 * One GDB has the node, others are told who does and are let go. A GDB that goes without a word
 * leaves the node as it is: standing, or running without that GDB's points.
 *
 * Errors   gdb_port_listen: a negative libuv status
 * Context  the loop's thread
 */
#pragma once

#include <uv.h>

#include "jtag/stub/emulator.h"
#include "jtag/socket/peer.h"

enum { GDB_CLIENTS_MAX = 8 }; /* at one node at the same time; more are not even told */

struct gdb_client;

struct gdb_port_owner {
    void *context;
    void (*changed)(void *context); /* the node, or who has it */
    void (*was_reset)(void *context);
    /* Makes the node free for a GDB when that is possible; else says in words who has it. */
    void (*free_node)(void *context, char words[PEER_WORDS_MAX]);
};

struct gdb_port {
    uv_pipe_t server;
    struct emulator *emulator;
    struct gdb_port_owner owner;
    struct gdb_client *clients, *guest; /* all; who has the node */
    unsigned client_count;
    bool lost; /* a GDB has told the node to run where there is no memory */
};

int gdb_port_listen(struct gdb_port *port, struct emulator *emulator,
                    const struct gdb_port_owner *owner);

/* Words for the GDB that has the node; NULL: none has, or not yet. */
const char *gdb_port_holder(const struct gdb_port *port);

void gdb_port_close(struct gdb_port *port);
