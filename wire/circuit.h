/*
 * circuit.h - the packets of one hop of a circuit: OPEN forward, ACCEPT or REFUSE back.
 *
 * OPEN, from the start of the packet:
 *
 *   byte 16      20     24   28     30     31   32     40     48
 *        +-------+------+----+------+------+----+------+------+----------+---------
 *        | length| match| tag| epoch| flags| gen| clock| free | hop list | message
 *        | u32   | u32  | u32| u16  | u8   | u8 | u64  | u64  |          | itself
 *        +-------+------+----+------+------+----+------+------+----------+---------
 *
 *   length  bytes of the message
 *   match   of a message: its name in the CTS, OFFER or COLLECT; of a schedule's circuit: the step
 *           in bits 0 to 15, the port in those above; of a request (OPEN_REQUEST): bits 0 to 15 of
 *           the sender's name for it and, with OPEN_BEHIND, of its name for the request before it
 *           that has no answer yet, as in an RTS (message.h); of a share (OPEN_SHARE): bits 0 to
 *           15 of the name in the CTS, then the number of the share and how many there are, u8 each
 *   tag     of a message: its tag; of a share: where in the message it begins; of a download or
 *           gather (OPEN_IMAGE): so many bytes in front of it take no model time, for they only say
 *           what the data is
 *   epoch   of its schedule; of a message: of the last schedule that its sender has completed
 *   flags   enum open_flag
 *   gen     of a message: generation of its program, as the OFFER says
 *   clock   model ns at which the OPEN comes to this hop; a hop changes it in place
 *   free    model ns at which the source's send port is free
 *
 * The hop list is there with OPEN_SCHEDULE or OPEN_ROUTE. An entry for each hop of the path, found
 * by the number of hops that the packet has passed:
 *
 *   byte 0        1       2        4       5        7 ...
 *        +--------+-------+--------+-------+--------+---
 *        | count  | port  | turn   | port  | turn   |
 *        | u8     | u8    | u16    | u8    | u16    |
 *        +--------+-------+--------+-------+--------+---
 *
 *   count   1 to OPEN_HOPS_MAX
 *   port    over which the path leaves this node; HOP_DIMENSION_ORDER: the network's next hop
 *   turn    of a schedule's circuit: how many circuits of the schedule this link carries before
 *
 * The message itself follows when OPEN_INLINE is set.
 *
 * ACCEPT   0 done ns u64: model time of completion; bit 63: the receiver of a schedule's circuit
 *          wanted another length
 * REFUSE   0 reason i32, a negative status | 4 its sign i32
 *
 * Neither has source or destination: the answers of a link come in the order of its OPENs.
 *
 * Units    bytes; model time in ns
 * Context  any; pure. An OPEN is looked at where it lies, when open_possible has said that it may.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/message.h"
#include "wire/packet.h"

enum circuit_kind { PACKET_OPEN = 1, PACKET_ACCEPT = 2, PACKET_REFUSE = 3 };

enum {
    OPEN_BYTES = 48, /* header and body, without hop list and message */
    OPEN_BODY_BYTES = OPEN_BYTES - PACKET_HEADER_BYTES,
    OPEN_INLINE_MAX = 1024, /* longest message that rides in its OPEN */
    OPEN_HOPS_MAX = 127,
    HOP_LIST_BYTES = 1, /* without entries */
    HOP_BYTES = 3,
    HOP_LIST_BYTES_MAX = HOP_LIST_BYTES + OPEN_HOPS_MAX * HOP_BYTES,
    HOP_DIMENSION_ORDER = 0xff,
    ANSWER_BYTES = 8 /* body of ACCEPT or REFUSE */
};

enum open_flag {
    OPEN_INLINE = 1,   /* the whole message follows the body; no data frames, no CLOSE */
    OPEN_SCHEDULE = 2, /* waits its turn at each hop (epoch, hop list) */
    OPEN_IMAGE = 4,    /* part of a download; match is the CTS's */
    OPEN_EAGER = 8,    /* inline message without a CTS: the receiver's pool stands ready */
    OPEN_ROUTE = 16,   /* goes as its hop list says; refused where it would have to wait */
    OPEN_REQUEST = 32, /* a long message's announcement too: RTS and OPEN in one */
    OPEN_BEHIND = 64,  /* with OPEN_REQUEST: match names another request before it */
    OPEN_SHARE = 64,   /* without: a part of a message, which comes over a path of its own */
    OPEN_OUTPUT = 128  /* with OPEN_IMAGE: part of a gather, not of a download (gather.h) */
};

struct open_body {
    uint32_t length, match, tag;
    uint16_t epoch;
    uint8_t flags; /* enum open_flag */
    uint8_t generation;
    uint64_t clock_ns, free_ns;
};

struct open_hop {
    uint8_t port;
    uint16_t turn;
};

/* Writes the body behind an OPEN's header, as far as the hop list. */
static inline void open_pack(uint8_t *packet, const struct open_body *open)
{
    put32(packet + 16, open->length);
    put32(packet + 20, open->match);
    put32(packet + 24, open->tag);
    put16(packet + 28, open->epoch);
    packet[30] = open->flags;
    packet[31] = open->generation;
    put64(packet + 32, open->clock_ns);
    put64(packet + 40, open->free_ns);
}

/* Writes a hop list, or its place behind an OPEN's body; returns its bytes. */
static inline uint32_t hop_list_pack(uint8_t *list, const struct open_hop *hops, unsigned count)
{
    uint8_t *at = list + HOP_LIST_BYTES;

    list[0] = (uint8_t)count;
    for (unsigned i = 0; i < count; i++, at += HOP_BYTES) {
        at[0] = hops[i].port;
        put16(at + 1, hops[i].turn);
    }
    return HOP_LIST_BYTES + count * (uint32_t)HOP_BYTES;
}

static inline unsigned hop_list_count(const uint8_t *list)
{
    return list[0];
}

static inline uint32_t hop_list_bytes(const uint8_t *list)
{
    return HOP_LIST_BYTES + list[0] * (uint32_t)HOP_BYTES;
}

/* The entry of a hop below the list's count. */
static inline struct open_hop hop_list_at(const uint8_t *list, uint32_t hop)
{
    const uint8_t *at = list + HOP_LIST_BYTES + hop * HOP_BYTES;

    return (struct open_hop){.port = at[0], .turn = get16(at + 1)};
}

static inline uint32_t open_length(const uint8_t *packet)
{
    return get32(packet + 16);
}

/* The match of a schedule's circuit of a step, by a port; and the step of such a match. */
static inline uint32_t open_match_of(uint16_t step, uint8_t port)
{
    return step | (uint32_t)port << 16;
}

static inline uint16_t open_match_step(uint32_t match)
{
    return (uint16_t)match;
}

static inline uint32_t open_match(const uint8_t *packet)
{
    return get32(packet + 20);
}

static inline uint8_t open_flags(const uint8_t *packet)
{
    return packet[30];
}

/* What `match` holds with OPEN_REQUEST; behind is 0 when nothing is before it. */
static inline uint32_t open_request_names(uint32_t name, uint32_t behind)
{
    return (name & 0xffff) | behind << 16;
}

static inline uint32_t open_name(const uint8_t *packet)
{
    return NAME_BIT | get16(packet + 20);
}

static inline uint32_t open_behind(const uint8_t *packet)
{
    return open_flags(packet) & OPEN_BEHIND ? NAME_BIT | get16(packet + 22) : 0;
}

/* Whether an OPEN with these flags is a share of a message; what `match` holds then. */
static inline bool open_is_share(uint8_t flags)
{
    return (flags & (OPEN_REQUEST | OPEN_SHARE)) == OPEN_SHARE;
}

static inline uint32_t open_share_match(uint32_t name, uint32_t number, uint32_t count)
{
    return (name & 0xffff) | number << 16 | count << 24;
}

static inline unsigned open_share_number(const uint8_t *packet)
{
    return packet[22];
}

static inline unsigned open_share_count(const uint8_t *packet)
{
    return packet[23];
}

static inline uint32_t open_tag(const uint8_t *packet)
{
    return get32(packet + 24);
}

/* The bytes of a circuit that take model time; a tag that is too long takes none off. */
static inline uint32_t open_charged(const uint8_t *packet)
{
    uint32_t length = open_length(packet), tag = open_tag(packet);
    bool image = (open_flags(packet) & (OPEN_IMAGE | OPEN_SCHEDULE)) == OPEN_IMAGE;

    return image && tag <= length ? length - tag : length;
}

static inline uint16_t open_epoch(const uint8_t *packet)
{
    return get16(packet + 28);
}

static inline uint8_t open_generation(const uint8_t *packet)
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

/* Whether an OPEN with these flags has a hop list. */
static inline bool open_has_hops(uint8_t flags)
{
    return flags & (OPEN_SCHEDULE | OPEN_ROUTE);
}

/* The hop list of an OPEN that has one. */
static inline const uint8_t *open_hops(const uint8_t *packet)
{
    return packet + OPEN_BYTES;
}

/* Bytes of an OPEN with its hop list, without the message. */
static inline uint32_t open_bytes(const uint8_t *packet)
{
    return OPEN_BYTES + (open_has_hops(open_flags(packet)) ? hop_list_bytes(open_hops(packet)) : 0);
}

/* The entry of the hop that comes next; false when there is none. */
static inline bool open_next_hop(const uint8_t *packet, struct open_hop *hop)
{
    uint32_t passed = packet_hops(packet);

    if (!open_has_hops(open_flags(packet)) || passed >= hop_list_count(open_hops(packet))) {
        return false;
    }
    *hop = hop_list_at(open_hops(packet), passed);
    return true;
}

/* The longest message that rides in an OPEN with a hop list of so many bytes. */
static inline uint32_t open_inline_max(uint32_t list_bytes)
{
    uint32_t left = PACKET_BODY_MAX - OPEN_BODY_BYTES - list_bytes;

    return left < OPEN_INLINE_MAX ? left : OPEN_INLINE_MAX;
}

/* The message of an OPEN with OPEN_INLINE. */
static inline const uint8_t *open_inlined(const uint8_t *packet)
{
    return packet + open_bytes(packet);
}

/* Whether so many bytes, header and all, are an OPEN: hop list and message are there as it says,
 * and the message is no longer than one that a receiver's pool holds. */
static inline bool open_possible(const uint8_t *packet, uint32_t bytes)
{
    if (bytes < OPEN_BYTES) {
        return false;
    }
    if (open_has_hops(open_flags(packet)) &&
        (bytes < OPEN_BYTES + HOP_LIST_BYTES || hop_list_count(open_hops(packet)) == 0 ||
         hop_list_count(open_hops(packet)) > OPEN_HOPS_MAX || bytes < open_bytes(packet))) {
        return false;
    }
    uint32_t inlined = bytes - open_bytes(packet), length = open_length(packet);
    return open_flags(packet) & OPEN_INLINE ? inlined == length && length <= OPEN_INLINE_MAX
                                            : inlined == 0 && length > 0;
}

struct accept_body {
    uint64_t done_ns; /* below 2^63 */
    bool other_length;
};

static const uint64_t ACCEPT_OTHER_LENGTH = UINT64_C(1) << 63;

struct refuse_body {
    int32_t reason; /* a negative status */
};

static inline void accept_pack(uint8_t *body, const struct accept_body *accept)
{
    put64(body, accept->done_ns | (accept->other_length ? ACCEPT_OTHER_LENGTH : 0));
}

static inline bool accept_unpack(const uint8_t *body, uint32_t bytes, struct accept_body *accept)
{
    if (bytes < ANSWER_BYTES) {
        return false;
    }
    accept->done_ns = get64(body) & ~ACCEPT_OTHER_LENGTH;
    accept->other_length = get64(body) & ACCEPT_OTHER_LENGTH;
    return true;
}

static inline void refuse_pack(uint8_t *body, const struct refuse_body *refuse)
{
    put64(body, (uint64_t)(int64_t)refuse->reason);
}

static inline bool refuse_unpack(const uint8_t *body, uint32_t bytes, struct refuse_body *refuse)
{
    if (bytes < ANSWER_BYTES) {
        return false;
    }
    refuse->reason = (int32_t)get32(body);
    return refuse->reason < 0;
}
