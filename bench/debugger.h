/*
 * debugger.h - what OpenOCD takes at machines of 1, 4 and 16 nodes, beside the same through the
 * emulator's own stub.
 *
 * Units    as the names of the rows say; -1: it failed
 * Context  no other child may be waited for
 */
#pragma once

#include <jansson.h>

/* Prints the table and returns its rows: {name, stub, 1, 4, 16}, a number each; null: there is no
 * such thing. `qemu` is the command line of a node without links. */
json_t *debugger_run(const char *build, const char *qemu);
