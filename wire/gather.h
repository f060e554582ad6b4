/*
 * gather.h - what programs have left (output.h) on its way to the host: what host and nodes say to
 * each other, and the table in front of the outputs.
 *
 * When no program runs any more, the host asks each node how much it has (MEASURE). Then it
 * collects ranges of ranks as a download scatters them, backwards: the first node of a range takes
 * in what the others have, and sends all of it on, over one circuit.
 *
 *   MEASURE   to a node: 0 name u32 | 4 generation u8 of the program | 5 spare[3]
 *   COLLECT   to the first node of a range, from the host or from the node that collects for it:
 *             0 name u32 | 4 count u32 of the range | 8 stage u8, enum collect_stage |
 *             9 generation u8 | 10 spare[6] | 16 base ns u64: no circuit is issued before this
 *             time. QUEUED (message.h) answers the first stage: it is being done. RETRY: not yet.
 *             CANCEL: it cannot be. The circuit answers the second
 *   MEASURED  to the host: 0 name u32 | 4 status i32 | 8 bytes u32 of all pieces | 12 room u32: so
 *             many bytes of others it can hold | 16 model ns u64, no port or link of its is busy
 *             later. Without being asked: it cannot collect its range, or not send it on: status
 *
 * The circuit's match is the name. Its message is a table of the range's nodes, in rank order, and
 * behind it their outputs. The table takes no model time (open_charged, circuit.h).
 *
 *   row       0 rank u32 | 4 bytes u32 | 8 SHA-256 of them [32]
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the body is too short, or a stage is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/run.h"

enum gather_kind { PACKET_COLLECT = 30, PACKET_MEASURE = 31, PACKET_MEASURED = 43 };

enum {
    MEASURE_BYTES = 8,
    COLLECT_BYTES = 24,
    MEASURED_BYTES = 24,
    OUTPUT_ROW_BYTES = 8 + DIGEST_BYTES
};

enum collect_stage {
    COLLECT_BEGIN = 0, /* collect your range */
    COLLECT_GRANT = 1  /* I am ready for it: open your circuit */
};

struct measure_body {
    uint32_t name;
    uint8_t generation;
};

struct collect_body {
    uint32_t name, count;
    uint8_t stage; /* enum collect_stage */
    uint8_t generation;
    uint64_t base_ns;
};

struct measured_body {
    uint32_t name;
    int32_t status;
    uint32_t bytes, room;
    uint64_t model_ns;
};

struct output_row {
    uint32_t rank, bytes;
    uint8_t digest[DIGEST_BYTES];
};

static inline void measure_pack(uint8_t *body, const struct measure_body *measure)
{
    put32(body, measure->name);
    put32(body + 4, measure->generation);
}

static inline bool measure_unpack(const uint8_t *body, uint32_t bytes, struct measure_body *measure)
{
    if (bytes < MEASURE_BYTES) {
        return false;
    }
    *measure = (struct measure_body){.name = get32(body), .generation = body[4]};
    return true;
}

static inline void collect_pack(uint8_t *body, const struct collect_body *collect)
{
    put32(body, collect->name);
    put32(body + 4, collect->count);
    put64(body + 8, collect->stage | (uint32_t)collect->generation << 8);
    put64(body + 16, collect->base_ns);
}

static inline bool collect_unpack(const uint8_t *body, uint32_t bytes, struct collect_body *collect)
{
    if (bytes < COLLECT_BYTES) {
        return false;
    }
    *collect = (struct collect_body){.name = get32(body),
                                     .count = get32(body + 4),
                                     .stage = body[8],
                                     .generation = body[9],
                                     .base_ns = get64(body + 16)};
    return collect->stage <= COLLECT_GRANT;
}

static inline void measured_pack(uint8_t *body, const struct measured_body *measured)
{
    put32(body, measured->name);
    put32(body + 4, (uint32_t)measured->status);
    put32(body + 8, measured->bytes);
    put32(body + 12, measured->room);
    put64(body + 16, measured->model_ns);
}

static inline bool measured_unpack(const uint8_t *body, uint32_t bytes,
                                   struct measured_body *measured)
{
    if (bytes < MEASURED_BYTES) {
        return false;
    }
    *measured = (struct measured_body){.name = get32(body),
                                       .status = (int32_t)get32(body + 4),
                                       .bytes = get32(body + 8),
                                       .room = get32(body + 12),
                                       .model_ns = get64(body + 16)};
    return true;
}

static inline void output_row_pack(uint8_t *at, const struct output_row *row)
{
    put32(at, row->rank);
    put32(at + 4, row->bytes);
    memcpy(at + 8, row->digest, DIGEST_BYTES);
}

static inline struct output_row output_row_at(const uint8_t *table, uint32_t index)
{
    const uint8_t *at = table + (size_t)index * OUTPUT_ROW_BYTES;
    struct output_row row = {.rank = get32(at), .bytes = get32(at + 4)};

    memcpy(row.digest, at + 8, DIGEST_BYTES);
    return row;
}
