/*
 * divided.c - the tool, with every machine in two halves, as if on two computers: linked in behind
 * machine_start (--wrap), it gives the machine's launcher the first half of the nodes and starts
 * another launcher, in the same process, for the second.
 *
 * All that passes between computers is here a call, but for the cables, which are TCP connections
 * of the QEMUs over the loopback. ECUBE_TEST_KEYS says how: `checked` with TLS, if this QEMU's is
 * good; `one` with TLS as it is, `two` with a key for each half; nothing without TLS. What the
 * launchers find without a carrier is told on standard error when the machine ends.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/check.h"
#include "host/machine/link_maker.h"
#include "host/machine/machine.h"

/* A carrier of a node of the first half: its QEMU listens, the other connects. */
struct listener {
    int fd;
    uint16_t port;
};

static struct {
    struct network network;
    struct launcher *first, second;
    struct launcher_place places[2];
    struct target target;
    struct rundir rundir; /* of the second */
    struct listener (*lines)[MACHINE_PORTS_MAX];
    int host_ends[MACHINE_HOST_LINKS_MAX]; /* the node's, of links to the second half */
    bool *dead;                            /* of the second half, not told yet */
} both;

static bool in_second(uint32_t node)
{
    return node >= both.places[1].first;
}

static int listen_anywhere(struct listener *line, struct message *message)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;

    line->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(line->fd, (struct sockaddr *)&address, bytes) != 0 || listen(line->fd, 1) != 0 ||
        getsockname(line->fd, (struct sockaddr *)&address, &bytes) != 0) {
        return message_set(message, "cannot listen");
    }
    line->port = ntohs(address.sin_port);
    return 0;
}

static int make_lines(struct message *message)
{
    const struct network *network = &both.network;

    for (uint32_t node = 0; node < both.places[0].count; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, node, p);

            if (peer != NETWORK_NO_NODE && in_second(peer) &&
                listen_anywhere(&both.lines[node][p], message) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int carrier(void *context, uint32_t node, unsigned port, struct board_carrier *carrier,
                   struct message *message)
{
    (void)context, (void)message;
    if (!in_second(node)) {
        *carrier = (struct board_carrier){.kind = CARRIER_LISTENS, .fd = both.lines[node][port].fd};
        return 0;
    }
    *carrier =
        (struct board_carrier){.kind = CARRIER_CONNECTS,
                               .host = "127.0.0.1",
                               .port = both.lines[network_neighbour(&both.network, node, port)]
                                                 [network_far_port(&both.network, port)]
                                                     .port};
    return 0;
}

static int host_link_of_first(void *context, unsigned index, int *fd, struct message *message)
{
    int ends[2];

    (void)context;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot make a host link");
    }
    *fd = ends[0];
    both.host_ends[index] = ends[1];
    return 0;
}

static int host_link_of_second(void *context, unsigned index, int *fd, struct message *message)
{
    (void)context, (void)message;
    *fd = both.host_ends[index];
    return 0;
}

static bool kill_second(void *context, uint32_t node)
{
    (void)context;
    return launcher_kill(&both.second, node);
}

static bool cut_second(void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return launcher_cut(&both.second, a, b);
}

static void describe_second(void *context, uint32_t node, char text[LAUNCHER_NOTE_MAX])
{
    (void)context;
    launcher_describe(&both.second, node, text);
}

static void died_in_first(void *context, uint32_t node)
{
    (void)context;
    launcher_died_far(&both.second, node);
}

static void note_death(void *context, uint32_t node)
{
    (void)context;
    both.dead[node] = true;
}

static void reap_second(void *context, void (*died)(void *died_context, uint32_t node),
                        void *died_context)
{
    (void)context;
    launcher_reap(&both.second, note_death, NULL);
    for (uint32_t node = 0; node < both.network.nodes; node++) {
        if (both.dead[node]) {
            both.dead[node] = false;
            died(died_context, node);
        }
    }
}

static void tell_lost(void *context, uint32_t node, unsigned port)
{
    fprintf(stderr, "%s: node %u has no carrier at port %u\n", (const char *)context,
            (unsigned)node, port);
}

static void stop_second(void *context)
{
    (void)context;
    launcher_carriers_lost(both.first, tell_lost, "first");
    launcher_carriers_lost(&both.second, tell_lost, "second");
    launcher_stop(&both.second);
    rundir_remove(&both.rundir);
}

static const struct launcher_far for_first = {.carrier = carrier,
                                              .host_link = host_link_of_first,
                                              .kill = kill_second,
                                              .cut = cut_second,
                                              .describe = describe_second,
                                              .died = died_in_first,
                                              .reap = reap_second,
                                              .stop = stop_second};
static const struct launcher_far for_second = {.carrier = carrier,
                                               .host_link = host_link_of_second};

/* The second half, when all that it connects to is there. */
int __real_launcher_start(struct launcher *, const struct network *,
                          const struct launcher_crossing *, unsigned, const struct target *,
                          const struct rundir *, const struct launcher_place *, struct message *);
int __wrap_launcher_start(struct launcher *, const struct network *,
                          const struct launcher_crossing *, unsigned, const struct target *,
                          const struct rundir *, const struct launcher_place *, struct message *);

/* ffdhe2048 of RFC 7919. Without it each QEMU that listens would search for primes of its own,
 * which takes seconds. */
static const char group[] = "-----BEGIN DH PARAMETERS-----\n"
                            "MIIBDAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz\n"
                            "+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a\n"
                            "87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7\n"
                            "YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi\n"
                            "7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD\n"
                            "ssbzSibBsu/6iGtCOGEoXJf//////////wIBAgICB/8=\n"
                            "-----END DH PARAMETERS-----\n";

static int write_file(const struct rundir *rundir, const char *name, const char *user,
                      const char *text, struct message *message)
{
    char path[RUNDIR_PATH_MAX + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", rundir->path, name);
    umask(077);
    file = fopen(path, "w");
    return file && fprintf(file, "%s%s", user, text) > 0 && fclose(file) == 0
               ? 0
               : message_set(message, "cannot write %.80s", path);
}

static int write_key(const struct rundir *rundir, const char *key, struct message *message)
{
    return write_file(rundir, "keys.psk", CARRIER_USER ":", key, message) != 0
               ? -1
               : write_file(rundir, "dh-params.pem", "", group, message);
}

static int write_keys(const struct rundir *first, struct message *message)
{
    static const char key[] = "5d41402abc4b2a76b9719d911017c592\n";
    static const char other[] = "7d793037a0760186574b0282f2f435e7\n";
    const char *keys = getenv("ECUBE_TEST_KEYS");

    return write_key(first, key, message) != 0 ||
                   write_key(&both.rundir, keys && strcmp(keys, "two") == 0 ? other : key,
                             message) != 0
               ? -1
               : 0;
}

int __wrap_launcher_start(struct launcher *launcher, const struct network *network,
                          const struct launcher_crossing *crossings, unsigned crossing_count,
                          const struct target *target, const struct rundir *rundir,
                          const struct launcher_place *place, struct message *message)
{
    const char *keys = getenv("ECUBE_TEST_KEYS");
    bool tls = keys, checked = keys && strcmp(keys, "checked") == 0;
    uint32_t half = (network->nodes + 1) / 2;
    char name[RUNDIR_NAME_MAX];

    snprintf(name, sizeof name, "second-%d", (int)getpid());

    CHECK(!place);
    both.network = *network;
    both.first = launcher;
    both.places[0] =
        (struct launcher_place){.count = half, .host = true, .tls = tls, .far = &for_first};
    both.places[1] = (struct launcher_place){
        .first = half, .count = network->nodes - half, .tls = tls, .far = &for_second};
    both.lines = calloc(network->nodes, sizeof *both.lines);
    both.dead = calloc(network->nodes, sizeof *both.dead);
    if ((checked && link_maker_check_tls(target, message) != 0) || make_lines(message) != 0 ||
        rundir_create(&both.rundir, name, message) != 0 || write_keys(rundir, message) != 0 ||
        __real_launcher_start(launcher, network, crossings, crossing_count, target, rundir,
                              &both.places[0], message) != 0) {
        return -1;
    }
    return __real_launcher_start(&both.second, network, NULL, 0, target, &both.rundir,
                                 &both.places[1], message);
}
