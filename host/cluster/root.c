/*
 * root.c - the agents as rank 0 sees them: their connections, their nodes, their end.
 *
 * An agent that ends, or is silent for the link timeout, is lost: its nodes are dead at once, with
 * one reason, and the others are told to give up their cables to them. Nobody but rank 0 decides
 * that.
 */
#include "host/cluster/root.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/cluster/stream.h"

enum {
    TICK_MS = 250,
    ALIVE_TICKS = 4,
    PENDING_TICKS = 40, /* for a handshake and the first line */
    PENDING_MAX = 256,
    END_MS = 10000,
    NODE_BYTES = 18 << 20, /* measured of a QEMU whose node has booted */
    TAP_KINDS = 3
};

/* A connection that has not said what it is. */
struct pending {
    struct pending *next;
    struct root *root;
    struct connection *connection;
    unsigned ticks;
};

/* A debug socket of a node elsewhere, and those who have connected and wait for the agent. */
struct tap {
    struct root *root;
    uint32_t node;
    const char *kind;
    int fd;
    uv_poll_t poll;
};

struct opening {
    struct opening *next;
    unsigned number;
    uint32_t node;
    int fd;
};

static struct member *member_of(struct root *root, uint32_t node)
{
    for (unsigned i = 0; i < root->peers->size; i++) {
        struct member *member = &root->members[i];

        if (node - member->range.first < member->range.count) {
            return member;
        }
    }
    return NULL;
}

static void refuse(struct root *root, const char *computer, unsigned rank, const char *text)
{
    if (root->refusal[0] == '\0') {
        snprintf(root->refusal, sizeof root->refusal, "computer %s (rank %u): %.600s", computer,
                 rank, text);
    }
}

static void tell(struct member *member, json_t *line)
{
    if (member->connection) {
        connection_tell(member->connection, line);
    } else {
        json_decref(line);
    }
}

static void tell_all(struct root *root, json_t *line)
{
    for (unsigned i = 1; i < root->peers->size; i++) {
        tell(&root->members[i], json_incref(line));
    }
    json_decref(line);
}

static void tell_news(struct root *root)
{
    if (root->news) {
        root->news(root->news_context);
    }
}

/* Lost agents and nodes ------------------------------------------------------------------------ */

/* Their neighbours elsewhere hold cables that lead to nobody. */
static void tell_lost(struct root *root, uint32_t first, uint32_t count)
{
    tell_all(root,
             json_pack("{s:s, s:i, s:i}", "do", "lost", "first", (int)first, "count", (int)count));
}

static void lose_openings(struct root *root, const struct node_range *range)
{
    for (struct opening **at = &root->openings; *at;) {
        struct opening *opening = *at;

        if (opening->node - range->first < range->count) {
            *at = opening->next;
            close(opening->fd);
            free(opening);
        } else {
            at = &opening->next;
        }
    }
}

static void lose_member(struct member *member, const char *words)
{
    struct root *root = member->root;
    enum member_state state = member->state;

    if (member->connection) {
        connection_close(member->connection);
        member->connection = NULL;
    }
    if (state == MEMBER_GONE) {
        return;
    }
    member->state = MEMBER_GONE;
    snprintf(member->words, sizeof member->words, "%s", words);
    if (state != MEMBER_RUNS) {
        refuse(root, member->self.computer, member->self.rank, words);
        return;
    }
    member->speaker = NETWORK_NO_NODE;
    for (uint32_t i = member->range.count; i-- > 0;) {
        struct far_node *node = &root->nodes[member->range.first + i];

        node->lost = !node->dead;
        node->dead = true;
        member->speaker = node->lost ? member->range.first + i : member->speaker;
    }
    lose_openings(root, &member->range);
    tell_lost(root, member->range.first, member->range.count);
    tell_news(root);
}

static void on_died(struct member *member, const json_t *line)
{
    struct root *root = member->root;
    const char *words;
    int number;

    if (json_unpack((json_t *)(uintptr_t)line, "{s:i, s:s}", "node", &number, "words", &words) !=
            0 ||
        (uint32_t)number - member->range.first >= member->range.count) {
        return;
    }
    struct far_node *node = &root->nodes[number];
    node->dead = true;
    snprintf(node->words, sizeof node->words, "%s", words);
    tell_lost(root, (uint32_t)number, 1);
    tell_news(root);
}

/* Lines of agents ------------------------------------------------------------------------------ */

static bool learn_ports(struct member *member, const json_t *line)
{
    const json_t *list = json_object_get(line, "cables"), *item;
    int check;
    size_t i;

    if (json_unpack((json_t *)(uintptr_t)line, "{s:i}", "check", &check) != 0) {
        return false;
    }
    member->check_port = (uint16_t)check;
    json_array_foreach(list, i, item)
    {
        int node, port, tcp;

        if (json_unpack((json_t *)(uintptr_t)item, "[i, i, i]", &node, &port, &tcp) != 0 ||
            (uint32_t)node - member->range.first >= member->range.count || port < 0 ||
            port >= MACHINE_PORTS_MAX) {
            return false;
        }
        member->root->nodes[node].tcp_ports[port] = (uint16_t)tcp;
    }
    return true;
}

/* A cable whose two QEMUs have not the same key has no carrier, which nothing else would name. */
static void tell_keyless(struct member *member, const json_t *line)
{
    struct root *root = member->root;
    struct message message;
    uint32_t peer;
    int node, port;

    if (json_unpack((json_t *)(uintptr_t)line, "{s:i, s:i}", "node", &node, "port", &port) != 0 ||
        (uint32_t)node - member->range.first >= member->range.count ||
        (unsigned)port >= root->network.ports) {
        return;
    }
    peer = network_neighbour(&root->network, (uint32_t)node, (unsigned)port);
    if (peer == NETWORK_NO_NODE || root->nodes[node].dead || root->nodes[peer].dead ||
        (root->nodes[node].cut & (1u << port)) != 0) {
        return;
    }
    message_set(
        &message,
        "link %d-%u between computers %s and %s does not come up: have their QEMUs the same "
        "key?",
        node, (unsigned)peer, member->self.computer, member_of(root, peer)->self.computer);
    message_print(&message);
}

static void take_line(struct member *member, const json_t *line)
{
    const char *is = json_string_value(json_object_get(line, "is"));
    const char *text = json_string_value(json_object_get(line, "text"));

    member->silent_ticks = 0;
    if (!is) {
        return;
    }
    if (strcmp(is, "alive") == 0) {
        member->share = (unsigned)json_integer_value(json_object_get(line, "share"));
    } else if (strcmp(is, "died") == 0 && member->state == MEMBER_RUNS) {
        on_died(member, line);
    } else if (strcmp(is, "placed") == 0 && member->state == MEMBER_PRESENT) {
        member->state = learn_ports(member, line) ? MEMBER_PLACED : member->state;
    } else if (strcmp(is, "checked") == 0 && member->state == MEMBER_PLACED) {
        member->state = MEMBER_CHECKED;
    } else if (strcmp(is, "keyless") == 0) {
        tell_keyless(member, line);
    } else if (strcmp(is, "refused") == 0) {
        lose_member(member, text ? text : "it cannot hold its nodes");
    }
}

static void on_member_moved(void *context)
{
    struct member *member = context;
    json_t *line;

    while (member->connection && (line = connection_line(member->connection)) != NULL) {
        take_line(member, line);
        json_decref(line);
    }
}

static void on_member_ended(void *context, const char *why)
{
    struct member *member = context;

    (void)why;
    member->connection = NULL;
    lose_member(member, "its agent has ended");
}

/* New connections ------------------------------------------------------------------------------ */

static void forget_pending(struct pending *pending)
{
    struct pending **at = &pending->root->pending;

    while (*at != pending) {
        at = &(*at)->next;
    }
    *at = pending->next;
    free(pending);
}

static void on_pending_ended(void *context, const char *why)
{
    struct pending *pending = context;
    struct root *root = pending->root;
    bool foreign = !pending->connection->connected && pending->connection->tls.error != 0 &&
                   pending->connection->tls.error != GNUTLS_E_PREMATURE_TERMINATION &&
                   pending->connection->tls.error != GNUTLS_E_PULL_ERROR;
    char address[64] = "an unknown address";

    (void)why;
    peers_far_address(pending->connection->fd, address);
    if (foreign && !root->joined && root->refusal[0] == '\0') {
        snprintf(root->refusal, sizeof root->refusal,
                 "an agent at %s has another key: give all the same --key-file", address);
    }
    forget_pending(pending);
}

static void introduce(struct root *root, struct connection *connection, const json_t *line)
{
    struct introduction other;
    struct member *member;

    if (!introduction_from_json(&other, line) || other.rank == 0 ||
        other.rank >= root->peers->size) {
        connection_close(connection);
        return;
    }
    member = &root->members[other.rank];
    if (member->state != MEMBER_ABSENT) {
        refuse(root, other.computer, other.rank, "there is another agent of this rank");
        connection_close(connection);
        return;
    }
    member->self = other;
    member->connection = connection;
    member->state = MEMBER_PRESENT;
    member->share = 1000;
    peers_far_address(connection->fd, member->address);
    peers_own_address(connection->fd, member->root_address);
    connection->owner = (struct connection_owner){
        .context = member, .moved = on_member_moved, .ended = on_member_ended};
}

static void join_host_stream(struct root *root, unsigned index)
{
    struct connection *connection = root->host_streams[index];

    if (connection && root->host_fds[index] >= 0) {
        root->host_streams[index] = NULL;
        stream_join(&root->loop, connection, root->host_fds[index], NULL, NULL);
        root->host_fds[index] = -1;
    }
}

static void on_host_stream_ended(void *context, const char *why)
{
    struct connection **stream = context;

    (void)why;
    *stream = NULL;
}

static void on_nothing(void *context)
{
    (void)context;
}

static void take_host_stream(struct root *root, struct connection *connection, unsigned index)
{
    if (index >= MACHINE_HOST_LINKS_MAX || root->host_streams[index]) {
        connection_close(connection);
        return;
    }
    root->host_streams[index] = connection;
    connection->owner = (struct connection_owner){
        .context = &root->host_streams[index], .moved = on_nothing, .ended = on_host_stream_ended};
    join_host_stream(root, index);
}

static void take_opened(struct root *root, struct connection *connection, unsigned number)
{
    for (struct opening **at = &root->openings; *at; at = &(*at)->next) {
        struct opening *opening = *at;

        if (opening->number == number) {
            *at = opening->next;
            stream_join(&root->loop, connection, opening->fd, NULL, NULL);
            free(opening);
            return;
        }
    }
    connection_close(connection);
}

static void on_pending_moved(void *context)
{
    struct pending *pending = context;
    struct root *root = pending->root;
    struct connection *connection = pending->connection;
    json_t *line = connection_line(connection);
    const char *role = json_string_value(json_object_get(line, "role"));
    int number = -1;

    if (!line) {
        return;
    }
    forget_pending(pending);
    if (role && strcmp(role, "control") == 0) {
        introduce(root, connection, line);
    } else if (json_unpack(line, "{s:i}", "host", &number) == 0 && number >= 0) {
        take_host_stream(root, connection, (unsigned)number);
    } else if (json_unpack(line, "{s:i}", "open", &number) == 0) {
        take_opened(root, connection, (unsigned)number);
    } else {
        connection_close(connection);
    }
    json_decref(line);
}

static unsigned count_pending(const struct root *root)
{
    unsigned count = 0;

    for (const struct pending *pending = root->pending; pending; pending = pending->next) {
        count++;
    }
    return count;
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
    struct root *root = poll->data;
    int fd, on = 1;

    (void)status;
    (void)events;
    while ((fd = accept4(root->peers->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct pending *pending =
            count_pending(root) < PENDING_MAX ? calloc(1, sizeof *pending) : NULL;
        struct connection_owner owner = {
            .context = pending, .moved = on_pending_moved, .ended = on_pending_ended};

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (!pending) {
            close(fd);
            continue;
        }
        pending->root = root;
        pending->connection = connection_open(&root->loop, fd, true, &root->keys, &owner);
        if (!pending->connection) {
            free(pending);
            continue;
        }
        pending->next = root->pending;
        root->pending = pending;
    }
}

/* Ticks are counted, not the clock: while this process was stopped it has heard nobody. */
static void on_tick(uv_timer_t *timer)
{
    struct root *root = timer->data;

    if (++root->ticks % ALIVE_TICKS == 0) {
        tell_all(root, json_pack("{s:s}", "do", "live"));
    }
    for (unsigned i = 1; i < root->peers->size; i++) {
        struct member *member = &root->members[i];
        char words[80];

        if (member->connection && ++member->silent_ticks > root->patience_ticks) {
            snprintf(words, sizeof words, "no answer for %g s",
                     root->patience_ticks * TICK_MS / 1e3);
            lose_member(member, words);
        }
    }
    for (struct pending *pending = root->pending, *next; pending; pending = next) {
        next = pending->next;
        if (++pending->ticks > PENDING_TICKS) {
            connection_close(pending->connection);
            forget_pending(pending);
        }
    }
}

/* Before the machine --------------------------------------------------------------------------- */

/* Turns until all agents have come to a state; fails when one cannot, or after that time. */
static int wait_for(struct root *root, enum member_state state, unsigned patience_ms,
                    struct message *message)
{
    uint64_t end_ms = uv_hrtime() / 1000000 + patience_ms;

    for (;;) {
        unsigned late = 0;

        for (unsigned i = root->peers->size - 1; i > 0; i--) {
            late = root->members[i].state < state ? i : late;
        }
        if (root->refusal[0] != '\0') {
            return message_set(message, "%s", root->refusal);
        }
        if (late == 0) {
            return 0;
        }
        if (uv_hrtime() / 1000000 >= end_ms) {
            const struct member *member = &root->members[late];

            return member->state == MEMBER_ABSENT
                       ? message_set(message, "the agent of rank %u has not come in %g s", late,
                                     patience_ms / 1e3)
                       : message_set(message, "computer %s (rank %u): no answer for %g s",
                                     member->self.computer, late, patience_ms / 1e3);
        }
        uv_run(&root->loop, UV_RUN_ONCE); /* the timer bounds it */
    }
}

int root_gather(struct root *root, const struct peers *peers, const struct introduction *self,
                unsigned patience_ms, struct message *message)
{
    *root = (struct root){.peers = peers, .patience_ticks = patience_ms / TICK_MS};
    root->members[0].self = *self;
    for (unsigned i = 0; i < DIVISION_COMPUTERS_MAX; i++) {
        root->members[i].root = root;
    }
    for (unsigned i = 0; i < MACHINE_HOST_LINKS_MAX; i++) {
        root->host_fds[i] = -1;
    }
    root->members[0].share = 1000;
    if (uv_loop_init(&root->loop) != 0 || tls_keys_init(&root->keys, &peers->key, message) != 0) {
        return message_set(message, "cannot make an event loop or use the key");
    }
    uv_poll_init(&root->loop, &root->listener, peers->listener);
    root->listener.data = root;
    uv_poll_start(&root->listener, UV_READABLE, on_listener);
    uv_timer_init(&root->loop, &root->timer);
    root->timer.data = root;
    uv_timer_start(&root->timer, on_tick, TICK_MS, TICK_MS);
    return wait_for(root, MEMBER_PRESENT, patience_ms, message);
}

/* Agents on one computer share what memory it has. */
static uint64_t memory_of(const struct root *root, unsigned rank)
{
    const struct introduction *self = &root->members[rank].self;
    unsigned sharers = 0;

    for (unsigned i = 0; i < root->peers->size; i++) {
        sharers += strcmp(root->members[i].self.boot, self->boot) == 0;
    }
    return self->memory_bytes / (sharers > 0 ? sharers : 1);
}

int root_divide(struct root *root, const struct network *network, struct message *message)
{
    struct division_computer computers[DIVISION_COMPUTERS_MAX] = {0};
    struct node_range ranges[DIVISION_COMPUTERS_MAX];
    unsigned size = root->peers->size;

    root->network = *network;
    for (unsigned i = 0; i < size; i++) {
        computers[i] =
            (struct division_computer){root->members[i].self.computer, memory_of(root, i)};
        if (i > 0 &&
            introduction_compare(&root->members[0].self, &root->members[i].self, message) != 0) {
            return -1;
        }
    }
    if (division_make(network->nodes, COMPUTER_NODES_MAX, NODE_BYTES, computers, size, ranges,
                      message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < size; i++) {
        root->members[i].range = ranges[i];
    }
    root->nodes = calloc(network->nodes, sizeof *root->nodes);
    return root->nodes ? 0 : message_set(message, "out of memory");
}

unsigned root_links_between(const struct root *root, unsigned a, unsigned b)
{
    const struct node_range *from = &root->members[a].range, *to = &root->members[b].range;
    unsigned count = 0;

    for (uint32_t node = from->first; node < from->first + from->count; node++) {
        for (unsigned port = 0; port < root->network.ports; port++) {
            uint32_t peer = network_neighbour(&root->network, node, port);

            count += peer != NETWORK_NO_NODE && peer - to->first < to->count;
        }
    }
    return count;
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What an agent is known by on its own computer alone is no address for those on others. */
static int check_addresses(const struct root *root, struct message *message)
{
    for (unsigned i = 1; i < root->peers->size; i++) {
        for (unsigned other = 1; other < root->peers->size; other++) {
            const struct member *near = &root->members[i], *far = &root->members[other];

            if (is_loopback(near->address) && !is_loopback(far->address)) {
                return message_set(message,
                                   "computer %s (rank %u) reaches rank 0 at %s, which computer %s "
                                   "(rank %u) cannot: give rank 0 an address that all reach",
                                   near->self.computer, i, near->root_address, far->self.computer,
                                   other);
            }
        }
    }
    return 0;
}

/* Where those wait with whom this agent's QEMUs are to connect, and whom it can try before. */
static json_t *list_cables(struct root *root, const struct member *member, json_t *peers)
{
    const struct network *network = &root->network;
    bool listed[DIVISION_COMPUTERS_MAX] = {false};
    json_t *list = json_array();

    for (uint32_t node = member->range.first; node < member->range.first + member->range.count;
         node++) {
        for (unsigned port = 0; port < network->ports; port++) {
            uint32_t peer = network_neighbour(network, node, port);

            if (peer == NETWORK_NO_NODE || peer >= member->range.first) {
                continue; /* the lower one waits */
            }
            const struct member *owner = member_of(root, peer);
            const char *host = owner == root->members ? member->root_address : owner->address;
            unsigned far_port = network_far_port(network, port);

            json_array_append_new(list, json_pack("[i, i, s, i]", (int)node, (int)port, host,
                                                  (int)root->nodes[peer].tcp_ports[far_port]));
            if (!listed[owner - root->members]) {
                listed[owner - root->members] = true;
                json_array_append_new(peers, json_pack("[s, s, i]", owner->self.computer, host,
                                                       (int)owner->check_port));
            }
        }
    }
    return list;
}

static void tell_place(struct root *root, struct member *member, const struct root_start *start)
{
    char name[NETWORK_NAME_MAX];

    network_name(&root->network, name);
    tell(member,
         json_pack("{s:s, s:s, s:i, s:s*, s:s*, s:b, s:b, s:i, s:i, s:i, s:s, s:s}", "do", "place",
                   "network", name, "host_links", (int)root->network.host_links, "links",
                   start->links, "board", start->board, "debug", start->debug, "insecure",
                   start->insecure, "first", (int)member->range.first, "count",
                   (int)member->range.count, "patience_ms", (int)(root->patience_ticks * TICK_MS),
                   "name", start->name, "computer", root->members[0].self.computer));
}

int root_place(struct root *root, const struct root_start *start, struct message *message)
{
    unsigned size = root->peers->size, patience_ms = root->patience_ticks * TICK_MS;
    struct member *self = &root->members[0];
    int check, status;

    if (check_addresses(root, message) != 0 ||
        carriers_open(&root->carriers, &root->network, &self->range, message) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < root->carriers.count; i++) {
        const struct carrier_end *end = &root->carriers.ends[i];
        root->nodes[end->node].tcp_ports[end->port] = end->carrier.port;
    }
    check = peers_listen(NULL, NULL, message);
    if (check < 0) {
        return -1;
    }
    self->check_port = peers_port_of(check);
    for (unsigned i = 1; i < size; i++) {
        tell_place(root, &root->members[i], start);
    }
    status = wait_for(root, MEMBER_PLACED, patience_ms, message);
    for (unsigned i = 1; i < size && status == 0; i++) {
        json_t *peers = json_array(), *cables = list_cables(root, &root->members[i], peers);

        tell(&root->members[i],
             json_pack("{s:s, s:o, s:o}", "do", "check", "peers", peers, "cables", cables));
    }
    status = status == 0 ? wait_for(root, MEMBER_CHECKED, patience_ms, message) : status;
    close(check);
    return status;
}

/* What the launcher asks of the others --------------------------------------------------------- */

static int far_carrier(void *context, uint32_t node, unsigned port, struct board_carrier *carrier,
                       struct message *message)
{
    struct root *root = context;

    return carriers_give(&root->carriers, node, port, carrier, message);
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
    join_host_stream(root, index);
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
    tell(member_of(root, number), json_pack("{s:s, s:i}", "do", "kill", "node", (int)number));
    return true;
}

static bool far_cut(void *context, uint32_t a, uint32_t b)
{
    struct root *root = context;
    unsigned p = network_port_to(&root->network, a, b), q = network_port_to(&root->network, b, a);
    struct member *one = member_of(root, a), *other = member_of(root, b);
    json_t *line;

    if (p == NETWORK_NO_PORT || root->nodes[a].dead || root->nodes[b].dead ||
        (root->nodes[a].cut & (1u << p)) != 0) {
        return false;
    }
    root->nodes[a].cut |= 1u << p;
    root->nodes[b].cut |= 1u << q;
    line = json_pack("{s:s, s:i, s:i}", "do", "cut", "a", (int)a, "b", (int)b);
    tell(one, json_incref(line));
    if (other != one) {
        tell(other, json_incref(line));
    }
    json_decref(line);
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
    const struct member *member = member_of(root, node);

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

static void far_died(void *context, uint32_t node)
{
    tell_lost(context, node, 1);
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

static void far_stop(void *context)
{
    struct root *root = context;

    root->news = NULL;
    if (root->joined) {
        root->joined = false;
        uv_close((uv_handle_t *)&root->turn, NULL);
        uv_close((uv_handle_t *)&root->prepare, NULL);
        uv_close((uv_handle_t *)&root->tick, NULL);
    }
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
    uv_timer_start(&root->tick, on_loop_tick, TICK_MS, TICK_MS);
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
    tell(member_of(root, tap->node),
         json_pack("{s:s, s:i, s:s, s:i}", "do", "open", "node", (int)tap->node, "kind", tap->kind,
                   "number", (int)opening->number));
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
    tell_all(root, json_pack("{s:s}", "do", "start"));
    join_loop(root, loop);
    return 0;
}

const struct launcher_place *root_launcher_place(struct root *root, bool tls)
{
    root->far = (struct launcher_far){.context = root,
                                      .carrier = far_carrier,
                                      .host_link = far_host_link,
                                      .kill = far_kill,
                                      .cut = far_cut,
                                      .describe = far_describe,
                                      .lost = far_lost,
                                      .died = far_died,
                                      .reap = far_reap,
                                      .listen = far_listen,
                                      .share_permille = far_share,
                                      .stop = far_stop};
    root->place = (struct launcher_place){.first = root->members[0].range.first,
                                          .count = root->members[0].range.count,
                                          .host = true,
                                          .tls = tls,
                                          .far = &root->far};
    return &root->place;
}

void root_end(struct root *root, int status, const char *why)
{
    uint64_t end_ms = uv_hrtime() / 1000000 + END_MS;
    bool waits = true;

    far_stop(root);
    tell_all(root,
             json_pack("{s:s, s:i, s:s}", "do", "end", "status", status, "text", why ? why : ""));
    while (waits && uv_hrtime() / 1000000 < end_ms) {
        waits = false;
        for (unsigned i = 1; i < root->peers->size; i++) {
            waits |= root->members[i].connection != NULL;
        }
        if (waits) {
            uv_run(&root->loop, UV_RUN_ONCE);
        }
    }
    carriers_close(&root->carriers);
}
