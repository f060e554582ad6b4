/*
 * daemon.h - the one owner of a machine's debug sockets: serves GDBs and a JTAG chain.
 *
 *     DIR/nK.stub  DIR/nK.qtest     the emulators'; connected to when needed
 *     DIR/nK.gdb   DIR/chain        served here
 *
 * Errors   daemon_run: a message on standard error, and its status
 * Context  the process's only thread
 */
#pragma once

#include "jtag/stub/emulator.h"

enum { DAEMON_NODES_MAX = 512, STATUS_BAD_INPUT = 2 };

struct daemon_options {
    struct emulator_machine machine;
    unsigned nodes;
    bool chain;
    int notices_fd; /* -1: none */
};

/* Until a signal, or until the other end of notices_fd is closed; the exit status. */
int daemon_run(const struct daemon_options *options);
