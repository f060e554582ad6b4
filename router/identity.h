/*
 * identity.h - who am I: this router's number and network, and what its HELLOs say.
 *
 * Context  the router's step
 */
#pragma once

#include <stdint.h>

struct hello;
struct network;
struct router;

/* This router is in that network from now on. */
void identity_set_network(struct router *router, const struct network *network);

/* Takes what a new HELLO of the link at a port says. */
void identity_take(struct router *router, unsigned port);

/* What this end says at a port. */
void identity_hello(const struct router *router, unsigned port, struct hello *hello);

/* Start-up and per-hop time of this router's own messages: the host's are sigma times a node's. */
uint64_t identity_xi(const struct router *router);
uint32_t identity_tau(const struct router *router);
