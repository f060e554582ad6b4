/*
 * stub.h - client of QEMU's gdbstub: what a debug unit wants done (core.h), in packets.
 *
 *     opened ──► greeting ──► halted ◄──► running
 *
 * Connecting stops the node. The greeting reads the target description, once for all connections,
 * and takes away points that a debugger before has left. Acknowledgements are never sent: one that
 * comes while the node runs would stop it.
 *
 * Once the greeting is over the stub either does operations, one at a time, or, when `passes` is
 * set, only tells packets apart: then another debugger's packets are passed on.
 *
 * Errors   an operation that the emulator refuses fails; STUB_BROKEN: the connection is of no use
 * Context  any; pure
 * Source   QEMU 7.2 gdbstub.c; GDB manual, appendix E
 */
#pragma once

#include "jtag/core/core.h"
#include "jtag/stub/description.h"
#include "jtag/stub/rsp.h"

enum stub_event {
    STUB_NOTHING,
    STUB_READY,   /* the greeting is over, the node stands */
    STUB_DONE,    /* the operation is done, or has failed */
    STUB_STOPPED, /* the node has stopped by itself: stop and stop_address say why */
    STUB_PACKET,  /* `passes`: reader.packet is one */
    STUB_BROKEN
};

enum stub_state {
    STUB_CLOSED,
    STUB_SUPPORTED, /* answers that the greeting waits for, in order */
    STUB_DESCRIBED,
    STUB_PHYSICAL,
    STUB_STEPPING,
    STUB_CLEARED,
    STUB_HALTED,
    STUB_RUNNING
};

enum { STUB_OUT_MAX = 2 * RSP_PACKET_MAX + RSP_FRAME_BYTES };

/* Start from zeros; the description stays from connection to connection. */
struct stub {
    enum stub_state state;
    bool passes, described;
    struct core_op *op;
    enum core_stop stop;
    uint32_t stop_address;
    unsigned file, file_offset; /* what is being read; file 0 is target.xml */
    struct description description;
    struct rsp_reader reader;
    unsigned out_bytes; /* to be sent; who has sent it sets it to 0 */
    char out[STUB_OUT_MAX];
};

/* A connection is made: the greeting begins. */
void stub_open(struct stub *stub);

void stub_close(struct stub *stub);

/* Begins an operation on registers, memory or points, or one that halts, resumes, steps, resets.
 * True: it is done already, or has failed; else STUB_DONE follows. */
bool stub_begin(struct stub *stub, struct core_op *op);

/* Passes on a packet whose data has its escapes. */
void stub_pass(struct stub *stub, const char *packet, size_t bytes);

/* Stops a running node: STUB_STOPPED or STUB_DONE follows. */
void stub_interrupt(struct stub *stub);

/* Takes what has come, up to the next event; how many bytes. */
size_t stub_feed(struct stub *stub, const char *bytes, size_t count, enum stub_event *event);

/* Whether a packet says that the node has stopped, or has ended. */
bool stub_is_stop(const char *packet);
