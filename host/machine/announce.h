/*
 * announce.h - what a user hears of a machine of processes, beside what its programs do
 * (host/job/troubles.h): events of its controller, and the tool's own, as progress and troubles
 * (doc/json.md).
 *
 * Context  the thread of the loop; nothing begins or ends here
 */
#pragma once

#include "controller/controller.h"

struct machine;

/* Tells what a user is to know of the event; of most that is nothing. */
void announce_event(struct machine *machine, const struct controller_event *event);

void announce_boot(struct machine *machine);

/* A download waits for a node that a debugger has halted. In a run, whoever has halted a node sees
 * to it himself. */
void announce_halted(struct machine *machine);

/* ecube-jtag has ended: how. */
void announce_debugging_gone(struct machine *machine, const char *words);
