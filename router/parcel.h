/*
 * parcel.h - a data frame that is being put together out of pieces that stay where they are.
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
struct parcel {
    struct channel *channel; /* whose next frame it is: the segments are in their places */
    unsigned count;
    uint32_t bytes, limit;
    uint8_t flags;
    uint32_t crc;
};

/* Takes memory for a header that cannot be written in front of the first piece; NULL when all are
 * under way. */
uint8_t *parcel_header(struct channel *channel);

/* An empty parcel, no longer than the channel has credit for; `header` NULL: in place. */
void parcel_begin(struct parcel *parcel, struct channel *channel, uint8_t *header);

static inline void parcel_add(struct parcel *parcel, struct segment segment, bool checked)
{
    *channel_place(parcel->channel, parcel->count++) = segment;
    parcel->bytes += segment.bytes;
    if (checked) {
        parcel->crc = crc32_add(parcel->crc, segment.data, segment.bytes);
    }
}

/* Queues it on its channel; `header` as it was begun with. */
void parcel_send(struct router *router, unsigned port, struct parcel *parcel, uint8_t *header);

/* Place for an ABORT's filler byte and the check behind a header. */
enum { FILLER_BYTES = 1 };
