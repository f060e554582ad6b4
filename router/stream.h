/*
 * stream.h - the bytes of circuits, from in-ports and this node's memory to links and to it.
 *
 * Units    bytes
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/circuit_state.h"
#include "router/port.h"
#include "wire/circuit.h"

struct router;

/* Whether a circuit's bytes may follow its OPEN at once: no hop of a schedule's circuit refuses it
 * for being busy. If the path dies, the hop that refuses throws them away. */
static inline bool stream_early(uint8_t flags)
{
    return flags & OPEN_SCHEDULE && !(flags & OPEN_INLINE);
}

/* Whether the bytes of a circuit may go on now. */
static inline bool circuit_flows(const struct circuit *circuit)
{
    return circuit->state == CIRCUIT_FLOWING ||
           (circuit->state == CIRCUIT_OPENED && stream_early(circuit->flags));
}

/* Whether a frame of so many bytes, or one that is long enough to be worth it, has credit. */
bool stream_has_credit(const struct port *out, uint32_t bytes);

/* Whether an in-port may have something for an out-port: bytes, or that no more will come. */
bool stream_has_bytes(const struct router *router, unsigned out, unsigned in);

/* Whether a circuit that ends here has filled its room and wants more: what comes in at its port
 * waits for the owner. */
bool stream_is_full(const struct circuit *circuit);

/* What router_sink does. */
void stream_sink(struct router *router, unsigned port, uint8_t *data, uint32_t room);

/* Moves bytes: from in-ports and sources to out-ports and sinks. */
void stream_pump(struct router *router);

/* The link at a port is dead: bytes that were to go out there are thrown away. */
void stream_port_dead(struct router *router, unsigned port);
