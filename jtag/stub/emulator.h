/*
 * emulator.h - the debug side of one node's emulator: its gdbstub and its physical memory.
 *
 *     nK.stub    one debugger at a time, the chain or one GDB; connected while one has the node
 *     nK.qtest   memory; connected from the first use on
 *
 * For the chain a node does operations (core.h), one at a time. For a GDB it passes packets on
 * (relay.h). A single step of a processor that sleeps (WFI) would not end: after a while the last
 * software-generated interrupt is made pending, which wakes it and is not taken, for the stub masks
 * interrupts in a step; it is taken back before anybody hears of the step's end.
 *
 * Errors   an operation that the emulator does not do within EMULATOR_BOUND_MS fails, and the stub
 *          is given up; without an emulator everything fails at once
 * Context  the loop's thread
 * Source   QEMU 7.2 gdbstub.c, softmmu/qtest.c; ARM IHI 0048B, 4.3.14 and 4.3.15 (SGI registers)
 */
#pragma once

#include <uv.h>

#include "jtag/core/core.h"
#include "jtag/stub/qtest.h"
#include "jtag/stub/stub.h"
#include "jtag/socket/wire.h"

enum {
    EMULATOR_BOUND_MS = 10000,
    EMULATOR_WAKE_MS = 30,
    EMULATOR_RANGES_MAX = 16,
    EMULATOR_LATE_MAX = 256
};

struct emulator_range {
    uint32_t base, bytes;
};

/* What all nodes of a machine share. */
struct emulator_machine {
    const char *directory;     /* where the sockets lie */
    uint32_t distributor;      /* of interrupts: GICD */
    struct emulator_range ram; /* where instructions can lie */
    unsigned bus_count;
    struct emulator_range buses[EMULATOR_RANGES_MAX]; /* physical addresses that answer */
    bool blank; /* nodes stand at first, and have no program */
};

enum emulator_holder {
    EMULATOR_FREE,
    EMULATOR_CHAIN,
    EMULATOR_GDB,
    EMULATOR_LEAVING /* a GDB has gone while the node ran: its points are taken away */
};

/* Who uses the chain's side. */
struct emulator_owner {
    void *context;
    void (*done)(void *context); /* an operation that emulator_begin has not done at once */
    void (*stopped)(void *context, enum core_stop why, uint32_t address); /* by itself */
};

/* A GDB's side. */
struct emulator_guest {
    void *context;
    void (*attached)(void *context);
    void (*answered)(void *context, const char *packet, size_t bytes);
    void (*dropped)(void *context); /* the emulator is gone, or silent */
};

struct emulator {
    uv_loop_t *loop;
    const struct emulator_machine *machine;
    unsigned number;
    enum emulator_holder holder;
    bool stands; /* whether anybody has it or not */
    bool memory_open;
    enum { EMULATOR_AWAKE, EMULATOR_STEPS, EMULATOR_WOKEN, EMULATOR_WAKES_NO_MORE } wake;
    struct emulator_owner owner;
    struct emulator_guest guest;
    struct core_op *op;
    bool waits; /* op is the stub's, and begins when all writes of memory are answered */
    struct wire *stub_wire, *memory_wire;
    struct core_op leaving;
    uv_timer_t bound, memory_bound, wake_timer;
    unsigned closing; /* timers that are not closed yet */
    unsigned
        late_bytes; /* the packet that ends a step of GDB's, while the interrupt is taken back */
    char late[EMULATOR_LATE_MAX];
    struct qtest memory;
    struct stub stub;
};

void emulator_init(struct emulator *emulator, uv_loop_t *loop,
                   const struct emulator_machine *machine, unsigned number,
                   const struct emulator_owner *owner);

/* Does an operation for the chain. True: it is done, or has failed; else owner.done follows. What
 * needs the stub fails while a GDB has it. */
bool emulator_begin(struct emulator *emulator, struct core_op *op);

/* Takes the stub for a GDB; attached or dropped follows. The node must be free. */
void emulator_take(struct emulator *emulator, const struct emulator_guest *guest);

/* Passes a packet on; `steps`: it is a single step. */
void emulator_pass(struct emulator *emulator, const char *packet, size_t bytes, bool steps);

void emulator_interrupt(struct emulator *emulator);

/* Whether an answer of the stub is owed: for how long that is bounded. */
void emulator_expect(struct emulator *emulator, bool owed);

/* Gives the stub back, from whoever has it; the node stands, or runs, as it does. */
void emulator_release(struct emulator *emulator, bool runs);

/* The same when GDB has gone without a word while the node ran, or while it was attached: it runs
 * on, without that one's points. */
void emulator_abandon(struct emulator *emulator);

/* Closes everything; the node's memory is in use until the loop has run. */
void emulator_close(struct emulator *emulator);
