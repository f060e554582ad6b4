/*
 * mesh_run.c - programs at work: start, reports, exits, the end of a job.
 */
#include <string.h>

#include "drivers/check.h"
#include "host/mesh_internal.h"
#include "host/verbs.h"

enum { TICK_MS = 1000 / MESH_TICKS_PER_S, EXITS_TOLD_MAX = 4 };

/* What was measured; null: it was not. */
static json_t *measured(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

/* Null: no program has been sent. */
static json_t *describe_download(const struct mesh *mesh)
{
    const struct mesh_job *job = &mesh->job;
    const struct download_plan *plan = &job->plan;
    bool complete = job->receipts == mesh->options.network.nodes;
    uint64_t model_ns =
        job->clock_end_ns > job->clock_base_ns ? job->clock_end_ns - job->clock_base_ns : 0;

    if (!mesh->job_held) {
        return json_null();
    }
    return json_pack(
        "{s:s, s:i, s:I, s:o, s:f, s:o, s:i}", "strategy", download_strategy_name(plan->strategy),
        "x", (int)plan->x, "bytes", (json_int_t)plan->bytes, "model_us",
        measured(complete, (double)model_ns / 1e3), "predicted_us",
        (double)plan->predicted_ns / 1e3, "wall_ms", measured(complete, (double)job->wall_us / 1e3),
        "receipts", (int)job->receipts);
}

/* The status of each node's program; null: it has not ended by itself. */
static json_t *describe_exits(const struct mesh *mesh)
{
    json_t *exits = json_array();

    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        const struct mesh_node *node = &mesh->nodes[rank];

        json_array_append_new(
            exits, mesh->job_held && node->exited ? json_integer(node->exit_status) : json_null());
    }
    return exits;
}

json_t *mesh_describe(const struct mesh *mesh, int status)
{
    const struct mesh_options *options = &mesh->options;

    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "version",
                     ECUBE_VERSION, "mesh", options->network_name, "nodes",
                     (int)options->network.nodes, "profile",
                     report_profile(options->profile_name, &options->profile), "boot_ms",
                     measured(mesh->boot_us > 0, (double)mesh->boot_us / 1e3), "download",
                     describe_download(mesh), "run_ms",
                     measured(mesh->job.run_us > 0, (double)mesh->job.run_us / 1e3), "status",
                     status, "exits", describe_exits(mesh), "reports",
                     report_to_json(&mesh->job.reports), "troubles", json_copy(mesh->troubles));
}

/* Told up to a second late, and not in a broken mesh: there the dead node or link is the reason. */
void mesh_tell_exits(struct mesh *mesh)
{
    unsigned more = 0;

    for (uint32_t rank = 0; rank < mesh->options.network.nodes && !mesh->broken; rank++) {
        int status = mesh->nodes[rank].exit_untold;

        mesh->nodes[rank].exit_untold = 0;
        if (status != 0 && mesh->job.exits_told++ < EXITS_TOLD_MAX) {
            mesh_emit_trouble(mesh,
                              json_pack("{s:s, s:[i], s:i}", "kind", "exit-status", "nodes",
                                        (int)rank, "status", status),
                              "node %u (rank %u): the program exited with status %d",
                              (unsigned)rank, (unsigned)rank, status);
        } else if (status != 0) {
            more++;
        }
    }
    if (more > 0) {
        mesh_emit_trouble(
            mesh, json_pack("{s:s, s:[], s:i}", "kind", "more-exits", "nodes", "count", (int)more),
            "and %u more programs exited with a status other than 0", more);
    }
}

/* Programs that still run are stopped, so that the mesh takes the next one. */
void mesh_job_end(struct mesh *mesh, int status)
{
    for (uint32_t rank = 0; rank < mesh->options.network.nodes; rank++) {
        struct mesh_node *node = &mesh->nodes[rank];

        mesh_console_end(mesh, rank);
        if (node->running && !mesh->broken) {
            mesh_send(mesh, PACKET_STOP, rank, NULL, 0);
        }
        node->running = false;
    }
    mesh_tell_exits(mesh);
    if (mesh->job.run_start_us) {
        mesh->job.run_us = uv_hrtime() / 1000 - mesh->job.run_start_us;
    }
    mesh_enter_phase(mesh, MESH_READY);
    mesh_unbound(mesh);
    if (!mesh->job.cancelled) {
        mesh->owner.ended(mesh->owner.context, status, mesh_describe(mesh, status));
    }
}

static void tick(uv_timer_t *timer)
{
    mesh_watch_tick(timer->data);
}

static void tell_timeout(struct mesh *mesh, bool stands)
{
    mesh_emit_trouble(
        mesh, mesh_timeout_members(mesh, mesh->job.timeout_ms),
        "the run did not end within %.10g s: %u of %u programs have ended (--timeout sets it)",
        (double)mesh->job.timeout_ms / 1e3, mesh->job.ended, (unsigned)mesh->options.network.nodes);
    mesh_tell_waits(mesh, stands);
    mesh_job_end(mesh, STATUS_TIMEOUT);
}

static void after_second_look(void *context, struct mesh *mesh)
{
    (void)context;
    if (mesh->phase == MESH_RUN) {
        tell_timeout(mesh, mesh_look(mesh) && mesh->stall_count > 0);
    }
}

/* Programs between which messages are under way may all wait at one moment: they are looked at
 * twice before they are said to wait for each other. */
static void after_timeout(void *context, struct mesh *mesh)
{
    (void)context;
    if (mesh->phase != MESH_RUN) {
        return;
    }
    if (mesh_look(mesh)) {
        mesh_query(mesh, after_second_look, NULL);
    } else {
        tell_timeout(mesh, false);
    }
}

void mesh_run_timeout(struct mesh *mesh)
{
    mesh->timed_out = true;
    mesh_query(mesh, after_timeout, NULL);
}

void mesh_run_begin(struct mesh *mesh)
{
    uint32_t nodes = mesh->options.network.nodes;
    /* every program starts at the time when the last node had its data */
    uint8_t start[START_BYTES];

    if (mesh->job.cancelled) {
        mesh_job_end(mesh, mesh->job.status);
        return;
    }
    start_pack(start, &(struct start_body){mesh->model_ns});
    mesh_enter_phase(mesh, MESH_RUN);
    mesh->activity = mesh->activity_seen = 0;
    mesh->stall_count = mesh->quiet_ticks = mesh->ticks = 0;
    mesh->timed_out = false;
    mesh->job.run_start_us = uv_hrtime() / 1000;
    for (uint32_t rank = 0; rank < nodes; rank++) {
        struct mesh_node *node = &mesh->nodes[rank];

        node->running = true;
        node->exit_untold = 0;
        node->report_count = 0;
        mesh_console_begin(mesh, rank);
        mesh_send(mesh, PACKET_START, rank, start, sizeof start);
    }
    mesh_emit_progress(mesh, "run", 0, nodes);
    uv_timer_start(&mesh->tick_timer, tick, TICK_MS, TICK_MS);
    host_links_pump(&mesh->host);
}

static void node_ended(struct mesh *mesh, uint32_t rank, int status)
{
    struct mesh_node *node = &mesh->nodes[rank];
    struct mesh_job *job = &mesh->job;

    mesh_console_end(mesh, rank);
    node->running = false;
    node->exited = true;
    node->exit_status = status;
    job->status = status > job->status ? status : job->status;
    job->ended++;
    mesh_emit_progress(mesh, "run", job->ended, mesh->options.network.nodes);
    if (job->ended == mesh->options.network.nodes && !mesh->broken) {
        mesh_job_end(mesh, job->status);
    }
}

static void take_report(struct mesh *mesh, const struct notice *notice)
{
    struct mesh_node *node = &mesh->nodes[notice->src];
    unsigned before = mesh->job.reports.count;
    struct report_body told;

    if (!report_unpack(notice->body, notice->bytes, &told) ||
        !report_add(&mesh->job.reports, node->report_count, &told)) {
        return;
    }
    node->report_count++;
    if (mesh->job.reports.count > before) {
        mesh_emit(mesh, json_pack("{s:s, s:s, s:o}", "event", "report", "name",
                                  mesh->job.reports.reports[before].name, "bytes",
                                  report_count(mesh->job.reports.reports[before].bytes)));
    }
}

static void take_console(struct mesh *mesh, const struct notice *notice)
{
    struct console_body console;

    if (console_unpack(notice->body, notice->bytes, &console)) {
        mesh_take_console(mesh, notice->src, &console);
    }
}

static void take_exit(struct mesh *mesh, const struct notice *notice)
{
    struct exit_body told;

    if (exit_unpack(notice->body, notice->bytes, &told)) {
        mesh->nodes[notice->src].exit_untold = told.status & 0xff;
        node_ended(mesh, notice->src, mesh->nodes[notice->src].exit_untold);
    }
}

/* What a program had begun when it ended its node goes on with, and may hear of late. */
static void take_disagreement(struct mesh *mesh, const struct notice *notice)
{
    struct disagree_body told;

    if (mesh->phase == MESH_RUN && disagree_unpack(notice->body, notice->bytes, &told)) {
        mesh_tell_disagreement(mesh, notice->src, &told);
        mesh->job.status = mesh->job.status > 1 ? mesh->job.status : 1;
    }
}

static void take_fault(struct mesh *mesh, const struct notice *notice)
{
    struct fault_body fault;

    if (!fault_unpack(notice->body, notice->bytes, &fault)) {
        return;
    }
    if (fault.kind >= FAULT_KERNEL) {
        mesh_tell_fault(mesh, notice->src, &fault);
        mesh_fail(mesh,
                  json_pack("{s:s, s:[i]}", "kind", "kernel-stopped", "nodes", (int)notice->src),
                  "node %u (rank %u) is out of order: its kernel stopped", (unsigned)notice->src,
                  (unsigned)notice->src);
    } else if (mesh->phase == MESH_RUN && mesh->nodes[notice->src].running) {
        mesh->activity++;
        mesh_tell_fault(mesh, notice->src, &fault);
        node_ended(mesh, notice->src, fault_status(&fault));
    }
}

void mesh_run_packet(struct mesh *mesh, const struct notice *notice)
{
    switch (notice->packet_kind) {
    case PACKET_FAULT: take_fault(mesh, notice); return;
    case PACKET_DISAGREE: take_disagreement(mesh, notice); return;
    default: break;
    }
    if (mesh->phase != MESH_RUN || !mesh->nodes[notice->src].running) {
        return;
    }
    mesh->activity++;
    switch (notice->packet_kind) {
    case PACKET_CONSOLE: take_console(mesh, notice); break;
    case PACKET_REPORT: take_report(mesh, notice); break;
    case PACKET_EXIT: take_exit(mesh, notice); break;
    default: break;
    }
}
