/*
 * message.h - the rendezvous of two nodes about a long message, before its circuit.
 *
 *   RTS     sender: request to send: 0 name u32, its own for the message | 4 tag u32 |
 *           8 length u32 | 12 behind u32, the request before it that has no answer yet, 0: none |
 *           16 generation u8, of the OFFER | 17 spare[3]
 *   CTS     receiver: clear to send: 0 name u32 | 4 match u32, its name for the receive |
 *           8 room u32
 *   QUEUED  receiver: 0 name u32: no receive is posted yet; CTS follows when one is
 *   RETRY   receiver: 0 name u32: no room, or the one before it is not known here; ask again
 *   CANCEL  either: 0 name u32: the program there has ended, or the message is no more
 *
 * An OPEN may stand for an RTS (circuit.h, OPEN_REQUEST). Its answer is ACCEPT in place of CTS, and
 * REFUSE in place of the others: E_STORED for QUEUED, E_FULL or E_REFUSED for RETRY, E_PEER_GONE
 * for CANCEL.
 *
 * A name has bit 16 set and no bit above it, so it is never 0.
 *
 * CTS, RETRY and CANCEL answer an OFFER (run.h) too; QUEUED, RETRY and CANCEL a COLLECT (gather.h).
 *
 * Units    bytes
 * Context  any; pure. Unpacking is false when the body is too short.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum message_kind {
    PACKET_RTS = 16,
    PACKET_QUEUED = 17,
    PACKET_RETRY = 18,
    PACKET_CTS = 19,
    PACKET_CANCEL = 20
};

enum {
    RTS_BYTES = 20,
    CTS_BYTES = 12,
    RTS_REPLY_BYTES = 4,
    NAME_BIT = 1 << 16,
    MESSAGES_STORED_MAX = 64 /* of other nodes, that a node keeps until its program receives them */
};

struct rts_body {
    uint32_t name, tag, length, behind;
    uint8_t generation;
};

struct cts_body {
    uint32_t name, match, room;
};

/* QUEUED, RETRY, CANCEL: what becomes of one request. */
struct rts_reply_body {
    uint32_t name;
};

static inline void rts_pack(uint8_t *body, const struct rts_body *rts)
{
    put32(body, rts->name);
    put32(body + 4, rts->tag);
    put32(body + 8, rts->length);
    put32(body + 12, rts->behind);
    put32(body + 16, rts->generation);
}

static inline bool rts_unpack(const uint8_t *body, uint32_t bytes, struct rts_body *rts)
{
    if (bytes < RTS_BYTES) {
        return false;
    }
    *rts = (struct rts_body){.name = get32(body),
                             .tag = get32(body + 4),
                             .length = get32(body + 8),
                             .behind = get32(body + 12),
                             .generation = body[16]};
    return true;
}

static inline void cts_pack(uint8_t *body, const struct cts_body *cts)
{
    put32(body, cts->name);
    put32(body + 4, cts->match);
    put32(body + 8, cts->room);
}

static inline bool cts_unpack(const uint8_t *body, uint32_t bytes, struct cts_body *cts)
{
    if (bytes < CTS_BYTES) {
        return false;
    }
    *cts = (struct cts_body){get32(body), get32(body + 4), get32(body + 8)};
    return true;
}

static inline void rts_reply_pack(uint8_t *body, const struct rts_reply_body *reply)
{
    put32(body, reply->name);
}

static inline bool rts_reply_unpack(const uint8_t *body, uint32_t bytes,
                                    struct rts_reply_body *reply)
{
    if (bytes < RTS_REPLY_BYTES) {
        return false;
    }
    reply->name = get32(body);
    return true;
}
