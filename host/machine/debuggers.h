/*
 * debuggers.h - what debuggers have done to the nodes of a machine, and how that is said.
 *
 * While a debugger has halted a node, and before a blank one has its kernel, the clocks of the tool
 * stand still: --timeout, --patience of boot, download and host links, the watch for programs that
 * wait for ever. Between nodes the clocks are the nodes' own.
 *
 * A node that starts anew through a debugger knows nothing of what it had agreed on with its
 * neighbours; what follows from that the controller says.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/machine/jtag.h"

enum { DEBUG_TEXT_MAX = 160, RESET_TEXT_MAX = 240 };

struct debugged_node {
    enum jtag_state state;
    bool dead;                      /* its process has ended: nobody halts it any more */
    bool blank;                     /* started without a kernel, and never told to run */
    char holder[JTAG_HOLDER_MAX];   /* who debugs it; empty: nobody */
    bool was_reset;                 /* since the last boot */
    char resetter[JTAG_HOLDER_MAX]; /* who did that */
};

struct debuggers {
    uint32_t count;
    struct debugged_node *nodes;
};

/* Of so many nodes; false: out of memory. Blank ones are halted, too. */
bool debuggers_init(struct debuggers *debuggers, uint32_t count, bool blank);
void debuggers_free(struct debuggers *debuggers);

/* What ecube-jtag tells (struct jtag_owner). */
void debuggers_changed(struct debuggers *debuggers, uint32_t rank, enum jtag_state state,
                       const char *holder);
void debuggers_was_reset(struct debuggers *debuggers, uint32_t rank);

void debuggers_node_died(struct debuggers *debuggers, uint32_t rank);
/* The machine has booted, or boots anew. */
void debuggers_forget_resets(struct debuggers *debuggers);

/* Whether a debugger has halted the node, or any node: then the tool's clocks stand still. */
bool debuggers_halt(const struct debuggers *debuggers, uint32_t rank);
bool debuggers_halt_any(const struct debuggers *debuggers);

/* How many nodes have no kernel yet. */
unsigned debuggers_blank_count(const struct debuggers *debuggers);

/* "halted by gdb-multiarch (process 77)", "running" */
const char *debuggers_text(const struct debuggers *debuggers, uint32_t rank,
                           char text[DEBUG_TEXT_MAX]);

/* The same as JSON: state (running, halted, lost, blank), holder; null: nothing. */
json_t *debuggers_describe(const struct debuggers *debuggers, uint32_t rank);

/* "nodes 0, 2 were reset through a debugger (openocd (process 12))"; false: none was. */
bool debuggers_reset_text(const struct debuggers *debuggers, char text[RESET_TEXT_MAX]);
/* Which: their ranks. */
json_t *debuggers_reset_nodes(const struct debuggers *debuggers);
