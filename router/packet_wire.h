/*
 * packet_wire.h - the packet: what travels in a FRAME_PACKET, on the control channel.
 *
 *   0 kind u8 | 1 flags u8 | 2 bytes u16 | 4 src u32 | 8 dst u32 | 12 hops u8 | 13 spare[3] |
 *   16 body
 *
 * `bytes` is the length of the body. Kinds below PACKET_ROUTED belong to one hop of a circuit and
 * are never forwarded as they are; the others go store and forward to dst (a rank, or ID_HOST).
 *
 * OPEN body (64 bytes, then the message itself when OPEN_INLINE is set):
 *
 *   16 length u32 | 20 match u32 | 24 tag u32 | 28 epoch u16 (of its schedule; of a message: of the
 *   last one that its sender has completed) | 30 flags u8 | 31 run u8 (of a message: of
 *   the OFFER of its program)
 *   32 t ns u64 | 40 port free ns u64 | 48 turns u16[16], indexed by the port of each hop
 *
 * ACCEPT body: 16 done ns u64.   REFUSE body: 16 reason i32.
 * WANT   body: 16 want u32 | 20 tag u32 | 24 length u32 | 28 behind u32 (the announcement before it
 *        that has no answer yet; 0: none) | 32 run u8 (of the OFFER) | 33 spare[3]
 * QUEUED body: 16 want u32 (stored, READY follows)
 * LATER  body: 16 want u32 (no room, or the one before it is not known here; ask again)
 * READY  body: 16 want u32 | 20 match u32 | 24 room u32
 * GONE   body: 16 want u32 (the program there has ended)
 * ENTER  body: 16 epoch u16 | 18 operation u8 | 19 round u8 | 20 bytes u32 | 24 root u32 | 28
 *        status i16 | 30 run u8 (of the OFFER) | 31 spare
 */
#pragma once

#include <stdint.h>

enum {
    PACKET_HEADER_BYTES = 16,
    PACKET_BODY_MAX = 1088, /* FRAME_CONTROL_MAX less the header */
    OPEN_BYTES = 80,        /* header and body, without inline data */
    WANT_BYTES = 20,        /* body of a WANT */
    OPEN_INLINE_MAX = 1024, /* longest message that rides in its OPEN */
    TURNS_MAX = 16
};

enum packet_kind {
    PACKET_OPEN = 1,
    PACKET_ACCEPT = 2,
    PACKET_REFUSE = 3,
    PACKET_ROUTED = 16, /* from here on: store and forward */
    PACKET_WANT = 16,
    PACKET_QUEUED = 17,
    PACKET_LATER = 18,
    PACKET_READY = 19,
    PACKET_GONE = 20,
    PACKET_ENTER = 21,
    PACKET_OFFER = 22, /* node/host_wire.h from here on */
    PACKET_START = 23,
    PACKET_STOP = 24,
    PACKET_QUERY = 25,
    PACKET_TAKEN = 26,
    PACKET_CONSOLE = 32,
    PACKET_EXIT = 33,
    PACKET_FAULT = 34,
    PACKET_REPORT = 35,
    PACKET_RECEIPT = 36,
    PACKET_LINKS = 37,
    PACKET_STATE = 38,
    PACKET_LINK_DEAD = 39,
    PACKET_DISAGREE = 40
};

enum open_flag {
    OPEN_INLINE = 1,   /* the whole message follows the body; no data frames, no CLOSE */
    OPEN_SCHEDULE = 2, /* waits its turn at each hop (epoch, turns) */
    OPEN_IMAGE = 4,    /* part of a download; match is the READY's */
    OPEN_EAGER = 8     /* inline message without a READY: the receiver's pool stands ready */
};
