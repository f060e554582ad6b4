/*
 * reference.h - the receiving side of a channel once more, in the plainest way: over the whole
 * byte string at once, without chunks, buffers, acknowledgements or time. When a frame that has
 * begun is given up it must be told.
 *
 * What a channel delivers and counts must be what this says of the bytes that it has consumed,
 * however they were cut.
 *
 * Source   wire/frame.h
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

enum { REFERENCE_ITEMS = 8192 };

/* A payload that must be delivered: [at, at + bytes) of the string. */
struct reference_item {
    uint32_t at, bytes;
    uint8_t flags;
};

struct reference {
    const uint8_t *string;
    uint32_t bytes; /* of the string that are there */
    bool checked;
    uint16_t incarnation; /* the channel's; 0: none */
    bool sent;            /* it has sent numbered frames */

    uint32_t at;
    bool in_payload, skip;
    struct frame data_frame; /* whose payload is being read */
    bool hunting;
    bool heard; /* a HELLO has come */
    bool is_up; /* it knows this incarnation */
    uint16_t peer_incarnation;
    uint8_t dead_reason;
    uint16_t seq_expected;
    uint32_t damaged, gaps, strays, frames;
    uint32_t packet_count, data_count;
    struct reference_item packets[REFERENCE_ITEMS], data[REFERENCE_ITEMS];
};

void reference_init(struct reference *reference, const uint8_t *string, bool checked,
                    uint16_t incarnation);

/* The channel has given up, at this place, the frame that had begun. */
void reference_give_up(struct reference *reference, uint32_t at);

/* Of the string `bytes` are there now: reads on, as far as `limit`, what a channel has consumed. */
void reference_read(struct reference *reference, uint32_t bytes, uint32_t limit);
