/*
 * channel.h - frames in order and undamaged over one link: numbering, retransmission, credits,
 * HELLO.
 *
 * Nothing is copied: a segment waits in the ring by reference until the neighbour has acknowledged
 * it, and received data stays in the link's buffers as pieces until it has been passed on. Go-
 * back-N: everything not acknowledged is sent again, in order, on a NAK or a timeout; on a link
 * that cannot lose bytes neither ever happens.
 *
 * Damaged input is counted and skipped up to the next good header. A link is dead when its carrier
 * is lost, when dead_after_ms pass without an acknowledgement that is owed, or when a checked
 * header says impossible things.
 *
 * Units    bytes, us
 * Errors   E_FULL: the ring has no room for the frame
 * Source   go-back-N: Tanenbaum & Wetherall, Computer Networks 5th ed., 3.4.2
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/check.h"
#include "drivers/link.h"
#include "router/frame_wire.h"

enum {
    RING_MAX = 128, /* places for segments, and for pieces: a power of two */
    PLACES_MIN = 2, /* of those for segments, in use while few are under way: a power of two */
    FRAME_SEGMENTS_MAX = 24,
    DATA_WINDOW = 112 * 1024, /* bytes of data that may lie unread here, with RING_MAX places */
    CONTROL_WINDOW = 12,      /* routed packets that may lie here */
    RAW_FRAMES = 4,           /* unnumbered frames (HELLO, ACK, NAK) that may be under way */
    /* data frames of this node's own that may be under way: a power of two */
    HEADERS_MAX = 8,
    HEADER_ROOM = 32, /* for a header, a filler byte and a check */
    RETRY_US = 400 * 1000,
    ACK_DELAY_US = 40 * 1000,
    HELLO_RETRY_US = 250 * 1000,
    DEAD_AFTER_MS = 15 * 1000, /* unless the host says another time */
    DEAD_AFTER_MS_MIN = 1000
};

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

/* What the next channel_flush is to send, whatever else there is. */
enum channel_owes { OWES_HELLO = 1, OWES_NAK = 2, OWES_ACK = 4, OWES_AGAIN = 8 };

enum credit { CREDIT_NONE, CREDIT_DATA, CREDIT_CONTROL };

/* Received data that has not been passed on: a run of bytes in one buffer. */
struct piece {
    uint8_t *data;
    uint32_t bytes;
    uint16_t buffer;
    uint8_t flags; /* FLAG_LAST, FLAG_ABORT: after these bytes */
    bool split;    /* bytes just before data are still being sent */
};

/* What goes wrong, and what is sent beside the frames. */
struct channel_counters {
    uint32_t retransmissions, damaged, gaps, naks, acks;
};

/* What every frame looks at comes first, up to the lowest of refs: with what is before it in struct
 * port four lines of the cache, where pointers have 64 bits. */
struct channel {
    struct link *link;
    /* the owner's mask of channels whose channel_flush has something to do, and its earliest
     * wake_us of all channels, or earlier */
    uint32_t *due;
    uint64_t *due_us;
    struct segment *segments;
    uint32_t due_bit; /* of this channel */
    uint32_t data_window;
    uint32_t told_id;
    uint16_t ring; /* places in each of the two rings, at most */
    /* sending: the ring holds [first, next) handed to the link, [next, end) not yet; indices run
     * freely. Of its places only the first few are used until more are under way: so they stay in
     * the cache. */
    uint16_t places, first, next, end;
    uint16_t seq_next;                       /* of the next new frame */
    uint16_t seq_acknowledged, seq_released; /* by the neighbour; and given back to the owner */
    uint16_t seq_expected, seq_told;
    uint32_t handed; /* segments given to the link, raw ones included */
    uint16_t control_sent, control_limit;
    uint16_t control_received, control_consumed, control_told;
    uint16_t peer_control_window;
    uint32_t peer_data_window;
    uint32_t data_sent, data_limit;
    uint32_t data_received, data_acknowledged, data_consumed, data_told;
    uint32_t payload_left; /* of the DATA frame under way */
    uint8_t crc_left;      /* bytes of the payload's CRC still to come */
    uint8_t state;         /* enum link_state */
    uint8_t owes;          /* enum channel_owes */
    bool checked;          /* payloads carry a CRC */
    uint8_t told_heard;    /* what the last HELLO said */
    bool peer_known;       /* peer.id is */
    bool resent; /* a second copy of something has gone: ask the link before memory is given back */
    bool kick_due;
    bool chunk_held;
    bool hunting;  /* looking for the next good header */
    bool nak_sent; /* one NAK per gap */
    bool hello_new;
    uint32_t dead_after_ms; /* without progress while an acknowledgement is owed */
    /* when an acknowledgement last moved, or the first unacknowledged frame went */
    uint64_t progress_us;
    /* when channel_flush wants to run though nothing arrives; UINT64_MAX: never */
    uint64_t wake_us;
    uint64_t ack_us; /* when an acknowledgement must go at the latest; UINT64_MAX: none is owed */
    struct link_chunk chunk; /* what is left of the present chunk */
    uint8_t *chunk_end;      /* end of the memory that it may fill */
    uint32_t frames_sent, frames_received;
    uint16_t piece_first, piece_commit, piece_end; /* [commit, end): not yet checked */
    uint8_t refs[LINK_BUFFERS_MAX];                /* the lowest numbers are those in use */

    struct piece *pieces;
    uint8_t payload_flags;
    bool payload_skip;
    uint8_t dead_reason; /* enum dead_reason */
    struct channel_counters counters;
    struct hello peer;
    /* lossy links: when all is sent again; when to ask for credit that may have been lost on its
     * way (UINT64_MAX: never), and since when an answer is owed (0: none is) */
    uint64_t retry_us, short_us, asked_us;
    uint32_t crc, crc_received;
    uint64_t hello_us;  /* when the last HELLO went out */
    uint32_t tail_room; /* bytes free behind the newest piece, in its buffer */
    uint8_t raw_next, header_next, headers_used;
    /* memory of frames */
    uint8_t raw[RAW_FRAMES][FRAME_HEADER_BYTES + HELLO_BYTES + FRAME_CHECK_BYTES];
    uint32_t raw_handed[RAW_FRAMES]; /* value of `handed` after it */
    uint8_t headers[HEADERS_MAX][HEADER_ROOM];
};

enum arrival_kind { ARRIVAL_NONE, ARRIVAL_PACKET, ARRIVAL_PROGRESS };

/* A packet that arrived: its bytes stay until channel_release(buffer). */
struct arrival {
    uint8_t *packet;
    uint32_t bytes;
    uint16_t buffer;
};

struct channel_config {
    struct link *link;
    struct segment *segments;
    struct piece *pieces;
    uint16_t ring; /* places in each: a power of two, more than FRAME_SEGMENTS_MAX */
    bool checked;
    uint32_t dead_after_ms;
    uint32_t *due, due_bit;
    uint64_t *due_us;
};

void channel_init(struct channel *channel, const struct channel_config *config);

/* Asks the owner to call channel_flush. */
static inline void channel_wake(struct channel *channel)
{
    *channel->due |= channel->due_bit;
}

/* An acknowledgement has moved, or the first unacknowledged frame goes. */
static inline void channel_progress(struct channel *channel, uint64_t now_us)
{
    channel->progress_us = now_us;
    if (channel->checked)
        channel->retry_us = now_us + RETRY_US;
}

/* Has an acknowledgement sent with the next channel_flush. */
static inline void channel_acknowledge(struct channel *channel)
{
    channel->owes |= OWES_ACK;
    channel_wake(channel);
}

static inline void channel_greet_soon(struct channel *channel)
{
    channel->owes |= OWES_HELLO;
    channel_wake(channel);
}

/* Whether channel_receive may have something. */
static inline bool channel_news(const struct channel *channel)
{
    return channel->chunk_held || link_news(channel->link);
}

/* For how many chunks it is worth to be woken, while a payload is under way. */
uint16_t channel_patience(const struct channel *channel);

/* Tells the link what it need not wake its user for. */
static inline void channel_be_patient(const struct channel *channel)
{
    channel->link->patience = channel->payload_left ? channel_patience(channel) : 1;
}

/* Takes the next thing from the link: a packet, or progress of any other kind; NONE when the link
 * is empty. */
enum arrival_kind channel_receive(struct channel *channel, uint64_t now_us,
                                  struct arrival *arrival);

/* Adds a hold on a receive buffer. */
static inline void channel_hold(struct channel *channel, uint16_t buffer)
{
    channel->refs[buffer]++;
}

/* Drops one hold on a receive buffer. */
static inline void channel_drop(struct channel *channel, uint16_t buffer)
{
    CHECK(channel->refs[buffer] > 0);
    if (--channel->refs[buffer] == 0)
        channel->link->ops->release(channel->link, buffer);
}

/* The same, and counts what it carried as consumed. */
void channel_release(struct channel *channel, uint16_t buffer, enum credit credit, uint32_t bytes);

/* True when a frame of so many segments can be queued now. */
bool channel_room(const struct channel *channel, unsigned segments);

/* Data bytes, and whether a routed packet, may go now by the neighbour's credits. */
uint32_t channel_data_credit(const struct channel *channel);
bool channel_control_credit(const struct channel *channel);

/* Something waits for credit: a lossy link asks for it when none comes. */
void channel_short(struct channel *channel, uint64_t now_us);

/* Doubles the places in use; so many segments of the next frame are in theirs. */
void channel_grow(struct channel *channel, unsigned placed);

/* The place of a segment, counted from 0, of the frame that is queued next. The caller has asked
 * channel_room. */
static inline struct segment *channel_place(struct channel *channel, unsigned index)
{
    if ((uint16_t)(channel->end - channel->first) + index >= channel->places)
        channel_grow(channel, index);
    return &channel->segments[(channel->end + index) & (channel->places - 1u)];
}

/*
 * Queues one frame, whose segments are in their places. The first begins with FRAME_HEADER_BYTES
 * that are written here; `payload` is the length of the rest.
 */
void channel_queue(struct channel *channel, uint64_t now_us, uint8_t type, uint8_t flags,
                   uint32_t payload, unsigned count);

/* Whether both ends know all of each other, and each that the other does: nothing to greet for. */
static inline bool channel_acquainted(const struct channel *channel, uint32_t id)
{
    return channel->state == LINK_UP && channel->told_id == id &&
           channel->told_heard == HEARD_ALL && channel->peer_known && !(channel->owes & OWES_HELLO);
}

/* Whether channel_greet has something to say for a node with this number. */
bool channel_greets(const struct channel *channel, uint64_t now_us, uint32_t id);
void channel_greet(struct channel *channel, uint64_t now_us, const struct hello *hello);

/* Hands queued segments, and the acknowledgements that are due, to the link. */
void channel_flush(struct channel *channel, uint64_t now_us);

/* Whether channel_take_done may have something. */
static inline bool channel_has_done(const struct channel *channel)
{
    return channel->first != channel->end &&
           (channel->seq_released != channel->seq_acknowledged || channel->state == LINK_DEAD);
}

/* Takes the oldest segment that is done with; false when there is none. */
bool channel_take_done(struct channel *channel, struct segment *segment);

/* How much of the other end is known: nothing, part, or all (it hears us and has a number). */
uint8_t channel_heard(const struct channel *channel);

/* Whether channel_flush has nothing to do until something happens. */
static inline bool channel_settled(const struct channel *channel, uint32_t id)
{
    return (channel->next == channel->end && channel->owes == 0 && channel->told_id == id) ||
           channel->state == LINK_DEAD || channel->link->carrier != CARRIER_UP;
}

/* Declares the link dead. */
void channel_kill(struct channel *channel, uint8_t reason);

static inline struct piece *channel_piece_at(const struct channel *channel, uint16_t index)
{
    return &channel->pieces[index & (channel->ring - 1)];
}

/* The oldest checked piece of data, NULL when there is none; and taking it off. */
static inline struct piece *channel_piece(const struct channel *channel)
{
    return channel->piece_first == channel->piece_commit
               ? NULL
               : channel_piece_at(channel, channel->piece_first);
}

void channel_drop_piece(struct channel *channel);
