/*
 * region.h - memory of a running program that the host fills or fetches: what host and nodes say to
 * each other.
 *
 * A program waits at a region (ECUBE_CALL_REGION), by its name. Whoever scatters or gathers waits
 * at it too: when all programs do, bytes move, a circuit for each node, and when all have moved the
 * programs go on together.
 *
 *   ATTEND    to a node: 0 name u32 of what goes on, never 0 | 4 generation u8 of the program |
 *             5 spare[3] | 8 the region's name char[ECUBE_NAME_MAX], ends with a zero byte: say
 *             when the program waits there. What was asked before is void
 *   ATTENDS   to the host: 0 name u32 | 4 status i32 | 8 bytes u32 of the region | 12 spare u32 |
 *             16 model ns u64, no port or link of its is busy later | 24 the names of the program's
 *             regions, each ended by a zero byte, as many as fit. E_OK: it waits there, and its
 *             circuits and messages are at rest; E_ARGUMENT: it waits elsewhere, and has no region
 *             of this name
 *   FILLED    to the host, when a circuit for the region has come: 0 name u32 | 4 status i32 |
 *             8 bytes u32 that came | 12 spare u32 | 16 model ns u64 of its end | 24 SHA-256 of
 *             what lies in the region
 *   LEAVE     to a node: 0 name u32 | 4 way u8, enum ecube_region_way | 5 spare[3] | 8 bytes u32
 *             that have moved | 12 spare u32 | 16 model ns u64, since which all wait: the program
 *             goes on
 *
 * A circuit into a region comes from the host alone; its match is the name, and no byte of it is
 * free. What comes out of one does so by COLLECT (gather.h) for a range of one node, under the same
 * name.
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the body is too short, a name has no end, or a way is
 *          none; what is unpacked refers to digest and names where they lie.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/ecube/abi.h"
#include "wire/bytes.h"
#include "wire/run.h"

enum region_kind { PACKET_ATTEND = 44, PACKET_LEAVE = 45, PACKET_ATTENDS = 46, PACKET_FILLED = 47 };

enum {
    ATTEND_BYTES = 8 + ECUBE_NAME_MAX,
    LEAVE_BYTES = 24,
    ATTENDS_BYTES = 24, /* without names */
    ATTENDS_NAMES_MAX = 80,
    FILLED_BYTES = 24 + DIGEST_BYTES
};

struct attend_body {
    uint32_t name;
    uint8_t generation;
    char region[ECUBE_NAME_MAX];
};

struct leave_body {
    uint32_t name;
    uint8_t way; /* enum ecube_region_way */
    uint32_t bytes;
    uint64_t model_ns;
};

struct attends_body {
    uint32_t name;
    int32_t status;
    uint32_t bytes;
    uint64_t model_ns;
    const char *names; /* name_bytes of them; the last is whole */
    uint32_t name_bytes;
};

struct filled_body {
    uint32_t name;
    int32_t status;
    uint32_t bytes;
    uint64_t model_ns;
    const uint8_t *digest; /* DIGEST_BYTES */
};

static inline void attend_pack(uint8_t *body, const struct attend_body *attend)
{
    put32(body, attend->name);
    put32(body + 4, attend->generation);
    memcpy(body + 8, attend->region, ECUBE_NAME_MAX);
}

static inline bool attend_unpack(const uint8_t *body, uint32_t bytes, struct attend_body *attend)
{
    if (bytes < ATTEND_BYTES || body[ATTEND_BYTES - 1] != 0) {
        return false;
    }
    *attend = (struct attend_body){.name = get32(body), .generation = body[4]};
    memcpy(attend->region, body + 8, ECUBE_NAME_MAX);
    return true;
}

static inline void leave_pack(uint8_t *body, const struct leave_body *leave)
{
    put32(body, leave->name);
    put32(body + 4, leave->way);
    put64(body + 8, leave->bytes);
    put64(body + 16, leave->model_ns);
}

static inline bool leave_unpack(const uint8_t *body, uint32_t bytes, struct leave_body *leave)
{
    if (bytes < LEAVE_BYTES) {
        return false;
    }
    *leave = (struct leave_body){.name = get32(body),
                                 .way = body[4],
                                 .bytes = get32(body + 8),
                                 .model_ns = get64(body + 16)};
    return leave->way == ECUBE_SCATTERED || leave->way == ECUBE_GATHERED;
}

/* Returns the bytes of the body. */
static inline uint32_t attends_pack(uint8_t *body, const struct attends_body *attends)
{
    put32(body, attends->name);
    put32(body + 4, (uint32_t)attends->status);
    put64(body + 8, attends->bytes);
    put64(body + 16, attends->model_ns);
    if (attends->name_bytes > 0) {
        memcpy(body + ATTENDS_BYTES, attends->names, attends->name_bytes);
    }
    return ATTENDS_BYTES + attends->name_bytes;
}

static inline bool attends_unpack(const uint8_t *body, uint32_t bytes, struct attends_body *attends)
{
    if (bytes < ATTENDS_BYTES || (bytes > ATTENDS_BYTES && body[bytes - 1] != 0)) {
        return false;
    }
    *attends = (struct attends_body){.name = get32(body),
                                     .status = (int32_t)get32(body + 4),
                                     .bytes = get32(body + 8),
                                     .model_ns = get64(body + 16),
                                     .names = (const char *)body + ATTENDS_BYTES,
                                     .name_bytes = bytes - ATTENDS_BYTES};
    return true;
}

static inline void filled_pack(uint8_t *body, const struct filled_body *filled)
{
    put32(body, filled->name);
    put32(body + 4, (uint32_t)filled->status);
    put64(body + 8, filled->bytes);
    put64(body + 16, filled->model_ns);
    memcpy(body + 24, filled->digest, DIGEST_BYTES);
}

static inline bool filled_unpack(const uint8_t *body, uint32_t bytes, struct filled_body *filled)
{
    if (bytes < FILLED_BYTES) {
        return false;
    }
    *filled = (struct filled_body){.name = get32(body),
                                   .status = (int32_t)get32(body + 4),
                                   .bytes = get32(body + 8),
                                   .model_ns = get64(body + 16),
                                   .digest = body + 24};
    return true;
}
