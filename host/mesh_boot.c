/*
 * mesh_boot.c - the network that the nodes have found, against the one that was built.
 */
#include <stdio.h>

#include "host/mesh_internal.h"

enum { BOOT_GRACE_MS = 6000, DIFFERENCES_MAX = 24 };

/* What is wrong with one port of a node, in words; NULL when it is as it should be. */
static const char *port_fault(const struct mesh *mesh, uint32_t number, unsigned port, char *text,
                              size_t room)
{
    const struct mesh_node *node = &mesh->nodes[number];
    const struct mesh_port *found = &node->ports[port];
    bool host_link = port == mesh->options.topology.dims;
    uint32_t expected = host_link ? ID_HOST : number ^ UINT32_C(1) << port;

    if (!node->links_told) {
        return "tells nothing";
    }
    switch (found->state) {
    case LINK_UP:
        if (found->peer == expected && (host_link || found->peer_port == port)) {
            return NULL;
        }
        __attribute__((fallthrough));
    case LINK_CROSSED:
        if (found->peer == ID_HOST) {
            return "finds the host there";
        }
        if (found->peer == ID_UNKNOWN) {
            return "finds a node that does not know its number";
        }
        snprintf(text, room, "finds node %u, port %u", (unsigned)found->peer, found->peer_port);
        return text;
    case LINK_HEARD: return "hears the other end but is not heard";
    case LINK_DEAD: return "had it and lost it";
    default: return "hears nothing";
    }
}

static bool node_is_right(const struct mesh *mesh, uint32_t node)
{
    char text[80];

    for (unsigned p = 0; p < topology_ports(&mesh->options.topology, node); p++) {
        if (port_fault(mesh, node, p, text, sizeof text)) {
            return false;
        }
    }
    return true;
}

/* One line per cable that is not as it should be. Of a node that tells nothing only the other
 * ends are heard. */
static void tell_cable(struct mesh *mesh, uint32_t node, unsigned port, unsigned *count)
{
    uint32_t peer = node ^ UINT32_C(1) << port;
    char here_text[80], there_text[80];
    const char *here = port_fault(mesh, node, port, here_text, sizeof here_text);
    const char *there = port_fault(mesh, peer, port, there_text, sizeof there_text);
    bool here_told = mesh->nodes[node].links_told, there_told = mesh->nodes[peer].links_told;
    uint8_t a = mesh->nodes[node].ports[port].state, b = mesh->nodes[peer].ports[port].state;
    const char *kind = "missing";

    if (!(here && here_told) && !(there && there_told)) {
        return;
    }
    if ((*count)++ >= DIFFERENCES_MAX) {
        return;
    }
    if (a == LINK_CROSSED || b == LINK_CROSSED || (a == LINK_UP && here) ||
        (b == LINK_UP && there)) {
        kind = "crossed";
    } else if (a == LINK_HEARD || b == LINK_HEARD || a == LINK_UP || b == LINK_UP) {
        kind = "one-way";
    }
    mesh_emit_trouble(mesh, "%s: link %u-%u (dimension %u): node %u %s, node %u %s", kind,
                      (unsigned)node, (unsigned)peer, port, (unsigned)node,
                      here ? here : "sees it up", (unsigned)peer, there ? there : "sees it up");
}

/* A node is silent when it does not run, or when its way to the host is not there. */
static void tell_silent_node(struct mesh *mesh, uint32_t node, unsigned *count)
{
    if (!mesh->nodes[node].links_told && (*count)++ < DIFFERENCES_MAX) {
        mesh_emit_trouble(
            mesh,
            "missing: node %u (rank %u) tells nothing: it does not run, or has no way to the host",
            (unsigned)node, (unsigned)node);
    }
}

static void tell_differences(struct mesh *mesh)
{
    const struct topology *topology = &mesh->options.topology;
    unsigned count = 0;
    char text[80];

    for (uint32_t node = 0; node < topology->nodes; node++) {
        for (unsigned p = 0; p < topology->dims; p++) {
            if (node < (node ^ UINT32_C(1) << p)) {
                tell_cable(mesh, node, p, &count);
            }
        }
        tell_silent_node(mesh, node, &count);
        if (topology_has_host_link(node) && mesh->nodes[node].links_told) {
            const char *fault = port_fault(mesh, node, topology->dims, text, sizeof text);

            if (fault && count++ < DIFFERENCES_MAX) {
                mesh_emit_trouble(mesh, "missing: host link of node %u: the node %s",
                                  (unsigned)node, fault);
            }
        }
    }
    if (count > DIFFERENCES_MAX) {
        mesh_emit_trouble(mesh, "and %u more links that are not as they should be",
                          count - DIFFERENCES_MAX);
    }
}

static void give_up(struct mesh *mesh)
{
    unsigned told = 0;

    for (uint32_t node = 0; node < mesh->options.topology.nodes; node++) {
        told += mesh->nodes[node].links_told;
    }
    tell_differences(mesh);
    mesh_fail(mesh, "boot failed: %u of %u nodes answered, %u have all their links", told,
              (unsigned)mesh->options.topology.nodes, mesh->nodes_right);
}

static void on_boot_bound(uv_timer_t *timer)
{
    give_up(timer->data);
}

void mesh_boot_begin(struct mesh *mesh)
{
    mesh_enter_phase(mesh, MESH_BOOT);
    mesh_emit_progress(mesh, "boot", 0, mesh->options.topology.nodes);
    uv_timer_start(&mesh->bound_timer, on_boot_bound, BOOT_BOUND_S * 1000, 0);
}

static void finish_boot(struct mesh *mesh)
{
    mesh->boot_us = uv_hrtime() / 1000 - mesh->start_us;
    mesh_enter_phase(mesh, MESH_READY);
    mesh_emit(mesh,
              json_pack("{s:s, s:s, s:i, s:f}", "event", "boot", "mesh",
                        mesh->options.topology.name, "nodes", (int)mesh->options.topology.nodes,
                        "boot_ms", (double)mesh->boot_us / 1e3));
    mesh->owner.booted(mesh->owner.context, 0);
}

void mesh_boot_packet(struct mesh *mesh, const struct mesh_packet *packet)
{
    struct mesh_node *node = &mesh->nodes[packet->node];
    unsigned ports = topology_ports(&mesh->options.topology, packet->node);

    if (packet->bytes < LINKS_HEADER_BYTES + ports * LINKS_PORT_BYTES || packet->body[0] < ports) {
        return;
    }
    node->links_told = true;
    node->links_complete = packet->body[1] != 0;
    for (unsigned p = 0; p < ports; p++) {
        const uint8_t *body = packet->body + LINKS_HEADER_BYTES + p * LINKS_PORT_BYTES;

        node->ports[p] =
            (struct mesh_port){.state = body[0], .peer_port = body[1], .peer = get32(body + 4)};
    }
    if (mesh->phase != MESH_BOOT || mesh->broken) {
        return;
    }
    mesh->nodes_right -= node->links_right;
    node->links_right = node_is_right(mesh, packet->node);
    mesh->nodes_right += node->links_right;
    mesh_emit_progress(mesh, "boot", mesh->nodes_right, mesh->options.topology.nodes);
    if (mesh->nodes_right == mesh->options.topology.nodes) {
        finish_boot(mesh);
    } else if (!node->links_right && !uv_is_active((uv_handle_t *)&mesh->tick_timer)) {
        /* a node has waited long and gave up on a link: the others have little time left to tell
         * theirs */
        uv_timer_start(&mesh->tick_timer, on_boot_bound, BOOT_GRACE_MS, 0);
    }
}
