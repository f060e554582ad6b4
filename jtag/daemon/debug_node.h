/*
 * debug_node.h - one node as debuggers see it: emulator, debug unit, and GDBs at its socket.
 *
 *     chain -> jobs -> debug_unit -> emulator <- gdb_port <- GDB
 *
 * What clients of the chain want of a node is done in the order in which it came, one job at a
 * time. A node that one of them has left halted is nobody's, and the next GDB may have it.
 *
 * A client reads who else has a node in registers that the architecture leaves to implementations:
 *
 *     0xe80  "gdb-multiarch (process 77)", four characters a word, zeros behind it; all zero: the
 *     ...    node is free, or the client's own
 *     0xeac
 *
 * The openocd.cfg of a board asks there, for OpenOCD explains nothing.
 *
 * Errors   debug_node_open: a negative libuv status
 * Context  the loop's thread
 * Source   ARM DDI 0406C, C11.10 (0xe80 to 0xefc: integration registers)
 */
#pragma once

#include "jtag/core/debug_unit.h"
#include "jtag/stub/emulator.h"
#include "jtag/stub/gdb_port.h"
#include "jtag/daemon/notifier.h"
#include "jtag/socket/peer.h"

enum { DEBUG_NODE_HOLDER = 0xe80, DEBUG_NODE_HOLDER_BYTES = PEER_WORDS_MAX };

/* Something that a client of the chain wants; it lies with the client until `done`. */
struct debug_job {
    struct debug_job *next;
    const void *client;
    const char *words;     /* for the client */
    struct access *access; /* NULL: the client leaves */
    void (*done)(struct debug_job *job);
};

struct debug_node {
    struct emulator emulator;
    struct debug_unit unit;
    struct gdb_port gdb;
    struct notifier *notifier;
    struct debug_job *first, *last; /* the first is being done when `busy` */
    bool busy;
    const char *owner_words; /* for the client whose the debug unit is */
};

int debug_node_open(struct debug_node *node, uv_loop_t *loop,
                    const struct emulator_machine *machine, unsigned number,
                    struct notifier *notifier);

/* done follows, perhaps from within. */
void debug_node_submit(struct debug_node *node, struct debug_job *job);

/* Nothing is done any more. */
void debug_node_close(struct debug_node *node);
