/*
 * collective.h - how nodes enter a collective: up and down a spanning tree of one-hop packets.
 *
 * The tree's root is node 0; the parent of a node is its next hop towards node 0. A node sends
 * ENTER to its parent when its program and all its children have entered. So node 0 learns whether
 * all agree, and ENTERED brings the answer down the tree.
 *
 *   ENTER    up:   0 epoch u16 | 2 generation u8, of the OFFER | 3 spare u8 | 4 failed u32, the
 *                  lowest rank that cannot go on; ID_UNKNOWN: none | 8 status i16, why; a closure
 *                  before all others | 10 spare u16 | 12 clock u64, model ns, the latest |
 *                  20 first: rank u32, entry | 44 other: rank u32 (ID_UNKNOWN: none), entry; of
 *                  `failed`, if there is one
 *   ENTERED  down: 0 epoch u16 | 2 generation u8 | 3 spare u8 | 4 status i16, never positive |
 *                  6 spare u16 | 8 clock u64
 *
 *   entry    0 operation u8 | 1 type u8 | 2 operator u8 | 3 spare u8 | 4 bytes u32 | 8 root u32 |
 *            12 digest u32, of the plan; 0: none | 16 choice u32, ecube_choice (abi.h) of the
 *            algorithm that the program asks for; 0: none
 *
 * An operation whose blocks have sizes of their own has two epochs. When its steps are over all
 * nodes enter the second one, and say whether those sizes agreed. A node whose circuit brought
 * another size than it expected knows both; its entry then has
 *            1 enum entry_sizes | 4 bytes expected | 8 the node that sent | 12 bytes sent
 *
 * `first` is the entry of the subtree's lowest rank, `other` that of the lowest rank which differs
 * from it. Where subtrees join, entry_join (collectives/entry.c) makes the same of theirs, so node
 * 0 knows the lowest rank that differs from its own. A closure holds for every later epoch as well:
 * E_PEER_GONE, a program has ended; E_LINK_DEAD, it has ended after it had met a dead link.
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the body is too short or the status is positive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum collective_kind { PACKET_ENTER = 21, PACKET_ENTERED = 27 };

enum { ENTRY_BYTES = 20, ENTER_BYTES = 68, ENTERED_BYTES = 16 };

/* What a second entry says in place of the type. */
enum entry_sizes {
    SIZES_AGREE = 1,
    SIZES_DIFFER /* of a block that this node was sent */
};

/* What a node enters. */
struct entry {
    uint8_t operation, type, operator_;
    uint32_t bytes, root, digest, choice;
};

struct enter_body {
    uint16_t epoch;
    uint8_t generation;
    int16_t status;
    uint32_t failed;
    uint64_t clock_ns;
    uint32_t first_rank, other_rank;
    struct entry first, other;
};

struct entered_body {
    uint16_t epoch;
    uint8_t generation;
    int16_t status;
    uint64_t clock_ns;
};

static inline void entry_pack(uint8_t *at, const struct entry *entry)
{
    at[0] = entry->operation;
    at[1] = entry->type;
    at[2] = entry->operator_;
    at[3] = 0;
    put32(at + 4, entry->bytes);
    put32(at + 8, entry->root);
    put32(at + 12, entry->digest);
    put32(at + 16, entry->choice);
}

static inline struct entry entry_at(const uint8_t *at)
{
    return (struct entry){.operation = at[0],
                          .type = at[1],
                          .operator_ = at[2],
                          .bytes = get32(at + 4),
                          .root = get32(at + 8),
                          .digest = get32(at + 12),
                          .choice = get32(at + 16)};
}

static inline void enter_pack(uint8_t *body, const struct enter_body *enter)
{
    put16(body, enter->epoch);
    put16(body + 2, enter->generation);
    put32(body + 4, enter->failed);
    put32(body + 8, (uint16_t)enter->status);
    put64(body + 12, enter->clock_ns);
    put32(body + 20, enter->first_rank);
    entry_pack(body + 24, &enter->first);
    put32(body + 44, enter->other_rank);
    entry_pack(body + 48, &enter->other);
}

static inline bool enter_unpack(const uint8_t *body, uint32_t bytes, struct enter_body *enter)
{
    if (bytes < ENTER_BYTES) {
        return false;
    }
    *enter = (struct enter_body){.epoch = get16(body),
                                 .generation = body[2],
                                 .failed = get32(body + 4),
                                 .status = (int16_t)get16(body + 8),
                                 .clock_ns = get64(body + 12),
                                 .first_rank = get32(body + 20),
                                 .first = entry_at(body + 24),
                                 .other_rank = get32(body + 44),
                                 .other = entry_at(body + 48)};
    return enter->status <= 0;
}

static inline void entered_pack(uint8_t *body, const struct entered_body *entered)
{
    put16(body, entered->epoch);
    put16(body + 2, entered->generation);
    put32(body + 4, (uint16_t)entered->status);
    put64(body + 8, entered->clock_ns);
}

static inline bool entered_unpack(const uint8_t *body, uint32_t bytes, struct entered_body *entered)
{
    if (bytes < ENTERED_BYTES) {
        return false;
    }
    *entered = (struct entered_body){.epoch = get16(body),
                                     .generation = body[2],
                                     .status = (int16_t)get16(body + 4),
                                     .clock_ns = get64(body + 8)};
    return entered->status <= 0;
}
