/*
 * circuit.h - the packets of one hop of a circuit: OPEN forward, ACCEPT or REFUSE back.
 *
 * OPEN, from the start of the packet:
 *
 *   byte 16      20     24   28     30     31   32     40     48            80
 *        +-------+------+----+------+------+----+------+------+-------------+---------
 *        | length| match| tag| epoch| flags| run| clock| free | turns       | message
 *        | u32   | u32  | u32| u16  | u8   | u8 | u64  | u64  | u16 [16]    | itself
 *        +-------+------+----+------+------+----+------+------+-------------+---------
 *
 *   length  bytes of the message
 *   match   the READY's or OFFER's name for it; of a step of a schedule: its number
 *   epoch   of its schedule; of a message: of the last one that its sender has completed
 *   flags   enum open_flag
 *   run     of a message: of the OFFER of its program
 *   clock   model ns at which the circuit has come as far as this; a hop changes it in place
 *   free    model ns at which the source's send port is free
 *   turns   of a schedule's circuit: how many of its schedule each link of its path carries before
 *           it, indexed by the port of each hop
 *
 * The message itself follows when OPEN_INLINE is set.
 *
 * ACCEPT   0 done ns u64: model time of completion
 * REFUSE   0 reason i32, a negative status | 4 its sign i32
 *
 * Neither has source or destination: the answers of a link come in the order of its OPENs.
 *
 * Units    bytes; model time in ns
 * Context  any; pure. An OPEN is looked at where it lies, and must be OPEN_BYTES long.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/packet.h"

enum circuit_kind { PACKET_OPEN = 1, PACKET_ACCEPT = 2, PACKET_REFUSE = 3 };

enum {
    OPEN_BYTES = 80, /* header and body, without inline data */
    OPEN_BODY_BYTES = OPEN_BYTES - PACKET_HEADER_BYTES,
    OPEN_INLINE_MAX = 1024, /* longest message that rides in its OPEN */
    TURNS_MAX = 16,
    ANSWER_BYTES = 8 /* body of ACCEPT or REFUSE */
};

enum open_flag {
    OPEN_INLINE = 1,   /* the whole message follows the body; no data frames, no CLOSE */
    OPEN_SCHEDULE = 2, /* waits its turn at each hop (epoch, turns) */
    OPEN_IMAGE = 4,    /* part of a download; match is the READY's */
    OPEN_EAGER = 8     /* inline message without a READY: the receiver's pool stands ready */
};

struct open_body {
    uint32_t length, match, tag;
    uint16_t epoch;
    uint8_t flags; /* enum open_flag */
    uint8_t run;
    uint64_t clock_ns, free_ns;
    uint16_t turns[TURNS_MAX];
};

/* Writes the body behind an OPEN's header. */
static inline void open_pack(uint8_t *packet, const struct open_body *open)
{
    put32(packet + 16, open->length);
    put32(packet + 20, open->match);
    put32(packet + 24, open->tag);
    put16(packet + 28, open->epoch);
    packet[30] = open->flags;
    packet[31] = open->run;
    put64(packet + 32, open->clock_ns);
    put64(packet + 40, open->free_ns);
    for (unsigned i = 0; i < TURNS_MAX; i++)
        put16(packet + 48 + 2 * i, open->turns[i]);
}

static inline uint32_t open_length(const uint8_t *packet)
{
    return get32(packet + 16);
}

static inline uint32_t open_match(const uint8_t *packet)
{
    return get32(packet + 20);
}

static inline uint32_t open_tag(const uint8_t *packet)
{
    return get32(packet + 24);
}

static inline uint16_t open_epoch(const uint8_t *packet)
{
    return get16(packet + 28);
}

static inline uint8_t open_flags(const uint8_t *packet)
{
    return packet[30];
}

static inline uint8_t open_run(const uint8_t *packet)
{
    return packet[31];
}

static inline uint64_t open_clock(const uint8_t *packet)
{
    return get64(packet + 32);
}

static inline void open_set_clock(uint8_t *packet, uint64_t ns)
{
    put64(packet + 32, ns);
}

static inline uint64_t open_free(const uint8_t *packet)
{
    return get64(packet + 40);
}

/* The turn on the hop that leaves a node over `port`, which is below TURNS_MAX. */
static inline uint16_t open_turn(const uint8_t *packet, unsigned port)
{
    return get16(packet + 48 + 2 * port);
}

/* The message of an OPEN with OPEN_INLINE. */
static inline const uint8_t *open_inlined(const uint8_t *packet)
{
    return packet + OPEN_BYTES;
}

struct accept_body {
    uint64_t done_ns;
};

struct refuse_body {
    int32_t reason; /* a negative status */
};

static inline void accept_pack(uint8_t *body, const struct accept_body *accept)
{
    put64(body, accept->done_ns);
}

static inline bool accept_unpack(const uint8_t *body, uint32_t bytes, struct accept_body *accept)
{
    if (bytes < ANSWER_BYTES)
        return false;
    accept->done_ns = get64(body);
    return true;
}

static inline void refuse_pack(uint8_t *body, const struct refuse_body *refuse)
{
    put64(body, (uint64_t)(int64_t)refuse->reason);
}

static inline bool refuse_unpack(const uint8_t *body, uint32_t bytes, struct refuse_body *refuse)
{
    if (bytes < ANSWER_BYTES)
        return false;
    refuse->reason = (int32_t)get32(body);
    return refuse->reason < 0;
}
