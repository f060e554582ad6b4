/*
 * agent.c - the loop of an agent: lines of rank 0, ends of nodes, a word each second.
 *
 * What rank 0 says comes in the order of root.h: place, check, start, and end at any time. What
 * cannot be done before the start is refused, with words for the user, whom only rank 0 speaks to.
 */
#include "host/cluster/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cluster/arrivals.h"
#include "host/cluster/connection.h"
#include "host/cluster/far_cables.h"
#include "host/cluster/stream.h"
#include "host/command/options.h"
#include "host/computer/available.h"
#include "host/machine/launcher.h"
#include "host/machine/link_maker.h"
#include "host/machine/rundir.h"

enum {
    TICK_MS = 250,
    ALIVE_TICKS = 4,
    TRY_MS = 5000,    /* to reach rank 0 once more */
    DOOR_TRIES = 200, /* for a debug socket that QEMU has not made yet */
    DOOR_PAUSE_MS = 50
};

struct agent {
    const struct peers *peers;
    const struct agent_options *options;
    uv_loop_t loop;
    struct tls_keys keys;
    struct connection *control;
    uv_signal_t child_signal, end_signals[3];
    uv_timer_t timer;
    unsigned ticks, silent_ticks, patience_ticks;
    char root_host[64];
    char root_port[PEERS_PORT_MAX];

    struct network network;
    struct node_range range;
    struct far_cables cables;
    struct arrivals arrivals; /* cables */
    struct target target;
    struct rundir rundir;
    struct launcher launcher;
    struct launcher_far far;
    struct launcher_place place;
    bool placed, checked, started;
    bool refused;                         /* rank 0 has heard why, and says so */
    int host_fds[MACHINE_HOST_LINKS_MAX]; /* our end of a host link; -1: given to the launcher */
    bool over;
    int status;
};

/* A debugger's way to a socket that QEMU makes. */
struct door {
    struct agent *agent;
    uv_timer_t timer;
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    uint32_t node;
    unsigned number, tries;
};

static void stop(struct agent *agent, int status)
{
    if (!agent->over) {
        agent->over = true;
        agent->status = status;
    }
    uv_stop(&agent->loop);
}

/* Only rank 0 speaks to the user: it hears why, and says it. */
static void refuse(struct agent *agent, const char *text)
{
    agent->refused = true;
    if (agent->control) {
        connection_tell(agent->control, json_pack("{s:s, s:s}", "is", "refused", "text", text));
    }
}

static void tell(struct agent *agent, json_t *line)
{
    if (agent->control) {
        connection_tell(agent->control, line);
    } else {
        json_decref(line);
    }
}

/* Streams -------------------------------------------------------------------------------------- */

static void on_nothing(void *context)
{
    (void)context;
}

static void on_stream_lost(void *context, const char *why)
{
    (void)context;
    (void)why;
}

/* Opens a connection to rank 0 whose first line is this one, and joins it to a socket; takes both
 * over. Without patience one that cannot be is a stream that ends. */
static int open_stream(struct agent *agent, json_t *first, int fd, unsigned patience_ms,
                       struct message *message)
{
    struct connection_owner owner = {.moved = on_nothing, .ended = on_stream_lost};
    int outer = peers_dial(agent->root_host, agent->root_port, patience_ms);
    struct connection *connection =
        outer < 0 ? NULL : connection_open(&agent->loop, outer, false, &agent->keys, &owner);

    if (!connection) {
        json_decref(first);
        close(fd);
        return message_set(message, "cannot open a stream to rank 0: %s", strerror(errno));
    }
    connection_tell(connection, first);
    stream_join(&agent->loop, connection, fd);
    return 0;
}

static int open_host_links(struct agent *agent, struct message *message)
{
    for (unsigned i = 0; i < network_host_links(&agent->network); i++) {
        uint32_t node = network_host_node(&agent->network, i);
        int ends[2];

        if (node - agent->range.first >= agent->range.count) {
            continue;
        }
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            return message_set(message, "cannot make a link (socketpair): %s", strerror(errno));
        }
        agent->host_fds[i] = ends[0];
        if (open_stream(agent, json_pack("{s:s, s:i}", "role", "stream", "host", (int)i), ends[1],
                        TRY_MS, message) != 0) {
            return -1;
        }
    }
    return 0;
}

static void on_door_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_door(struct door *door)
{
    uv_close((uv_handle_t *)&door->timer, on_door_closed);
}

static void on_door(uv_timer_t *timer)
{
    struct door *door = timer->data;
    struct agent *agent = door->agent;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* QEMU takes one at a time: a connection that would wait for its turn is tried again */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct message message;
    json_t *first = json_pack("{s:s, s:i}", "role", "stream", "open", (int)door->number);

    memcpy(address.sun_path, door->path, sizeof door->path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        open_stream(agent, first, fd, 0, &message);
        close_door(door);
        return;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (++door->tries < DOOR_TRIES && !agent->launcher.nodes[door->node].dead) {
        json_decref(first);
        return;
    }
    /* a stream that ends at once: whoever waits at rank 0 is told so */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        close(ends[1]);
        open_stream(agent, first, ends[0], 0, &message);
    } else {
        json_decref(first);
    }
    close_door(door);
}

static void open_door(struct agent *agent, const json_t *line)
{
    struct door *door = calloc(1, sizeof *door);
    const char *kind;
    int node, number;

    if (!door || !agent->started ||
        json_unpack((json_t *)(uintptr_t)line, "{s:i, s:s, s:i}", "node", &node, "kind", &kind,
                    "number", &number) != 0 ||
        (uint32_t)node - agent->range.first >= agent->range.count) {
        free(door);
        return;
    }
    *door = (struct door){.agent = agent, .node = (uint32_t)node, .number = (unsigned)number};
    snprintf(door->path, sizeof door->path, "%s/n%d.%.5s", agent->rundir.path, node, kind);
    uv_timer_init(&agent->loop, &door->timer);
    door->timer.data = door;
    uv_timer_start(&door->timer, on_door, 0, DOOR_PAUSE_MS);
}

/* What the launcher asks ----------------------------------------------------------------------- */

static int far_cable(void *context, uint32_t node, unsigned port, int *fd, struct message *message)
{
    struct agent *agent = context;

    return far_cables_give(&agent->cables, node, port, fd, message);
}

static int far_host_link(void *context, unsigned index, int *fd, struct message *message)
{
    struct agent *agent = context;

    if (agent->host_fds[index] < 0) {
        return message_set(message, "host link %u has no stream", index);
    }
    *fd = agent->host_fds[index];
    agent->host_fds[index] = -1;
    return 0;
}

/* Place, check, start -------------------------------------------------------------------------- */

static int check_range(const struct agent *agent, struct message *message)
{
    const struct node_range *range = &agent->range;
    uint32_t nodes = agent->network.nodes;

    return range->count > 0 && range->count <= nodes && range->first <= nodes - range->count
               ? 0
               : message_set(message, "what rank 0 has sent is no range of nodes");
}

static int choose_target(struct agent *agent, const json_t *line, struct message *message)
{
    const char *network = "", *links = NULL, *board = NULL;
    const char *name = "", *computer = "";
    int host_links, debug, first, count, patience_ms;

    if (json_unpack((json_t *)(uintptr_t)line, "{s:s, s:i, s?s, s?s, s:b, s:i, s:i, s:i, s:s, s:s}",
                    "network", &network, "host_links", &host_links, "links", &links, "board",
                    &board, "debug", &debug, "first", &first, "count", &count, "patience_ms",
                    &patience_ms, "name", &name, "computer", &computer) != 0) {
        return message_set(message, "what rank 0 has sent is no place");
    }
    struct machine_arguments arguments = {.host_links = (uint32_t)host_links};
    agent->range = (struct node_range){(uint32_t)first, (uint32_t)count};
    agent->patience_ticks = (unsigned)patience_ms / TICK_MS;
    if (options_find_network(network, &machine_limits, &agent->network, message) != 0 ||
        options_find_host_links(&arguments, &agent->network, message) != 0 ||
        check_range(agent, message) != 0 || (board && target_choose(board, message) != 0) ||
        target_find(&agent->target, agent->options->kernel, agent->options->qemu, message) != 0) {
        return -1;
    }
    agent->place = (struct launcher_place){
        .first = agent->range.first, .count = agent->range.count, .far = &agent->far};
    if (link_maker_choose(links, &agent->network, &agent->place, &agent->target, message) != 0 ||
        rundir_create(&agent->rundir, NULL, message) != 0) {
        return -1;
    }
    if (debug) { /* nK.stub and nK.qtest instead of nK.gdb; rank 0 has the program */
        snprintf(agent->target.jtag, sizeof agent->target.jtag, "far");
    }
    return rundir_note_elsewhere(&agent->rundir, name, computer, message);
}

static void on_arrival(void *context, struct connection *connection, const json_t *line)
{
    struct agent *agent = context;

    if (!far_cables_take(&agent->cables, connection, line)) {
        connection_close(connection);
    }
}

static void on_place(struct agent *agent, const json_t *line)
{
    const struct arrivals_owner owner = {.context = agent, .came = on_arrival};
    struct message message;
    int listener;

    if (agent->rundir.path[0] != '\0') {
        return;
    }
    if (choose_target(agent, line, &message) != 0 ||
        far_cables_open(&agent->cables, &agent->loop, &agent->network, &agent->range, &message) !=
            0 ||
        open_host_links(agent, &message) != 0 ||
        (listener = peers_listen(NULL, NULL, &message)) < 0) {
        refuse(agent, message.text);
        return;
    }
    arrivals_open(&agent->arrivals, &agent->loop, listener, &agent->keys, &owner);
    agent->placed = true;
    tell(agent, json_pack("{s:s, s:i}", "is", "placed", "port", (int)peers_port_of(listener)));
}

static void on_connected(void *context)
{
    tell(context, json_pack("{s:s}", "is", "checked"));
}

static void on_refused(void *context, const char *text)
{
    refuse(context, text);
}

/* Who takes the cables to which nodes. */
static void on_check(struct agent *agent, const json_t *line)
{
    struct cable_place places[DIVISION_COMPUTERS_MAX] = {0};
    const json_t *list = json_object_get(line, "places"), *item;
    unsigned count = 0;
    size_t i;

    if (!agent->placed || agent->checked) {
        return;
    }
    agent->checked = true;
    json_array_foreach(list, i, item)
    {
        struct cable_place *place = &places[count];
        int port, first, nodes;

        if (count == DIVISION_COMPUTERS_MAX ||
            json_unpack((json_t *)(uintptr_t)item, "[s, s, i, i, i]", &place->computer,
                        &place->host, &port, &first, &nodes) != 0) {
            refuse(agent, "what rank 0 has sent is no list of places");
            return;
        }
        snprintf(place->port, sizeof place->port, "%u", (unsigned)(uint16_t)port);
        place->range = (struct node_range){(uint32_t)first, (uint32_t)nodes};
        count++;
    }
    agent->cables.context = agent;
    agent->cables.connected = on_connected;
    agent->cables.refused = on_refused;
    far_cables_connect(&agent->cables, &agent->keys, places, count);
}

static void on_start(struct agent *agent)
{
    struct message message;

    if (agent->started || !agent->placed) {
        return;
    }
    if (launcher_start(&agent->launcher, &agent->network, NULL, 0, &agent->target, &agent->rundir,
                       &agent->place, &message) != 0) {
        refuse(agent, message.text);
        return;
    }
    agent->started = true;
}

/* While the machine runs ----------------------------------------------------------------------- */

static void on_died(void *context, uint32_t node)
{
    struct agent *agent = context;
    char words[LAUNCHER_NOTE_MAX];

    launcher_describe(&agent->launcher, node, words);
    json_t *text = json_string(words); /* NULL: QEMU's last words are no UTF-8 */
    tell(agent, json_pack("{s:s, s:i, s:o}", "is", "died", "node", (int)node, "words",
                          text ? text : json_string("ended")));
}

static void on_child(uv_signal_t *handle, int number)
{
    struct agent *agent = handle->data;

    (void)number;
    if (agent->started) {
        launcher_reap(&agent->launcher, on_died, agent);
    }
}

/* A computer is lost with its nodes: their cables lead nowhere. */
static void on_lost(struct agent *agent, const json_t *line)
{
    int first, count;

    if (!agent->started ||
        json_unpack((json_t *)(uintptr_t)line, "{s:i, s:i}", "first", &first, "count", &count) !=
            0 ||
        first < 0) {
        return;
    }
    for (int i = 0; i < count && (uint32_t)(first + i) < agent->network.nodes; i++) {
        launcher_died_far(&agent->launcher, (uint32_t)(first + i));
    }
}

static void take_line(struct agent *agent, const json_t *line)
{
    const char *what = json_string_value(json_object_get(line, "do"));
    int a = -1, b = -1;

    agent->silent_ticks = 0;
    if (!what) {
        return;
    }
    if (strcmp(what, "place") == 0) {
        on_place(agent, line);
    } else if (strcmp(what, "check") == 0) {
        on_check(agent, line);
    } else if (strcmp(what, "start") == 0) {
        on_start(agent);
    } else if (strcmp(what, "lost") == 0) {
        on_lost(agent, line);
    } else if (strcmp(what, "open") == 0) {
        open_door(agent, line);
    } else if (strcmp(what, "end") == 0) {
        /* a machine that could not be is every agent's failure; what a run has ended with is rank
         * 0's to say */
        bool refused = json_string_length(json_object_get(line, "text")) > 0;
        stop(agent, refused ? STATUS_BAD_INPUT : 0);
    } else if (agent->started && strcmp(what, "kill") == 0 &&
               json_unpack((json_t *)(uintptr_t)line, "{s:i}", "node", &a) == 0 &&
               (uint32_t)a - agent->range.first < agent->range.count) {
        launcher_kill(&agent->launcher, (uint32_t)a);
    } else if (agent->started && strcmp(what, "cut") == 0 &&
               json_unpack((json_t *)(uintptr_t)line, "{s:i, s:i}", "a", &a, "b", &b) == 0 &&
               (uint32_t)a < agent->network.nodes && (uint32_t)b < agent->network.nodes) {
        launcher_cut(&agent->launcher, (uint32_t)a, (uint32_t)b);
    }
}

static void on_moved(void *context)
{
    struct agent *agent = context;
    json_t *line;

    while (agent->control && !agent->over && (line = connection_line(agent->control)) != NULL) {
        take_line(agent, line);
        json_decref(line);
    }
}

static void on_ended(void *context, const char *why)
{
    struct agent *agent = context;
    bool foreign = !agent->control->connected;
    struct message message;

    agent->control = NULL;
    if (agent->over) {
        return;
    }
    if (agent->refused) {
        stop(agent, STATUS_BAD_INPUT);
        return;
    }
    if (foreign) {
        message_set(&message,
                    "rank 0 at %s does not take this agent's key (%s): give all the same "
                    "--key-file",
                    agent->root_host, why);
    } else if (agent->started) {
        message_set(&message, "rank 0 is gone: nodes %u-%u have ended", agent->range.first,
                    agent->range.first + agent->range.count - 1);
    } else {
        message_set(&message, "rank 0 is gone before the machine began");
    }
    message_print(&message);
    stop(agent, foreign || !agent->started ? STATUS_BAD_INPUT : STATUS_MACHINE);
}

static void on_tick(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct message message;

    agent->ticks++;
    if (agent->ticks % ALIVE_TICKS == 0) {
        tell(agent,
             json_pack("{s:s, s:i}", "is", "alive", "share", (int)available_share_permille()));
    }
    if (agent->rundir.path[0] != '\0' && !rundir_keep(&agent->rundir)) {
        refuse(agent, "its run directory was removed");
        stop(agent, STATUS_MACHINE);
    }
    if (++agent->silent_ticks > agent->patience_ticks) {
        message_set(&message, "rank 0 does not answer for %g s: nodes %u-%u have ended",
                    agent->patience_ticks * TICK_MS / 1e3, agent->range.first,
                    agent->range.first + agent->range.count - 1);
        message_print(&message);
        stop(agent, STATUS_MACHINE);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    stop(handle->data, 128 + number);
}

static void watch(struct agent *agent)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (unsigned i = 0; i < 3; i++) {
        uv_signal_init(&agent->loop, &agent->end_signals[i]);
        agent->end_signals[i].data = agent;
        uv_signal_start(&agent->end_signals[i], on_signal, numbers[i]);
    }
    uv_signal_init(&agent->loop, &agent->child_signal);
    agent->child_signal.data = agent;
    uv_signal_start(&agent->child_signal, on_child, SIGCHLD);
    uv_timer_init(&agent->loop, &agent->timer);
    agent->timer.data = agent;
    uv_timer_start(&agent->timer, on_tick, TICK_MS, TICK_MS);
}

static int introduce(struct agent *agent, struct message *message)
{
    struct connection_owner owner = {.context = agent, .moved = on_moved, .ended = on_ended};
    struct introduction self;
    struct target target;
    struct message refusal;
    const struct agent_options *options = agent->options;
    bool found = (!options->board || target_choose(options->board, &refusal) == 0) &&
                 target_find(&target, options->kernel, options->qemu, &refusal) == 0;
    int fd = peers_connect(agent->peers, options->patience_ms, message);

    if (fd < 0 || !peers_far_address(fd, agent->root_host)) {
        return -1;
    }
    memcpy(agent->root_port, agent->peers->port, sizeof agent->root_port);
    introduction_make(&self, agent->peers->rank, found ? &target : NULL,
                      found ? NULL : refusal.text);
    agent->control = connection_open(&agent->loop, fd, false, &agent->keys, &owner);
    if (!agent->control) {
        return message_set(message, "out of memory");
    }
    tell(agent, introduction_to_json(&self));
    return 0;
}

static void end(struct agent *agent)
{
    if (agent->started) {
        launcher_stop(&agent->launcher);
    }
    rundir_remove(&agent->rundir);
    /* Rank 0 sees the end of this process, behind which nothing is left. */
}

int agent_serve(const struct peers *peers, const struct agent_options *options)
{
    static struct agent agent;
    struct message message;

    agent = (struct agent){
        .peers = peers, .options = options, .patience_ticks = options->patience_ms / TICK_MS};
    agent.far =
        (struct launcher_far){.context = &agent, .cable = far_cable, .host_link = far_host_link};
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++) {
        agent.host_fds[i] = -1;
    }
    if (uv_loop_init(&agent.loop) != 0) {
        message_set(&message, "cannot make an event loop");
        return message_print(&message);
    }
    if (tls_keys_init(&agent.keys, &peers->key, &message) != 0 ||
        introduce(&agent, &message) != 0) {
        return message_print(&message);
    }
    watch(&agent);
    while (!agent.over) {
        uv_run(&agent.loop, UV_RUN_DEFAULT);
    }
    end(&agent);
    return agent.status;
}
