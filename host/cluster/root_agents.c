/*
 * root_agents.c - the agents as rank 0 sees them: their connections, what they say, their loss.
 *
 * An agent that ends, or is silent for the link timeout, is lost: its nodes are dead at once, with
 * one reason, and the others are told to give up their cables to them. Nobody but rank 0 decides
 * that.
 */
#include "host/cluster/root_parts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cluster/stream.h"

enum {
    ALIVE_TICKS = 4,
    PENDING_TICKS = 40, /* for a handshake and the first line */
    PENDING_MAX = 256
};

/* A connection that has not said what it is. */
struct pending {
    struct pending *next;
    struct root *root;
    struct connection *connection;
    unsigned ticks;
};

struct member *root_member_of(struct root *root, uint32_t node)
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

void root_tell(struct member *member, json_t *line)
{
    if (member->connection) {
        connection_tell(member->connection, line);
    } else {
        json_decref(line);
    }
}

void root_tell_all(struct root *root, json_t *line)
{
    for (unsigned i = 1; i < root->peers->size; i++) {
        root_tell(&root->members[i], json_incref(line));
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
void root_tell_lost(struct root *root, uint32_t first, uint32_t count)
{
    root_tell_all(
        root, json_pack("{s:s, s:i, s:i}", "do", "lost", "first", (int)first, "count", (int)count));
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
    root_tell_lost(root, member->range.first, member->range.count);
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
    root_tell_lost(root, (uint32_t)number, 1);
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
        node, (unsigned)peer, member->self.computer, root_member_of(root, peer)->self.computer);
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

void root_join_host_stream(struct root *root, unsigned index)
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
    root_join_host_stream(root, index);
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
        root_tell_all(root, json_pack("{s:s}", "do", "live"));
    }
    for (unsigned i = 1; i < root->peers->size; i++) {
        struct member *member = &root->members[i];
        char words[80];

        if (member->connection && ++member->silent_ticks > root->patience_ticks) {
            snprintf(words, sizeof words, "no answer for %g s",
                     root->patience_ticks * ROOT_TICK_MS / 1e3);
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

void root_hear(struct root *root)
{
    uv_poll_init(&root->loop, &root->listener, root->peers->listener);
    root->listener.data = root;
    uv_poll_start(&root->listener, UV_READABLE, on_listener);
    uv_timer_init(&root->loop, &root->timer);
    root->timer.data = root;
    uv_timer_start(&root->timer, on_tick, ROOT_TICK_MS, ROOT_TICK_MS);
}
