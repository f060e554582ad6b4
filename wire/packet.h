/*
 * packet.h - the packet: what travels in a FRAME_PACKET, on the control channel.
 *
 *   byte 0      1      2        4      8      12     14     16
 *        +------+------+--------+------+------+------+------+-------
 *        | kind | flags| bytes  | src  | dst  | hops | spare| body
 *        | u8   | u8   | u16    | u32  | u32  | u16  |      |
 *        +------+------+--------+------+------+------+------+-------
 *
 * All numbers are little-endian. `bytes` is the length of the body. `src` and `dst` are ranks, or
 * ID_HOST. `hops` counts the links that the packet has passed; a hop changes it in place. Flags and
 * spare are 0.
 *
 * Kinds are numbered by range, so a router need not know the kinds that it forwards. Below
 * PACKET_ROUTED a packet belongs to one hop of a circuit and is never forwarded as it is
 * (circuit.h); all others go store and forward to dst.
 *
 *    1 to  3  circuit.h
 *   16 to 20  message.h
 *   21, 27    collective.h
 *   22 to 26  run.h, report.h: from the host, OFFER from nodes too
 *   28 to 29  plan.h: from the host
 *   30 to 31  gather.h: from the host, COLLECT from nodes too
 *   32 to 40  run.h, report.h: to the host
 *   41 to 42  plan.h: to the host
 *   43        gather.h: to the host
 *   44 to 45  region.h: from the host
 *   46 to 47  region.h: to the host
 *   50        traffic.h: from the host
 *   51        traffic.h: to the host
 *   52        record.h: from the host
 *   53        record.h: to the host
 *
 * Units    bytes
 * Context  any; pure. A packet is looked at where it lies, and must be PACKET_HEADER_BYTES long.
 */
#pragma once

#include <stdint.h>

#include "wire/bytes.h"

enum {
    PACKET_HEADER_BYTES = 16,
    PACKET_BODY_MAX = 1088, /* FRAME_CONTROL_MAX less the header */
    PACKET_ROUTED = 16      /* kinds from here on are forwarded */
};

static inline uint8_t packet_kind(const uint8_t *packet)
{
    return packet[0];
}

static inline uint32_t packet_body_bytes(const uint8_t *packet)
{
    return get16(packet + 2);
}

static inline uint32_t packet_src(const uint8_t *packet)
{
    return get32(packet + 4);
}

static inline uint32_t packet_dst(const uint8_t *packet)
{
    return get32(packet + 8);
}

static inline uint32_t packet_hops(const uint8_t *packet)
{
    return get16(packet + 12);
}

static inline void packet_set_hops(uint8_t *packet, uint32_t hops)
{
    put16(packet + 12, hops);
}

static inline const uint8_t *packet_body(const uint8_t *packet)
{
    return packet + PACKET_HEADER_BYTES;
}

/* Writes a header with no hops, in two words: smaller pieces would be slow to read back. */
static inline void packet_pack(uint8_t *packet, uint8_t kind, uint32_t body_bytes, uint32_t src,
                               uint32_t dst)
{
    put64(packet, kind | (uint64_t)(body_bytes & 0xffff) << 16 | (uint64_t)src << 32);
    put64(packet + 8, dst);
}
