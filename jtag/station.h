/*
 * station.h - one node as debuggers see it: emulator, debug unit, and GDBs at its socket.
 *
 *     chain -> jobs -> debug_unit -> emulator <- gdb_port <- GDB
 *
 * What clients of the chain want of a node is done in the order in which it came, one job at a
 * time. A node that one of them has left halted is nobody's, and the next GDB may have it.
 *
 * Errors   station_open: a negative libuv status
 * Context  the loop's thread
 */
#pragma once

#include "jtag/debug_unit.h"
#include "jtag/emulator.h"
#include "jtag/gdb_port.h"
#include "jtag/herald.h"

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
    struct herald *herald;
    struct station_job *first, *last; /* the first is being done when `busy` */
    bool busy;
    const char *owner_words; /* for the client whose the debug unit is */
};

int station_open(struct station *station, uv_loop_t *loop, const struct emulator_machine *machine,
                 unsigned number, struct herald *herald);

/* done follows, perhaps from within. */
void station_submit(struct station *station, struct station_job *job);

/* Nothing is done any more. */
void station_close(struct station *station);
