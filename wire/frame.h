/*
 * frame.h - the frame, and HELLO: what two neighbours exchange on a link.
 *
 *   byte 0      2     3      4        8     10    12       14            16       20      24
 *        +------+-----+------+--------+-----+-----+--------+-------------+--------+-------+--------
 *        | sync | type| flags| length | seq | ack | control| incarnation | data   | check | payload
 *        |      |     |      |        |     |     | credit |             | credit |       |
 *        +------+-----+------+--------+-----+-----+--------+-------------+--------+-------+--------
 *
 * All numbers are little-endian. `check` is the CRC-32C of bytes 0 to 19. With FLAG_CHECKED the
 * CRC-32C of the payload follows it, in four bytes that length does not count. That CRC starts from
 * the frame's seq, and never from 0 as a header's does: where bytes were lost, neither a header nor
 * the payload of another frame may pass for the payload that is missing. seq numbers PACKET and
 * DATA frames only, both from one space, so one go-back-N covers the link. ack is the next seq
 * expected. The credits are running totals of consumed control frames, and of consumed bytes of
 * data payload; the sender may be ahead of them by the window that HELLO announced.
 *
 * Each end gives itself a number when it starts, its incarnation, and says it in HELLO's seq. A
 * header carries the incarnation of the end that the frame is for, or 0 in a HELLO to an end that
 * has not been heard yet. So frames for earlier incarnations, which the cable still holds, are
 * dropped. An end whose own incarnation is 0 takes frames for all.
 *
 * HELLO payload (58 bytes):
 *
 *   0 version u16 | 2 role u8 | 3 port u8 | 4 id u32 | 8 network u4, host links u4 | 9 dims u8
 *   10 heard u8 | 11 ports u8 | 12 data window u32 | 16 control window u16
 *   18 sigma permille u16
 *   20 xi ns u32 | 24 tau ns u32 | 28 element ns u32 | 32 peer id u32 | 36 dead after ms u32
 *   40 last u16[8] | 56 element bytes u16
 *
 * Host links: 0, at node 0 and its neighbours; else 1 + their logarithm, one for each range.
 *
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/crc.h"

enum {
    FRAME_SYNC = 0xec1b,
    FRAME_HEADER_BYTES = 24,
    FRAME_CHECK_BYTES = 4,
    FRAME_CONTROL_MAX = 1104, /* payload of a PACKET, HELLO or ACK frame */
    FRAME_DATA_MAX = 65536,   /* payload of a DATA frame */
    HELLO_BYTES = 58,
    HELLO_SIZES_MAX = 8,
    PROTOCOL_VERSION = 23,
    ID_UNKNOWN = 0xfffffffe,
    ID_HOST = 0xffffffff
};

enum frame_type {
    FRAME_PACKET = 1, /* control channel: one packet (wire/packet.h) */
    FRAME_DATA = 2,   /* data channel: bytes of the oldest open circuit on this link */
    FRAME_HELLO = 3,  /* not numbered: who is there */
    FRAME_ACK = 4,    /* not numbered: only the header's ack and credits; with ASK: and yours? */
    FRAME_NAK = 5     /* not numbered: as ACK, and: send again from ack */
};

enum frame_flag {
    FLAG_CHECKED = 1, /* a CRC-32C of the payload follows it */
    FLAG_LAST = 2,    /* DATA: closes the circuit after this payload */
    /* DATA with LAST: the circuit was cut short, its bytes are not to be trusted */
    FLAG_ABORT = 4,
    /* ACK: answer with one. DATA, PACKET: acknowledge at once, for its sender needs the memory */
    FLAG_ASK = 8
};

enum hello_heard { HEARD_NOTHING = 0, HEARD_PART = 1, HEARD_ALL = 2 };
enum role { ROLE_NODE = 0, ROLE_HOST = 1 };

enum link_state {
    LINK_SILENT = 0, /* nothing heard */
    LINK_HEARD = 1,  /* we hear them, they do not hear us yet: a one-way cable when it stays */
    LINK_UP = 2,
    LINK_CROSSED = 3, /* the other end is not the node or port that belongs here */
    LINK_DEAD = 4
};

enum dead_reason {
    DEAD_CARRIER = 1,  /* the cable was cut or the neighbour's device went away */
    DEAD_TIMEOUT = 2,  /* no acknowledgement through all retries */
    DEAD_PROTOCOL = 3, /* more damaged or impossible frames than a cable explains */
    DEAD_VERSION = 4,
    DEAD_RESTARTED = 5 /* the other end was reset and has started anew */
};

struct frame {
    uint8_t type;
    uint8_t flags;
    uint32_t length;
    uint16_t seq;
    uint16_t ack;
    uint16_t control_credit;
    uint16_t incarnation;
    uint32_t data_credit;
};

struct hello {
    uint16_t version;
    uint8_t role;
    uint8_t port;
    uint32_t id;         /* of the sender; ID_UNKNOWN until a link tells */
    uint8_t network;     /* enum network_kind; NETWORK_NONE until a link tells */
    uint16_t host_links; /* one for each range, a power of two; 0: at node 0 and its neighbours */
    uint8_t dims;
    uint8_t heard; /* enum hello_heard: what the sender has of this link's other end */
    uint8_t ports;
    uint32_t data_window;
    uint16_t control_window;
    uint16_t sigma_permille;
    uint32_t xi_ns;
    uint32_t tau_ns;
    uint32_t element_ns;
    uint16_t element_bytes; /* 0 and 1: an element is a byte */
    uint32_t peer_id;       /* whom the sender expects here; ID_UNKNOWN if it does not know */
    uint32_t dead_after_ms; /* how long a link may be silent that owes an acknowledgement */
    /* the highest coordinate of each dimension, the fastest first; of a cube nothing */
    uint16_t last[HELLO_SIZES_MAX];
};

/* The CRC of a header's first 20 bytes, as numbers: what has just been written in smaller pieces is
 * slow to read back. */
static inline uint32_t frame_check(uint64_t first, uint64_t second, uint32_t third)
{
    uint32_t crc = crc32_words(crc32_words(UINT32_MAX, first), second);

    return ~crc32_word(crc, third);
}

/* Writes the 24 bytes of a header, check included. */
static inline void frame_pack(uint8_t *bytes, const struct frame *frame)
{
    uint64_t first = FRAME_SYNC | (uint64_t)frame->type << 16 | (uint64_t)frame->flags << 24 |
                     (uint64_t)frame->length << 32;
    uint64_t second = frame->seq | (uint64_t)frame->ack << 16 |
                      (uint64_t)frame->control_credit << 32 | (uint64_t)frame->incarnation << 48;
    uint64_t check = frame_check(first, second, frame->data_credit);

    put64(bytes, first);
    put64(bytes + 8, second);
    put64(bytes + 16, frame->data_credit | check << 32);
}

/* Reads a header; false when sync or check is wrong: the bytes are not a header. */
static inline bool frame_unpack(const uint8_t *bytes, struct frame *frame)
{
    uint64_t first = get64(bytes), second = get64(bytes + 8);
    uint32_t third = get32(bytes + 16);

    if ((first & 0xffff) != FRAME_SYNC || get32(bytes + 20) != frame_check(first, second, third)) {
        return false;
    }
    frame->type = (uint8_t)(first >> 16);
    frame->flags = (uint8_t)(first >> 24);
    frame->length = (uint32_t)(first >> 32);
    frame->seq = (uint16_t)second;
    frame->ack = (uint16_t)(second >> 16);
    frame->control_credit = (uint16_t)(second >> 32);
    frame->incarnation = (uint16_t)(second >> 48);
    frame->data_credit = third;
    return true;
}

/* One field of a header that is known to be one, for those who only look at it. */
static inline bool frame_begins(const uint8_t *bytes)
{
    return get16(bytes) == FRAME_SYNC;
}

static inline uint8_t frame_type(const uint8_t *bytes)
{
    return bytes[2];
}

static inline uint8_t frame_flags(const uint8_t *bytes)
{
    return bytes[3];
}

static inline uint32_t frame_length(const uint8_t *bytes)
{
    return get32(bytes + 4);
}

static inline uint16_t frame_seq(const uint8_t *bytes)
{
    return get16(bytes + 8);
}

static inline uint16_t frame_ack(const uint8_t *bytes)
{
    return get16(bytes + 10);
}

/* What the CRC of a payload begins with. */
static inline uint32_t frame_payload_start(uint16_t seq)
{
    return seq + 1u;
}

/* The CRC behind a payload. */
static inline void frame_put_check(uint8_t *at, uint32_t crc)
{
    put32(at, crc);
}

static inline uint32_t frame_payload_check(const uint8_t *at)
{
    return get32(at);
}

/* 1 + the logarithm of a power of two; 0 of 0. */
static inline unsigned hello_host_links(unsigned links)
{
    return links > 0 ? 1u + (unsigned)__builtin_ctz(links) : 0;
}

static inline void hello_pack(uint8_t *bytes, const struct hello *hello)
{
    put16(bytes, hello->version);
    bytes[2] = hello->role;
    bytes[3] = hello->port;
    put32(bytes + 4, hello->id);
    bytes[8] = (uint8_t)(hello->network | hello_host_links(hello->host_links) << 4);
    bytes[9] = hello->dims;
    bytes[10] = hello->heard;
    bytes[11] = hello->ports;
    put32(bytes + 12, hello->data_window);
    put16(bytes + 16, hello->control_window);
    put16(bytes + 18, hello->sigma_permille);
    put32(bytes + 20, hello->xi_ns);
    put32(bytes + 24, hello->tau_ns);
    put32(bytes + 28, hello->element_ns);
    put32(bytes + 32, hello->peer_id);
    put32(bytes + 36, hello->dead_after_ms);
    for (unsigned k = 0; k < HELLO_SIZES_MAX; k++) {
        put16(bytes + 40 + 2 * k, hello->last[k]);
    }
    put16(bytes + 56, hello->element_bytes);
}

/* False when there are fewer than HELLO_BYTES. */
static inline bool hello_unpack(const uint8_t *bytes, uint32_t count, struct hello *hello)
{
    if (count < HELLO_BYTES) {
        return false;
    }
    hello->version = get16(bytes);
    hello->role = bytes[2];
    hello->port = bytes[3];
    hello->id = get32(bytes + 4);
    hello->network = bytes[8] & 15;
    hello->host_links = (uint16_t)(1u << (bytes[8] >> 4) >> 1);
    hello->dims = bytes[9];
    hello->heard = bytes[10];
    hello->ports = bytes[11];
    hello->data_window = get32(bytes + 12);
    hello->control_window = get16(bytes + 16);
    hello->sigma_permille = get16(bytes + 18);
    hello->xi_ns = get32(bytes + 20);
    hello->tau_ns = get32(bytes + 24);
    hello->element_ns = get32(bytes + 28);
    hello->peer_id = get32(bytes + 32);
    hello->dead_after_ms = get32(bytes + 36);
    for (unsigned k = 0; k < HELLO_SIZES_MAX; k++) {
        hello->last[k] = get16(bytes + 40 + 2 * k);
    }
    hello->element_bytes = get16(bytes + 56);
    return true;
}
