/*
 * jtag.h - ecube-jtag, the program that owns the debug sockets of a machine that is up: started
 * here, listened to, ended.
 *
 * It serves what debuggers connect to (nK.gdb, chain) and is itself the only one at the sockets of
 * the nodes' QEMUs (nK.stub, nK.qtest). It gets SIGKILL when the tool dies, and ends by itself when
 * the tool's end of its notices is closed.
 *
 * Units    node numbers
 * Errors   message: it could not be started. What goes wrong later is its end
 * Context  the thread of the loop
 * Source   jtag/daemon/notice.h: what it tells
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "host/console/message.h"
#include "host/machine/rundir.h"
#include "host/computer/target.h"

enum { JTAG_HOLDER_MAX = 64, JTAG_LINE_MAX = 128, JTAG_WORDS_MAX = 160 };

/* What a debugger has done to a node. */
enum jtag_state {
    JTAG_RUNNING,
    JTAG_HALTED,
    JTAG_LOST /* told to run where there is no memory: it stands */
};

struct jtag_owner {
    void *context;
    void (*ready)(void *context); /* debuggers can connect */
    /* holder: "gdb-multiarch (process 77)"; empty: nobody has the node. */
    void (*changed)(void *context, uint32_t node, enum jtag_state state, const char *holder);
    void (*was_reset)(void *context, uint32_t node); /* through a debugger */
    void (*ended)(void *context, const char *words); /* how: "ended with code 1: no memory" */
};

struct jtag_options {
    uint32_t nodes;
    bool chain; /* serve a JTAG chain, too */
};

struct jtag {
    struct jtag_owner owner;
    pid_t pid; /* 0: never started, or it has ended */
    int words_fd;
    int notices_fd;
    uv_poll_t poll;
    bool listening;
    char line[JTAG_LINE_MAX];
    size_t line_bytes;
};

/* Starts it for nodes that have been started. */
int jtag_start(struct jtag *jtag, uv_loop_t *loop, const struct target *target,
               const struct jtag_options *options, const struct rundir *rundir,
               const struct jtag_owner *owner, struct message *message);

/* To be called when a child has ended: tells the owner if it was this one. */
void jtag_reap(struct jtag *jtag);

/* Ends it and waits for its end, of which the owner is not told; closes the loop's handle. */
void jtag_stop(struct jtag *jtag);
