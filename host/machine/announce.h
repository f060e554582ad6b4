/*
 * announce.h - what a user hears of a machine: events of its controller, and the tool's own, as
 * progress and troubles (doc/json.md).
 *
 * Where there may be many of a kind the first few are told, and then how many more there are.
 *
 * Context  the thread of the loop; nothing begins or ends here
 */
#pragma once

#include "controller/controller.h"

struct machine;

/* Tells what a user is to know of the event; of most that is nothing. */
void announce_event(struct machine *machine, const struct controller_event *event);

void announce_boot(struct machine *machine);

/* Programs that have exited with a status other than 0 and were not told of. Told up to a second
 * late, and not of a broken machine: there the dead node or link is the reason. */
void announce_exits(struct machine *machine);

/* A phase is over before its end, with machine->cut_status: by --timeout, or by whoever runs it. */
void announce_cut_short(struct machine *machine, enum controller_phase phase);

/* A download waits for a node that a debugger has halted. In a run, whoever has halted a node sees
 * to it himself. */
void announce_halted(struct machine *machine);

/* ecube-jtag has ended: how. */
void announce_debugging_gone(struct machine *machine, const char *words);
