/*
 * frame_builder.h - a data frame that is being put together out of pieces that stay where they are.
 *
 * Units    bytes
 * Context  the router's step
 */
#pragma once

#include "router/channel_send.h"
#include "router/segment.h"
#include "wire/crc.h"

struct router;

/* A frame that is being put together. */
struct frame_builder {
    struct channel *channel; /* whose next frame it is: the segments are in their places */
    unsigned count;
    uint32_t bytes, limit;
    uint8_t flags;
    uint32_t crc;
};

/* Takes memory for a header that cannot be written in front of the first piece; NULL when all are
 * under way. */
uint8_t *frame_builder_header(struct channel *channel);

/* An empty frame, no longer than the channel has credit for; `header` NULL: in place. */
void frame_builder_begin(struct frame_builder *frame, struct channel *channel, uint8_t *header);

static inline void frame_builder_add(struct frame_builder *frame, struct segment segment,
                                     bool checked)
{
    *channel_place(frame->channel, frame->count++) = segment;
    frame->bytes += segment.bytes;
    if (checked) {
        frame->crc = crc32_add(frame->crc, segment.data, segment.bytes);
    }
}

/* Queues it on its channel; `header` as it was begun with. */
void frame_builder_send(struct router *router, unsigned port, struct frame_builder *frame,
                        uint8_t *header);

/* Place for an ABORT's filler byte and the check behind a header. */
enum { FILLER_BYTES = 1 };
