/*
 * mesh_boot.c - the network that the nodes have found, against the one that was built.
 *
 * A node without a host link has its number from the first neighbour that knows its own, so a
 * crossed cable may give it another node's. It then tells nothing under its own number, and what
 * its neighbours find is a second node of the other's. Whom a cable really leads to is known from
 * its other end: what the number's owner does not tell of itself, the silent node has.
 *
 * When two nodes have taken each other's numbers, their other cables are told instead: the same
 * network.
 *
 * Example  cube:3, 1-3 and 5-7 crossed: 1 leads to 7 and makes a second 3 of it; nobody is 7. Node
 *          6 finds a node 3 at its port 0. The real 3 has node 2 there, so it is 7
 */
#include <stdio.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "router/router.h"

enum {
    CROSSED_GRACE_MS = 1000, /* nothing mends a crossed cable: only more words are waited for */
    DIFFERENCES_MAX = 24
};

/* Where the cable of a port leads, and whether anybody knows. */
struct cable_end {
    bool known;
    uint8_t port;
    uint32_t node;
};

struct found_network {
    struct cable_end leads[MACHINE_NODES_MAX][MACHINE_PORTS_MAX];
    unsigned crossed; /* links that lead elsewhere */
    unsigned count;   /* of lines, told or not */
};

/* What is wrong with one port of a node, in words; NULL when it is as it should be. */
static const char *port_fault(const struct mesh *mesh, uint32_t number, unsigned port, char *text,
                              size_t room)
{
    const struct mesh_node *node = &mesh->nodes[number];
    const struct links_port *found = &node->ports[port];
    const struct network *network = &mesh->options.network;
    bool host_link = port == network->ports;
    uint32_t expected = host_link ? ID_HOST : network_neighbour(network, number, port);

    if (!node->links_told) {
        return "tells nothing";
    }
    switch (found->state) {
    case LINK_UP:
        if (found->peer == expected &&
            (host_link || found->peer_port == network_far_port(network, port))) {
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

/* What the node says of a port between nodes. */
static struct cable_end claim(const struct mesh *mesh, uint32_t number, unsigned port)
{
    const struct mesh_node *node = &mesh->nodes[number];
    const struct links_port *found = &node->ports[port];

    return (struct cable_end){.known = node->links_told &&
                                       (found->state == LINK_UP || found->state == LINK_CROSSED) &&
                                       found->peer < mesh->options.network.nodes &&
                                       found->peer_port < mesh->options.network.ports,
                              .port = found->peer_port,
                              .node = found->peer};
}

static bool leads_to(const struct cable_end *end, uint32_t node, unsigned port)
{
    return end->known && end->node == node && end->port == port;
}

/* Whether what a port is said to lead to tells something else of itself. */
static bool is_denied(const struct mesh *mesh, const struct cable_end *end, uint32_t node,
                      unsigned port)
{
    struct cable_end back = claim(mesh, end->node, end->port);

    return leads_to(end, node, port) || (back.known && !leads_to(&back, node, port));
}

/* The number that a silent node has been given: that which its neighbours find in its place. */
static uint32_t other_name(const struct mesh *mesh, uint32_t silent)
{
    const struct network *network = &mesh->options.network;

    for (unsigned p = 0; p < network->ports; p++) {
        uint32_t neighbour = network_neighbour(network, silent, p);
        unsigned far = network_far_port(network, p);

        if (neighbour == NETWORK_NO_NODE) {
            continue;
        }
        struct cable_end end = claim(mesh, neighbour, far);
        if (end.known && end.node != silent && end.port == p &&
            is_denied(mesh, &end, neighbour, far)) {
            return end.node;
        }
    }
    return ID_UNKNOWN;
}

static void find_network(const struct mesh *mesh, struct found_network *found)
{
    const struct network *network = &mesh->options.network;
    uint32_t renamed[MACHINE_NODES_MAX]; /* by the number that it uses */

    *found = (struct found_network){0};
    for (uint32_t node = 0; node < network->nodes; node++) {
        renamed[node] = ID_UNKNOWN;
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        uint32_t name = mesh->nodes[node].links_told ? ID_UNKNOWN : other_name(mesh, node);

        if (name != ID_UNKNOWN) {
            renamed[name] = node;
        }
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            struct cable_end end = claim(mesh, node, p);

            if (end.known && renamed[end.node] != ID_UNKNOWN && is_denied(mesh, &end, node, p)) {
                end.node = renamed[end.node];
            }
            if (end.known) {
                found->leads[node][p] = end;
            }
            if (end.known && !mesh->nodes[end.node].links_told) {
                found->leads[end.node][end.port] =
                    (struct cable_end){.known = true, .port = (uint8_t)p, .node = node};
            }
        }
    }
}

/* A link of the network, by its two ends. */
struct wanted_link {
    uint32_t node, peer;
    unsigned port, far; /* of node, of peer */
    unsigned dimension;
};

static struct wanted_link wanted_link(const struct mesh *mesh, uint32_t node, unsigned port)
{
    const struct network *network = &mesh->options.network;

    return (struct wanted_link){.node = node,
                                .peer = network_neighbour(network, node, port),
                                .port = port,
                                .far = network_far_port(network, port),
                                .dimension = network_port_dimension(network, port)};
}

static bool is_crossed(const struct found_network *found, const struct wanted_link *link)
{
    const struct cable_end *here = &found->leads[link->node][link->port];
    const struct cable_end *there = &found->leads[link->peer][link->far];

    return (here->known && !leads_to(here, link->peer, link->far)) ||
           (there->known && !leads_to(there, link->node, link->port));
}

static json_t *link_members(const char *kind, const struct wanted_link *link)
{
    return json_pack("{s:s, s:[i, i], s:i}", "kind", kind, "nodes", (int)link->node,
                     (int)link->peer, "dimension", (int)link->dimension);
}

/* Says where a crossed link leads. */
static void tell_crossed(struct mesh *mesh, struct found_network *found,
                         const struct wanted_link *link)
{
    const struct cable_end *here = &found->leads[link->node][link->port];
    const struct cable_end *there = &found->leads[link->peer][link->far];
    char text[2][80] = {"", ""};

    found->crossed++;
    if (found->count++ >= DIFFERENCES_MAX) {
        return;
    }
    if (here->known) {
        snprintf(text[0], sizeof text[0], " from node %u to node %u, port %u", (unsigned)link->node,
                 (unsigned)here->node, here->port);
    }
    if (there->known) {
        snprintf(text[1], sizeof text[1], "%s from node %u to node %u, port %u",
                 here->known ? ", and" : "", (unsigned)link->peer, (unsigned)there->node,
                 there->port);
    }
    mesh_emit_trouble(mesh, link_members("link-crossed", link),
                      "crossed: link %u-%u (dimension %u) leads%s%s", (unsigned)link->node,
                      (unsigned)link->peer, link->dimension, text[0], text[1]);
}

static bool node_is_right(const struct mesh *mesh, uint32_t node)
{
    char text[80];

    for (unsigned p = 0; p < machine_ports(&mesh->options.network, node); p++) {
        if (machine_has_link(&mesh->options.network, node, p) &&
            port_fault(mesh, node, p, text, sizeof text)) {
            return false;
        }
    }
    return true;
}

/* One line per cable that is not as it should be, beside those that are crossed. Of a node that
 * tells nothing only the other ends are heard. */
static void tell_cable(struct mesh *mesh, struct found_network *found,
                       const struct wanted_link *link)
{
    uint32_t node = link->node, peer = link->peer;
    char here_text[80], there_text[80];
    const char *here = port_fault(mesh, node, link->port, here_text, sizeof here_text);
    const char *there = port_fault(mesh, peer, link->far, there_text, sizeof there_text);
    bool here_told = mesh->nodes[node].links_told, there_told = mesh->nodes[peer].links_told;
    uint8_t a = mesh->nodes[node].ports[link->port].state;
    uint8_t b = mesh->nodes[peer].ports[link->far].state;
    enum { MISSING, ONE_WAY, CROSSED } kind = MISSING;
    static const char *const words[] = {"missing", "one-way", "crossed"};
    static const char *const names[] = {"link-missing", "link-one-way", "link-crossed"};

    if ((!(here && here_told) && !(there && there_told)) || is_crossed(found, link)) {
        return;
    }
    if (found->crossed &&
        (found->leads[node][link->port].known || found->leads[peer][link->far].known)) {
        return; /* one of the two has, or had, another's number */
    }
    if (found->count++ >= DIFFERENCES_MAX) {
        return;
    }
    if (a == LINK_CROSSED || b == LINK_CROSSED) {
        kind = CROSSED;
    } else if (a == LINK_HEARD || b == LINK_HEARD || a == LINK_UP || b == LINK_UP) {
        kind = ONE_WAY;
    }
    mesh_emit_trouble(mesh, link_members(names[kind], link),
                      "%s: link %u-%u (dimension %u): node %u %s, node %u %s", words[kind],
                      (unsigned)node, (unsigned)peer, link->dimension, (unsigned)node,
                      here ? here : "sees it up", (unsigned)peer, there ? there : "sees it up");
}

/* A node is silent when it does not run, or when its way to the host is not there. Crossed cables
 * explain it too, or it was not waited for. */
static void tell_silent_node(struct mesh *mesh, struct found_network *found, uint32_t node)
{
    if (!mesh->nodes[node].links_told && !found->crossed && found->count++ < DIFFERENCES_MAX) {
        mesh_emit_trouble(
            mesh, json_pack("{s:s, s:[i]}", "kind", "node-silent", "nodes", (int)node),
            "missing: node %u (rank %u) tells nothing: it does not run, or has no way to the host",
            (unsigned)node, (unsigned)node);
    }
}

static void tell_host_link(struct mesh *mesh, struct found_network *found, uint32_t node)
{
    char text[80];

    if (network_host_link_of(&mesh->options.network, node) < 0 || !mesh->nodes[node].links_told) {
        return;
    }
    const char *fault = port_fault(mesh, node, mesh->options.network.ports, text, sizeof text);
    if (fault && found->count++ < DIFFERENCES_MAX) {
        mesh_emit_trouble(
            mesh, json_pack("{s:s, s:[i]}", "kind", "host-link-missing", "nodes", (int)node),
            "missing: host link of node %u: the node %s", (unsigned)node, fault);
    }
}

/* The number of crossed links. */
static unsigned tell_differences(struct mesh *mesh)
{
    const struct network *network = &mesh->options.network;
    struct found_network found;

    find_network(mesh, &found);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            struct wanted_link link = wanted_link(mesh, node, p);

            if (network_owns_link(network, node, p) && is_crossed(&found, &link)) {
                tell_crossed(mesh, &found, &link);
            }
        }
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            struct wanted_link link = wanted_link(mesh, node, p);

            if (network_owns_link(network, node, p)) {
                tell_cable(mesh, &found, &link);
            }
        }
        tell_silent_node(mesh, &found, node);
        tell_host_link(mesh, &found, node);
    }
    if (found.count > DIFFERENCES_MAX) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[], s:i}", "kind", "more-links", "nodes", "count",
                                    (int)(found.count - DIFFERENCES_MAX)),
                          "and %u more links that are not as they should be",
                          found.count - DIFFERENCES_MAX);
    }
    return found.crossed;
}

static unsigned nodes_told(const struct mesh *mesh)
{
    unsigned told = 0;

    for (uint32_t node = 0; node < mesh->options.network.nodes; node++) {
        told += mesh->nodes[node].links_told;
    }
    return told;
}

static json_t *boot_members(const struct mesh *mesh, unsigned told, unsigned crossed)
{
    return json_pack("{s:s, s:[], s:i, s:i, s:i}", "kind", "boot-failed", "nodes", "answered",
                     (int)told, "complete", (int)mesh->nodes_right, "crossed", (int)crossed);
}

static void give_up(struct mesh *mesh)
{
    unsigned told = nodes_told(mesh), crossed = tell_differences(mesh);

    uv_timer_stop(&mesh->tick_timer);
    uv_timer_stop(&mesh->patience_timer);
    if (mesh->nodes_right == mesh->options.network.nodes) {
        mesh_fail(mesh, boot_members(mesh, told, 0),
                  "boot failed: the server of debuggers (ecube-jtag) is not ready after %.10g s "
                  "(--patience)",
                  (double)mesh_patience_us(mesh) / 1e6);
        return;
    }
    if (crossed) {
        mesh_fail(mesh, boot_members(mesh, told, crossed),
                  "boot failed: %u links are crossed, %u of %u nodes answered", crossed, told,
                  (unsigned)mesh->options.network.nodes);
        return;
    }
    mesh_fail(mesh, boot_members(mesh, told, 0),
              "boot failed: %u of %u nodes answered, %u have all their links, nothing new for "
              "%.10g s (--patience)",
              told, (unsigned)mesh->options.network.nodes, mesh->nodes_right,
              (double)mesh_patience_us(mesh) / 1e6);
}

static void on_crossed(uv_timer_t *timer)
{
    give_up(timer->data);
}

static unsigned sign(uint8_t state)
{
    return state == LINK_SILENT ? 0 : state == LINK_UP ? 2 : 1;
}

/* What nodes have shown: links that are up, at the host's end too, and words. A machine that is
 * slow to boot shows more and more, but not for ever. */
static unsigned signs(const struct mesh *mesh)
{
    unsigned count = 0;
    uint32_t peer;
    uint8_t peer_port;

    for (unsigned i = 0; i < mesh->host.count; i++) {
        uint8_t state = router_port_state(&mesh->host.router, i, &peer, &peer_port);

        count += sign(state);
    }
    for (uint32_t node = 0; node < mesh->options.network.nodes; node++) {
        count += mesh->nodes[node].links_told;
        for (unsigned p = 0; p < MACHINE_PORTS_MAX; p++) {
            count += sign(mesh->nodes[node].ports[p].state);
        }
    }
    return count;
}

void mesh_boot_tick(struct mesh *mesh, uint64_t passed_us)
{
    unsigned shown = signs(mesh);

    mesh->silent_us = shown > mesh->shown ? 0 : mesh->silent_us + passed_us;
    mesh->shown = shown > mesh->shown ? shown : mesh->shown;
    if (mesh->silent_us >= mesh_patience_us(mesh)) {
        give_up(mesh);
    }
}

/* It may well be on its way: that links are missing is not said. */
void mesh_boot_timeout(struct mesh *mesh)
{
    mesh_emit_trouble(mesh, mesh_timeout_members(mesh, mesh->options.timeout_ms),
                      "the run did not end within %.10g s: boot, %u of %u nodes have all links "
                      "(--timeout sets it)",
                      (double)mesh->options.timeout_ms / 1e3, mesh->nodes_right,
                      (unsigned)mesh->options.network.nodes);
    mesh->broken = true;
    mesh_enter_phase(mesh, MESH_READY);
    mesh->owner.booted(mesh->owner.context, STATUS_TIMEOUT);
}

void mesh_boot_begin(struct mesh *mesh)
{
    mesh_enter_phase(mesh, MESH_BOOT);
    mesh_emit_progress(mesh, "boot", 0, mesh->options.network.nodes);
    mesh_patience_begin(mesh);
}

static void finish_boot(struct mesh *mesh)
{
    mesh->boot_us = uv_hrtime() / 1000 - mesh->start_us;
    mesh_enter_phase(mesh, MESH_READY);
    mesh_emit(mesh, json_pack("{s:s, s:s, s:i, s:f}", "event", "boot", "mesh",
                              mesh->options.network_name, "nodes", (int)mesh->options.network.nodes,
                              "boot_ms", (double)mesh->boot_us / 1e3));
    mesh->owner.booted(mesh->owner.context, 0);
}

void mesh_boot_check(struct mesh *mesh)
{
    if (mesh->phase == MESH_BOOT && !mesh->broken && mesh->debug_ready &&
        mesh->nodes_right == mesh->options.network.nodes) {
        finish_boot(mesh);
    }
}

void mesh_boot_forget(struct mesh *mesh, uint32_t rank)
{
    struct mesh_node *node = &mesh->nodes[rank];

    mesh->nodes_right -= node->links_right;
    node->links_told = node->links_complete = node->links_right = false;
    memset(node->ports, 0, sizeof node->ports);
}

static bool has_crossed(const struct mesh_node *node, unsigned ports)
{
    for (unsigned p = 0; p < ports; p++) {
        if (node->ports[p].state == LINK_CROSSED) {
            return true;
        }
    }
    return false;
}

void mesh_boot_links(struct mesh *mesh, uint32_t rank, const struct links_body *links)
{
    struct mesh_node *node = &mesh->nodes[rank];
    unsigned ports = machine_ports(&mesh->options.network, rank);

    if (links->port_count < ports) {
        return;
    }
    node->links_told = true;
    node->links_complete = links->complete;
    memcpy(node->ports, links->ports, ports * sizeof node->ports[0]);
    if (mesh->phase != MESH_BOOT || mesh->broken) {
        return;
    }
    node->was_reset = false; /* it was before it was known: nobody speaks to who it was */
    mesh->nodes_right -= node->links_right;
    node->links_right = node_is_right(mesh, rank);
    mesh->nodes_right += node->links_right;
    mesh_emit_progress(mesh, "boot", mesh->nodes_right, mesh->options.network.nodes);
    mesh_boot_check(mesh);
    if (mesh->nodes_right < mesh->options.network.nodes &&
        (has_crossed(node, ports) || mesh->crossed)) {
        mesh->crossed = true;
        uv_timer_start(&mesh->tick_timer, on_crossed,
                       nodes_told(mesh) < mesh->options.network.nodes ? CROSSED_GRACE_MS : 0, 0);
    }
}
