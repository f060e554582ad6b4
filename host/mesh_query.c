/*
 * mesh_query.c - what the nodes are asked: who waits for whom, programs that block each other.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "host/mesh_internal.h"

enum {
    WAITS_TOLD_MAX = 16,
    /* Ticks without a word from any program: then the nodes are asked, every second, or every tick
     * while all wait; and until programs that only test count as waiting, for they may give up. */
    QUIET_TICKS = 5 * MESH_TICKS_PER_S,
    POLLS_TICKS = 60 * MESH_TICKS_PER_S,
    STALL_WAVES_MIN = 3
};

/* How many answers of all nodes, without progress, say that programs wait for ever. Between two of
 * them whatever was on a link has come to the next node. So what is still on its way, in both
 * directions between any two nodes, has come to its end and would show as progress. */
static unsigned stall_waves(const struct mesh *mesh)
{
    return STALL_WAVES_MIN + 2 * network_diameter(&mesh->options.network);
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

/* One that stands still is not asked over and over, and none in the boot. */
void mesh_ask(struct mesh *mesh, uint32_t rank)
{
    struct mesh_node *node = &mesh->nodes[rank];

    if (!node->dead && !node->asked && !mesh_is_halted(mesh, rank) && mesh->phase != MESH_BOOT) {
        node->asked = true;
        mesh_send(mesh, PACKET_QUERY, rank, NULL, 0);
    }
}

/* Nobody is there to answer. */
static bool all_silent(const struct mesh *mesh)
{
    bool all = true;

    if (mesh->phase == MESH_BOOT) {
        return true;
    }

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        all &= mesh->nodes[rank].dead || mesh_is_halted(mesh, rank);
    }
    return all;
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
    uv_timer_start(&mesh->query_timer, on_query_bound, all_silent(mesh) ? 0 : QUERY_WAIT_MS, 0);
    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        mesh->nodes[rank].state_known = false;
        mesh_ask(mesh, rank);
    }
    host_links_pump(&mesh->host);
}

void mesh_query_state(struct mesh *mesh, uint32_t rank, const struct state_body *state)
{
    struct mesh_node *node = &mesh->nodes[rank];
    bool all = true;

    node->state = *state;
    node->state_known = true;
    node->asked = false;
    mesh->model_ns = state->model_ns > mesh->model_ns ? state->model_ns : mesh->model_ns;
    for (uint32_t i = 0; i < mesh->options.network.nodes; i++) {
        all &= mesh->nodes[i].state_known || mesh->nodes[i].dead || mesh_is_halted(mesh, i);
    }
    if (all) {
        finish_query(mesh);
    }
}

void mesh_tell_disagreement(struct mesh *mesh, uint32_t rank, const struct disagree_body *told)
{
    char own[80], other[80];
    unsigned node = rank, neighbour = told->neighbour;

    mesh_collective_text(own, sizeof own, told->own.operation, told->own.bytes, told->own.root);
    mesh_collective_text(other, sizeof other, told->other.operation, told->other.bytes,
                         told->other.root);
    mesh_emit_trouble(
        mesh,
        json_pack("{s:s, s:[i, i]}", "kind", "collectives-disagree", "nodes", (int)node,
                  (int)neighbour),
        "node %u (rank %u) and node %u (rank %u) disagree on a collective: %s, and %s", node, node,
        neighbour, neighbour, own, other);
}

/* The rank that a program waits for, when it is one whose program runs; else its own. */
static uint32_t awaited(const struct mesh *mesh, uint32_t rank)
{
    const struct state_body *state = &mesh->nodes[rank].state;

    if (!mesh->nodes[rank].state_known || !mesh->nodes[rank].running) {
        return rank;
    }
    if (state->wait == WAIT_COLLECTIVE) {
        return mesh_missing(mesh, rank);
    }
    if ((state->wait != WAIT_SEND && state->wait != WAIT_RECEIVE) ||
        state->transfer == TRANSFER_MOVES || state->peer < 0 ||
        state->peer >= (int32_t)mesh->options.network.nodes) {
        return rank;
    }
    return (uint32_t)state->peer;
}

/* Says that programs wait for each other: "0 for 1 for 2 for 0". The walk from a node comes into a
 * circle, if there is one, within as many steps as there are nodes. */
static void tell_circle(struct mesh *mesh)
{
    uint32_t nodes = mesh->options.network.nodes, first, at;
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
        json_t *circle = json_array();
        used = (size_t)snprintf(text, sizeof text, "rank %u", (unsigned)first);
        at = first;
        do {
            json_array_append_new(circle, json_integer(at));
            at = awaited(mesh, at);
            used += used < sizeof text
                        ? (size_t)snprintf(text + used, sizeof text - used, " for %u", (unsigned)at)
                        : 0;
        } while (at != first);
        mesh_emit_trouble(mesh, json_pack("{s:s, s:o}", "kind", "circle", "nodes", circle),
                          "programs wait for each other in a circle: %s",
                          used < sizeof text ? text : "of many ranks");
        return;
    }
}

void mesh_tell_waits(struct mesh *mesh, bool stands)
{
    unsigned count = 0;
    char text[DOING_TEXT_MAX];

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        if (mesh->nodes[rank].running && count++ < WAITS_TOLD_MAX) {
            uint32_t peer = awaited(mesh, rank);

            mesh_describe_doing(mesh, rank, true, text);
            mesh_emit_trouble(mesh,
                              json_pack("{s:s, s:[i], s:o}", "kind", "waits", "nodes", (int)rank,
                                        "for", peer == rank ? json_null() : json_integer(peer)),
                              "node %u (rank %u) %s%s", (unsigned)rank, (unsigned)rank, text,
                              mesh->nodes[peer].running ? "" : ", whose program has ended");
        }
    }
    if (count > WAITS_TOLD_MAX) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[], s:i}", "kind", "more-waits", "nodes", "count",
                                    (int)(count - WAITS_TOLD_MAX)),
                          "and %u more nodes that still run", count - WAITS_TOLD_MAX);
    }
    if (stands) {
        tell_circle(mesh);
    }
}

static uint64_t fnv_1a(uint64_t hash, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211U;
    }
    return hash;
}

/* Adds what shows whether a node moves: its progress, and of one whose program runs all that it has
 * said but flags and the other counters. */
static uint64_t add_state(uint64_t digest, const struct mesh_node *node)
{
    struct state_body shown = {0};
    uint8_t bytes[STATE_BYTES];

    if (node->running) {
        shown = node->state;
        shown.flags = 0;
        memset(shown.counters, 0, sizeof shown.counters);
    }
    shown.counters[COUNTER_PROGRESS] = node->dead ? 0 : node->state.counters[COUNTER_PROGRESS];
    state_pack(bytes, &shown);
    return fnv_1a(digest, bytes, sizeof bytes);
}

/* What the nodes say together. */
struct look {
    uint64_t digest; /* of states and progress: when it is the same twice, nothing has moved */
    bool delivered;  /* and nothing from before the last answers is on a link */
    bool polls;      /* some programs wait by testing */
};

/* True when every program that runs waits for another and all nodes have said so: messages may be
 * on their way through one that stands still. */
static bool all_wait(const struct mesh *mesh, struct look *look)
{
    *look = (struct look){.digest = 14695981039346656037U, .delivered = true};

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        const struct mesh_node *node = &mesh->nodes[rank];
        const struct state_body *state = &node->state;

        if (!node->state_known && !node->dead) {
            return false;
        }
        /* also of one whose program has ended: its kernel passes on */
        look->digest = add_state(look->digest, node);
        look->delivered &= node->dead || state->flags & STATE_DELIVERED;
        if (!node->running) {
            continue;
        }
        if (state->program != PROGRAM_RUNNING || state->wait == WAIT_NOTHING ||
            state->wait == WAIT_CONSOLE || state->wait == WAIT_SLEEP ||
            state->wait == WAIT_READER) {
            return false;
        }
        look->polls |= (state->flags & STATE_POLLS) != 0;
    }
    return true;
}

bool mesh_look(struct mesh *mesh)
{
    struct look look;

    if (!all_wait(mesh, &look)) {
        mesh->stall_count = 0;
        return false;
    }
    bool same = look.digest == mesh->stall_digest && look.delivered;
    mesh->stall_count = same ? mesh->stall_count + 1 : 0;
    mesh->stall_digest = look.digest;
    mesh->stall_polls = look.polls;
    return true;
}

static void after_watch(void *context, struct mesh *mesh)
{
    (void)context;
    if (mesh->phase != MESH_RUN || mesh->timed_out || mesh->broken) {
        return;
    }
    if (mesh_look(mesh) && mesh->stall_count >= stall_waves(mesh) &&
        (!mesh->stall_polls || mesh->quiet_ticks >= POLLS_TICKS)) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[], s:i}", "kind", "no-progress", "nodes", "ended",
                                    (int)mesh->job.ended),
                          "the programs that still run wait for ever: %u of %u have ended",
                          mesh->job.ended, (unsigned)mesh->options.network.nodes);
        mesh_tell_waits(mesh, true);
        mesh_job_end(mesh, mesh->job.status ? mesh->job.status : STATUS_TIMEOUT);
    }
}

void mesh_watch_tick(struct mesh *mesh)
{
    bool second = ++mesh->ticks % MESH_TICKS_PER_S == 0;

    if (second) {
        mesh_tell_exits(mesh);
    }
    if (mesh->activity != mesh->activity_seen) {
        mesh->activity_seen = mesh->activity;
        mesh->quiet_ticks = 0;
        mesh->stall_count = 0;
        return;
    }
    if (mesh->stands) { /* whom a debugger keeps from moving */
        mesh->quiet_ticks = 0;
        mesh->stall_count = 0;
        return;
    }
    mesh->quiet_ticks++;
    if (!second && mesh->stall_count == 0) {
        return;
    }
    if ((mesh->quiet_ticks >= QUIET_TICKS || mesh->job.status != 0) && !mesh->query_open &&
        !mesh->timed_out) {
        mesh_query(mesh, after_watch, NULL);
    }
}
