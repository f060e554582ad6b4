/*
 * pair.h - two channels over one lossy link in memory, whose frames a test loses or holds as it
 * likes.
 */
#pragma once

#include "router/channel_due.h"
#include "router/channel_state.h"
#include "router/segment.h"
#include "tests/fabric/memory_link.h"
#include "wire/packet.h"

enum {
    PAIR_RING = RING_MAX,
    PAIR_PACKET_BYTES = PACKET_HEADER_BYTES + 8,
    PAIR_ROOM = 4096,
    PAIR_HELD_MAX = CONTROL_WINDOW + 8,
    PAIR_LEFT_MAX = 128 * 1024
};

struct pair_side {
    struct channel channel;
    struct memory_end end;
    struct segment segments[PAIR_RING];
    struct piece pieces[PAIR_RING];
    bool nameless;               /* does not know its number: speaks only when it is spoken to */
    uint16_t incarnation;        /* 0: they are not told apart */
    uint8_t left[PAIR_LEFT_MAX]; /* what an earlier one has said and nobody has heard */
    struct channel_due due;
    /* packets that have arrived and are not released; how many segments have been given back */
    struct arrival held[PAIR_HELD_MAX];
    unsigned held_count, done_count;
    unsigned queued_count, heard_count; /* segments queued, and packets that have arrived */
    /* memory of the frames that this side sends: packet n with body byte n */
    uint8_t frames[CONTROL_WINDOW]
                  [FRAME_HEADER_BYTES + PAIR_PACKET_BYTES + PAIR_ROOM + FRAME_CHECK_BYTES];
};

struct pair {
    struct pair_side a, b;
    bool checked;
    bool long_chunks; /* links of, from the next pair_wire on */
    uint64_t seed, now_us;
    uint32_t dead_after_ms;
    struct memory_fault fault;
};

/* Two ends that have not said anything; ends that are up and know each other. */
void pair_wire(struct pair *pair, bool checked);
void pair_begin(struct pair *pair, bool checked);
void pair_end(struct pair *pair);

/* A side begins its next incarnation. Of what it had said and the other has not heard, no more than
 * so many bytes are still heard. */
void pair_restart(struct pair *pair, struct pair_side *side, uint32_t left_bytes);

/* Whether all that a side has queued has come back to it: it is acknowledged. */
bool pair_is_acknowledged(const struct pair_side *side);

/* A side's due, at the present time. */
struct channel_due *pair_agenda(const struct pair *pair, struct pair_side *side);

/* One side takes what has arrived and flushes; both do, until a time has passed. */
void pair_look(struct pair *pair, struct pair_side *side);
void pair_pass_us(struct pair *pair, uint64_t us);

/* A side's link (enum link_state), and why it is dead. */
uint8_t pair_link(const struct pair_side *side);
uint8_t pair_dead_reason(const struct pair_side *side);

/* Queues routed packet `number`, or a frame of data (LAST or not) whose bytes are `number`. */
void pair_packet(struct pair *pair, struct pair_side *side, unsigned number);
void pair_data(struct pair *pair, struct pair_side *side, unsigned number, uint32_t bytes,
               uint8_t flags);

/* All that a side has said and that the other one has not heard is lost. */
void pair_lose(struct pair_side *side);
