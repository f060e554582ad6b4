/*
 * troubles.h - what a user hears of the programs of a machine: events of its controller as progress
 * and troubles (doc/json.md).
 *
 * Where there may be many of a kind the first few are told, and then how many more there are.
 *
 * Context  the thread of the owner's loop; nothing begins or ends here
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"

struct programs;

/* Tells what a user is to know of the event; of most that is nothing. */
void troubles_tell_event(struct programs *programs, const struct controller_event *event,
                         uint64_t now_us);

/* Programs that have exited with a status other than 0 and were not told of. Told up to a second
 * late, and not of a broken machine: there the dead node or link is the reason. */
void troubles_tell_exits(struct programs *programs);

/* A boot has failed: what is wrong with its links, and why; `held` is why when the owner held it
 * (BOOT_HELD). */
void troubles_tell_boot(struct programs *programs, const struct controller_event *event,
                        const char *held);

/* How far a phase has come that is over before its end. */
struct troubles_cut {
    enum controller_phase phase;
    bool interrupted; /* by whoever runs it, else by --timeout */
    uint32_t limit_ms;
    uint32_t done; /* in a boot nodes that have all links, in a download receipts */
};

void troubles_tell_cut(struct programs *programs, const struct troubles_cut *cut);

/* How far a download has come. */
void troubles_tell_download(struct programs *programs);

/* What each program that runs does; when nothing moves (stands), also who waits in a circle. */
void troubles_tell_waits(struct programs *programs, bool stands);
