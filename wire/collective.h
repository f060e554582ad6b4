/*
 * collective.h - what neighbours say to each other when they enter a collective.
 *
 *   ENTER   0 epoch u16 | 2 operation u8 | 3 round u8 | 4 bytes u32 | 8 root u32 |
 *           12 status i16, never positive | 14 generation u8, of the OFFER | 15 spare
 *
 * Units    bytes
 * Context  any; pure. Unpacking is false when the body is too short or the status is positive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/bytes.h"

enum collective_kind { PACKET_ENTER = 21 };

enum {
    ENTER_BYTES = 16,
    OPERATION_GONE = 0xff /* an answer of a program that has ended; it wants none */
};

struct enter_body {
    uint16_t epoch;
    uint8_t operation; /* enum ecube_operation, or OPERATION_GONE */
    uint8_t round;
    uint32_t bytes, root;
    int16_t status;
    uint8_t generation;
};

static inline void enter_pack(uint8_t *body, const struct enter_body *enter)
{
    put16(body, enter->epoch);
    body[2] = enter->operation;
    body[3] = enter->round;
    put32(body + 4, enter->bytes);
    put32(body + 8, enter->root);
    put16(body + 12, (uint16_t)enter->status);
    put16(body + 14, enter->generation);
}

static inline bool enter_unpack(const uint8_t *body, uint32_t bytes, struct enter_body *enter)
{
    if (bytes < ENTER_BYTES)
        return false;
    *enter = (struct enter_body){.epoch = get16(body),
                                 .operation = body[2],
                                 .round = body[3],
                                 .bytes = get32(body + 4),
                                 .root = get32(body + 8),
                                 .status = (int16_t)get16(body + 12),
                                 .generation = body[14]};
    return enter->status <= 0;
}
