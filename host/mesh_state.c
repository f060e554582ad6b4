/*
 * mesh_state.c - what a node's answer (STATE) says, in words and as JSON.
 */
#include <stdio.h>

#include "host/mesh_internal.h"
#include "include/ecube/abi.h"

enum {
    WAIT_TEXT_MAX = 160,
    REQUESTS_TEXT_MAX = 40,
    PLACES_MAX = 16 /* programs whose place is looked up: each reads their debug information */
};

static const char *operation_text(uint32_t operation)
{
    static const char *const names[] = {"barrier", "broadcast", "scatter", "gather",
                                        "complete exchange"};

    return operation < sizeof names / sizeof names[0] ? names[operation] : "collective";
}

static bool is_rooted(uint32_t operation)
{
    return operation == ECUBE_BROADCAST || operation == ECUBE_SCATTER || operation == ECUBE_GATHER;
}

void mesh_collective_text(char *text, size_t room, uint32_t operation, uint32_t bytes,
                          uint32_t root)
{
    int written = snprintf(text, room, "%s", operation_text(operation));

    if (operation != ECUBE_BARRIER)
        written +=
            snprintf(text + written, room - (size_t)written, " of %u bytes", (unsigned)bytes);
    if (is_rooted(operation))
        snprintf(text + written, room - (size_t)written, " with root %u", (unsigned)root);
}

/* "rank 3, tag 5" */
static void peer_text(const struct state_body *state, char *text, size_t room)
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

static void message_text(const struct state_body *state, char *text, size_t room)
{
    bool moves = state->transfer == TRANSFER_MOVES;
    char peer[60];

    peer_text(state, peer, sizeof peer);
    if (state->wait == WAIT_SEND) {
        snprintf(text, room, "%s %u bytes to %s%s", moves ? "sends" : "waits to send",
                 (unsigned)state->bytes, peer,
                 state->transfer == TRANSFER_KNOWN ? ", which has not asked for it" : "");
    } else if (moves) {
        snprintf(text, room, "receives %u bytes from %s", (unsigned)state->bytes, peer);
    } else {
        snprintf(text, room, "waits to receive from %s", peer);
    }
}

static bool enters(const struct mesh_node *node)
{
    return !node->dead && node->state_known && node->state.stage == COLLECTIVE_ENTRY;
}

uint32_t mesh_missing(const struct mesh *mesh, uint32_t rank)
{
    uint32_t nodes = mesh->options.network.nodes, at = rank;

    for (uint32_t i = 0; i < nodes && enters(&mesh->nodes[at]); i++) {
        uint32_t peer = mesh->nodes[at].state.partner;

        if (peer >= nodes) {
            return rank;
        }
        at = peer;
    }
    return at;
}

static void collective_wait_text(const struct mesh *mesh, uint32_t rank, char *text, size_t room)
{
    const struct state_body *state = &mesh->nodes[rank].state;
    uint32_t missing = mesh_missing(mesh, rank);
    char what[80];

    mesh_collective_text(what, sizeof what, state->operation, state->collective_bytes, state->root);
    if (state->stage == COLLECTIVE_STEPS) {
        snprintf(text, room, "waits in %s, step %u of %u, with rank %u", what, state->step,
                 state->steps, (unsigned)state->partner);
    } else if (state->stage == COLLECTIVE_ENTRY && missing != rank) {
        snprintf(text, room, "waits in %s for rank %u to enter", what, (unsigned)missing);
    } else {
        snprintf(text, room, "waits in a collective");
    }
}

/* What the program has asked for besides what it waits for. */
static void requests_text(const struct state_body *state, char *text, size_t room)
{
    bool is_one =
        state->wait == WAIT_SEND || state->wait == WAIT_RECEIVE || state->wait == WAIT_COLLECTIVE;

    text[0] = '\0';
    if (state->requests > (is_one ? 1 : 0)) {
        snprintf(text, room, " (%s%u open request%s)", is_one ? "one of " : "",
                 (unsigned)state->requests, state->requests > 1 ? "s" : "");
    }
}

void mesh_describe_doing(const struct mesh *mesh, uint32_t rank, bool with_place,
                         char text[DOING_TEXT_MAX])
{
    const struct mesh_node *node = &mesh->nodes[rank];
    const struct state_body *state = &node->state;
    char what[WAIT_TEXT_MAX], place[PLACE_TEXT_MAX] = "", requests[REQUESTS_TEXT_MAX];
    char halted[MESH_HALTED_TEXT_MAX];
    const char *polls = state->flags & STATE_POLLS ? ", by testing" : "";

    if (mesh_is_halted(mesh, rank)) {
        snprintf(text, DOING_TEXT_MAX, "is %s", mesh_debug_text(mesh, rank, halted));
        return;
    }
    if (node->dead || !node->state_known) {
        snprintf(text, DOING_TEXT_MAX, node->dead ? "is dead" : "does not answer");
        return;
    }
    switch (state->wait) {
    case WAIT_SEND:
    case WAIT_RECEIVE: message_text(state, what, sizeof what); break;
    case WAIT_COLLECTIVE: collective_wait_text(mesh, rank, what, sizeof what); break;
    case WAIT_CONSOLE: snprintf(what, sizeof what, "waits for its console text to leave"); break;
    case WAIT_READER: snprintf(what, sizeof what, "waits for the reader of its output"); break;
    case WAIT_SLEEP:
        snprintf(what, sizeof what, "sleeps for %.1f s more", (double)state->left_us / 1e6);
        break;
    default: snprintf(what, sizeof what, "computes"); break;
    }
    if (with_place && state->pc != 0) {
        mesh_describe_place(mesh, state->pc, state->lr, place);
    }
    requests_text(state, requests, sizeof requests);
    snprintf(text, DOING_TEXT_MAX, "%s%s%s%s", what, polls, place, requests);
}

static json_t *describe_counters(const uint32_t counts[STATE_COUNTERS])
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
        [COUNTER_PROGRESS] = "progress",
    };
    json_t *counters = json_object();

    for (unsigned i = 0; i < STATE_COUNTERS; i++) {
        json_object_set_new(counters, names[i], json_integer(counts[i]));
    }
    return counters;
}

static json_t *number_unless_any(int32_t number)
{
    return number == ECUBE_ANY ? json_null() : json_integer(number);
}

/* What a program that runs waits for; null when it computes. */
static json_t *describe_wait(const struct state_body *state)
{
    static const char *const kinds[] = {
        [WAIT_SEND] = "send",       [WAIT_RECEIVE] = "receive", [WAIT_COLLECTIVE] = "collective",
        [WAIT_CONSOLE] = "console", [WAIT_SLEEP] = "sleep",     [WAIT_READER] = "reader"};
    static const char *const stages[] = {"open", "known", "moves"};
    json_t *wait;

    if (state->wait == WAIT_NOTHING || state->wait > WAIT_READER) {
        return json_null();
    }
    wait = json_pack("{s:s}", "kind", kinds[state->wait]);
    if (state->wait == WAIT_SEND || state->wait == WAIT_RECEIVE) {
        json_object_set_new(wait, "peer", number_unless_any(state->peer));
        json_object_set_new(wait, "tag", number_unless_any(state->tag));
        json_object_set_new(wait, "bytes", json_integer(state->bytes));
        json_object_set_new(
            wait, "stage",
            json_string(stages[state->transfer <= TRANSFER_MOVES ? state->transfer : 0]));
    }
    if (state->flags & STATE_POLLS) {
        json_object_set_new(wait, "polls", json_true());
    }
    if (state->wait == WAIT_SLEEP) {
        json_object_set_new(wait, "left_us", json_real((double)state->left_us));
    }
    return wait;
}

/* The collective that is under way at a node; null when none is. */
static json_t *describe_collective(const struct mesh *mesh, uint32_t rank)
{
    const struct state_body *state = &mesh->nodes[rank].state;
    uint32_t operation = state->operation;
    bool entry = state->stage == COLLECTIVE_ENTRY;

    if (state->stage == COLLECTIVE_NONE) {
        return json_null();
    }
    return json_pack("{s:s, s:I, s:o, s:s, s:I, s:i, s:i}", "operation", operation_text(operation),
                     "bytes", (json_int_t)state->collective_bytes, "root",
                     is_rooted(operation) ? json_integer(state->root) : json_null(), "stage",
                     entry ? "entry" : "steps", "peer",
                     (json_int_t)(entry ? mesh_missing(mesh, rank) : state->partner), "step",
                     (int)state->step, "steps", (int)state->steps);
}

static json_t *describe_node(const struct mesh *mesh, uint32_t rank, unsigned *places)
{
    static const char *const programs[] = {"empty",   "loading", "loaded",
                                           "running", "exited",  "faulted"};
    const struct mesh_node *node = &mesh->nodes[rank];
    const struct state_body *state = &node->state;
    bool halted = mesh_is_halted(mesh, rank);
    bool was_reset = node->was_reset && mesh->broken;
    bool known = !node->dead && node->state_known && !halted && !was_reset;
    bool runs = known && state->program == PROGRAM_RUNNING;
    const char *program = node->dead                         ? "dead"
                          : node->blank                      ? "blank"
                          : halted                           ? "halted"
                          : was_reset                        ? "reset"
                          : !node->state_known               ? "silent"
                          : state->program > PROGRAM_FAULTED ? "unknown"
                                                             : programs[state->program];
    char doing[DOING_TEXT_MAX] = "-";

    if (halted) {
        mesh_debug_text(mesh, rank, doing);
    } else if (was_reset && !node->dead) {
        snprintf(doing, sizeof doing, "was reset through a debugger, the others were not");
    } else if (runs) {
        *places += state->pc != 0;
        mesh_describe_doing(mesh, rank, *places <= PLACES_MAX, doing);
    }
    return json_pack(
        "{s:i, s:s, s:s, s:o, s:o, s:i, s:o, s:f, s:i, s:o}", "node", (int)rank, "program", program,
        "doing", doing, "debugger", mesh_describe_debug(mesh, rank), "wait",
        runs ? describe_wait(state) : json_null(), "requests", runs ? state->requests : 0,
        "collective", known ? describe_collective(mesh, rank) : json_null(), "model_us",
        (double)state->model_ns / 1e3, "status", state->status, "counters",
        describe_counters(state->counters));
}

json_t *mesh_describe_nodes(const struct mesh *mesh)
{
    json_t *list = json_array();
    unsigned places = 0;

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        json_array_append_new(list, describe_node(mesh, rank, &places));
    }
    return list;
}
