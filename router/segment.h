/*
 * segment.h - bytes by reference: a segment waits to be sent, a piece or packet has arrived.
 *
 * Each says who owns its memory, so that it can be given back: a segment when the neighbour has
 * acknowledged it, a piece or packet when nothing of it is looked at or sent on any more.
 *
 * Units    bytes
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum segment_owner {
    OWNER_NONE,   /* memory that needs no release */
    OWNER_BUFFER, /* a receive buffer of port `port` */
    OWNER_SLOT,   /* a packet slot of this node */
    OWNER_REPLY,  /* the reply memory of port `port` */
    OWNER_HEADER, /* the oldest of channel.headers */
    OWNER_SOURCE  /* OPEN or program memory of the circuit source `number` */
};

struct segment {
    const uint8_t *data;
    uint32_t bytes;
    uint16_t number; /* buffer, slot or source */
    uint8_t owner;   /* enum segment_owner */
    uint8_t port;
    uint8_t credit;        /* enum credit */
    bool last;             /* of its frame */
    uint32_t handed;       /* the channel's count of handed segments after this one */
    uint32_t credit_bytes; /* payload that is consumed when it is released */
};

enum credit { CREDIT_NONE, CREDIT_DATA, CREDIT_CONTROL };

/* Received data that has not been passed on: a run of bytes in one buffer. */
struct piece {
    uint8_t *data;
    uint16_t bytes;
    uint16_t room; /* from behind it to the end of its buffer, whatever lies there */
    uint16_t buffer;
    uint8_t flags; /* FLAG_LAST, FLAG_ABORT: after these bytes */
    bool split;    /* bytes just before data are still being sent */
};

/* A packet that arrived: its bytes stay until channel_release(buffer). */
struct arrival {
    uint8_t *packet;
    uint32_t bytes;
    uint16_t buffer;
};
