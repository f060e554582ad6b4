/*
 * neighbour.h - the fuzzer as a neighbour that keeps the protocol as far as it wants to: frames
 * with right numbers, checks, acknowledgements and credits around any content.
 *
 * The numbers are read from the channel under test, so an input needs no arithmetic to get past
 * the checks. struct lie says where the neighbour does not keep to the truth.
 */
#pragma once

#include <stdbool.h>

#include "fuzz/input.h"
#include "fuzz/pipe.h"

struct channel;

struct neighbour {
    struct pipe *pipe;
    const struct channel *channel;
    uint16_t seq; /* of the next numbered frame */
    uint16_t incarnation;
};

/* Bytes of an input that are lies, where most shall not be: the first is for_other. */
enum { LIES_FIRST = 0xdf, LIE_FOR_OTHER = 32, LIE_FOR_NONE = 64 };

struct lie {
    int16_t seq, ack, control_credit;
    int32_t data_credit;
    uint8_t flip;   /* this byte of the frame, counted from its end, is damaged; 0: none */
    bool for_other; /* for another incarnation than the channel's */
    bool for_none;  /* as if that were not known */
};

/* Reads a lie: bit n of `what` says whether its member number n is in the input, the last two are
 * such bits themselves. */
struct lie lie_read(struct input *input, uint8_t what);

/* Pushes one frame. `flags` without FLAG_CHECKED sends no check. */
void neighbour_frame(struct neighbour *neighbour, uint8_t type, uint8_t flags, const void *payload,
                     uint32_t bytes, const struct lie *lie);

/* A HELLO as a true neighbour says it; as one that has not heard the channel yet. */
void neighbour_hello(struct neighbour *neighbour, const struct hello *hello);
void neighbour_first_hello(struct neighbour *neighbour, const struct hello *hello);

/* A packet: header, then the body. */
void neighbour_packet(struct neighbour *neighbour, uint8_t kind, uint32_t src, uint32_t dst,
                      const void *body, uint32_t bytes, const struct lie *lie);
