/*
 * finding.h - the findings of the checking library (lib/check), as they lie on the stack of the
 * program that they end. FAULT carries the stack, so the host reads them there.
 *
 *   0 kind u8 | 1 call u8 | 2 operation u8 | 3 spare | 4 address u32 | 8 bytes u32 |
 *   12 offset u32 | 16 place u32 | 20 other u32 | 24 peer i32 | 28 tag i32
 *
 * `call` and `operation` (enum ecube_call, of COLLECTIVE enum ecube_operation), peer and tag are
 * those of a transfer. Places are return addresses of calls in the program; 0: not known.
 *
 * At the trap r0 is the list's address, r1 the number of findings in it, r2 the number of all that
 * there were, and r3 is 1 at the program's end, else 0. The reader checks all of that: a program
 * may execute the trap with any values.
 *
 * Units    bytes
 * Context  any; pure
 */
#pragma once

#include <stdint.h>

#include "wire/bytes.h"

/* Behind each kind: what address, bytes and offset mean; then the two places. */
enum finding_kind {
    FINDING_NONE = 0,
    FINDING_OVERRUN = 1,      /* a block, written at `offset`, past its end; got at */
    FINDING_UNDERRUN = 2,     /* a block, written `offset` bytes before its begin; got at */
    FINDING_FREED_TWICE = 3,  /* a block; got at, freed at */
    FINDING_NOT_A_BLOCK = 4,  /* freed is an address that malloc did not give; 0 bytes */
    FINDING_INSIDE_BLOCK = 5, /* likewise, but it lies at `offset` in a block; got at */
    FINDING_USED_FREED = 6, /* a block, written at `offset` after it was freed; got at, freed at */
    FINDING_FREED_OPEN = 7, /* a block that a transfer still uses was freed; got at, began at */
    FINDING_SEND_CHANGED = 8,  /* memory that an open transfer sends; began at */
    FINDING_OVERLAP = 9,       /* what a call uses and an open transfer writes, or the other way
                                 round: the memory of both; the open one's call; began at */
    FINDING_FRAME_GONE = 10,   /* an open transfer's memory, of a function that has returned; began
                                 at */
    FINDING_STILL_OPEN = 11,   /* a transfer at the program's end; began at */
    FINDING_NOT_RECEIVED = 12, /* a message at the program's end: bytes, peer, tag */
    FINDING_OUTPUT_FREED = 13, /* memory that is to come back as output was freed: all of it; named
                                  at */
    FINDING_KINDS
};

enum {
    FINDING_BYTES = 32,
    FINDINGS_MAX = 16, /* in one list: FAULT has room for them and for some of the stack above */
    NOTE_CHECKED = 1   /* type of the ELF note, of the owner "ecube", of a program with checks */
};

struct finding {
    uint8_t kind;      /* enum finding_kind */
    uint8_t call;      /* enum ecube_call */
    uint8_t operation; /* enum ecube_operation */
    uint32_t address, bytes, offset;
    uint32_t place, other;
    int32_t peer, tag;
};

static inline void finding_pack(uint8_t *at, const struct finding *finding)
{
    at[0] = finding->kind;
    at[1] = finding->call;
    at[2] = finding->operation;
    at[3] = 0;
    put32(at + 4, finding->address);
    put32(at + 8, finding->bytes);
    put32(at + 12, finding->offset);
    put32(at + 16, finding->place);
    put32(at + 20, finding->other);
    put32(at + 24, (uint32_t)finding->peer);
    put32(at + 28, (uint32_t)finding->tag);
}

static inline struct finding finding_unpack(const uint8_t *at)
{
    return (struct finding){.kind = at[0],
                            .call = at[1],
                            .operation = at[2],
                            .address = get32(at + 4),
                            .bytes = get32(at + 8),
                            .offset = get32(at + 12),
                            .place = get32(at + 16),
                            .other = get32(at + 20),
                            .peer = (int32_t)get32(at + 24),
                            .tag = (int32_t)get32(at + 28)};
}
