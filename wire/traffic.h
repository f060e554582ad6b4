/*
 * traffic.h - what a node's links have carried outwards, and what has gone wrong on them.
 *
 *   TRAFFIC_ASK  to a node: 0 first port u8 | 1 spare[3]
 *   TRAFFIC      its answer: 0 port count u8, of the node | 1 first port u8 | 2 ports told u8 |
 *                3 spare | 4 per port: of programs, then of the host: bytes u64, busy ns u64,
 *                waited ns u64, circuits u32, refused u32; and frames sent u32, sent again u32,
 *                received damaged u32
 *
 * An answer tells as many ports as fit, from the one that the question names; the rest is asked for
 * with the next question. A port behind the last has an answer that tells none.
 *
 * Units    bytes; ns of model time; counts modulo 2^32. What is counted: router/link_counters.h
 * Context  any; pure. Unpacking is false when the bytes are too few, or too many ports are told
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/packet.h"

enum traffic_kind { PACKET_TRAFFIC_ASK = 50, PACKET_TRAFFIC = 51 };

/* Whose circuits. */
enum traffic_user { TRAFFIC_PROGRAM, TRAFFIC_HOST, TRAFFIC_USERS };

enum {
    TRAFFIC_ASK_BYTES = 4,
    TRAFFIC_HEADER_BYTES = 4,
    TRAFFIC_USE_BYTES = 32,
    TRAFFIC_PORT_BYTES = TRAFFIC_USERS * TRAFFIC_USE_BYTES + 12,
    TRAFFIC_PORTS_MAX = (PACKET_BODY_MAX - TRAFFIC_HEADER_BYTES) / TRAFFIC_PORT_BYTES,
    TRAFFIC_BYTES_MAX = TRAFFIC_HEADER_BYTES + TRAFFIC_PORTS_MAX * TRAFFIC_PORT_BYTES
};

struct traffic_use {
    uint64_t bytes, busy_ns, waited_ns;
    uint32_t circuits, refused;
};

struct traffic_port {
    struct traffic_use uses[TRAFFIC_USERS];
    uint32_t frames, repeats, damaged;
};

struct traffic_header {
    uint8_t port_count, first, told;
};

static inline void traffic_ask_pack(uint8_t *body, uint8_t first)
{
    put32(body, first);
}

static inline bool traffic_ask_unpack(const uint8_t *body, uint32_t bytes, uint8_t *first)
{
    if (bytes < TRAFFIC_ASK_BYTES) {
        return false;
    }
    *first = body[0];
    return true;
}

/* How many ports an answer tells that begins with `first`. */
static inline uint8_t traffic_told(unsigned port_count, unsigned first)
{
    unsigned left = first < port_count ? port_count - first : 0;

    return (uint8_t)(left < TRAFFIC_PORTS_MAX ? left : TRAFFIC_PORTS_MAX);
}

/* Returns the bytes of the body, with the ports, which traffic_port_pack writes. */
static inline uint32_t traffic_pack(uint8_t *body, const struct traffic_header *header)
{
    put32(body, header->port_count | (uint32_t)header->first << 8 | (uint32_t)header->told << 16);
    return TRAFFIC_HEADER_BYTES + header->told * (uint32_t)TRAFFIC_PORT_BYTES;
}

/* The port at a place among those that are told. */
static inline void traffic_port_pack(uint8_t *body, unsigned place, const struct traffic_port *port)
{
    uint8_t *at = body + TRAFFIC_HEADER_BYTES + place * TRAFFIC_PORT_BYTES;

    for (unsigned user = 0; user < TRAFFIC_USERS; user++, at += TRAFFIC_USE_BYTES) {
        put64(at, port->uses[user].bytes);
        put64(at + 8, port->uses[user].busy_ns);
        put64(at + 16, port->uses[user].waited_ns);
        put32(at + 24, port->uses[user].circuits);
        put32(at + 28, port->uses[user].refused);
    }
    put32(at, port->frames);
    put32(at + 4, port->repeats);
    put32(at + 8, port->damaged);
}

static inline bool traffic_unpack(const uint8_t *body, uint32_t bytes,
                                  struct traffic_header *header)
{
    if (bytes < TRAFFIC_HEADER_BYTES) {
        return false;
    }
    *header = (struct traffic_header){body[0], body[1], body[2]};
    return header->first + header->told <= header->port_count &&
           bytes >= TRAFFIC_HEADER_BYTES + header->told * (uint32_t)TRAFFIC_PORT_BYTES;
}

static inline struct traffic_port traffic_port_at(const uint8_t *body, unsigned place)
{
    const uint8_t *at = body + TRAFFIC_HEADER_BYTES + place * TRAFFIC_PORT_BYTES;
    struct traffic_port port;

    for (unsigned user = 0; user < TRAFFIC_USERS; user++, at += TRAFFIC_USE_BYTES) {
        port.uses[user] = (struct traffic_use){get64(at), get64(at + 8), get64(at + 16),
                                               get32(at + 24), get32(at + 28)};
    }
    port.frames = get32(at);
    port.repeats = get32(at + 4);
    port.damaged = get32(at + 8);
    return port;
}
