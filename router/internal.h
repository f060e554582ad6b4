/*
 * internal.h - what the files of the router share; not for its users.
 *
 * router.c takes arrivals and notices, packet.c moves routed packets, circuit.c sets circuits up,
 * setup.c says which one goes next, stream.c moves their bytes, identity.c reads HELLOs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "router/port.h"
#include "router/segment.h"
#include "router/state.h"
#include "wire/circuit.h"

/* Port of the next hop to dst, PORT_LOCAL, or PORT_NONE when there is no way. */
unsigned router_next_hop(const struct router *router, uint32_t dst);

/* This router is in that network from now on. */
void router_set_network(struct router *router, const struct network *network);

bool router_notice_room(const struct router *router);
/* The place of a new notice, which the caller fills. */
struct notice *router_tell(struct router *router);

/* Finishes a packet that starts FRAME_HEADER_BYTES after `frame`, and queues it as one segment; the
 * caller says whose memory that is. */
struct segment *router_queue_packet(struct router *router, unsigned port, uint8_t *frame,
                                    uint32_t packet_bytes);

void identity_take(struct router *router, unsigned port);
void identity_hello(const struct router *router, unsigned port, struct hello *hello);

void packet_take(struct router *router, unsigned port, const struct arrival *arrival);
void packet_pump(struct router *router);

/* False when the packet breaks the protocol. */
bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival);
void circuit_pump(struct router *router);
/* The circuit being set up over a port is answered: E_OK with its model time of completion, or why
 * not. */
void circuit_answer(struct router *router, unsigned port, int status, uint64_t done_ns);
void circuit_port_dead(struct router *router, unsigned port);
/* The oldest OPEN of an in-port is held no longer; its circuit stays. */
void circuit_unhold(struct router *router, unsigned port, struct circuit *circuit);
/* Refuses the oldest circuit that in-port `port` holds; bytes that follow it already are thrown
 * away. */
void circuit_refuse(struct router *router, unsigned port, int status);
/* The answer to one of this node's own circuits, opening[index]; true when no bytes of it follow.
 */
bool circuit_answer_source(struct router *router, unsigned index, int status, uint64_t done_ns);

/* Whether a message's OPEN that has come to this node is one of a sender that is a collective
 * ahead: rule 5. */
bool setup_early(const struct router *router, const uint8_t *packet);
/* Whether any OPEN is to go on. */
static inline bool setup_waits(const struct router *router)
{
    return router->passing_ports || router->opening_passed < router->opening_count;
}

/* Lets the oldest circuit that may pass go on; false when none may. */
bool setup_pass_oldest(struct router *router);

static inline struct circuit *circuit_at(struct port *port, unsigned index)
{
    return &port->circuits[(port->circuit_first + index) % CIRCUITS_MAX];
}

/* The oldest circuit whose OPEN is held at a port; NULL when there is none. */
static inline struct circuit *circuit_held(struct port *port)
{
    return port->opens_held ? circuit_at(port, (unsigned)(port->circuit_count - port->opens_held))
                            : NULL;
}

/* Whether a circuit's bytes may follow its OPEN at once: no hop of a schedule's circuit refuses it
 * for being busy. */
static inline bool stream_early(uint8_t flags)
{
    return flags & OPEN_SCHEDULE && !(flags & OPEN_INLINE);
}

/* Whether circuits of this kind may be set up right behind each other, when they go from one node
 * to one other: the bytes of each are announced, all take one path, and none waits for its turn. */
static inline bool circuit_chains(uint8_t flags)
{
    return !(flags & (OPEN_INLINE | OPEN_SCHEDULE | OPEN_IMAGE | OPEN_ROUTE));
}

/* Whether the circuit whose turn it is on a port sends bytes. */
static inline bool stream_turn(const struct port *out)
{
    return out->order_count && !(out->order[0] & ORDER_INLINE);
}

/* Has a port looked at whose circuits may send now. */
static inline void stream_wake(struct router *router, const struct port *out)
{
    if (stream_turn(out) || out->draining_count)
        router->out_due |= out->channel.due_bit;
}

/* Moves bytes: from in-ports and sources to out-ports and sinks. */
void stream_pump(struct router *router);
/* Queues the OPEN of a source on its link. */
void stream_source_open(struct router *router, unsigned number);
/* A segment of a source has been acknowledged. */
void stream_source_done(struct router *router, unsigned number);
/* Tells of a source that has nothing more under way. */
void stream_source_check(struct router *router, unsigned number);
void stream_port_dead(struct router *router, unsigned port);

/* Start-up and per-hop time of this router's own messages: the host's are sigma times a node's. */
uint64_t router_xi(const struct router *router);
uint32_t router_tau(const struct router *router);
