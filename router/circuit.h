/*
 * circuit.h - a circuit: what its source sends, where its bytes go, and what happens to it at the
 * in-ports on its way.
 *
 * The owner names each end by a token of its own, which the notices of the circuit carry. The
 * functions are the router's own: an owner calls those of router.h.
 *
 * Units    bytes; model time in ns
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/circuit.h"

struct arrival;
struct circuit;
struct port;
struct router;

/* A circuit to be sent: the message is data[0], data[1], and what router_feed brings, portion by
 * portion; data[0] and data[1] are the first one. */
struct circuit_source {
    uint32_t dst;
    uint32_t match;
    uint32_t tag;
    /* enum open_flag; OPEN_INLINE only up to open_inline_max bytes, all in data[0] */
    uint8_t flags;
    uint8_t generation; /* of a message: tells its program from the one before */
    uint16_t epoch;     /* with OPEN_SCHEDULE */
    /* with OPEN_SCHEDULE or OPEN_ROUTE: a hop list as packed; one of more than OPEN_COPY_MAX bytes
     * stays where it is, as data does */
    const uint8_t *hops;
    uint64_t issue_ns; /* model time at which the source issues it */
    uint8_t port;      /* enum circuit_port, that it leaves by */
    const uint8_t *data[2];
    uint32_t bytes[2];
    uint32_t more; /* bytes behind them, which come later; none with OPEN_INLINE */
    uint32_t token;
};

/* Where an arriving circuit goes: `room` bytes to `data`, those behind to where router_sink says,
 * portion by portion. An inline one is copied at once: with `more` it fits into the room. */
struct circuit_sink {
    uint8_t *data;
    uint32_t room;
    uint32_t more; /* bytes behind the room that are wanted too */
    uint32_t token;
    uint64_t ready_ns; /* model time at which the receiver was ready */
    uint8_t port;      /* enum circuit_port, that it comes by */
};

/* Takes a packet of circuits that has come in at a port; false when it breaks the protocol. */
bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival);

/* Sets up what can be, tells of circuits that are for this node, sends answers. */
void circuit_pump(struct router *router);

/* The oldest OPEN held at an in-port goes on: its packet. */
struct arrival circuit_pass(struct router *router, unsigned port);

/* Refuses the oldest circuit that an in-port holds; bytes that follow it already are thrown away.
 */
void circuit_refuse(struct router *router, unsigned port, int status);

/* The circuit being set up over a port is answered: E_OK with what its receiver says, or why not.
 */
void circuit_answer(struct router *router, unsigned port, int status, struct accept_body accept);

/* The bytes of a circuit go nowhere from now on. */
void circuit_discard(struct router *router, unsigned port, struct circuit *circuit);

/* Where a circuit ends at an in-port: all its bytes have gone on or been taken, or none follow. */
void circuit_close(struct router *router, unsigned port, struct circuit *circuit);

/* The link at a port is dead: who waits for an answer over it gets one, what it held is dropped. */
void circuit_port_dead(struct router *router, unsigned port);

/* What router_open_at and router_accept do. */
const uint8_t *circuit_open_at(const struct router *router, unsigned port);
uint64_t circuit_accept(struct router *router, unsigned port, const struct circuit_sink *sink);

/* Whether circuits of this kind may be set up right behind each other, when they go from one node
 * to one other: the bytes of each are announced, all take one path, and none waits for its turn. */
static inline bool circuit_chains(uint8_t flags)
{
    return !(flags & (OPEN_INLINE | OPEN_SCHEDULE | OPEN_IMAGE | OPEN_ROUTE)) &&
           !open_is_share(flags);
}
