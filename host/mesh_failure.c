/*
 * mesh_failure.c - dead nodes and links.
 *
 * A dead node is told at once, by its process. A dead link is told when FAILURE_COLLECT_MS have
 * passed: by then it is known whether a dead node explains it, and what its other end says.
 */
#include <stdarg.h>
#include <stdio.h>

#include "host/mesh_internal.h"
#include "router/router.h"

enum { DEATHS_TOLD_MAX = 4, DEBUG_REASON_MAX = MESH_HALTED_TEXT_MAX + 80 };

static const char *reason_text(uint8_t reason)
{
    switch (reason) {
    case DEAD_CARRIER: return "carrier lost, cut or its device gone";
    case DEAD_TIMEOUT: return "no acknowledgement through all retries";
    case DEAD_PROTOCOL: return "too many damaged or impossible frames";
    case DEAD_VERSION: return "the two ends speak different protocol versions";
    case DEAD_RESTARTED: return "its other end has started anew";
    default: return "unknown reason";
    }
}

const char *mesh_phase_name(enum mesh_phase phase)
{
    static const char *const texts[MESH_PHASES] = {"boot", "idle", "download", "run"};

    return texts[phase];
}

void mesh_break(struct mesh *mesh)
{
    mesh->broken = true;
    if (mesh->handles_open && !uv_is_active((uv_handle_t *)&mesh->failure_timer)) {
        uv_timer_start(&mesh->failure_timer, mesh_on_failure_timer, FAILURE_COLLECT_MS, 0);
    }
}

void mesh_fail(struct mesh *mesh, json_t *members, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mesh_emit_trouble(mesh, members, "%s", text);
    mesh_break(mesh);
}

void mesh_node_died(void *context, uint32_t number)
{
    struct mesh *mesh = context;
    char note[LAUNCHER_NOTE_MAX];

    mesh->nodes[number].dead = true;
    launcher_describe(&mesh->launcher, number, note);
    if (network_host_link_of(&mesh->options.network, number) >= 0) {
        for (unsigned i = 0; i < mesh->host.count; i++) {
            if (mesh->host.peers[i] == number) {
                router_kill_port(&mesh->host.router, i, DEAD_CARRIER);
            }
        }
    }
    if (mesh->deaths++ < DEATHS_TOLD_MAX) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[i], s:s}", "kind", "node-died", "nodes", (int)number,
                                    "phase", mesh_phase_name(mesh->phase)),
                          "node %u (rank %u) died during %s: its QEMU %s", (unsigned)number,
                          (unsigned)number, mesh_phase_name(mesh->phase), note);
    }
    mesh_break(mesh);
}

bool mesh_link_is_dead(const struct mesh *mesh, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < mesh->dead_link_count; i++) {
        const struct mesh_dead_link *link = &mesh->dead_links[i];

        if ((link->node == a && link->peer == b) || (link->node == b && link->peer == a)) {
            return true;
        }
    }
    return false;
}

void mesh_link_died(struct mesh *mesh, uint32_t node, uint32_t peer, uint8_t reason)
{
    if (mesh_link_is_dead(mesh, node, peer)) {
        return;
    }
    if (mesh->dead_link_count < DEAD_LINKS_MAX) {
        mesh->dead_links[mesh->dead_link_count++] =
            (struct mesh_dead_link){.node = node, .peer = peer, .reason = reason};
    }
    mesh_break(mesh);
}

/* A reset leaves the carrier. */
static bool explains(const struct mesh_node *node, const struct mesh_dead_link *link)
{
    return node->dead || (node->was_reset && link->reason != DEAD_CARRIER);
}

/* Whether a node at one of its ends is dead, or was reset, which explains it. */
static bool end_is_gone(const struct mesh *mesh, const struct mesh_dead_link *link)
{
    return explains(&mesh->nodes[link->node], link) ||
           (link->peer < mesh->options.network.nodes && explains(&mesh->nodes[link->peer], link));
}

json_t *mesh_describe_dead(const struct mesh *mesh)
{
    uint32_t nodes = mesh->options.network.nodes;
    json_t *dead = json_array();

    for (uint32_t rank = 0; rank < nodes; rank++) {
        if (mesh->nodes[rank].dead) {
            json_array_append_new(dead, json_sprintf("node %u", (unsigned)rank));
        }
    }
    for (unsigned i = 0; i < mesh->dead_link_count; i++) {
        const struct mesh_dead_link *link = &mesh->dead_links[i];
        unsigned low = link->node < link->peer ? link->node : link->peer;

        if (link->peer < nodes && !end_is_gone(mesh, link)) {
            json_array_append_new(dead,
                                  json_sprintf("link %u-%u", low, (link->node ^ link->peer) ^ low));
        } else if (!end_is_gone(mesh, link)) {
            json_array_append_new(dead, json_sprintf("%s link of node %u",
                                                     link->peer == ID_HOST ? "host" : "unknown",
                                                     (unsigned)link->node));
        }
    }
    return dead;
}

/* The ends that are known; a host link has one. */
static json_t *link_members(const char *kind, const struct mesh *mesh,
                            const struct mesh_dead_link *link)
{
    static const char *const reasons[] = {[DEAD_CARRIER] = "carrier",
                                          [DEAD_TIMEOUT] = "timeout",
                                          [DEAD_PROTOCOL] = "protocol",
                                          [DEAD_VERSION] = "version",
                                          [DEAD_RESTARTED] = "restarted"};
    bool known = link->reason < sizeof reasons / sizeof reasons[0] && reasons[link->reason];
    json_t *members = json_pack("{s:s, s:[i], s:s, s:s}", "kind", kind, "nodes", (int)link->node,
                                "phase", mesh_phase_name(mesh->phase), "reason",
                                known ? reasons[link->reason] : "unknown");

    if (link->peer < mesh->options.network.nodes) {
        json_array_append_new(json_object_get(members, "nodes"), json_integer(link->peer));
    }
    return members;
}

/* Why a link has died, when a debugger is the reason: a node at one of its ends has been halted for
 * longer than the other end waits. */
static bool debugger_reason(const struct mesh *mesh, const struct mesh_dead_link *link,
                            char text[DEBUG_REASON_MAX])
{
    uint32_t ends[2] = {link->node, link->peer};
    char words[MESH_HALTED_TEXT_MAX];

    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] < mesh->options.network.nodes && link->reason == DEAD_TIMEOUT &&
            mesh_is_halted(mesh, ends[i])) {
            snprintf(text, DEBUG_REASON_MAX, "node %u is %s, for longer than --patience",
                     (unsigned)ends[i], mesh_debug_text(mesh, ends[i], words));
            return true;
        }
    }
    return false;
}

static unsigned link_dimension(const struct network *network, uint32_t a, uint32_t b)
{
    return network_port_dimension(network, network_port_to(network, a, b));
}

static const char *why_dead(const struct mesh *mesh, const struct mesh_dead_link *link,
                            char text[DEBUG_REASON_MAX])
{
    return debugger_reason(mesh, link, text) ? text : reason_text(link->reason);
}

static void tell_dead_link(struct mesh *mesh, const struct mesh_dead_link *link)
{
    const struct network *network = &mesh->options.network;
    const char *phase = mesh_phase_name(mesh->phase);
    char why[DEBUG_REASON_MAX];

    if (end_is_gone(mesh, link)) {
        return; /* the node's end has been told */
    }
    if (link->peer == ID_HOST) {
        mesh_emit_trouble(mesh, link_members("host-link-died", mesh, link),
                          "the host link of node %u (rank %u) died during %s: %s",
                          (unsigned)link->node, (unsigned)link->node, phase,
                          why_dead(mesh, link, why));
    } else if (link->peer >= network->nodes) {
        mesh_emit_trouble(
            mesh, link_members("link-died", mesh, link),
            "a link of node %u (rank %u) died during %s before its other end was known: %s",
            (unsigned)link->node, (unsigned)link->node, phase, why_dead(mesh, link, why));
    } else {
        mesh_emit_trouble(mesh, link_members("link-died", mesh, link),
                          "link %u-%u (dimension %u) died during %s: %s, told by node %u (rank %u)",
                          (unsigned)(link->node < link->peer ? link->node : link->peer),
                          (unsigned)(link->node < link->peer ? link->peer : link->node),
                          link_dimension(network, link->node, link->peer), phase,
                          why_dead(mesh, link, why), (unsigned)link->node, (unsigned)link->node);
    }
}

void mesh_on_failure_timer(uv_timer_t *timer)
{
    struct mesh *mesh = timer->data;

    if (mesh->deaths > DEATHS_TOLD_MAX) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[], s:i}", "kind", "more-nodes-died", "nodes", "count",
                                    (int)(mesh->deaths - DEATHS_TOLD_MAX)),
                          "and %u more nodes died", mesh->deaths - DEATHS_TOLD_MAX);
        mesh->deaths = DEATHS_TOLD_MAX;
    }
    mesh_tell_reset(mesh);
    while (mesh->dead_links_told < mesh->dead_link_count) {
        tell_dead_link(mesh, &mesh->dead_links[mesh->dead_links_told++]);
    }
    if (mesh->phase == MESH_BOOT) {
        mesh_enter_phase(mesh, MESH_READY);
        mesh->owner.booted(mesh->owner.context, STATUS_MESH);
    } else if (mesh->phase != MESH_READY) {
        mesh_job_end(mesh, STATUS_MESH);
    }
}
