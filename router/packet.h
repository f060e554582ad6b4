/*
 * packet.h - packets: their next hop, storing and forwarding, this node's own.
 *
 * Units    bytes
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arrival;
struct router;
struct segment;

/* Port of the next hop to dst, PORT_LOCAL, or PORT_NONE when there is no way. */
unsigned router_next_hop(const struct router *router, uint32_t dst);

/* Finishes a packet that starts FRAME_HEADER_BYTES after `frame`, and queues it as one segment; the
 * caller says whose memory that is. */
struct segment *packet_queue(struct router *router, unsigned port, uint8_t *frame,
                             uint32_t packet_bytes);

/* A packet has arrived: it is for this node, or lies there until it can go on. */
void packet_take(struct router *router, unsigned port, const struct arrival *arrival);

/* Sends what can go on, and this node's own. */
void packet_pump(struct router *router);

/* What router_send and router_slots_free do. */
int packet_send(struct router *router, uint8_t kind, uint32_t dst, const void *body,
                uint32_t bytes);
unsigned packet_slots_free(const struct router *router);
