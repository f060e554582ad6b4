/*
 * plan.h - a plan as bytes: what one node does in each step of a collective; and the packets that
 * bring it.
 *
 * A part is what one node needs: a header, then rows in the order of steps. All numbers are
 * little-endian; header and rows begin on multiples of 4 bytes.
 *
 *   header   0 form u16, PLAN_FORM | 2 flags u16, enum plan_flag |
 *            4 bytes u32, of header and rows |
 *            8 digest u32, of the whole plan, all nodes' rows | 12 check u32, CRC-32C of this part
 *            with zero here | 16 machine u32, network_digest of its network | 20 nodes u32 |
 *            24 rank u32, whose rows they are; an invariant plan: 0 | 28 root u32 |
 *            32 operation u8 | 33 algorithm u8 | 34 segments u16, at least 1 |
 *            36 scratch u32, slots of this node | 40 rows u32 | 44 steps u32, of the whole plan |
 *            48 bytes_min u32 | 52 bytes_max u32: it is the plan for blocks of these sizes |
 *            56 choice u32, ecube_choice (abi.h) of the algorithm that was asked for;
 *            0: the cheapest |
 *            60 type u8, of the elements for which it is; 0: any | 61 ports u8, of a node, that it
 *            is for; 255: it counts links alone | 62 spare[2] |
 *            64 carries u16[PLAN_PORTS_MAX]: for each port, how many circuits of the plan its link
 *            carries outwards, other nodes' among them
 *
 *   row      0 bytes u16, to the next row | 2 step u16 | 4 flags u8, enum row_flag | 5 port u8 |
 *            6 send extents u8 | 7 receive extents u8 | 8 to u32 | 12 from u32 |
 *            16 extents, those sent, then those received | hop list (circuit.h) if it sends |
 *            0 to 3 bytes to a multiple of 4
 *
 *   extent   0 first u32: slot, bits 30 and 31: enum space | 4 length u32 | 8 stride u32 |
 *            12 times u32: the slots first + t * stride + i, t < times, i < length, in this order
 *
 * A row of an invariant plan is written for node 0: where it has a rank, or a slot of a space with
 * one slot for every node, node r reads network_translate(x, r). On a cube 2^j slots that begin at
 * a multiple of 2^j stay together, and are read upwards. Scratch slots are never translated.
 *
 * A node has at most one row with circuits for each step and port: it sends and receives by that
 * port. All of a step are issued at one model time.
 *
 * Where times > 1 stride is at least length. A hop list comes to no node twice. A row that copies
 * has no circuit and takes no time: at this node the slots of the extents sent go to the slots of
 * those received. Its step is that of the rows beside it.
 *
 *   PLAN_ASK   to the host: 0 question u32, the asker's own | 4 offset u32 | 8 operation u8 |
 *              9 type u8 | 10 spare u16 | 12 root u32 | 16 bytes u32 |
 *              20 choice u32, as above
 *   PLAN_PART  to a node: 0 question u32 | 4 offset u32 | 8 total u32, of the part; 0: there is no
 *              plan | 12 status i32, why | 16 bytes of the part from the offset on
 *   PREDICT    to the host: a PLAN_ASK with offset 0
 *   PREDICTED  to a node: 0 question u32 | 4 status i32 | 8 model ns u64 | 16 bound ns u64 |
 *              24 steps u32
 *
 * Units    bytes; model time in ns
 * Context  any; pure. Unpacking is false when the body is too short.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum plan_kind {
    PACKET_PLAN_PART = 28,
    PACKET_PREDICTED = 29,
    PACKET_PLAN_ASK = 41,
    PACKET_PREDICT = 42
};

enum {
    PLAN_FORM = 3,
    PLAN_PORTS_MAX = 16,
    PLAN_HEADER_BYTES = 64 + 2 * PLAN_PORTS_MAX,
    PLAN_ROW_BYTES = 16, /* without extents and hop list */
    PLAN_EXTENT_BYTES = 16,
    PLAN_EXTENTS_MAX = 255,
    PLAN_STEPS_MAX = 65535,
    PLAN_SCRATCH_MAX = 1 << 20, /* slots */
    PLAN_ASK_BYTES = 24,
    PLAN_PART_BYTES = 16, /* without the bytes of the part */
    PLAN_PART_MAX = 1024, /* bytes of the part in one packet */
    PREDICTED_BYTES = 28
};

enum plan_flag { PLAN_INVARIANT = 1 };

enum row_flag {
    ROW_SENDS = 1,
    ROW_RECEIVES = 2,
    ROW_COPIES = 4,   /* alone */
    ROW_COMBINES = 8, /* what is received, or copied, is combined with what is there */
    ROW_AHEAD = 16,   /* issued when the node's last circuit of earlier steps has begun to flow */
    /* Real waits, which cost no model time: data of all earlier rows has arrived; all bytes sent by
     * earlier rows have been acknowledged. */
    ROW_AFTER_RECEIVED = 32,
    ROW_AFTER_SENT = 64
};

struct plan_header {
    uint16_t flags;
    uint32_t bytes, digest, check, machine, nodes, rank, root;
    uint8_t operation, algorithm;
    uint16_t segments;
    uint32_t scratch, rows, steps, bytes_min, bytes_max, choice;
    uint8_t type, ports;
    uint16_t carries[PLAN_PORTS_MAX];
};

struct plan_row {
    uint16_t bytes, step;
    uint8_t flags; /* enum row_flag */
    uint8_t port;
    uint8_t send_extents, receive_extents;
    uint32_t to, from;
};

struct plan_extent {
    uint8_t space; /* enum space */
    uint32_t first, length, stride, times;
};

struct plan_ask_body {
    uint32_t question, offset;
    uint8_t operation, type;
    uint32_t root, bytes, choice;
};

struct plan_part_body {
    uint32_t question, offset, total;
    int32_t status;
    const uint8_t *data; /* where it lies in the packet */
    uint32_t bytes;
};

struct predicted_body {
    uint32_t question;
    int32_t status;
    uint64_t model_ns, bound_ns;
    uint32_t steps;
};

static inline void plan_header_pack(uint8_t *part, const struct plan_header *header)
{
    put16(part, PLAN_FORM);
    put16(part + 2, header->flags);
    put32(part + 4, header->bytes);
    put32(part + 8, header->digest);
    put32(part + 12, header->check);
    put32(part + 16, header->machine);
    put32(part + 20, header->nodes);
    put32(part + 24, header->rank);
    put32(part + 28, header->root);
    part[32] = header->operation;
    part[33] = header->algorithm;
    put16(part + 34, header->segments);
    put32(part + 36, header->scratch);
    put32(part + 40, header->rows);
    put32(part + 44, header->steps);
    put32(part + 48, header->bytes_min);
    put32(part + 52, header->bytes_max);
    put32(part + 56, header->choice);
    put32(part + 60, header->type | (uint32_t)header->ports << 8);
    for (unsigned i = 0; i < PLAN_PORTS_MAX; i++) {
        put16(part + 64 + 2 * i, header->carries[i]);
    }
}

/* False when so many bytes do not begin with the header of a plan that ends with them. */
static inline bool plan_header_unpack(const uint8_t *part, uint32_t bytes,
                                      struct plan_header *header)
{
    if (bytes < PLAN_HEADER_BYTES || get16(part) != PLAN_FORM || get32(part + 4) != bytes) {
        return false;
    }
    *header = (struct plan_header){.flags = get16(part + 2),
                                   .bytes = bytes,
                                   .digest = get32(part + 8),
                                   .check = get32(part + 12),
                                   .machine = get32(part + 16),
                                   .nodes = get32(part + 20),
                                   .rank = get32(part + 24),
                                   .root = get32(part + 28),
                                   .operation = part[32],
                                   .algorithm = part[33],
                                   .segments = get16(part + 34),
                                   .scratch = get32(part + 36),
                                   .rows = get32(part + 40),
                                   .steps = get32(part + 44),
                                   .bytes_min = get32(part + 48),
                                   .bytes_max = get32(part + 52),
                                   .choice = get32(part + 56),
                                   .type = part[60],
                                   .ports = part[61]};
    for (unsigned i = 0; i < PLAN_PORTS_MAX; i++) {
        header->carries[i] = get16(part + 64 + 2 * i);
    }
    return true;
}

/* Single fields, where a part lies. */
static inline uint16_t plan_form(const uint8_t *part)
{
    return get16(part);
}

/* Writes the first 8 bytes: what this is, and how long. */
static inline void plan_mark(uint8_t *part, uint16_t form, uint32_t bytes)
{
    put32(part, form);
    put32(part + 4, bytes);
}

static inline bool plan_is_invariant(const uint8_t *part)
{
    return get16(part + 2) & PLAN_INVARIANT;
}

static inline uint32_t plan_bytes(const uint8_t *part)
{
    return get32(part + 4);
}

static inline uint32_t plan_digest(const uint8_t *part)
{
    return get32(part + 8);
}

static inline void plan_set_check(uint8_t *part, uint32_t check)
{
    put32(part + 12, check);
}

static inline uint32_t plan_root(const uint8_t *part)
{
    return get32(part + 28);
}

static inline uint8_t plan_operation(const uint8_t *part)
{
    return part[32];
}

static inline uint16_t plan_segments(const uint8_t *part)
{
    return get16(part + 34);
}

static inline uint32_t plan_scratch(const uint8_t *part)
{
    return get32(part + 36);
}

static inline uint32_t plan_rows(const uint8_t *part)
{
    return get32(part + 40);
}

static inline uint32_t plan_steps(const uint8_t *part)
{
    return get32(part + 44);
}

static inline uint32_t plan_choice(const uint8_t *part)
{
    return get32(part + 56);
}

/* Whether it is the plan for blocks of this size, of elements of this type. */
static inline bool plan_suits(const uint8_t *part, uint32_t bytes, uint8_t type)
{
    return bytes >= get32(part + 48) && bytes <= get32(part + 52) &&
           (part[60] == 0 || part[60] == type);
}

static inline uint8_t plan_ports(const uint8_t *part)
{
    return part[61];
}

static inline uint16_t plan_carries(const uint8_t *part, unsigned port)
{
    return get16(part + 64 + 2 * port);
}

static inline uint16_t plan_row_bytes(const uint8_t *row)
{
    return get16(row);
}

static inline void plan_row_pack(uint8_t *at, const struct plan_row *row)
{
    put16(at, row->bytes);
    put16(at + 2, row->step);
    at[4] = row->flags;
    at[5] = row->port;
    at[6] = row->send_extents;
    at[7] = row->receive_extents;
    put32(at + 8, row->to);
    put32(at + 12, row->from);
}

static inline struct plan_row plan_row_at(const uint8_t *at)
{
    return (struct plan_row){.bytes = get16(at),
                             .step = get16(at + 2),
                             .flags = at[4],
                             .port = at[5],
                             .send_extents = at[6],
                             .receive_extents = at[7],
                             .to = get32(at + 8),
                             .from = get32(at + 12)};
}

static inline void plan_extent_pack(uint8_t *at, const struct plan_extent *extent)
{
    put32(at, extent->first | (uint32_t)extent->space << 30);
    put32(at + 4, extent->length);
    put32(at + 8, extent->stride);
    put32(at + 12, extent->times);
}

/* Extent `number` of a row, those sent first. */
static inline struct plan_extent plan_extent_at(const uint8_t *row, unsigned number)
{
    const uint8_t *at = row + PLAN_ROW_BYTES + number * (unsigned)PLAN_EXTENT_BYTES;
    return (struct plan_extent){.space = (uint8_t)(get32(at) >> 30),
                                .first = get32(at) & 0x3fffffff,
                                .length = get32(at + 4),
                                .stride = get32(at + 8),
                                .times = get32(at + 12)};
}

/* The hop list of a row that sends. */
static inline const uint8_t *plan_row_hops(const uint8_t *row)
{
    return row + PLAN_ROW_BYTES + (row[6] + row[7]) * PLAN_EXTENT_BYTES;
}

static inline void plan_ask_pack(uint8_t *body, const struct plan_ask_body *ask)
{
    put32(body, ask->question);
    put32(body + 4, ask->offset);
    body[8] = ask->operation;
    body[9] = ask->type;
    put16(body + 10, 0);
    put32(body + 12, ask->root);
    put32(body + 16, ask->bytes);
    put32(body + 20, ask->choice);
}

static inline bool plan_ask_unpack(const uint8_t *body, uint32_t bytes, struct plan_ask_body *ask)
{
    if (bytes < PLAN_ASK_BYTES) {
        return false;
    }
    *ask = (struct plan_ask_body){.question = get32(body),
                                  .offset = get32(body + 4),
                                  .operation = body[8],
                                  .type = body[9],
                                  .root = get32(body + 12),
                                  .bytes = get32(body + 16),
                                  .choice = get32(body + 20)};
    return true;
}

/* Writes what stands before the bytes of the part. */
static inline void plan_part_pack(uint8_t *body, const struct plan_part_body *part)
{
    put32(body, part->question);
    put32(body + 4, part->offset);
    put32(body + 8, part->total);
    put32(body + 12, (uint32_t)part->status);
}

static inline bool plan_part_unpack(const uint8_t *body, uint32_t bytes,
                                    struct plan_part_body *part)
{
    if (bytes < PLAN_PART_BYTES) {
        return false;
    }
    *part = (struct plan_part_body){.question = get32(body),
                                    .offset = get32(body + 4),
                                    .total = get32(body + 8),
                                    .status = (int32_t)get32(body + 12),
                                    .data = body + PLAN_PART_BYTES,
                                    .bytes = bytes - PLAN_PART_BYTES};
    return true;
}

static inline void predicted_pack(uint8_t *body, const struct predicted_body *predicted)
{
    put32(body, predicted->question);
    put32(body + 4, (uint32_t)predicted->status);
    put64(body + 8, predicted->model_ns);
    put64(body + 16, predicted->bound_ns);
    put32(body + 24, predicted->steps);
}

static inline bool predicted_unpack(const uint8_t *body, uint32_t bytes,
                                    struct predicted_body *predicted)
{
    if (bytes < PREDICTED_BYTES) {
        return false;
    }
    *predicted = (struct predicted_body){.question = get32(body),
                                         .status = (int32_t)get32(body + 4),
                                         .model_ns = get64(body + 8),
                                         .bound_ns = get64(body + 16),
                                         .steps = get32(body + 24)};
    return true;
}
