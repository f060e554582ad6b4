/*
 * serve.h - the process that holds a machine which stays, and its control socket.
 *
 * A client sends one line of JSON, {"verb": ...}, and gets events, one per line, the last of kind
 * "end" or "error". The first comes at once: "heard", when there is nothing else to say yet.
 *
 *   load        path, arguments, strategy, x, timeout_ms, verbose:
 *               events of the run, then end with status and result; heard before them, if the
 *               machine boots anew or frees itself of an earlier run
 *   info        end with network, nodes, state, age_s, directory, kernel: at once, also during boot
 *   ps          heard, end with network, broken, boot_ms and nodes
 *   console     console, trouble and boot events until the machine ends
 *   cut, kill   what: end
 *   down        end, also during boot; the connection closes when everything is gone
 *
 * A client that hangs up during its load cancels it.
 */
#pragma once

#include "host/machine/machine.h"
#include "host/computer/target.h"

struct serve_options {
    const char *name;
    struct machine_options machine;
    struct target target;
    bool programs; /* whoever reads report_fd gives blank nodes their kernel */
};

/* Boots the machine and serves until it is told to end. Events of the boot go to report_fd, which
 * is closed when the boot is over, or when nodes are blank and others will give them a kernel; of a
 * machine that did not come so far, when nothing of it is left. Returns the exit status. */
int serve_machine(const struct serve_options *options, int report_fd);
