/*
 * link.h - the contract between a link and the code that uses it.
 *
 * A link is an ordered duplex byte channel to exactly one neighbour. Memory is handed over by
 * reference, as the transputer's link engines did: a segment to send stays untouched until the
 * maker counts it as sent; a received chunk belongs to the receiver until it is released. Nothing
 * waits and nothing calls up: the user of a link asks.
 *
 * A chunk is a piece of the byte stream, cut anywhere. The LINK_HEADROOM bytes in front of
 * chunk->data are writable memory of the same buffer: the user may join the tail of the last chunk
 * to this one there, or put a header in front of a piece that it forwards.
 *
 * Makers   shared_memory_link.c and virtio_serial.c (target), the socket link of the host tool, the
 *          simulated link of sim/, the in-process link of the tests
 * Units    bytes
 * Errors   E_FULL from send: no descriptor is free; nothing was queued
 * Source   INMOS, The Transputer Databook (1989): links as DMA channels (port, pointer, count)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    LINK_HEADROOM = 1152,  /* bytes in front of every chunk; at least one whole control frame */
    LINK_CHUNK_MAX = 4096, /* the longest chunk of most makers */
    LINK_BUFFERS_MAX = 64, /* receive buffers of one link; buffer numbers are below this */
    LINK_LONG_CHUNK_MAX = 16384, /* the longest chunk of a link with long_chunks */
    LINK_LONG_BUFFERS = 36,      /* receive buffers that it has at least */
    LINK_BUFFER_BYTES = LINK_HEADROOM + LINK_CHUNK_MAX,
    LINK_LONG_BUFFER_BYTES = LINK_HEADROOM + LINK_LONG_CHUNK_MAX
};

struct link_chunk {
    uint8_t *data;
    uint32_t bytes;
    uint16_t buffer; /* number to release */
};

enum carrier {
    CARRIER_UNKNOWN, /* not attached yet */
    CARRIER_UP,
    CARRIER_LOST /* the cable or the peer's device is gone, for good */
};

struct link;

struct link_ops {
    /* Queues one segment, to go out in order; the memory is the link's until it is counted in
     * sent(). */
    int (*send)(struct link *link, const void *data, uint32_t bytes);
    /* Starts whatever send() queued. */
    void (*kick)(struct link *link);
    /* The number of segments that the link is done with since the start, modulo 2^32, in send
     * order. */
    uint32_t (*sent)(struct link *link);
    /* Takes the next received chunk; false when there is none. */
    bool (*receive)(struct link *link, struct link_chunk *chunk);
    /* Gives a chunk's buffer back to the device. */
    void (*release)(struct link *link, uint16_t buffer);
};

/* The first member of every maker's state. What its user looks at in every step costs no call. */
struct link {
    const struct link_ops *ops;
    enum carrier carrier;
    /* chunks that have arrived, modulo 2^16; NULL: only receive() can tell */
    const volatile uint16_t *arrived;
    uint16_t taken; /* chunks that receive() has given out or passed over */
    /* Chunks of LINK_CHUNK_MAX bytes that must lie here before the user wants to be woken, when
     * more than one: set by the user, who knows that what it waits for fills them. A maker may wake
     * it earlier. */
    uint16_t coalesce;
    bool long_chunks; /* up to LINK_LONG_CHUNK_MAX bytes */
};

/* The longest chunk that receive() hands out; every buffer has room for it behind its headroom. */
static inline uint32_t link_chunk_max(const struct link *link)
{
    return link->long_chunks ? LINK_LONG_CHUNK_MAX : LINK_CHUNK_MAX;
}

/* Whether receive() may have something. */
static inline bool link_has_input(const struct link *link)
{
    return !link->arrived || *link->arrived != link->taken;
}
