/*
 * rsp.h - packets of the GDB remote serial protocol: found in a stream of bytes, and made.
 *
 *     $packet-data#cs     cs: sum of packet-data modulo 256, two hexadecimal digits
 *     + -                 the packet before was right, was damaged
 *     0x03                stop
 *
 * A packet is kept as it came, escapes and all, so that it can be passed on; rsp_expand reads it.
 *
 * Units    bytes
 * Errors   RSP_DAMAGED: wrong sum, or longer than RSP_PACKET_MAX
 * Context  any; pure
 * Source   GDB manual, appendix E.1, E.2
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RSP_PACKET_MAX = 16384,
    RSP_FRAME_BYTES = 4, /* what a packet has around its data */
    RSP_BREAK_BYTE = 3
};

enum rsp_event { RSP_NOTHING, RSP_PACKET, RSP_DAMAGED, RSP_ACK, RSP_NAK, RSP_BREAK };

struct rsp_reader {
    enum { RSP_BETWEEN, RSP_INSIDE, RSP_FIRST_DIGIT, RSP_SECOND_DIGIT } state;
    uint8_t sum, said;
    bool damaged;
    unsigned bytes;
    char packet[RSP_PACKET_MAX + 1]; /* a zero stands behind it */
};

/* Takes one byte; with RSP_PACKET, packet and bytes hold until the next byte. Start from zeros. */
enum rsp_event rsp_feed(struct rsp_reader *reader, uint8_t byte);

/* The data of a packet without escapes and with repetitions written out; its length, or -1 when it
 * is malformed or longer than `room`. */
int rsp_expand(const char *packet, size_t bytes, char *data, size_t room);

/* Makes a packet of data that has its escapes already; its length. `room`: bytes +
 * RSP_FRAME_BYTES. */
size_t rsp_frame(char *out, const char *packet, size_t bytes);

/* The same from any bytes, which it escapes. `room`: 2 * bytes + RSP_FRAME_BYTES. */
size_t rsp_make(char *out, const void *data, size_t bytes);

/* Value of a hexadecimal digit, or -1. */
int rsp_digit(char digit);

/* `count` bytes from 2 * count hexadecimal digits; false when there are others, or fewer. */
bool rsp_from_hex(void *bytes, size_t count, const char *text);

/* 2 * count digits and a zero. */
void rsp_to_hex(char *text, const void *bytes, size_t count);
