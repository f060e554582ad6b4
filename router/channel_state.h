/*
 * channel_state.h - what a channel knows: struct channel, and the sizes of what is in it.
 *
 * For channel.c and channel_receive.c, for the owner who gives it a place (port.h), and for those
 * who look at it: the simulator, which fetches it into the cache, and tests. All others call the
 * functions of channel.h and channel_receive.h.
 *
 * Units    bytes, us
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/link.h"
#include "router/segment.h"
#include "wire/frame.h"

enum {
    RING_MAX = 128, /* places for segments, and for pieces: a power of two */
    PLACES_MIN = 2, /* of those for segments, in use while few are under way: a power of two */
    FRAME_SEGMENTS_MAX = 24,
    DATA_WINDOW = 192 * 1024, /* bytes of data that may lie unread here, with RING_MAX places */
    CONTROL_WINDOW = 12,      /* routed packets that may lie here */
    RAW_FRAMES = 4,           /* unnumbered frames (HELLO, ACK, NAK) that may be under way */
    /* data frames of this node's own that may be under way: a power of two */
    HEADERS_MAX = 8,
    HEADER_ROOM = 32 /* for a header, a filler byte and a check */
};

/* What the next channel_flush is to send, whatever else there is. */
enum channel_owes { OWES_HELLO = 1, OWES_NAK = 2, OWES_ACK = 4, OWES_AGAIN = 8 };

/* What goes wrong, and what is sent beside the frames. */
struct channel_counters {
    uint32_t retransmissions, damaged, gaps, naks, acks;
    uint32_t strays; /* frames for an earlier incarnation of this end */
};

/* What every frame looks at comes first, up to the lowest of refs. */
struct channel {
    struct link *link;
    struct segment *segments;
    uint32_t due_bit; /* of this channel, in struct channel_due */
    uint32_t data_window;
    uint32_t announced_id;
    uint16_t ring;                          /* places in each of the two rings, at most */
    uint16_t incarnation, peer_incarnation; /* 0: none; not known yet */
    /* sending: the ring holds [first, next) handed to the link, [next, end) not yet; indices run
     * freely. Of its places only the first few are used until more are under way: so they stay in
     * the cache. */
    uint16_t places, first, next, end;
    uint16_t seq_next;                       /* of the next new frame */
    uint16_t seq_acknowledged, seq_released; /* by the neighbour; and given back to the owner */
    uint16_t seq_expected, seq_reported;
    uint32_t handed; /* segments given to the link, raw ones included */
    uint16_t control_sent, control_limit;
    uint16_t control_received, control_consumed, control_reported;
    uint16_t peer_control_window;
    uint32_t peer_data_window;
    uint32_t data_sent, data_limit;
    uint32_t data_received, data_acknowledged, data_consumed, data_reported;
    uint32_t payload_left;   /* of the DATA frame under way */
    uint8_t crc_left;        /* bytes of the payload's CRC still to come */
    uint8_t state;           /* enum link_state */
    uint8_t owes;            /* enum channel_owes */
    bool checked;            /* payloads carry a CRC */
    uint8_t announced_heard; /* what the last HELLO said */
    bool peer_known;         /* peer.id is */
    bool resent; /* a second copy of something has gone: ask the link before memory is given back */
    bool in_ring; /* this link: packets may go in circles over it */
    bool kick_due;
    bool chunk_held;
    bool hunting;  /* looking for the next good header */
    bool nak_sent; /* one NAK per gap */
    bool hello_new;
    /* when an acknowledgement last moved, or the first unacknowledged frame went */
    uint64_t progress_us;
    /* when channel_flush wants to run though nothing arrives; UINT64_MAX: never */
    uint64_t wake_us;
    uint64_t ack_us; /* when an acknowledgement must go at the latest; UINT64_MAX: none is owed */
    struct link_chunk chunk; /* what is left of the present chunk */
    uint8_t *chunk_end;      /* end of the memory that it may fill */
    uint32_t frames_sent, frames_received;
    uint16_t piece_first, piece_commit, piece_end; /* [commit, end): not yet checked */
    uint8_t held;                                  /* buffers that the link has not got back */
    uint8_t refs[LINK_BUFFERS_MAX];                /* the lowest numbers are those in use */

    struct piece *pieces;
    uint8_t payload_flags;
    bool payload_skip;
    uint8_t dead_reason; /* enum dead_reason */
    struct channel_counters counters;
    uint32_t dead_after_ms; /* without progress while an acknowledgement is owed */
    struct hello peer;
    /* lossy links: when all is sent again; when to ask for credit that may have been lost on its
     * way (UINT64_MAX: never), and since when an answer is owed (0: none is) */
    uint64_t retry_us, short_us, asked_us;
    uint64_t part_us; /* lossy links: when a frame is given up of which only a part has come */
    uint32_t crc, crc_received;
    uint64_t hello_us;   /* when the last HELLO went out */
    uint16_t seq_marked; /* of the first new frame behind channel_mark */
    uint8_t raw_next, header_next, headers_used;
    /* memory of frames */
    uint8_t raw[RAW_FRAMES][FRAME_HEADER_BYTES + HELLO_BYTES + FRAME_CHECK_BYTES];
    uint32_t raw_handed[RAW_FRAMES]; /* value of `handed` after it */
    uint8_t headers[HEADERS_MAX][HEADER_ROOM];
};
