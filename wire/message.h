/*
 * message.h - what two nodes say to each other about a long message before its circuit.
 *
 *   WANT    sender: 0 want u32, its name for the message | 4 tag u32 | 8 length u32 |
 *           12 behind u32, the announcement before it that has no answer yet, 0: none |
 *           16 run u8, of the OFFER | 17 spare[3]
 *   READY   receiver: 0 want u32 | 4 match u32, its name for the receive | 8 room u32
 *   QUEUED  receiver: 0 want u32: stored, READY follows
 *   LATER   receiver: 0 want u32: no room, or the one before it is not known here; ask again
 *   GONE    either: 0 want u32: the program there has ended, or the message is no more
 *
 * READY, LATER and GONE answer an OFFER (run.h) too.
 *
 * Units    bytes
 * Context  any; pure. Unpacking is false when the body is too short.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum message_kind {
    PACKET_WANT = 16,
    PACKET_QUEUED = 17,
    PACKET_LATER = 18,
    PACKET_READY = 19,
    PACKET_GONE = 20
};

enum { WANT_BYTES = 20, READY_BYTES = 12, WORD_BYTES = 4 };

struct want_body {
    uint32_t want, tag, length, behind;
    uint8_t run;
};

struct ready_body {
    uint32_t want, match, room;
};

/* QUEUED, LATER, GONE: a word about one announcement. */
struct word_body {
    uint32_t want;
};

static inline void want_pack(uint8_t *body, const struct want_body *want)
{
    put32(body, want->want);
    put32(body + 4, want->tag);
    put32(body + 8, want->length);
    put32(body + 12, want->behind);
    put32(body + 16, want->run);
}

static inline bool want_unpack(const uint8_t *body, uint32_t bytes, struct want_body *want)
{
    if (bytes < WANT_BYTES)
        return false;
    *want = (struct want_body){.want = get32(body),
                               .tag = get32(body + 4),
                               .length = get32(body + 8),
                               .behind = get32(body + 12),
                               .run = body[16]};
    return true;
}

static inline void ready_pack(uint8_t *body, const struct ready_body *ready)
{
    put32(body, ready->want);
    put32(body + 4, ready->match);
    put32(body + 8, ready->room);
}

static inline bool ready_unpack(const uint8_t *body, uint32_t bytes, struct ready_body *ready)
{
    if (bytes < READY_BYTES)
        return false;
    *ready = (struct ready_body){get32(body), get32(body + 4), get32(body + 8)};
    return true;
}

static inline void word_pack(uint8_t *body, const struct word_body *word)
{
    put32(body, word->want);
}

static inline bool word_unpack(const uint8_t *body, uint32_t bytes, struct word_body *word)
{
    if (bytes < WORD_BYTES)
        return false;
    word->want = get32(body);
    return true;
}
