/*
 * rundir_watch.h - looks after the directory of a machine while the event loop runs.
 *
 * A cleanup process that was killed is replaced, and whoever has a machine that others must find is
 * told when its directory is gone.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <uv.h>

#include "host/machine/rundir.h"

struct rundir_watch {
    struct rundir *rundir;
    uv_timer_t timer;
    char socket[RUNDIR_PATH_MAX +
                RUNDIR_FILE_MAX]; /* by which others find the machine; empty: none */
    void (*gone)(void *context);
    void *context;
};

/* Looks at once, then four times a second. When a directory or socket that others need is not where
 * it was, gone is called once; without a socket nobody needs them. */
void rundir_watch_start(struct rundir_watch *watch, uv_loop_t *loop, struct rundir *rundir,
                        const char *socket, void (*gone)(void *context), void *context);

/* Closes the loop's handle. */
void rundir_watch_close(struct rundir_watch *watch);
