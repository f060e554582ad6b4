/*
 * record.h - what a node notes of its own work, in model time, and how the host fetches it.
 *
 * A record, in the node's memory and in RECORDS:
 *
 *   byte 0     1      2      3       4     5      6      8    10     12    16     24    32
 *        +-----+------+------+-------+-----+------+------+----+------+-----+------+-----+-----
 *        | kind| about| flags| status| port| waits| epoch| hop| hops | peer| begin| flow| end
 *        | u8  | u8   | u8   | u8    | u8  |      | u16  | u16| u16  | u32 | u64  | u64 | u64
 *        +-----+------+------+-------+-----+------+------+----+------+-----+------+-----+-----
 *   byte 40      44      48    52
 *        +-------+-------+-----+--------
 *        | other | bytes | tag | detail
 *        | u32   | u32   | u32 | u32
 *        +-------+-------+-----+--------
 *
 *   SOURCE      a circuit at its source. begin: issued; flow: its bytes flow; end: done. peer: its
 *               receiver; port: its first link
 *   LINK        a circuit on a link of its path, by the node that sends on it. begin: its OPEN came
 *               to the link; flow: it took the link, later if another circuit had it; end: it is
 *               done with it. peer: its source; other: its receiver; port: the link; hop: from 1
 *   SINK        a circuit at its receiver. begin: the receiver was ready; flow: bytes flow; end:
 *               done. about: enum record_decider; peer: its source; port: its last link
 *   COLLECTIVE  begin, flow: called, and the one before it was over; end: done. about: enum
 *               ecube_operation; bytes: of a block; other: the root; hops: steps; tag: digest of
 *               the plan, or 0; detail: ecube_choice of the algorithm that was asked for, or 0
 *   STEP        of a collective. begin: issued; flow: the latest of its circuits flows; end: all
 *               are done. about: the operation; tag: its number, from 0; peer: whom it sends to;
 *               other: who sends to it; ID_UNKNOWN: nobody; bytes: sent
 *   MESSAGE     begin: called; flow, end: done. about: enum record_message; peer: a rank; tag;
 *               bytes
 *   PROGRAM     begin, flow; end. about: enum record_activity
 *               waits: in a call that has not returned. detail: enum wait_kind (report.h); of a
 *               message, peer: a rank; tag; bytes
 *   MARK        begin: set; name: in place of flow to bytes
 *   FRAMES      of a link, in wall time, where any was sent once more or came damaged since START.
 *               port; bytes: frames sent; tag: sent once more; detail: damaged ones that came
 *
 *   flags       of a circuit: enum open_flag of its OPEN
 *   status      0, or why not: a negative status (drivers/status.h) with its sign changed
 *   tag         of a circuit of a schedule: its step; of another: its OPEN's
 *   epoch       of a circuit: its OPEN's; of a collective and a step: the collective's
 *   hops        links on the circuit's path; 0: not known here
 *   waits       0: it is over. Else it was not when its run ended, or was ended by the host, and
 *               waited for this, enum record_wait; flow and end: begin, or the last time of it that
 *               is known. Of a collective, peer: the node that it waited for. What a program has
 *               left open at an end of its own is over, with the status of what is cancelled
 *
 * Records say nothing of wall time: of a collective they are the same in every run on every
 * machine, whatever the order in which a node writes them.
 *
 * The host asks when programs have ended or nothing is to be expected of them; all nodes for no
 * records first, before it stops any program, then node by node:
 *
 *   RECORDS_ASK  0 from u64 | 8 count u16 | 10 generation u8 of the program | 11 spare: send
 *                records from that number on, so many at most, 0: only say how many. The node
 *                writes no more of them; the last ones are of what is open
 *   RECORDS      0 first u64, number of the first one here | 8 written u64, so many were since
 *                START, those that are lost too | 16 generation u8 | 17 spare[3] | records.
 *                Asked for records that are lost, a node answers with the oldest that it has. It
 *                answers with none when it has none from there on
 *
 * Each question is credit for `count` records, so that no node floods the links near the host.
 *
 * In a node's memory, where that of its records begins, a debugger finds their ring:
 *
 *   0 sign u32 | 4 generation u32 of the program | 8 written u64 | 16 room u32 | 20 at u32: record
 *   number n lies at + n % room * RECORD_BYTES bytes from here
 *
 * Units    ns of model time; bytes
 * Context  any; pure. Unpacking is false for what is too short, or cannot be
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "include/ecube/abi.h"
#include "wire/bytes.h"
#include "wire/packet.h"

enum record_packet { PACKET_RECORDS_ASK = 52, PACKET_RECORDS = 53 };

enum record_kind {
    RECORD_SOURCE = 1,
    RECORD_LINK = 2,
    RECORD_SINK = 3,
    RECORD_COLLECTIVE = 4,
    RECORD_STEP = 5,
    RECORD_MESSAGE = 6,
    RECORD_PROGRAM = 7,
    RECORD_MARK = 8,
    RECORD_FRAMES = 9,
    RECORD_KINDS
};

/* What a circuit waited for longest, when bytes began to flow at its receiver. */
enum record_decider {
    DECIDED_LINKS = 0, /* start-up, set-up per hop, links that others had */
    DECIDED_SEND_PORT = 1,
    DECIDED_RECEIVE_PORT = 2,
    DECIDED_RECEIVER = 3 /* which was not ready yet */
};

enum record_message { RECORD_SENT = 1, RECORD_RECEIVED = 2 };

/* What something waited for that was not over when its run ended. */
enum record_wait {
    WAITED_LINK = 1,        /* another circuit has it, or it has no room */
    WAITED_TURN = 2,        /* others go before it: of its schedule, or a collective */
    WAITED_PORT = 3,        /* its node sets up another circuit */
    WAITED_ANSWER = 4,      /* it is on its way to its receiver, who has not answered */
    WAITED_RECEIVER = 5,    /* who knows of it, and is not ready */
    WAITED_SENDER = 6,      /* nothing has come */
    WAITED_BYTES = 7,       /* they are under way */
    WAITED_NODE = 8,        /* a node that has not called the collective */
    WAITED_PLAN = 9,        /* of the host */
    WAITED_COLLECTIVE = 10, /* an earlier one of the program */
    WAITED_CALL = 11,       /* the program's, to return */
    WAITED_END = 12,        /* of a program that computes */
    RECORD_WAITS
};

enum record_activity {
    ACTIVITY_COMPUTES = 1, /* ecube_compute */
    ACTIVITY_WAITS = 2     /* for a request, or a message */
};

enum {
    RECORD_BYTES = 56,
    RECORD_NAME_AT = 24,
    RECORDS_ASK_BYTES = 12,
    RECORDS_HEADER_BYTES = 20,
    RECORD_RING_BYTES = 24,
    RECORD_RING_SIGN = 0x72636563, /* "cecr" */
    RECORDS_PACKET_MAX = (PACKET_BODY_MAX - RECORDS_HEADER_BYTES) / RECORD_BYTES
};

struct node_record {
    uint8_t kind; /* enum record_kind */
    uint8_t about, flags, status, port, waits;
    uint16_t epoch, hop, hops;
    uint32_t peer;
    uint64_t begin_ns;
    union {
        struct {
            uint64_t flow_ns, end_ns;
            uint32_t other, bytes;
        };
        char name[ECUBE_NAME_MAX]; /* of a mark: ends with a zero byte */
    };
    uint32_t tag, detail;
};

_Static_assert(sizeof(struct node_record) == (size_t)RECORD_BYTES, "nodes keep them as they are");

static inline void record_pack(uint8_t *at, const struct node_record *record)
{
    put32(at, record->kind | (uint32_t)record->about << 8 | (uint32_t)record->flags << 16 |
                  (uint32_t)record->status << 24);
    put32(at + 4, record->port | (uint32_t)record->waits << 8 | (uint32_t)record->epoch << 16);
    put32(at + 8, record->hop | (uint32_t)record->hops << 16);
    put32(at + 12, record->peer);
    put64(at + 16, record->begin_ns);
    if (record->kind == RECORD_MARK) {
        memcpy(at + RECORD_NAME_AT, record->name, ECUBE_NAME_MAX);
    } else {
        put64(at + 24, record->flow_ns);
        put64(at + 32, record->end_ns);
        put32(at + 40, record->other);
        put32(at + 44, record->bytes);
    }
    put32(at + 48, record->tag);
    put32(at + 52, record->detail);
}

/* False: it is of no kind, waits for nothing that there is, goes back in time, or has a name
 * without an end. */
static inline bool record_unpack(const uint8_t *at, struct node_record *record)
{
    *record = (struct node_record){.kind = at[0],
                                   .about = at[1],
                                   .flags = at[2],
                                   .status = at[3],
                                   .port = at[4],
                                   .waits = at[5],
                                   .epoch = get16(at + 6),
                                   .hop = get16(at + 8),
                                   .hops = get16(at + 10),
                                   .peer = get32(at + 12),
                                   .begin_ns = get64(at + 16),
                                   .tag = get32(at + 48),
                                   .detail = get32(at + 52)};
    if (record->kind == RECORD_MARK) {
        memcpy(record->name, at + RECORD_NAME_AT, ECUBE_NAME_MAX);
        return memchr(record->name, 0, ECUBE_NAME_MAX) != NULL;
    }
    record->flow_ns = get64(at + 24);
    record->end_ns = get64(at + 32);
    record->other = get32(at + 40);
    record->bytes = get32(at + 44);
    return record->kind > 0 && record->kind < RECORD_KINDS && record->waits < RECORD_WAITS &&
           record->begin_ns <= record->flow_ns && record->flow_ns <= record->end_ns;
}

struct records_ask_body {
    uint64_t from;
    uint16_t count;
    uint8_t generation;
};

static inline void records_ask_pack(uint8_t *body, const struct records_ask_body *ask)
{
    put64(body, ask->from);
    put32(body + 8, ask->count | (uint32_t)ask->generation << 16);
}

static inline bool records_ask_unpack(const uint8_t *body, uint32_t bytes,
                                      struct records_ask_body *ask)
{
    if (bytes < RECORDS_ASK_BYTES) {
        return false;
    }
    *ask = (struct records_ask_body){
        .from = get64(body), .count = get16(body + 8), .generation = body[10]};
    return true;
}

struct records_body {
    uint64_t first, written;
    uint8_t generation;
    uint32_t count;
    const uint8_t *records; /* where they lie; packed by the caller (record_pack) */
};

/* Writes what stands before the records, which follow at body + RECORDS_HEADER_BYTES; returns the
 * bytes of the body. */
static inline uint32_t records_pack(uint8_t *body, const struct records_body *records)
{
    put64(body, records->first);
    put64(body + 8, records->written);
    put32(body + 16, records->generation);
    return RECORDS_HEADER_BYTES + records->count * (uint32_t)RECORD_BYTES;
}

/* False: a record is cut off, or there are more than have been written. */
static inline bool records_unpack(const uint8_t *body, uint32_t bytes, struct records_body *records)
{
    if (bytes < RECORDS_HEADER_BYTES || (bytes - RECORDS_HEADER_BYTES) % RECORD_BYTES) {
        return false;
    }
    *records = (struct records_body){.first = get64(body),
                                     .written = get64(body + 8),
                                     .generation = body[16],
                                     .count = (bytes - RECORDS_HEADER_BYTES) / RECORD_BYTES,
                                     .records = body + RECORDS_HEADER_BYTES};
    return records->first <= records->written &&
           records->count <= records->written - records->first;
}

struct record_ring {
    uint64_t written;
    uint32_t room, at;
};

/* False: it is none, or another program's. */
static inline bool record_ring_unpack(const uint8_t *bytes, uint8_t generation,
                                      struct record_ring *ring)
{
    *ring = (struct record_ring){
        .written = get64(bytes + 8), .room = get32(bytes + 16), .at = get32(bytes + 20)};
    return get32(bytes) == RECORD_RING_SIGN && get32(bytes + 4) == generation && ring->room > 0;
}
