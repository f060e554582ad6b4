#include "jtag/daemon/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/check.h"
#include "jtag/daemon/chain_port.h"
#include "jtag/daemon/notifier.h"
#include "jtag/daemon/debug_node.h"

_Static_assert((int)HERALD_NODES_MAX == (int)DAEMON_NODES_MAX, "one notice for each node");

enum { SIGNALS = 3, NAME_BYTES = 16, PATH_BYTES = 128, LOOK_MS = 5, LOOKS_MAX = 6000 };

struct daemon {
    const struct daemon_options *options;
    uv_loop_t loop;
    uv_signal_t signals[SIGNALS];
    struct notifier notifier;
    uv_timer_t look; /* for the emulators' sockets */
    unsigned looks, found;
    struct debug_node *nodes;
    unsigned node_count; /* that were opened; the last of them perhaps in vain */
    struct chain_port chain;
};

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static void on_gone(void *context)
{
    struct daemon *daemon = context;

    uv_stop(&daemon->loop);
}

static int watch_ends(struct daemon *daemon)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
    const struct daemon_options *options = daemon->options;

    signal(SIGPIPE, SIG_IGN);
    for (unsigned i = 0; i < SIGNALS; i++) {
        uv_signal_init(&daemon->loop, &daemon->signals[i]);
        uv_signal_start(&daemon->signals[i], on_signal, numbers[i]);
    }
    int status =
        notifier_start(&daemon->notifier, &daemon->loop, options->notices_fd, options->nodes,
                       options->machine.blank ? NOTICE_HALTED : NOTICE_RUNNING, daemon, on_gone);
    if (status != 0) {
        fprintf(stderr, "ecube-jtag: --notices %d: %s\n", options->notices_fd, uv_strerror(status));
    }
    return status == 0 ? 0 : STATUS_BAD_INPUT;
}

static int cannot_serve(const struct daemon *daemon, const char *name, int status)
{
    fprintf(stderr, "ecube-jtag: cannot serve %.90s/%s: %s\n", daemon->options->machine.directory,
            name, uv_strerror(status));
    return STATUS_BAD_INPUT;
}

static int open_all(struct daemon *daemon)
{
    const struct daemon_options *options = daemon->options;
    char name[NAME_BYTES];
    int status;

    while (daemon->node_count < options->nodes) {
        unsigned number = daemon->node_count++;

        status = debug_node_open(&daemon->nodes[number], &daemon->loop, &options->machine, number,
                                 &daemon->notifier);
        if (status != 0) {
            snprintf(name, sizeof name, "n%u.gdb", number);
            return cannot_serve(daemon, name, status);
        }
    }
    status = !options->chain
                 ? 0
                 : chain_port_listen(&daemon->chain, &daemon->loop, options->machine.directory,
                                     daemon->nodes, options->nodes);
    return status == 0 ? 0 : cannot_serve(daemon, "chain", status);
}

static bool is_there(const struct daemon *daemon, unsigned number, const char *kind)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/n%u.%s", daemon->options->machine.directory, number, kind);
    return access(path, F_OK) == 0;
}

/* Emulators that are just being started make their sockets one after the other. Who is told that
 * all is ready finds them; one that never comes is not waited for longer than LOOKS_MAX. */
static void on_look(uv_timer_t *timer)
{
    struct daemon *daemon = timer->data;
    unsigned nodes = daemon->options->nodes;

    while (daemon->found < nodes && is_there(daemon, daemon->found, "stub") &&
           is_there(daemon, daemon->found, "qtest")) {
        daemon->found++;
    }
    if (daemon->found == nodes || ++daemon->looks == LOOKS_MAX) {
        uv_timer_stop(timer);
        notifier_tell_ready(&daemon->notifier);
    }
}

static void close_all(struct daemon *daemon)
{
    if (daemon->chain.nodes) {
        chain_port_close(&daemon->chain);
    }
    for (unsigned i = 0; i < daemon->node_count; i++) {
        debug_node_close(&daemon->nodes[i]);
    }
}

int daemon_run(const struct daemon_options *options)
{
    static struct daemon daemon;
    int status;

    daemon.options = options;
    daemon.nodes = calloc(options->nodes, sizeof *daemon.nodes);
    CHECK(daemon.nodes && uv_loop_init(&daemon.loop) == 0);
    status = watch_ends(&daemon);
    if (status == 0) {
        status = open_all(&daemon);
    }
    if (status == 0) {
        uv_timer_init(&daemon.loop, &daemon.look);
        daemon.look.data = &daemon;
        uv_timer_start(&daemon.look, on_look, 0, LOOK_MS);
        uv_run(&daemon.loop, UV_RUN_DEFAULT);
    }
    close_all(&daemon);
    return status;
}
