/*
 * mesh_query.c - what the nodes are doing: STATE replies, who waits for whom, programs that block
 * each other.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "host/mesh_internal.h"
#include "include/ecube/abi.h"
#include "router/bytes.h"

enum {
    WAITS_TOLD_MAX = 16,
    QUIET_TICKS = 5,   /* seconds without a word from any program before the nodes are asked */
    STALL_SAME_MAX = 2 /* unchanged answers, all waiting, that count as blocked for ever */
};

struct node_state {
    uint8_t program, wait;
    int32_t peer, tag, status;
    uint32_t operation, step;
    uint64_t model_ns;
    uint32_t pc, lr;
};

static struct node_state state_of(const struct mesh_node *node)
{
    const uint8_t *body = node->state;

    return (struct node_state){.program = body[0],
                               .wait = body[1],
                               .peer = (int32_t)get32(body + 4),
                               .tag = (int32_t)get32(body + 8),
                               .status = (int32_t)get32(body + 12),
                               .operation = get32(body + 16),
                               .step = get32(body + 20),
                               .model_ns = get64(body + 24),
                               .pc = get32(body + 32),
                               .lr = get32(body + 36)};
}

static void finish_query(struct mesh *mesh)
{
    struct mesh_query waiters[QUERY_WAITERS_MAX];
    unsigned count = mesh->query_waiter_count;

    if (mesh->query_open) {
        mesh->query_open = false;
        uv_timer_stop(&mesh->query_timer);
        memcpy(waiters, mesh->query_waiters, sizeof waiters);
        for (unsigned i = 0; i < count; i++) { /* each may begin the next query */
            waiters[i].done(waiters[i].context, mesh);
        }
    }
}

static void on_query_bound(uv_timer_t *timer)
{
    finish_query(timer->data);
}

static void add_waiter(struct mesh *mesh, void (*done)(void *context, struct mesh *mesh),
                       void *context)
{
    for (unsigned i = 0; i < mesh->query_waiter_count; i++) {
        if (mesh->query_waiters[i].done == done && mesh->query_waiters[i].context == context) {
            return;
        }
    }
    CHECK(mesh->query_waiter_count < QUERY_WAITERS_MAX);
    mesh->query_waiters[mesh->query_waiter_count++] = (struct mesh_query){done, context};
}

void mesh_query(struct mesh *mesh, void (*done)(void *context, struct mesh *mesh), void *context)
{
    if (mesh->query_open) {
        add_waiter(mesh, done, context);
        return;
    }
    mesh->query_open = true;
    mesh->query_waiter_count = 0;
    add_waiter(mesh, done, context);
    uv_timer_start(&mesh->query_timer, on_query_bound, QUERY_WAIT_MS, 0);
    for (uint32_t rank = 0; rank < mesh->options.topology.nodes; rank++) {
        struct mesh_node *node = &mesh->nodes[rank];

        node->state_known = false;
        if (!node->dead && !node->asked) { /* one that stands still is not asked over and over */
            node->asked = true;
            mesh_send(mesh, PACKET_QUERY, rank, NULL, 0);
        }
    }
    host_links_pump(&mesh->host);
}

void mesh_query_packet(struct mesh *mesh, const struct mesh_packet *packet)
{
    struct mesh_node *node = &mesh->nodes[packet->node];
    bool all = true;

    if (packet->bytes < STATE_BYTES) {
        return;
    }
    memcpy(node->state, packet->body, STATE_BYTES);
    node->state_known = true;
    node->asked = false;
    uint64_t model_ns = state_of(node).model_ns;
    mesh->model_ns = model_ns > mesh->model_ns ? model_ns : mesh->model_ns;
    for (uint32_t rank = 0; rank < mesh->options.topology.nodes; rank++) {
        all &= mesh->nodes[rank].state_known || mesh->nodes[rank].dead;
    }
    if (all) {
        finish_query(mesh);
    }
}

static const char *operation_text(uint32_t operation)
{
    static const char *const names[] = {"barrier", "broadcast", "scatter", "gather",
                                        "complete exchange"};

    return operation < sizeof names / sizeof names[0] ? names[operation] : "collective";
}

/* "broadcast of 4 bytes from rank 1" */
static void entered_text(char *text, size_t room, uint32_t operation, uint32_t bytes, uint32_t root)
{
    bool rooted =
        operation == ECUBE_BROADCAST || operation == ECUBE_SCATTER || operation == ECUBE_GATHER;
    int written = snprintf(text, room, "%s", operation_text(operation));

    if (operation != ECUBE_BARRIER)
        written +=
            snprintf(text + written, room - (size_t)written, " of %u bytes", (unsigned)bytes);
    if (rooted)
        snprintf(text + written, room - (size_t)written, " with root %u", (unsigned)root);
}

void mesh_tell_disagreement(struct mesh *mesh, const struct mesh_packet *packet)
{
    char own[80], other[80];
    unsigned node = packet->node, neighbour = get32(packet->body);

    entered_text(own, sizeof own, packet->body[20], get32(packet->body + 4),
                 get32(packet->body + 8));
    entered_text(other, sizeof other, packet->body[21], get32(packet->body + 12),
                 get32(packet->body + 16));
    mesh_emit_trouble(
        mesh, "node %u (rank %u) and node %u (rank %u) disagree on a collective: %s, and %s", node,
        node, neighbour, neighbour, own, other);
}

static void describe_peer(const struct node_state *state, char *text, size_t room)
{
    char tag[24] = "";

    if (state->tag != ECUBE_ANY) {
        snprintf(tag, sizeof tag, ", tag %d", state->tag);
    }
    if (state->peer == ECUBE_ANY) {
        snprintf(text, room, "any rank%s", tag);
    } else {
        snprintf(text, room, "rank %d%s", state->peer, tag);
    }
}

/* What a node does, in words. */
static void describe_wait(const struct mesh_node *node, char *text, size_t room)
{
    struct node_state state = state_of(node);
    char peer[60];

    if (node->dead || !node->state_known) {
        snprintf(text, room, node->dead ? "is dead" : "does not answer");
        return;
    }
    describe_peer(&state, peer, sizeof peer);
    switch (state.wait) {
    case WAIT_SEND: snprintf(text, room, "waits to send to %s", peer); break;
    case WAIT_RECEIVE: snprintf(text, room, "waits to receive from %s", peer); break;
    case WAIT_COLLECTIVE:
        snprintf(text, room, "waits in %s, step %u", operation_text(state.operation), state.step);
        break;
    case WAIT_CONSOLE: snprintf(text, room, "waits for its console text to leave"); break;
    case WAIT_SLEEP: snprintf(text, room, "sleeps"); break;
    default: snprintf(text, room, "computes"); break;
    }
}

/* Where a program computes; nothing when it does not, or when that is not known. */
static void describe_place(const struct mesh *mesh, const struct mesh_node *node,
                           char text[PLACE_TEXT_MAX])
{
    struct node_state state = state_of(node);

    text[0] = '\0';
    if (!node->dead && node->state_known && state.pc != 0) {
        mesh_describe_place(mesh, state.pc, state.lr, text);
    }
}

/* The rank that a program waits for, when it is one whose program runs; else its own. */
static uint32_t awaited(const struct mesh *mesh, uint32_t rank)
{
    struct node_state state = state_of(&mesh->nodes[rank]);
    bool waits = state.wait == WAIT_SEND || state.wait == WAIT_RECEIVE;

    if (!waits || !mesh->nodes[rank].state_known || !mesh->nodes[rank].running || state.peer < 0 ||
        state.peer >= (int32_t)mesh->options.topology.nodes) {
        return rank;
    }
    return (uint32_t)state.peer;
}

/* Says that programs wait for each other: "0 for 1 for 2 for 0". The walk from a node comes into a
 * circle, if there is one, within as many steps as there are nodes. */
static void tell_circle(struct mesh *mesh)
{
    uint32_t nodes = mesh->options.topology.nodes, first, at;
    char text[MESSAGE_MAX];
    size_t used;

    for (uint32_t start = 0; start < nodes; start++) {
        first = start;
        for (uint32_t i = 0; i < nodes; i++) {
            first = awaited(mesh, first);
        }
        if (awaited(mesh, first) == first) {
            continue;
        }
        used = (size_t)snprintf(text, sizeof text, "rank %u", (unsigned)first);
        at = first;
        do {
            at = awaited(mesh, at);
            used += used < sizeof text
                        ? (size_t)snprintf(text + used, sizeof text - used, " for %u", (unsigned)at)
                        : 0;
        } while (at != first);
        mesh_emit_trouble(mesh, "programs wait for each other in a circle: %s",
                          used < sizeof text ? text : "of many ranks");
        return;
    }
}

void mesh_tell_waits(struct mesh *mesh, bool stands)
{
    unsigned count = 0;
    char text[160], place[PLACE_TEXT_MAX];

    for (uint32_t rank = 0; rank < mesh->options.topology.nodes; rank++) {
        const struct mesh_node *node = &mesh->nodes[rank];

        if (node->running && count++ < WAITS_TOLD_MAX) {
            uint32_t peer = awaited(mesh, rank);

            describe_wait(node, text, sizeof text);
            describe_place(mesh, node, place);
            mesh_emit_trouble(mesh, "node %u (rank %u) %s%s%s", (unsigned)rank, (unsigned)rank,
                              text, place,
                              mesh->nodes[peer].running ? "" : ", whose program has ended");
        }
    }
    if (count > WAITS_TOLD_MAX) {
        mesh_emit_trouble(mesh, "and %u more nodes that still run", count - WAITS_TOLD_MAX);
    }
    if (stands) {
        tell_circle(mesh);
    }
}

static json_t *describe_counters(const uint8_t *state)
{
    static const char *const names[STATE_COUNTERS] = {
        [COUNTER_FRAMES_SENT] = "frames_sent",
        [COUNTER_FRAMES_RECEIVED] = "frames_received",
        [COUNTER_FRAMES_RESENT] = "frames_resent",
        [COUNTER_FRAMES_DAMAGED] = "frames_damaged",
        [COUNTER_GAPS] = "gaps",
        [COUNTER_NAKS] = "naks",
        [COUNTER_PACKETS_FORWARDED] = "packets_forwarded",
        [COUNTER_CIRCUITS_FORWARDED] = "circuits_forwarded",
        [COUNTER_PACKETS_DROPPED] = "packets_dropped",
        [COUNTER_CIRCUITS_REFUSED] = "circuits_refused",
        [COUNTER_REQUESTS_DROPPED] = "requests_dropped",
        [COUNTER_COLLECTIVES] = "collectives",
    };
    json_t *counters = json_object();

    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        uint32_t count = get32(state + STATE_COUNTERS_AT + 4 * i);
        json_object_set_new(counters, names[i], json_integer(count));
    }
    return counters;
}

json_t *mesh_describe_nodes(const struct mesh *mesh)
{
    static const char *const programs[] = {"empty",   "loading", "loaded",
                                           "running", "exited",  "faulted"};
    json_t *list = json_array();
    char text[160];

    for (uint32_t rank = 0; rank < mesh->options.topology.nodes; rank++) {
        const struct mesh_node *node = &mesh->nodes[rank];
        struct node_state state = state_of(node);
        const char *program = node->dead                        ? "dead"
                              : !node->state_known              ? "silent"
                              : state.program > PROGRAM_FAULTED ? "unknown"
                                                                : programs[state.program];

        describe_wait(node, text, sizeof text);
        json_array_append_new(
            list,
            json_pack("{s:i, s:s, s:s, s:f, s:i, s:o}", "node", (int)rank, "program", program,
                      "doing", state.program == PROGRAM_RUNNING && node->state_known ? text : "-",
                      "model_us", (double)state.model_ns / 1e3, "status", state.status, "counters",
                      describe_counters(node->state)));
    }
    return list;
}

/* True when every program that runs waits for another and all nodes have said so: messages may be
 * on their way through one that stands still. *digest tells whether anything has moved. */
static bool all_wait(const struct mesh *mesh, uint64_t *digest)
{
    uint64_t hash = 14695981039346656037U;

    for (uint32_t rank = 0; rank < mesh->options.topology.nodes; rank++) {
        const struct mesh_node *node = &mesh->nodes[rank];
        struct node_state state = state_of(node);

        if (!node->state_known && !node->dead) {
            return false;
        }
        if (!node->running) {
            continue;
        }
        if (state.program != PROGRAM_RUNNING || state.wait == WAIT_NOTHING ||
            state.wait == WAIT_CONSOLE || state.wait == WAIT_SLEEP) {
            return false;
        }
        for (unsigned i = 0; i < STATE_COUNTERS_AT; i++) { /* FNV-1a, without the counters */
            hash = (hash ^ node->state[i]) * 1099511628211U;
        }
    }
    *digest = hash;
    return true;
}

bool mesh_look(struct mesh *mesh)
{
    uint64_t digest;

    if (!all_wait(mesh, &digest)) {
        mesh->stall_count = 0;
        return false;
    }
    mesh->stall_count = digest == mesh->stall_digest ? mesh->stall_count + 1 : 0;
    mesh->stall_digest = digest;
    return true;
}

static void after_watch(void *context, struct mesh *mesh)
{
    (void)context;
    if (mesh->phase != MESH_RUN || mesh->timed_out || mesh->broken) {
        return;
    }
    if (mesh_look(mesh) && mesh->stall_count >= STALL_SAME_MAX) {
        mesh_emit_trouble(mesh, "the programs that still run wait for ever: %u of %u have ended",
                          mesh->job.ended, (unsigned)mesh->options.topology.nodes);
        mesh_tell_waits(mesh, true);
        mesh_job_end(mesh, mesh->job.status ? mesh->job.status : STATUS_TIMEOUT);
    }
}

void mesh_watch_tick(struct mesh *mesh)
{
    mesh_tell_exits(mesh);
    if (mesh->activity != mesh->activity_seen) {
        mesh->activity_seen = mesh->activity;
        mesh->quiet_ticks = 0;
        mesh->stall_count = 0;
        return;
    }
    mesh->quiet_ticks++;
    if ((mesh->quiet_ticks >= QUIET_TICKS || mesh->job.status != 0) && !mesh->query_open &&
        !mesh->timed_out) {
        mesh_query(mesh, after_watch, NULL);
    }
}
