/*
 * root_agents.c - the agents as rank 0 sees them: their connections, what they say, their loss.
 *
 * An agent that ends, or is silent for the link timeout, is lost: its nodes are dead at once, with
 * one reason, and the others are told to give up their cables to them. Nobody but rank 0 decides
 * that.
 */
#include "host/cluster/root_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cluster/stream.h"

enum {
    ALIVE_TICKS = 4,
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
    char words[600];

    if (root->refusal[0] == '\0') {
        connection_words(words, sizeof words, text);
        snprintf(root->refusal, sizeof root->refusal, "computer %s (rank %u): %s", computer, rank,
                 words);
    }
}

/* One of which no more is known than where it is. */
static void refuse_at(struct root *root, const char *address, const char *text)
{
    if (!root->joined && root->refusal[0] == '\0') {
        snprintf(root->refusal, sizeof root->refusal, "an agent at %s %s", address, text);
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
    connection_words(member->words, sizeof member->words, words);
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
    /* a silent one still has its ends of their cables */
    root_tell_all(root, json_pack("{s:s, s:i, s:i}", "do", "lost", "first",
                                  (int)member->range.first, "count", (int)member->range.count));
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
    connection_words(node->words, sizeof node->words, words);
    tell_news(root);
}

/* Lines of agents ------------------------------------------------------------------------------ */

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
        member->port = (uint16_t)json_integer_value(json_object_get(line, "port"));
        member->state = MEMBER_PLACED;
    } else if (strcmp(is, "checked") == 0 && member->state == MEMBER_PLACED) {
        member->state = MEMBER_CHECKED;
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
    bool ended = tls_was_closed(&member->connection->tls);

    member->connection = NULL;
    lose_member(member, ended ? "its agent has ended" : why);
}

/* New connections ------------------------------------------------------------------------------ */

static void on_foreign(void *context, const char *address)
{
    refuse_at(context, address, "has another key: give all the same --key-file");
}

static void introduce(struct root *root, struct connection *connection, const json_t *line)
{
    struct introduction other;
    struct member *member;
    char address[64] = "an unknown address";

    if (!introduction_from_json(&other, line)) {
        peers_far_address(connection->fd, address);
        refuse_at(root, address, "does not say who it is");
        connection_close(connection);
        return;
    }
    if (other.rank == 0 || other.rank >= root->peers->size) {
        refuse(root, other.computer, other.rank,
               "there is no such rank: give all agents the same number of agents");
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
        stream_join(&root->loop, connection, root->host_fds[index]);
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

/* Whether a host link is that of a node elsewhere: the launcher asks for its stream. */
static bool leads_elsewhere(struct root *root, unsigned index)
{
    const struct member *member =
        index < network_host_links(&root->network)
            ? root_member_of(root, network_host_node(&root->network, index))
            : NULL;

    return member && member != &root->members[0];
}

static void take_host_stream(struct root *root, struct connection *connection, unsigned index)
{
    if (!leads_elsewhere(root, index) || root->host_streams[index]) {
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
            stream_join(&root->loop, connection, opening->fd);
            free(opening);
            return;
        }
    }
    connection_close(connection);
}

static void on_arrival(void *context, struct connection *connection, const json_t *line)
{
    struct root *root = context;
    const char *role = json_string_value(json_object_get(line, "role"));
    json_t *first = (json_t *)(uintptr_t)line;
    int number = -1;

    if (role && strcmp(role, "control") == 0) {
        introduce(root, connection, line);
    } else if (json_unpack(first, "{s:i}", "host", &number) == 0 && number >= 0) {
        take_host_stream(root, connection, (unsigned)number);
    } else if (json_unpack(first, "{s:i}", "open", &number) == 0) {
        take_opened(root, connection, (unsigned)number);
    } else if (!far_cables_take(&root->cables, connection, line)) {
        connection_close(connection);
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
}

void root_hear(struct root *root)
{
    const struct arrivals_owner owner = {
        .context = root, .came = on_arrival, .foreign = on_foreign};

    arrivals_open(&root->arrivals, &root->loop, root->peers->listener, &root->keys, &owner);
    uv_timer_init(&root->loop, &root->timer);
    root->timer.data = root;
    uv_timer_start(&root->timer, on_tick, ROOT_TICK_MS, ROOT_TICK_MS);
}
