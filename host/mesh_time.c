/*
 * mesh_time.c - how long a phase may take.
 *
 * --timeout is the time by the clock for all of a run: from the start of the nodes, or of a load,
 * to the end of the last program, whatever shows meanwhile.
 *
 * --patience is for silence. A boot fails when for so long nothing new has shown: no link has come
 * up, at the host or as nodes tell, and no node has told its links for the first time. There is
 * only so much to show, so this ends, too. A download fails when a node without a receipt has not
 * answered for one and a half times as long; a link has died before where it owes something
 * (channel.h). A tick of the clock counts by the share of a processor that each process gets, for
 * on a busy machine nodes are on their way and show nothing.
 *
 * While a debugger has stopped a node none of this counts (mesh_debug.c).
 *
 * Example  15 s, two processors, and 6 processes that could run: each has a third of a processor,
 *          and 45 s pass
 */
#include "host/available.h"
#include "host/mesh_internal.h"
#include "router/channel.h"

enum {
    TICK_MS = 100,
    SHARE_MIN_PERMILLE = 31 /* a dead node is named in 32 times the patience, however busy it is */
};

uint64_t mesh_patience_us(const struct mesh *mesh)
{
    uint32_t patience_ms = mesh->options.patience_ms;

    return (uint64_t)(patience_ms ? patience_ms : (uint32_t)DEAD_AFTER_MS) * 1000;
}

/* Ticks are counted, not the clock: while this process was stopped it has heard nobody. */
void mesh_patience_tick(struct mesh *mesh)
{
    unsigned share = available_share_permille();
    uint64_t passed_us = TICK_MS * (share > SHARE_MIN_PERMILLE ? share : SHARE_MIN_PERMILLE);

    if (mesh->broken || mesh->stands) {
        return;
    }
    if (mesh->phase == MESH_BOOT) {
        mesh_boot_tick(mesh, passed_us);
    } else if (mesh->phase == MESH_DOWNLOAD) {
        mesh_load_tick(mesh, passed_us);
    }
}

static void on_tick(uv_timer_t *timer)
{
    mesh_patience_tick(timer->data);
}

void mesh_patience_begin(struct mesh *mesh)
{
    mesh->shown = 0;
    mesh->silent_us = 0;
    mesh->silence_told = false;
    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        mesh->nodes[rank].silent_us = 0;
    }
    uv_timer_start(&mesh->patience_timer, on_tick, TICK_MS, TICK_MS);
}

json_t *mesh_timeout_members(const struct mesh *mesh, uint32_t limit_ms)
{
    return json_pack("{s:s, s:[], s:s, s:f, s:i}", "kind", "timeout", "nodes", "phase",
                     mesh_phase_name(mesh->phase), "limit_ms", (double)limit_ms, "ended",
                     (int)mesh->job.ended);
}

static void on_bound(uv_timer_t *timer)
{
    struct mesh *mesh = timer->data;

    mesh->bounded = false;
    if (mesh->broken) { /* it is about to end */
        return;
    }
    switch (mesh->phase) {
    case MESH_BOOT: mesh_boot_timeout(mesh); break;
    case MESH_DOWNLOAD: mesh_load_timeout(mesh); break;
    case MESH_RUN: mesh_run_timeout(mesh); break;
    default: break;
    }
}

void mesh_bound(struct mesh *mesh, uint32_t timeout_ms)
{
    mesh->bounded = true;
    mesh->bound_left_ms = timeout_ms;
    mesh_bound_go_on(mesh);
}

void mesh_bound_hold(struct mesh *mesh)
{
    if (uv_is_active((uv_handle_t *)&mesh->bound_timer)) {
        mesh->bound_left_ms = uv_timer_get_due_in(&mesh->bound_timer);
        uv_timer_stop(&mesh->bound_timer);
    }
}

void mesh_bound_go_on(struct mesh *mesh)
{
    if (mesh->bounded && !mesh->stands) {
        uv_timer_start(&mesh->bound_timer, on_bound, mesh->bound_left_ms, 0);
    }
}

void mesh_unbound(struct mesh *mesh)
{
    mesh->bounded = false;
    uv_timer_stop(&mesh->bound_timer);
}
