/*
 * rundir_watch.c - looks whether the directory of a machine is still there, four times a second.
 *
 * A directory may be removed, renamed or replaced. What counts is whether others still find the
 * machine, and that the look itself shows. It also replaces a cleanup process that was killed.
 */
#include "host/machine/rundir_watch.h"

#include <stdio.h>
#include <unistd.h>

enum { LOOK_MS = 250 };

static void look(uv_timer_t *timer)
{
    struct rundir_watch *watch = timer->data;

    bool found = rundir_keep(watch->rundir) && access(watch->socket, F_OK) == 0;

    if (watch->socket[0] != '\0' && !found) {
        uv_timer_stop(timer);
        watch->gone(watch->context);
    }
}

void rundir_watch_start(struct rundir_watch *watch, uv_loop_t *loop, struct rundir *rundir,
                        const char *socket, void (*gone)(void *context), void *context)
{
    *watch = (struct rundir_watch){.rundir = rundir, .gone = gone, .context = context};
    snprintf(watch->socket, sizeof watch->socket, "%s", socket ? socket : "");
    uv_timer_init(loop, &watch->timer);
    watch->timer.data = watch;
    uv_timer_start(&watch->timer, look, 0, LOOK_MS);
}

void rundir_watch_close(struct rundir_watch *watch)
{
    uv_close((uv_handle_t *)&watch->timer, NULL);
}
