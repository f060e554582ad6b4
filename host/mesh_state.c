/*
 * mesh_state.c - what a node's answer (STATE) says, in words and as JSON.
 */
#include <stdio.h>

#include "host/mesh_internal.h"
#include "include/ecube/abi.h"
#include "router/bytes.h"

struct node_state mesh_state_of(const struct mesh_node *node)
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

static const char *operation_text(uint32_t operation)
{
    static const char *const names[] = {"barrier", "broadcast", "scatter", "gather",
                                        "complete exchange"};

    return operation < sizeof names / sizeof names[0] ? names[operation] : "collective";
}

void mesh_collective_text(char *text, size_t room, uint32_t operation, uint32_t bytes,
                          uint32_t root)
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

void mesh_describe_wait(const struct mesh_node *node, char *text, size_t room)
{
    struct node_state state = mesh_state_of(node);
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

void mesh_describe_computing(const struct mesh *mesh, const struct mesh_node *node,
                             char text[PLACE_TEXT_MAX])
{
    struct node_state state = mesh_state_of(node);

    text[0] = '\0';
    if (!node->dead && node->state_known && state.pc != 0) {
        mesh_describe_place(mesh, state.pc, state.lr, text);
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
        struct node_state state = mesh_state_of(node);
        const char *program = node->dead                        ? "dead"
                              : !node->state_known              ? "silent"
                              : state.program > PROGRAM_FAULTED ? "unknown"
                                                                : programs[state.program];

        mesh_describe_wait(node, text, sizeof text);
        json_array_append_new(
            list,
            json_pack("{s:i, s:s, s:s, s:f, s:i, s:o}", "node", (int)rank, "program", program,
                      "doing", state.program == PROGRAM_RUNNING && node->state_known ? text : "-",
                      "model_us", (double)state.model_ns / 1e3, "status", state.status, "counters",
                      describe_counters(node->state)));
    }
    return list;
}
