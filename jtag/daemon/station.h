/*
 * station.h - one node as debuggers see it: emulator, debug unit, and GDBs at its socket.
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
 * Errors   station_open: a negative libuv status
 * Context  the loop's thread
 * Source   ARM DDI 0406C, C11.10 (0xe80 to 0xefc: integration registers)
 */
#pragma once

#include "jtag/core/debug_unit.h"
#include "jtag/stub/emulator.h"
#include "jtag/stub/gdb_port.h"
#include "jtag/daemon/notifier.h"
#include "jtag/socket/peer.h"

enum { STATION_HOLDER = 0xe80, STATION_HOLDER_BYTES = PEER_WORDS_MAX };

/* Something that a client of the chain wants; it lies with the client until `done`. */
struct station_job {
    struct station_job *next;
    const void *client;
    const char *words;     /* for the client */
    struct access *access; /* NULL: the client leaves */
    void (*done)(struct station_job *job);
};

struct station {
    struct emulator emulator;
    struct debug_unit unit;
    struct gdb_port gdb;
    struct notifier *notifier;
    struct station_job *first, *last; /* the first is being done when `busy` */
    bool busy;
    const char *owner_words; /* for the client whose the debug unit is */
};

int station_open(struct station *station, uv_loop_t *loop, const struct emulator_machine *machine,
                 unsigned number, struct notifier *notifier);

/* done follows, perhaps from within. */
void station_submit(struct station *station, struct station_job *job);

/* Nothing is done any more. */
void station_close(struct station *station);
