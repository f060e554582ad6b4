/*
 * frame_builder.c - data frames put together in their places in the ring.
 *
 * The segments are written where they will be sent from: nothing of a frame is moved. A frame whose
 * first piece has room in front of it needs no segment for its header.
 */
#include "router/frame_builder.h"

#include <stddef.h>

#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "router/state.h"

/* In turn, and given back in that order: OWNER_HEADER needs no number. */
uint8_t *frame_builder_header(struct channel *channel)
{
    if (channel->headers_used == HEADERS_MAX) {
        return NULL;
    }
    uint8_t *header = channel->headers[channel->header_next];
    channel->header_next = (uint8_t)((channel->header_next + 1) % HEADERS_MAX);
    channel->headers_used++;
    return header;
}

void frame_builder_begin(struct frame_builder *frame, struct channel *channel, uint8_t *header)
{
    uint32_t credit = channel_data_credit(channel);

    frame->channel = channel;
    frame->count = 0;
    frame->bytes = 0;
    frame->flags = 0;
    frame->crc = frame_payload_start(channel->seq_next);
    frame->limit = credit < FRAME_DATA_MAX ? credit : FRAME_DATA_MAX;
    if (header) {
        *channel_place(channel, frame->count++) =
            (struct segment){.data = header, .bytes = FRAME_HEADER_BYTES, .owner = OWNER_HEADER};
    }
}

/* The check goes behind the header that the frame has of its own: one without cannot be checked. */
void frame_builder_send(struct router *router, unsigned port, struct frame_builder *frame,
                        uint8_t *header)
{
    struct channel *channel = &router->ports[port].channel;

    if (router->payload_checked) {
        uint8_t *check = header + FRAME_HEADER_BYTES + FILLER_BYTES;
        frame_put_check(check, frame->crc);
        frame->flags |= FLAG_CHECKED;
        *channel_place(channel, frame->count++) =
            (struct segment){.data = check, .bytes = FRAME_CHECK_BYTES, .owner = OWNER_NONE};
    }
    if (!header) {
        struct segment *first = channel_place(channel, 0);
        first->data -= FRAME_HEADER_BYTES;
        first->bytes += FRAME_HEADER_BYTES;
    }
    router->progress++;
    channel_queue(channel, &router->due, FRAME_DATA, frame->flags, frame->bytes, frame->count);
}
