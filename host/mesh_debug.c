/*
 * mesh_debug.c - what debuggers do to nodes, as far as the mesh has to know.
 *
 * While a debugger has halted a node, and before a blank one has its kernel, the clocks of the tool
 * stand still: --timeout, --patience of boot, download and host links, the watch for programs that
 * wait for ever. Between nodes the clocks are the nodes' own.
 */
#include <stdio.h>
#include <string.h>

#include "host/mesh_internal.h"
#include "router/router.h"

enum {
    STAND_TICK_MS = 100,
    WAITS_TOLD_TICKS = 20, /* of a download: whoever steps through a program is not told */
    TEXT_ROOM = MESH_HALTED_TEXT_MAX
};

bool mesh_is_halted(const struct mesh *mesh, uint32_t rank)
{
    const struct mesh_node *node = &mesh->nodes[rank];

    return !node->dead && node->debug != JTAG_RUNNING;
}

static uint32_t first_halted(const struct mesh *mesh)
{
    uint32_t rank = 0;

    while (rank < mesh->options.network.nodes && !mesh_is_halted(mesh, rank)) {
        rank++;
    }
    return rank;
}

bool mesh_stands(const struct mesh *mesh)
{
    return first_halted(mesh) < mesh->options.network.nodes;
}

const char *mesh_debug_text(const struct mesh *mesh, uint32_t rank, char text[TEXT_ROOM])
{
    const struct mesh_node *node = &mesh->nodes[rank];

    if (node->blank) {
        snprintf(text, TEXT_ROOM, "blank: it has no kernel yet%s%s",
                 node->holder[0] ? ", held by " : "", node->holder);
    } else if (node->debug == JTAG_LOST) {
        snprintf(text, TEXT_ROOM, "told to run where no memory is%s%s",
                 node->holder[0] ? ", by " : "", node->holder);
    } else if (node->debug == JTAG_HALTED && node->holder[0]) {
        snprintf(text, TEXT_ROOM, "halted by %s", node->holder);
    } else if (node->debug == JTAG_HALTED) {
        snprintf(text, TEXT_ROOM, "halted; nobody debugs it: 'ecube debug %u' does",
                 (unsigned)rank);
    } else {
        snprintf(text, TEXT_ROOM, "running");
    }
    return text;
}

/* A download says for whom it waits; in a run, whoever has halted a node sees to it himself. */
static void tell_waiting(struct mesh *mesh)
{
    uint32_t nodes = mesh->options.network.nodes, rank = 0;
    char text[TEXT_ROOM];

    while (rank < nodes && (!mesh_is_halted(mesh, rank) || mesh->nodes[rank].receipted)) {
        rank++;
    }
    if (rank < nodes) {
        mesh->silence_told = true;
        mesh_emit_trouble(mesh,
                          json_pack("{s:s, s:[i], s:s}", "kind", "download-waits", "nodes",
                                    (int)rank, "holder", mesh->nodes[rank].holder),
                          "the download waits: node %u (rank %u) is %s", (unsigned)rank,
                          (unsigned)rank, mesh_debug_text(mesh, rank, text));
    }
}

static void on_stand_tick(uv_timer_t *timer)
{
    struct mesh *mesh = timer->data;

    router_forgive(&mesh->host.router, uv_hrtime() / 1000);
    if (mesh->phase == MESH_DOWNLOAD && !mesh->silence_told && !mesh->broken &&
        ++mesh->stand_ticks >= WAITS_TOLD_TICKS) {
        tell_waiting(mesh);
    }
}

/* The clocks begin to stand still, or go on. */
static void update_clocks(struct mesh *mesh)
{
    bool stands = mesh_stands(mesh), stood = mesh->stands;

    mesh->stands = stands;
    if (stands && !stood) {
        mesh->stand_ticks = 0;
        mesh_bound_hold(mesh);
        uv_timer_start(&mesh->stand_timer, on_stand_tick, STAND_TICK_MS, STAND_TICK_MS);
    } else if (!stands && stood) {
        uv_timer_stop(&mesh->stand_timer);
        mesh_bound_go_on(mesh);
    }
}

static void on_ready(void *context)
{
    struct mesh *mesh = context;

    mesh->debug_ready = true;
    if (mesh->target.blank && mesh->owner.blank) {
        mesh->owner.blank(mesh->owner.context);
    }
    mesh_boot_check(mesh);
}

void mesh_debug_changed(void *context, uint32_t rank, enum jtag_state state, const char *holder)
{
    struct mesh *mesh = context;

    if (rank >= mesh->options.network.nodes) {
        return;
    }
    struct mesh_node *node = &mesh->nodes[rank];
    node->debug = state;
    node->blank = node->blank && state != JTAG_RUNNING;
    snprintf(node->holder, sizeof node->holder, "%s", holder);
    if (node->was_reset && !node->resetter[0]) { /* who has it is told behind the reset */
        snprintf(node->resetter, sizeof node->resetter, "%s", holder);
    }
    if (mesh->stands && mesh->phase == MESH_BOOT && !mesh_stands(mesh)) {
        mesh->start_us = uv_hrtime() / 1000; /* the boot of nodes that were blank begins */
    }
    update_clocks(mesh);
}

static void on_ended(void *context, const char *words)
{
    struct mesh *mesh = context;

    mesh->debug_gone = true;
    if (!mesh->debug_ready) {
        mesh_fail(mesh, json_pack("{s:s, s:[]}", "kind", "debugging-gone", "nodes"),
                  "boot failed: the server of debuggers (ecube-jtag) %s", words);
        return;
    }
    mesh_emit_trouble(mesh, json_pack("{s:s, s:[]}", "kind", "debugging-gone", "nodes"),
                      "no node can be debugged any more, and a halted one stays halted: the server "
                      "of debuggers (ecube-jtag) %s; the mesh lives on",
                      words);
}

int mesh_debug_start(struct mesh *mesh, const struct rundir *rundir, struct message *message)
{
    struct jtag_owner owner = {.context = mesh,
                               .ready = on_ready,
                               .changed = mesh_debug_changed,
                               .was_reset = mesh_was_reset,
                               .ended = on_ended};
    struct jtag_options options = {.nodes = mesh->options.network.nodes,
                                   .chain = mesh->options.chain};

    if (!mesh->target.jtag[0]) {
        mesh->debug_ready = true; /* QEMU serves debuggers itself, and tells nothing of them */
        return 0;
    }
    for (uint32_t rank = 0; mesh->target.blank && rank < options.nodes; rank++) {
        mesh->nodes[rank].blank = true;
        mesh->nodes[rank].debug = JTAG_HALTED;
    }
    update_clocks(mesh);
    return jtag_start(&mesh->jtag, mesh->loop, &mesh->target, &options, rundir, &owner, message);
}

unsigned mesh_blank_count(const struct mesh *mesh)
{
    unsigned count = 0;

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        count += mesh->nodes[rank].blank;
    }
    return count;
}

json_t *mesh_describe_debug(const struct mesh *mesh, uint32_t rank)
{
    static const char *const states[] = {
        [JTAG_RUNNING] = "running", [JTAG_HALTED] = "halted", [JTAG_LOST] = "lost"};
    const struct mesh_node *node = &mesh->nodes[rank];

    if (node->debug == JTAG_RUNNING && !node->holder[0]) {
        return json_null();
    }
    return json_pack("{s:s, s:o}", "state", node->blank ? "blank" : states[node->debug], "holder",
                     node->holder[0] ? json_string(node->holder) : json_null());
}
