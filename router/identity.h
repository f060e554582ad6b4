/*
 * identity.h - who am I: this router's number and network, and what its HELLOs say.
 *
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/clock.h"

struct hello;
struct network;
struct router;

/* This router is in that network from now on. */
void identity_set_network(struct router *router, const struct network *network);

/* Takes what a new HELLO of the link at a port says. */
void identity_take(struct router *router, unsigned port);

/* What this end says at a port. */
void identity_hello(const struct router *router, unsigned port, struct hello *hello);

/* The start-up of a message of this router's to `dst`, and the time of its hop over a port: those
 * to and from the host, and of its links, are sigma times those between nodes. */
uint64_t identity_xi(const struct router *router, uint32_t dst);
uint64_t identity_tau(const struct router *router, unsigned port);

/* The times from which on a circuit's port is free, both ways, are at this place; CLOCK_PORTS_MAX:
 * it waits for none. */
unsigned identity_port(const struct router *router, enum circuit_port port);
