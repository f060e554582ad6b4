/*
 * relay.h - one GDB at one node: its packets go to the node's stub and the answers come back, read
 * on the way, so that it is known whether the node runs.
 *
 *     GDB -> relay_feed -> ask -> stub        stub -> relay_answer -> say -> GDB
 *
 * A packet is passed on when the one before was answered; while the node runs only ^C is. In a
 * machine whose nodes were started without a program, one that is told to run where no memory is
 * would end its emulator: it stands, and GDB is told that it runs.
 *
 * Somebody whom the node does not serve gets one line, in answer to a packet whose failure GDB
 * shows, and after which it gives up.
 *
 * Whoever owns a relay looks at its state after each call.
 *
 * Errors   damaged packets are asked for again; a packet while the node runs is answered with E01
 * Context  any; pure
 * Source   GDB manual, appendix E; GDB 13 gdb/remote.c (remote_start_remote)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jtag/stub/rsp.h"

enum { RELAY_WORDS_MAX = 128 };

enum relay_state {
    RELAY_WAITING, /* for the stub */
    RELAY_HALTED,  /* the next packet may come */
    RELAY_ASKED,   /* an answer is to come */
    RELAY_LOOKING, /* where the node would run, before it may */
    RELAY_RUNNING,
    RELAY_LOST, /* GDB believes that it runs; it stands */
    RELAY_REFUSED,
    RELAY_OVER /* nothing more */
};

enum relay_kind {
    RELAY_REQUEST,
    RELAY_QUESTION, /* answered by why the node stands */
    RELAY_RUN,
    RELAY_STEP,
    RELAY_DETACH,
    RELAY_RESET
};

struct relay_owner {
    void *context;
    void (*say)(void *context, const char *bytes, size_t count);  /* to GDB, as it is */
    void (*ask)(void *context, const char *packet, size_t bytes); /* the stub; to be framed */
    void (*interrupt)(void *context);                             /* the stub */
    void (*was_reset)(void *context);
};

/* Where a node may run. `guarded`: it is looked at before the node runs. */
struct relay_guard {
    bool guarded;
    uint32_t ram_base, ram_bytes;
    unsigned control_register; /* the stub's number of SCTLR; is known when it is attached */
};

struct relay {
    enum relay_state state;
    enum relay_kind kind; /* of the packet that is not answered yet, or that made the node run */
    struct relay_owner owner;
    struct relay_guard guard;
    bool lost; /* the last time it was told to run it could not */
    bool knows_place;
    uint32_t place; /* of the program counter */
    char words[RELAY_WORDS_MAX];
    size_t kept_bytes; /* the packet that waits until it is known where the node would run */
    char kept[RSP_PACKET_MAX];
    size_t last_bytes; /* the last answer, should GDB want it again */
    char last[RSP_PACKET_MAX + RSP_FRAME_BYTES];
    struct rsp_reader reader;
};

void relay_init(struct relay *relay, const struct relay_owner *owner);

/* The stub is there, and the node stands. */
void relay_attach(struct relay *relay, const struct relay_guard *guard);

/* The node is not served: GDB is told so. */
void relay_refuse(struct relay *relay, const char *words);

/* Takes what GDB sends; returns how much. The rest is for later: an answer is to come before. */
size_t relay_feed(struct relay *relay, const char *bytes, size_t count);

/* A packet of the stub. */
void relay_answer(struct relay *relay, const char *packet, size_t bytes);

/* Whether the stub owes an answer. */
bool relay_waits(const struct relay *relay);
