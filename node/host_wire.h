/*
 * host_wire.h - what the host and the nodes say to each other, as packet bodies (packet_wire.h) and
 * in memory.
 *
 * Offsets count from the start of the body (byte 16 of the packet).
 *
 * OFFER   0 want u32 | 4 entry u32 | 8 base u32 | 12 common bytes u32 | 16 block bytes u32 |
 *         20 dims u8 (subcube) | 21 run u8 (another one than the download before had) |
 *         22 spare[2] | 24 bss end u32: part of a download; the message that follows is the blocks
 *         of the 2^dims nodes of the receiver's subcube in rank order, then the common part (the
 *         memory image that starts at base)
 * START   0 model ns u64 (no node's clock is ahead of it): run what is loaded
 * STOP    empty: end the program, drop its messages       QUERY  empty: answer with STATE
 * TAKEN   0 bytes u32 | 4 run u8 | 5 spare[3]: text of this run that was read, modulo 2^32
 *
 * CONSOLE 0 stream u8 (enum ecube_stream) | 1 text, at most CONSOLE_WINDOW bytes ahead of TAKEN
 * EXIT    0 status i32
 * REPORT  struct ecube_abi_report, its numbers little-endian
 * RECEIPT 0 status i32 | 4 bytes held u32 | 8 model ns u64 (all received and sent on) |
 *         16 SHA-256 of own block, then common part
 * FAULT   0 kind u32 | 4 address u32 | 8 status register u32 | 12 r0..r15 u32[16] | 76 cpsr u32 |
 *         80 line u32 | 84 text (a kernel CHECK that failed, its file); of a program instead:
 *         80 address u32 | 84 what its stack held from there on, as much as fits
 * LINKS   0 port count u8 | 1 complete u8 | 2 spare[2] | 4 per port: state u8 | peer port u8 |
 *         spare[2] | peer id u32
 * STATE   0 program u8 | 1 wait u8 | 2 transfer stage u8 | 3 requests u8 (not yet waited for) |
 *         4 peer i32 | 8 tag i32 | 12 status i32 | 16 bytes u32 (peer, tag and bytes of the message
 *         that the program waits for: as asked for, of a matched receive the sender's) |
 *         20 collective stage u8 | 21 operation u8 | 22 flags u8 (enum state_flag) | 23 spare |
 *         24 model ns u64 |
 *         32 pc u32 | 36 lr u32 (of a program that computes, when it was last interrupted), or
 *         32 us left u64 (of one that sleeps), else 0 | 40 collective's bytes u32 | 44 root u32 |
 *         48 node whose ENTER, or whose part of the step, it takes u32 |
 *         52 step u16 (from 1; 0: before the first) | 54 steps u16 (0: not known yet) |
 *         56 counters u32[STATE_COUNTERS]
 *         The collective is the one that is under way, whether or not the program waits for it.
 * LINK_DEAD 0 port u8 | 1 reason u8 | 2 spare[2] | 4 peer id u32
 * DISAGREE 0 neighbour u32 | 4 own bytes u32 | 8 own root u32 | 12 its bytes u32 |
 *         16 its root u32 | 20 own operation u8 | 21 its operation u8 | 22 spare[2]: the node and
 *         a neighbour have entered different collectives
 *
 * A private block: 0 rank u32 | 4 size u32 | 8 argc u32 | 12 the argc strings, each ended by a
 * zero byte.
 */
#pragma once

#include <stdint.h>

enum {
    OFFER_BYTES = 28,
    TAKEN_BYTES = 8,
    CONSOLE_WINDOW = 16 * 1024,
    RECEIPT_BYTES = 48,
    FAULT_BYTES = 84,
    LINKS_HEADER_BYTES = 4,
    LINKS_PORT_BYTES = 8,
    STATE_FLAGS_AT = 22,
    STATE_COUNTERS_AT = 56,
    STATE_BYTES = 108,
    LINK_DEAD_BYTES = 8,
    DISAGREE_BYTES = 24,
    BLOCK_HEADER_BYTES = 12,
    DIGEST_BYTES = 32
};

/* What STATE's counters count, over all ports. */
enum state_counter {
    COUNTER_FRAMES_SENT,
    COUNTER_FRAMES_RECEIVED,
    COUNTER_FRAMES_RESENT,
    COUNTER_FRAMES_DAMAGED,
    COUNTER_GAPS, /* frames that came ahead of one that was lost */
    COUNTER_NAKS,
    COUNTER_PACKETS_FORWARDED,
    COUNTER_CIRCUITS_FORWARDED,
    COUNTER_PACKETS_DROPPED,
    COUNTER_CIRCUITS_REFUSED,
    COUNTER_REQUESTS_DROPPED, /* there was no slot for an answer; they are repeated */
    COUNTER_COLLECTIVES,
    /* bytes and circuits moved, messages matched, requests completed, calls made; not what is only
     * repeated, acknowledged or asked, nor a test in vain */
    COUNTER_PROGRESS,
    STATE_COUNTERS
};

enum state_flag {
    /* all that this node had sent when it was asked before has come to its neighbours */
    STATE_DELIVERED = 1,
    STATE_POLLS = 2 /* the program tests again and again for what it waits for */
};

enum fault_kind {
    FAULT_DATA = 1,      /* data abort */
    FAULT_PREFETCH = 2,  /* instruction fetch abort */
    FAULT_UNDEFINED = 3, /* undefined instruction */
    FAULT_DIVIDE = 4,    /* integer division by zero: the trap of __aeabi_idiv0 */
    FAULT_STACK = 5,     /* data abort in the guard below the stack */
    FAULT_SIGNAL = 6,    /* the program ended itself by the signal in r0: the trap of abort */
    FAULT_KERNEL = 16,   /* added to a kind above: the kernel itself faulted */
    FAULT_CHECK = 32     /* a CHECK in the kernel failed */
};

enum program_state {
    PROGRAM_NONE = 0,
    PROGRAM_LOADING = 1,
    PROGRAM_LOADED = 2,
    PROGRAM_RUNNING = 3,
    PROGRAM_EXITED = 4,
    PROGRAM_FAULTED = 5
};

enum wait_kind {
    WAIT_NOTHING = 0, /* computing */
    WAIT_SEND = 1,
    WAIT_RECEIVE = 2,
    WAIT_COLLECTIVE = 3,
    WAIT_CONSOLE = 4, /* for a packet slot */
    WAIT_SLEEP = 5,   /* until a time */
    WAIT_READER = 6   /* of console text, until TAKEN comes */
};

/* How far the message has come that a program waits for. */
enum transfer_stage {
    TRANSFER_OPEN = 0,  /* a send has no answer yet; for a receive nothing has come */
    TRANSFER_KNOWN = 1, /* a send: the receiver's node knows of it, its program has not asked */
    TRANSFER_MOVES = 2  /* both sides are known */
};

enum collective_stage {
    COLLECTIVE_NONE = 0,
    COLLECTIVE_ENTRY = 1, /* the nodes agree on it */
    COLLECTIVE_STEPS = 2
};
