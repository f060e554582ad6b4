#include "jtag/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "jtag/gdb_port.h"
#include "jtag/herald.h"

_Static_assert((int)HERALD_NODES_MAX == (int)DAEMON_NODES_MAX, "one notice for each node");

enum { SIGNALS = 3 };

/* A node and who comes to it. */
struct station {
    struct daemon *daemon;
    struct emulator emulator;
    struct gdb_port gdb;
};

struct daemon {
    const struct daemon_options *options;
    uv_loop_t loop;
    uv_signal_t signals[SIGNALS];
    struct herald herald;
    struct station *stations;
};

static void tell(struct station *station)
{
    struct daemon *daemon = station->daemon;
    const char *guest = gdb_port_holder(&station->gdb);
    enum notice_state state = station->gdb.lost          ? NOTICE_LOST
                              : station->emulator.stands ? NOTICE_HALTED
                                                         : NOTICE_RUNNING;

    herald_tell_node(&daemon->herald, station->emulator.number, state, guest ? guest : "-");
}

static void on_changed(void *context)
{
    tell(context);
}

static void on_reset(void *context)
{
    struct station *station = context;

    herald_tell_reset(&station->daemon->herald, station->emulator.number);
}

static void on_free_node(void *context, char words[PEER_WORDS_MAX])
{
    struct station *station = context;

    if (station->emulator.holder == EMULATOR_LEAVING) {
        snprintf(words, PEER_WORDS_MAX, "a GDB that has just gone");
    }
}

static void on_done(void *context)
{
    (void)context;
}

static void on_stopped(void *context, enum core_stop why, uint32_t address)
{
    (void)context;
    (void)why;
    (void)address;
}

static int open_station(struct daemon *daemon, unsigned number)
{
    struct station *station = &daemon->stations[number];
    struct emulator_owner emulator_owner = {
        .context = station, .done = on_done, .stopped = on_stopped};
    struct gdb_port_owner gdb_owner = {.context = station,
                                       .changed = on_changed,
                                       .was_reset = on_reset,
                                       .free_node = on_free_node};

    station->daemon = daemon;
    emulator_init(&station->emulator, &daemon->loop, &daemon->options->machine, number,
                  &emulator_owner);
    return gdb_port_listen(&station->gdb, &station->emulator, &gdb_owner);
}

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
        herald_start(&daemon->herald, &daemon->loop, options->notices_fd, options->nodes,
                     options->machine.blank ? NOTICE_HALTED : NOTICE_RUNNING, daemon, on_gone);
    if (status != 0) {
        fprintf(stderr, "ecube-jtag: --notices %d: %s\n", options->notices_fd, uv_strerror(status));
    }
    return status;
}

/* How many stations were made, the last of which may have failed. */
static int open_stations(struct daemon *daemon, unsigned *made)
{
    int status = 0;

    for (*made = 0; status == 0 && *made < daemon->options->nodes; ++*made) {
        status = open_station(daemon, *made);
        if (status != 0) {
            fprintf(stderr, "ecube-jtag: cannot serve %.80s/n%u.gdb: %s\n",
                    daemon->options->machine.directory, *made, uv_strerror(status));
        }
    }
    return status;
}

static void close_stations(struct daemon *daemon, unsigned made)
{
    for (unsigned i = 0; i < made; i++) {
        gdb_port_close(&daemon->stations[i].gdb);
        emulator_close(&daemon->stations[i].emulator);
    }
}

int daemon_run(const struct daemon_options *options)
{
    static struct daemon daemon;
    unsigned made;
    int status;

    daemon.options = options;
    daemon.stations = calloc(options->nodes, sizeof *daemon.stations);
    CHECK(daemon.stations && uv_loop_init(&daemon.loop) == 0);
    if (watch_ends(&daemon) != 0) {
        return STATUS_BAD_INPUT;
    }
    status = open_stations(&daemon, &made);
    if (status == 0) {
        herald_tell_ready(&daemon.herald);
        uv_run(&daemon.loop, UV_RUN_DEFAULT);
    }
    close_stations(&daemon, made);
    uv_run(&daemon.loop, UV_RUN_NOWAIT);
    free(daemon.stations);
    return status == 0 ? 0 : STATUS_BAD_INPUT;
}
