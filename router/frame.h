/*
 * frame.h - frame headers and HELLO payloads to and from bytes (layout: frame_wire.h).
 *
 * Context  any; pure
 */
#pragma once

#include <stdbool.h>

#include "router/crc.h"
#include "router/frame_wire.h"
#include "wire/bytes.h"

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

    if ((first & 0xffff) != FRAME_SYNC || get32(bytes + 20) != frame_check(first, second, third))
        return false;
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

void hello_pack(uint8_t *bytes, const struct hello *hello);
void hello_unpack(const uint8_t *bytes, struct hello *hello);
