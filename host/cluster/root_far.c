/*
 * root_far.c - what the machine of rank 0 has of nodes elsewhere: what its launcher asks of the
 * other agents, and the debug sockets in its run directory; all in the machine's loop.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/cluster/root_parts.h"

enum { TAP_KINDS = 3 };

/* A debug socket of a node elsewhere. */
struct tap {
    struct root *root;
    uint32_t node;
    const char *kind;
    int fd;
    uv_poll_t poll;
};

/* What the launcher asks of the others --------------------------------------------------------- */

static int far_cable(void *context, uint32_t node, unsigned port, int *fd, struct message *message)
{
    struct root *root = context;

    return far_cables_give(&root->cables, node, port, fd, message);
}

static int far_host_link(void *context, unsigned index, int *fd, struct message *message)
{
    struct root *root = context;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot make a link (socketpair): %s", strerror(errno));
    }
    *fd = ends[0];
    root->host_fds[index] = ends[1];
    root_join_host_stream(root, index);
    return 0;
}

static bool far_kill(void *context, uint32_t number)
{
    struct root *root = context;
    struct far_node *node = &root->nodes[number];

    if (node->dead || node->killed) {
        return false;
    }
    node->killed = true;
    root_tell(root_member_of(root, number),
              json_pack("{s:s, s:i}", "do", "kill", "node", (int)number));
    return true;
}

static bool far_cut(void *context, uint32_t a, uint32_t b)
{
    struct root *root = context;
    unsigned p = network_port_to(&root->network, a, b), q = network_port_to(&root->network, b, a);
    if (p == NETWORK_NO_PORT || root->nodes[a].dead || root->nodes[b].dead ||
        (root->nodes[a].cut & (1u << p)) != 0) {
        return false;
    }
    root->nodes[a].cut |= 1u << p;
    root->nodes[b].cut |= 1u << q;
    root_tell(root_member_of(root, a),
              json_pack("{s:s, s:i, s:i}", "do", "cut", "a", (int)a, "b", (int)b));
    return true;
}

static void far_describe(void *context, uint32_t node, char text[LAUNCHER_NOTE_MAX])
{
    struct root *root = context;

    snprintf(text, LAUNCHER_NOTE_MAX, "%s", root->nodes[node].words);
}

static bool far_lost(void *context, uint32_t node, struct launcher_lost *lost)
{
    struct root *root = context;
    const struct member *member = root_member_of(root, node);

    if (!root->nodes[node].lost) {
        return false;
    }
    *lost = (struct launcher_lost){
        .node = member->speaker, .first = member->range.first, .count = member->range.count};
    snprintf(lost->text, sizeof lost->text, "computer %s, nodes %u-%u: %s", member->self.computer,
             (unsigned)member->range.first,
             (unsigned)(member->range.first + member->range.count - 1), member->words);
    return true;
}

static void far_reap(void *context, void (*died)(void *died_context, uint32_t node),
                     void *died_context)
{
    struct root *root = context;

    for (uint32_t number = 0; number < root->network.nodes; number++) {
        struct far_node *node = &root->nodes[number];

        if (node->dead && !node->told) {
            node->told = true;
            died(died_context, number);
        }
    }
}

static void far_listen(void *context, void (*news)(void *news_context), void *news_context)
{
    struct root *root = context;

    root->news = news;
    root->news_context = news_context;
}

static unsigned far_share(void *context)
{
    const struct root *root = context;
    unsigned least = 1000;

    for (unsigned i = 1; i < root->peers->size; i++) {
        const struct member *member = &root->members[i];

        least = member->connection && member->share < least ? member->share : least;
    }
    return least;
}

/* In the machine's loop ------------------------------------------------------------------------ */

static void turn(struct root *root)
{
    uv_run(&root->loop, UV_RUN_NOWAIT);
}

static void on_turn(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    turn(poll->data);
}

/* What callbacks of the machine's loop have asked of ours is seen to before it sleeps. */
static void on_prepare(uv_prepare_t *prepare)
{
    turn(prepare->data);
}

static void on_loop_tick(uv_timer_t *timer)
{
    turn(timer->data);
}

void root_leave(struct root *root)
{
    root->news = NULL;
    if (root->joined) {
        root->joined = false;
        uv_close((uv_handle_t *)&root->turn, NULL);
        uv_close((uv_handle_t *)&root->prepare, NULL);
        uv_close((uv_handle_t *)&root->tick, NULL);
    }
}

static void far_stop(void *context)
{
    root_leave(context);
}

static void join_loop(struct root *root, uv_loop_t *loop)
{
    uv_poll_init(loop, &root->turn, uv_backend_fd(&root->loop));
    root->turn.data = root;
    uv_poll_start(&root->turn, UV_READABLE, on_turn);
    uv_prepare_init(loop, &root->prepare);
    root->prepare.data = root;
    uv_prepare_start(&root->prepare, on_prepare);
    uv_timer_init(loop, &root->tick);
    root->tick.data = root;
    uv_timer_start(&root->tick, on_loop_tick, ROOT_TICK_MS, ROOT_TICK_MS);
    /* a machine that could not be started turns its loop once more, and has not asked to stop */
    uv_unref((uv_handle_t *)&root->turn);
    uv_unref((uv_handle_t *)&root->prepare);
    uv_unref((uv_handle_t *)&root->tick);
    root->joined = true;
}

/* Somebody has connected to a debug socket of a node elsewhere. */
static void on_tap(uv_poll_t *poll, int status, int events)
{
    struct tap *tap = poll->data;
    struct root *root = tap->root;
    struct opening *opening;
    int fd = accept4(tap->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)status;
    (void)events;
    if (fd < 0) {
        return;
    }
    opening = root->nodes[tap->node].dead ? NULL : calloc(1, sizeof *opening);
    if (!opening) {
        close(fd);
        return;
    }
    *opening = (struct opening){
        .next = root->openings, .number = root->opening_number++, .node = tap->node, .fd = fd};
    root->openings = opening;
    root_tell(root_member_of(root, tap->node),
              json_pack("{s:s, s:i, s:s, s:i}", "do", "open", "node", (int)tap->node, "kind",
                        tap->kind, "number", (int)opening->number));
}

static int open_tap(struct root *root, struct tap *tap, uint32_t node, const char *kind,
                    struct message *message)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *tap = (struct tap){.root = root, .node = node, .kind = kind};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/n%u.%s", root->directory,
             (unsigned)node, kind);
    tap->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (tap->fd < 0 || bind(tap->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(tap->fd, 4) != 0) {
        message_set(message, "cannot make %s: %s", address.sun_path, strerror(errno));
        if (tap->fd >= 0) {
            close(tap->fd);
        }
        return -1;
    }
    uv_poll_init(&root->loop, &tap->poll, tap->fd);
    tap->poll.data = tap;
    uv_poll_start(&tap->poll, UV_READABLE, on_tap);
    return 0;
}

static int open_taps(struct root *root, bool debug, struct message *message)
{
    static const char *const kinds[2][TAP_KINDS] = {{"qmp", "gdb", NULL}, {"qmp", "stub", "qtest"}};
    const struct node_range *here = &root->members[0].range;

    root->taps = calloc((size_t)root->network.nodes * TAP_KINDS, sizeof *root->taps);
    if (!root->taps) {
        return message_set(message, "out of memory");
    }
    for (uint32_t node = here->count; node < root->network.nodes; node++) {
        for (unsigned i = 0; i < TAP_KINDS && kinds[debug][i]; i++) {
            if (open_tap(root, &root->taps[root->tap_count], node, kinds[debug][i], message) != 0) {
                return -1;
            }
            root->tap_count++;
        }
    }
    return 0;
}

int root_join(struct root *root, uv_loop_t *loop, const char *directory, bool debug,
              struct message *message)
{
    snprintf(root->directory, sizeof root->directory, "%s", directory);
    if (open_taps(root, debug, message) != 0) {
        return -1;
    }
    for (unsigned i = 1; i < root->peers->size; i++) {
        root->members[i].state = MEMBER_RUNS;
    }
    root_tell_all(root, json_pack("{s:s}", "do", "start"));
    join_loop(root, loop);
    return 0;
}

const struct launcher_place *root_launcher_place(struct root *root)
{
    root->far = (struct launcher_far){.context = root,
                                      .cable = far_cable,
                                      .host_link = far_host_link,
                                      .kill = far_kill,
                                      .cut = far_cut,
                                      .describe = far_describe,
                                      .lost = far_lost,
                                      .reap = far_reap,
                                      .listen = far_listen,
                                      .share_permille = far_share,
                                      .stop = far_stop};
    root->place = (struct launcher_place){.first = root->members[0].range.first,
                                          .count = root->members[0].range.count,
                                          .host = true,
                                          .far = &root->far};
    return &root->place;
}
