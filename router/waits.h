/*
 * waits.h - what the circuits that begin at a router, or are held there, wait for.
 *
 * For whoever looks at a network that stands and sees all its routers: each says for what it waits
 * itself, and which of its circuits has the link. Where that circuit has come to, or where it comes
 * from, the router at the other end of the link says. A node does not ask this.
 *
 * Errors   none
 * Context  between steps; changes nothing
 */
#pragma once

#include <stdint.h>

#include "router/circuit_state.h"
#include "router/state.h"

enum router_wait_kind {
    ROUTER_WAITS_NOT,    /* there is none that waits */
    ROUTER_WAITS_OWNER,  /* it has come to its node, for the owner to answer */
    ROUTER_WAITS_ANSWER, /* an own one: its OPEN has gone on */
    /* for the link: */
    ROUTER_WAITS_MISSING, /* there is none */
    ROUTER_WAITS_DEAD,    /* it is dead, or crossed: this will be refused */
    ROUTER_WAITS_TURN,    /* another circuit of the schedule goes first */
    ROUTER_WAITS_SETUP,   /* another circuit is being set up over it */
    ROUTER_WAITS_PLACE,   /* the bytes of CIRCUITS_MAX circuits are under way on it */
    ROUTER_WAITS_ROOM     /* its channel has no room, or nothing keeps it after the next step */
};

struct router_wait {
    uint8_t kind;        /* enum router_wait_kind */
    uint8_t out;         /* port of its link; PORT_LOCAL: it has come to its node */
    const uint8_t *open; /* its OPEN packet; NULL: ROUTER_WAITS_NOT */
};

/* What the oldest OPEN held at an in-port waits for; at PORT_LOCAL: this node's oldest circuit
 * without an answer. */
struct router_wait router_waits(const struct router *router, unsigned in);

/* The OPEN of this node's oldest circuit that is in `state`, SOURCE_WAITING or SOURCE_OPENED; NULL:
 * there is none. */
const uint8_t *router_own(const struct router *router, enum source_state state);

/* The in-port of the circuit that is being set up over a port's link, PORT_LOCAL: it begins here;
 * PORT_NONE: there is none. */
unsigned router_holder(const struct router *router, unsigned port);

/* The port over which the circuit of an in-port that is being set up has gone on; PORT_NONE: there
 * is none, or it is held here. */
unsigned router_onward(const struct router *router, unsigned in);

/* How many circuits of a schedule a port's link has carried: the number of the turn that is next.
 */
unsigned router_turn(const struct router *router, unsigned port, uint16_t epoch);
