/*
 * chain_port.h - the socket `chain`, and the debuggers that come to it.
 *
 * Each has a JTAG chain of its own (chain.h) through the same nodes, TAP k being node k.
 *
 *     characters -> chain -> accesses -> nodes        chain -> '0', '1'
 *
 * The accesses of all TAPs that a scan has begun are done at the same time, and before more
 * characters are taken. The system reset line resets each node that no other debugger has, when the
 * line is let go.
 *
 * Errors   chain_port_listen: a negative libuv status
 * Context  the loop's thread
 */
#pragma once

#include <uv.h>

#include "jtag/daemon/debug_node.h"

enum { CHAIN_CLIENTS_MAX = 16 }; /* more are let go at once */

struct chain_client;

struct chain_port {
    uv_pipe_t server;
    struct debug_node *nodes;
    unsigned node_count;
    struct chain_client *clients;
    unsigned client_count;
};

int chain_port_listen(struct chain_port *port, uv_loop_t *loop, const char *directory,
                      struct debug_node *nodes, unsigned node_count);

void chain_port_close(struct chain_port *port);
