/*
 * launcher.c - starts the QEMUs with their cables, reaps them, cuts and kills.
 *
 * The order matters: all cables are made before the first QEMU, each child keeps only its own ends
 * (become_qemu), and when a node has died its cables are shut down for its neighbours to see it.
 */
#include "host/machine/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/computer/available.h"
#include "host/computer/placement.h"

/* Beside cables and what nodes print: standard ones, event loop, signals, lock, clients, results.
 */
enum { DESCRIPTORS_OTHER = 64, SOCKETS_OF_NODE = 4 };

struct launcher_place launcher_whole(const struct network *network)
{
    return (struct launcher_place){.count = network->nodes, .host = true};
}

static bool is_here(const struct launcher_place *place, uint32_t node)
{
    return node >= place->first && node - place->first < place->count;
}

/* Whether a node here owns the link at a port, and it leads to another node here. */
static bool owns_within(const struct network *network, const struct launcher_place *place,
                        uint32_t node, unsigned port)
{
    return network_owns_link(network, node, port) &&
           is_here(place, network_neighbour(network, node, port));
}

static bool leads_out(const struct network *network, const struct launcher_place *place,
                      uint32_t node, unsigned port)
{
    uint32_t peer = network_neighbour(network, node, port);

    return peer != NETWORK_NO_NODE && !is_here(place, peer);
}

static uint32_t count_links_out(const struct network *network, const struct launcher_place *place)
{
    uint32_t count = 0;

    for (uint32_t node = place->first; node < place->first + place->count; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            count += leads_out(network, place, node, p);
        }
    }
    return count;
}

uint32_t launcher_links_within(const struct network *network, const struct launcher_place *place)
{
    uint32_t count = 0;

    for (uint32_t node = place->first; node < place->first + place->count; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            count += owns_within(network, place, node, p);
        }
    }
    return count;
}

int launcher_check_descriptors(const struct network *network, const struct launcher_place *place,
                               bool shared, struct message *message)
{
    struct rlimit limit;
    unsigned host_links = network_host_links(network);
    /* a link in shared memory has a file, each node a doorbell */
    rlim_t within = launcher_links_within(network, place);
    rlim_t cables = (shared ? within + place->count : 2 * within) + 2 * host_links;
    /* of a cable that leads elsewhere a socketpair, and what carries it on */
    rlim_t far = 3 * count_links_out(network, place);
    /* and where the host is, sockets that stand for those of the nodes elsewhere */
    far += place->host ? SOCKETS_OF_NODE * (network->nodes - place->count) : 0;
    rlim_t need = cables + far + place->count + DESCRIPTORS_OTHER;
    char name[NETWORK_NAME_MAX];

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) {
        return 0;
    }
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= need) {
        return 0;
    }
    network_name(network, name);
    return message_set(message,
                       "%s needs %u open files, and the limit is %u: raise it with 'ulimit -n', or "
                       "use a smaller network",
                       name, (unsigned)need, (unsigned)limit.rlim_max);
}

static void close_once(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* A socketpair has no name: nobody else connects to it, and nothing is left when its ends close. */
static int make_pair(int *a, int *b, struct message *message)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return message_set(message, "cannot make a link (socketpair): %s", strerror(errno));
    }
    *a = ends[0];
    *b = ends[1];
    return 0;
}

/* The number of a node here in the shared links. */
static uint32_t shared_number(const struct launcher *launcher, uint32_t node)
{
    return node - launcher->place.first;
}

/* The cable of a node's port, if it is this node's to make. */
static int make_cable(struct launcher *launcher, uint32_t node, unsigned p, struct message *message)
{
    const struct network *network = &launcher->network;
    const struct launcher_place *place = &launcher->place;
    uint32_t peer = network_neighbour(network, node, p);
    unsigned q = network_far_port(network, p);
    int *fd = &launcher->nodes[node].port_fds[p];

    if (leads_out(network, place, node, p)) {
        return place->far->cable(place->far->context, node, p, fd, message);
    }
    if (!owns_within(network, place, node, p)) {
        return 0;
    }
    return launcher->shared ? shared_links_join(&launcher->links, shared_number(launcher, node), p,
                                                shared_number(launcher, peer), q, message)
                            : make_pair(fd, &launcher->nodes[peer].port_fds[q], message);
}

/* Host link `index`, of which the host, the node or both are here. */
static int make_host_link(struct launcher *launcher, unsigned index, struct message *message)
{
    const struct launcher_place *place = &launcher->place;
    uint32_t node = network_host_node(&launcher->network, index);
    int *host_fd = &launcher->host_fds[index];
    int *node_fd = &launcher->nodes[node].port_fds[launcher->network.ports];

    if (!place->host && !is_here(place, node)) {
        return 0;
    }
    if (place->host && is_here(place, node)
            ? make_pair(host_fd, node_fd, message) != 0
            : place->far->host_link(place->far->context, index, place->host ? host_fd : node_fd,
                                    message) != 0) {
        return -1;
    }
    if (place->host) {
        fcntl(*host_fd, F_SETFL, O_NONBLOCK);
    }
    return 0;
}

static int make_cables(struct launcher *launcher, struct message *message)
{
    const struct network *network = &launcher->network;
    const struct launcher_place *place = &launcher->place;

    if (launcher->shared) {
        if (shared_links_init(&launcher->links, place->count, launcher_links_within(network, place),
                              message) != 0) {
            return -1;
        }
        launcher->links.spin_us = placement_spin_us(place->count);
    }
    for (uint32_t node = place->first; node < place->first + place->count; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            if (make_cable(launcher, node, p, message) != 0) {
                return -1;
            }
        }
    }
    for (unsigned i = 0; i < network_host_links(network); i++) {
        if (make_host_link(launcher, i, message) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Only what is plugged in is exchanged, so both nodes see a cable that works and leads elsewhere.
 * */
static void cross(struct launcher *launcher, const struct launcher_crossing *crossing)
{
    unsigned p = network_port_to(&launcher->network, crossing->b, crossing->a);
    unsigned q = network_port_to(&launcher->network, crossing->d, crossing->c);
    int *b = &launcher->nodes[crossing->b].port_fds[p];
    int *d = &launcher->nodes[crossing->d].port_fds[q];
    int fd = *b;

    if (launcher->shared) {
        shared_links_swap(&launcher->links, shared_number(launcher, crossing->b), p,
                          shared_number(launcher, crossing->d), q);
    }
    *b = *d;
    *d = fd;
}

/* All descriptors are made close-on-exec. In the child those that this QEMU needs lose that mark,
 * so no QEMU ever holds an end of a cable between two others: their ends would not show. */
static void inherit(int fd)
{
    if (fd >= 0) {
        fcntl(fd, F_SETFD, 0);
    }
}

/* In the child, between fork and exec. */
static _Noreturn void become_qemu(const struct launcher *launcher, uint32_t number, pid_t parent,
                                  const struct board_links *links, struct argv *command)
{
    const struct launcher_node *node = &launcher->nodes[number];
    int null = open("/dev/null", O_RDONLY);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { /* it died before the line above */
        _exit(127);
    }
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* saves 4 MB a node */
    setpgid(0, 0);                         /* a terminal's Ctrl-C is for the tool */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, 0);
    dup2(node->output_fd, 1);
    dup2(node->output_fd, 2);
    for (unsigned p = 0; p < links->port_count; p++) {
        inherit(links->serial_fds[p]);
    }
    for (unsigned i = 0; i < links->memory_count; i++) {
        inherit(links->memory_fds[i]);
    }
    inherit(links->card_fd);
    placement_bind(number - launcher->place.first, launcher->place.count);
    offspring_mark(launcher->run, number);
    execv(command->words[0], command->words);
    dprintf(2, "cannot run %s: %s\n", command->words[0], strerror(errno));
    _exit(127);
}

static int start_process(struct launcher *launcher, uint32_t number, const struct target *target,
                         const struct rundir *rundir, const struct board_links *links,
                         struct message *message)
{
    struct launcher_node *node = &launcher->nodes[number];
    struct argv command;
    pid_t parent = getpid();

    target_make_command(&command, target, rundir->path, number, links);
    node->pid = fork();
    if (node->pid == 0) {
        become_qemu(launcher, number, parent, links, &command);
    }
    if (node->pid < 0) {
        node->pid = 0;
        return message_set(message, "cannot start node %u: %s", (unsigned)number, strerror(errno));
    }
    return 0;
}

static int start_node(struct launcher *launcher, uint32_t number, const struct target *target,
                      const struct rundir *rundir, struct message *message)
{
    struct launcher_node *node = &launcher->nodes[number];
    unsigned ports = launcher->network.ports;
    int memory_fds[MACHINE_PORTS_MAX], status;
    struct board_links links = {.serial_fds = node->port_fds,
                                .port_count = machine_ports(&launcher->network, number),
                                .memory_fds = memory_fds,
                                .card_fd = -1};

    /* A file and no pipe: QEMU never blocks on it, and its last words are read after its death. */
    node->output_fd = memfd_create("ecube-node", MFD_CLOEXEC);
    if (node->output_fd < 0) {
        return message_set(message, "cannot start node %u: %s", (unsigned)number, strerror(errno));
    }
    if (launcher->shared) {
        links.memory_count =
            shared_links_memories(&launcher->links, shared_number(launcher, number), memory_fds);
    }
    if (links.memory_count > 0 &&
        shared_links_tell(&launcher->links, shared_number(launcher, number), links.port_count,
                          &links.card_fd, message) != 0) {
        return -1;
    }
    status = start_process(launcher, number, target, rundir, &links, message);
    close_once(&links.card_fd);
    close_once(&node->port_fds[ports]); /* the node alone holds its end of the host link */
    return status;
}

int launcher_start(struct launcher *launcher, const struct network *network,
                   const struct launcher_crossing *crossings, unsigned crossing_count,
                   const struct target *target, const struct rundir *rundir,
                   const struct launcher_place *place, struct message *message)
{
    *launcher = (struct launcher){.network = *network,
                                  .place = place ? *place : launcher_whole(network),
                                  .shared = target->shared};
    memcpy(launcher->run, rundir->run, sizeof launcher->run);
    launcher->nodes = calloc(network->nodes, sizeof *launcher->nodes);
    if (!launcher->nodes) {
        return message_set(message, "out of memory");
    }
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++) {
        launcher->host_fds[i] = -1;
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        launcher->nodes[node].output_fd = -1;
        for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
            launcher->nodes[node].port_fds[p] = -1;
        }
    }
    if (make_cables(launcher, message) != 0) {
        launcher_stop(launcher);
        return -1;
    }
    for (unsigned i = 0; i < crossing_count; i++) {
        cross(launcher, &crossings[i]);
    }
    for (uint32_t node = launcher->place.first;
         node < launcher->place.first + launcher->place.count; node++) {
        if (start_node(launcher, node, target, rundir, message) != 0) {
            launcher_stop(launcher);
            return -1;
        }
    }
    return 0;
}

static bool is_dead(const void *context, uint32_t node)
{
    const struct launcher *launcher = context;

    return node < launcher->network.nodes && launcher->nodes[node].dead;
}

/* False when there is none, or it is lost already. */
static bool lose_cable(struct launcher *launcher, uint32_t node, unsigned port)
{
    struct pollfd end = {.fd = launcher->nodes[node].port_fds[port]};

    if (launcher->shared && end.fd < 0) {
        return shared_links_lose(&launcher->links, shared_number(launcher, node), port);
    }
    if (end.fd < 0 || (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0)) {
        return false;
    }
    shutdown(end.fd, SHUT_RDWR);
    return true;
}

struct reaping {
    struct launcher *launcher;
    void (*died)(void *context, uint32_t node);
    void *context;
};

void launcher_died_far(struct launcher *launcher, uint32_t number)
{
    launcher->nodes[number].dead = true;
    for (unsigned p = 0; p < launcher->network.ports; p++) {
        uint32_t peer = network_neighbour(&launcher->network, number, p);

        if (peer != NETWORK_NO_NODE && is_here(&launcher->place, peer)) {
            lose_cable(launcher, peer, network_far_port(&launcher->network, p));
        }
    }
}

static void take_far_death(void *context, uint32_t number)
{
    struct reaping *reaping = context;

    launcher_died_far(reaping->launcher, number);
    reaping->died(reaping->context, number);
}

void launcher_listen(struct launcher *launcher, void (*news)(void *context), void *context)
{
    const struct launcher_far *far = launcher->place.far;

    if (far && far->listen) {
        far->listen(far->context, news, context);
    }
}

void launcher_reap(struct launcher *launcher, void (*died)(void *context, uint32_t node),
                   void *context)
{
    const struct launcher_far *far = launcher->place.far;
    bool any = false;

    if (far && far->reap) {
        far->reap(far->context, take_far_death,
                  &(struct reaping){.launcher = launcher, .died = died, .context = context});
    }
    for (uint32_t number = 0; number < launcher->network.nodes; number++) {
        struct launcher_node *node = &launcher->nodes[number];

        if (node->pid > 0 && waitpid(node->pid, &node->wait_status, WNOHANG) == node->pid) {
            node->pid = 0;
            node->dead = any = true;
            /* The launcher holds the dead node's ends, too: without this neighbours see nothing. */
            for (unsigned p = 0; p < launcher->network.ports; p++) {
                lose_cable(launcher, number, p);
            }
            died(context, number);
        }
    }
    if (any) {
        offspring_kill(launcher->run, is_dead, launcher);
    }
}

void launcher_describe(const struct launcher *launcher, uint32_t number,
                       char text[LAUNCHER_NOTE_MAX])
{
    const struct launcher_node *node = &launcher->nodes[number];
    const struct launcher_place *place = &launcher->place;
    char words[161] = "", *end;
    off_t size = lseek(node->output_fd, 0, SEEK_END);
    ssize_t bytes = 0;

    if (!is_here(place, number)) {
        place->far->describe(place->far->context, number, text);
        return;
    }
    if (size > 0) {
        bytes = pread(node->output_fd, words, sizeof words - 1, size > 160 ? size - 160 : 0);
        words[bytes > 0 ? bytes : 0] = '\0';
    }
    while (bytes > 0 && (words[bytes - 1] == '\n' || words[bytes - 1] == '\r')) {
        words[--bytes] = '\0';
    }
    end = strrchr(words, '\n');
    if (WIFSIGNALED(node->wait_status)) {
        snprintf(text, LAUNCHER_NOTE_MAX, "was killed by signal %d (%s)%s%s",
                 WTERMSIG(node->wait_status), strsignal(WTERMSIG(node->wait_status)),
                 bytes > 0 ? ": " : "", end ? end + 1 : words);
    } else {
        snprintf(text, LAUNCHER_NOTE_MAX, "ended with code %d%s%s", WEXITSTATUS(node->wait_status),
                 bytes > 0 ? ": " : "", end ? end + 1 : words);
    }
}

bool launcher_lost(const struct launcher *launcher, uint32_t node, struct launcher_lost *lost)
{
    const struct launcher_far *far = launcher->place.far;

    return far && far->lost && far->lost(far->context, node, lost);
}

/* Of the host's end; false when it is lost already. */
static bool lose_host_link(struct launcher *launcher, uint32_t node)
{
    int index = network_host_link_of(&launcher->network, node);
    struct pollfd end = {.fd = index < 0 ? -1 : launcher->host_fds[index]};

    if (end.fd < 0 || (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0)) {
        return false;
    }
    shutdown(end.fd, SHUT_RDWR);
    return true;
}

bool launcher_cut(struct launcher *launcher, uint32_t a, uint32_t b)
{
    if (a == NETWORK_NO_NODE || b == NETWORK_NO_NODE) {
        return lose_host_link(launcher, a == NETWORK_NO_NODE ? b : a);
    }
    const struct launcher_place *place = &launcher->place;
    unsigned p = network_port_to(&launcher->network, a, b);

    if (p == NETWORK_NO_PORT || launcher->nodes[a].dead || launcher->nodes[b].dead) {
        return false;
    }
    if (is_here(place, a)) {
        return lose_cable(launcher, a, p);
    }
    return is_here(place, b) ? lose_cable(launcher, b, network_far_port(&launcher->network, p))
                             : place->far->cut && place->far->cut(place->far->context, a, b);
}

/* Of a node here. */
static bool kill_here(struct launcher_node *node)
{
    bool lives = node->pid > 0 && !node->killed;

    if (lives) {
        kill(node->pid, SIGKILL);
        node->killed = true;
    }
    return lives;
}

bool launcher_kill(struct launcher *launcher, uint32_t number)
{
    const struct launcher_far *far = launcher->place.far;

    return is_here(&launcher->place, number) ? kill_here(&launcher->nodes[number])
                                             : far->kill(far->context, number);
}

unsigned launcher_share_permille(const struct launcher *launcher)
{
    const struct launcher_far *far = launcher->place.far;
    unsigned here = available_share_permille(),
             there = far && far->share_permille ? far->share_permille(far->context) : here;

    return here < there ? here : there;
}

void launcher_stop(struct launcher *launcher)
{
    if (!launcher->nodes) {
        return;
    }
    /* All are killed before the first is waited for: they end at the same time. */
    if (launcher->place.far && launcher->place.far->stop) {
        launcher->place.far->stop(launcher->place.far->context);
    }
    for (uint32_t node = 0; node < launcher->network.nodes; node++) {
        kill_here(&launcher->nodes[node]);
    }
    for (uint32_t number = 0; number < launcher->network.nodes; number++) {
        struct launcher_node *node = &launcher->nodes[number];

        while (node->pid > 0 && waitpid(node->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        close_once(&node->output_fd);
        for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
            close_once(&node->port_fds[p]);
        }
    }
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++) {
        close_once(&launcher->host_fds[i]);
    }
    if (launcher->shared) {
        shared_links_free(&launcher->links);
    }
    free(launcher->nodes);
    launcher->nodes = NULL;
}
