/*
 * mesh_reset.c - nodes that were reset through a debugger.
 *
 * A node that starts anew knows nothing of what it had agreed on with its neighbours: so it breaks
 * the mesh, unless that is still booting and nobody knew it. When every node has been reset since
 * the boot began, the machine starts from the beginning, and so does this end of it: links, job,
 * boot. A dead node or a cut cable is not mended by that.
 */
#include <stdio.h>
#include <string.h>

#include "host/mesh_internal.h"

enum { NAMES_MAX = 8, NAMES_TEXT_MAX = 100 };

/* Of nodes that were reset; of all when all were. */
static json_t *reset_nodes(const struct mesh *mesh)
{
    json_t *nodes = json_array();

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        if (mesh->nodes[rank].was_reset) {
            json_array_append_new(nodes, json_integer(rank));
        }
    }
    return nodes;
}

/* "node 3 was", "nodes 0, 2 were", "all 4 nodes were" */
static void name_nodes(const struct mesh *mesh, const json_t *nodes, char text[NAMES_TEXT_MAX])
{
    size_t count = json_array_size(nodes), at;

    if (count == mesh->options.network.nodes && count > 1) {
        snprintf(text, NAMES_TEXT_MAX, "all %zu nodes were", count);
        return;
    }
    at = (size_t)snprintf(text, NAMES_TEXT_MAX, "node%s", count > 1 ? "s" : "");
    for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
        at += (size_t)snprintf(text + at, NAMES_TEXT_MAX - at, "%s %d", i ? "," : "",
                               (int)json_integer_value(json_array_get(nodes, i)));
    }
    if (count > NAMES_MAX) {
        at += (size_t)snprintf(text + at, NAMES_TEXT_MAX - at, " and %zu more", count - NAMES_MAX);
    }
    snprintf(text + at, NAMES_TEXT_MAX - at, " %s", count > 1 ? "were" : "was");
}

bool mesh_describe_reset(const struct mesh *mesh, char text[MESH_RESET_TEXT_MAX])
{
    json_t *nodes = reset_nodes(mesh);
    bool any = json_array_size(nodes) > 0;

    if (any) {
        size_t first = (size_t)json_integer_value(json_array_get(nodes, 0));
        const char *resetter = mesh->nodes[first].resetter;
        char names[NAMES_TEXT_MAX];

        name_nodes(mesh, nodes, names);
        snprintf(text, MESH_RESET_TEXT_MAX, "%s reset through a debugger%s%s%s", names,
                 resetter[0] ? " (" : "", resetter, resetter[0] ? ")" : "");
    }
    json_decref(nodes);
    return any;
}

static void tell(struct mesh *mesh, const char *outlook)
{
    char text[MESH_RESET_TEXT_MAX];

    if (mesh_describe_reset(mesh, text)) {
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:o, s:s}", "kind", "node-reset", "nodes",
                                    reset_nodes(mesh), "phase", mesh_phase_name(mesh->phase)),
                          "%s during %s: %s", text, mesh_phase_name(mesh->phase), outlook);
    }
}

bool mesh_reset_mends(const struct mesh *mesh)
{
    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        if (mesh->nodes[rank].dead) {
            return false;
        }
    }
    for (unsigned i = 0; i < mesh->dead_link_count; i++) {
        if (mesh->dead_links[i].reason == DEAD_CARRIER) {
            return false;
        }
    }
    return true;
}

void mesh_tell_reset(struct mesh *mesh)
{
    bool untold = false;

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        untold |= mesh->nodes[rank].was_reset && !mesh->nodes[rank].reset_told;
        mesh->nodes[rank].reset_told = mesh->nodes[rank].was_reset;
    }
    if (untold) {
        tell(mesh, mesh_reset_mends(mesh)
                       ? "reset all ('reset run' in OpenOCD), and the mesh boots anew"
                       : "the mesh is broken");
    }
}

static bool all_reset(const struct mesh *mesh)
{
    bool all = true;

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        all &= mesh->nodes[rank].was_reset;
    }
    return all;
}

/* What a node has told of itself. */
static void forget_node(struct mesh *mesh, uint32_t rank)
{
    struct mesh_node *node = &mesh->nodes[rank], before = *node;

    mesh_console_begin(mesh, rank);
    *node = (struct mesh_node){.dead = before.dead, .debug = before.debug, .blank = before.blank};
    memcpy(node->holder, before.holder, sizeof node->holder);
}

static void forget(struct mesh *mesh)
{
    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        forget_node(mesh, rank);
    }
    mesh->broken = mesh->crossed = false;
    mesh->dead_link_count = mesh->dead_links_told = 0;
    mesh->nodes_right = 0;
    mesh->model_ns = 0;
    json_array_clear(mesh->troubles);
}

/* The links first: until then they may send what the job holds. */
static void restart(struct mesh *mesh)
{
    tell(mesh, "the mesh boots anew");
    mesh->broken = true; /* no program that runs is there any more to be stopped */
    if (mesh->phase == MESH_DOWNLOAD || mesh->phase == MESH_RUN) {
        mesh_job_end(mesh, STATUS_MESH);
    }
    uv_timer_stop(&mesh->failure_timer);
    host_links_restart(&mesh->host);
    mesh_job_free(mesh);
    mesh->job = (struct mesh_job){0};
    forget(mesh);
    mesh->start_us = uv_hrtime() / 1000;
    mesh->boot_us = 0;
    mesh_boot_begin(mesh);
    host_links_pump(&mesh->host);
}

void mesh_was_reset(void *context, uint32_t rank)
{
    struct mesh *mesh = context;

    if (rank >= mesh->options.network.nodes || mesh->nodes[rank].blank) {
        return;
    }
    struct mesh_node *node = &mesh->nodes[rank];
    node->was_reset = true;
    node->reset_told = false;
    snprintf(node->resetter, sizeof node->resetter, "%s", node->holder);
    if (all_reset(mesh) && mesh_reset_mends(mesh)) {
        restart(mesh);
    } else if (mesh->phase == MESH_BOOT) {
        mesh_boot_forget(mesh, rank);
    } else {
        mesh_break(mesh);
    }
}
