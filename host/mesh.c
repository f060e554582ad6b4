#include "host/mesh.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "host/mesh_internal.h"
#include "router/notice.h"
#include "router/router.h"

json_t *mesh_text(const char *text, size_t bytes)
{
    char copy[MESSAGE_MAX];
    json_t *string = json_stringn(text, bytes);

    if (string) {
        return string;
    }
    for (size_t i = 0; i < bytes; i++) {
        copy[i] = (signed char)text[i] < 0 ? '?' : text[i];
    }
    return json_stringn(copy, bytes);
}

void mesh_emit(struct mesh *mesh, json_t *event)
{
    if (event) {
        mesh->telling++;
        mesh->owner.emit(mesh->owner.context, event);
        mesh->telling--;
    }
}

void mesh_emit_progress(struct mesh *mesh, const char *phase, unsigned done, unsigned total)
{
    mesh_emit(mesh, json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "phase", phase, "done",
                              (int)done, "total", (int)total));
}

void mesh_emit_trouble(struct mesh *mesh, json_t *members, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_object_set_new(members, "text", mesh_text(text, strlen(text)));
    json_array_append(mesh->troubles, members);
    json_t *event = json_copy(members);
    json_decref(members);
    json_object_set_new(event, "event", json_string("trouble"));
    mesh_emit(mesh, event);
}

void mesh_send(struct mesh *mesh, uint8_t kind, uint32_t node, const void *body, uint32_t bytes)
{
    if (!host_links_send(&mesh->host, kind, node, body, bytes) && !mesh->broken) {
        mesh_fail(mesh, json_pack("{s:s, s:[]}", "kind", "host-links-full", "nodes"),
                  "too many packets wait for the host links");
    }
}

static void on_injection(uv_timer_t *timer)
{
    struct mesh *mesh = timer->data;

    for (unsigned i = 0; i < mesh->options.injection_count; i++) {
        if (timer == &mesh->injection_timers[i]) {
            const struct mesh_injection *injection = &mesh->options.injections[i];

            if (injection->kill) {
                launcher_kill(&mesh->launcher, injection->a);
            } else {
                launcher_cut(&mesh->launcher, injection->a, injection->b);
            }
        }
    }
}

void mesh_enter_phase(struct mesh *mesh, enum mesh_phase phase)
{
    mesh->phase = phase;
    uv_timer_stop(&mesh->patience_timer);
    uv_timer_stop(&mesh->tick_timer);
    for (unsigned i = 0; i < mesh->options.injection_count; i++) {
        struct mesh_injection *injection = &mesh->options.injections[i];

        if (injection->phase == phase && !injection->fired) {
            injection->fired = true;
            uv_timer_start(&mesh->injection_timers[i], on_injection, injection->delay_ms, 0);
        }
    }
}

static void take_links(struct mesh *mesh, const struct notice *notice)
{
    struct links_body links;

    if (links_unpack(notice->body, notice->bytes, &links)) {
        mesh_boot_links(mesh, notice->src, &links);
    }
}

static void take_dead_link(struct mesh *mesh, const struct notice *notice)
{
    struct link_dead_body dead;

    if (link_dead_unpack(notice->body, notice->bytes, &dead)) {
        const struct network *network = &mesh->options.network;
        mesh_link_died(mesh, notice->src,
                       dead.port < network->ports
                           ? network_neighbour(network, notice->src, dead.port)
                           : ID_HOST,
                       dead.reason);
    }
}

static void take_state(struct mesh *mesh, const struct notice *notice)
{
    struct state_body state;

    if (state_unpack(notice->body, notice->bytes, &state)) {
        mesh_query_state(mesh, notice->src, &state);
    }
}

/* What a node says of the download. */
static void take_load(struct mesh *mesh, const struct notice *notice)
{
    struct cts_body ready;
    struct rts_reply_body word;
    struct receipt_body receipt;

    if (notice->packet_kind == PACKET_CTS) {
        if (cts_unpack(notice->body, notice->bytes, &ready)) {
            mesh_load_ready(mesh, notice->src, &ready);
        }
    } else if (notice->packet_kind == PACKET_RECEIPT) {
        if (receipt_unpack(notice->body, notice->bytes, &receipt)) {
            mesh_load_receipt(mesh, notice->src, &receipt);
        }
    } else if (rts_reply_unpack(notice->body, notice->bytes, &word)) {
        mesh_load_word(mesh, notice->src, notice->packet_kind, &word);
    }
}

static void take_packet(struct mesh *mesh, const struct notice *notice)
{
    if (notice->src >= mesh->options.network.nodes) {
        return;
    }
    mesh->nodes[notice->src].silent_us = 0;
    switch (notice->packet_kind) {
    case PACKET_LINKS: take_links(mesh, notice); break;
    case PACKET_CTS:
    case PACKET_RETRY:
    case PACKET_CANCEL:
    case PACKET_RECEIPT: take_load(mesh, notice); break;
    case PACKET_STATE: take_state(mesh, notice); break;
    case PACKET_LINK_DEAD: take_dead_link(mesh, notice); break;
    default: mesh_run_packet(mesh, notice); break;
    }
}

static void on_notice(void *context, const struct notice *notice)
{
    struct mesh *mesh = context;

    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(mesh, notice); break;
    case NOTICE_OPEN: /* nodes send no messages to the host */
        router_refuse(&mesh->host.router, notice->port, E_REFUSED);
        break;
    case NOTICE_CROSSED: /* in the boot the nodes' LINKS say more */
        if (mesh->phase != MESH_BOOT) {
            router_kill_port(&mesh->host.router, notice->port, DEAD_PROTOCOL);
        }
        break;
    case NOTICE_DEAD:
        mesh_link_died(mesh, network_host_node(&mesh->options.network, notice->port), ID_HOST,
                       (uint8_t)notice->status);
        break;
    default: mesh_load_notice(mesh, notice); break;
    }
    mesh_load_advance(mesh);
}

static void on_child_signal(uv_signal_t *handle, int number)
{
    struct mesh *mesh = handle->data;

    (void)number;
    launcher_reap(&mesh->launcher, mesh_node_died, mesh);
    jtag_reap(&mesh->jtag);
}

static void open_handles(struct mesh *mesh)
{
    uv_timer_t *timers[] = {&mesh->bound_timer, &mesh->patience_timer, &mesh->failure_timer,
                            &mesh->tick_timer,  &mesh->query_timer,    &mesh->stand_timer};

    for (unsigned i = 0; i < sizeof timers / sizeof timers[0]; i++) {
        uv_timer_init(mesh->loop, timers[i]);
        timers[i]->data = mesh;
    }
    for (unsigned i = 0; i < INJECTIONS_MAX; i++) {
        uv_timer_init(mesh->loop, &mesh->injection_timers[i]);
        mesh->injection_timers[i].data = mesh;
    }
    uv_signal_init(mesh->loop, &mesh->child_signal);
    mesh->child_signal.data = mesh;
    uv_signal_start(&mesh->child_signal, on_child_signal, SIGCHLD);
    mesh->handles_open = true;
}

int mesh_start(struct mesh *mesh, uv_loop_t *loop, const struct mesh_options *options,
               const struct target *target, const struct rundir *rundir,
               const struct mesh_owner *owner, struct message *message)
{
    *mesh = (struct mesh){.loop = loop, .options = *options, .owner = *owner, .target = *target};
    mesh->start_us = uv_hrtime() / 1000;
    mesh->nodes = calloc(options->network.nodes, sizeof *mesh->nodes);
    mesh->troubles = json_array();
    if (!mesh->nodes || !mesh->troubles) {
        return message_set(message, "out of memory");
    }
    open_handles(mesh);
    if (options->timeout_ms > 0) { /* what follows counts, too */
        mesh_bound(mesh, options->timeout_ms);
    }
    mesh->host.notice = on_notice;
    mesh->host.context = mesh;
    if (launcher_start(&mesh->launcher, &options->network, options->crossings,
                       options->crossing_count, target, rundir, message) != 0) {
        return -1;
    }
    mesh_boot_begin(mesh);
    if (mesh_debug_start(mesh, rundir, message) != 0) {
        return -1;
    }
    return host_links_start(&mesh->host, loop, &options->network, &options->profile,
                            options->link_patience_ms ? options->link_patience_ms
                                                      : options->patience_ms,
                            mesh->launcher.host_fds, message);
}

void mesh_close(struct mesh *mesh)
{
    uv_handle_t *handles[] = {
        (uv_handle_t *)&mesh->bound_timer,   (uv_handle_t *)&mesh->patience_timer,
        (uv_handle_t *)&mesh->failure_timer, (uv_handle_t *)&mesh->tick_timer,
        (uv_handle_t *)&mesh->query_timer,   (uv_handle_t *)&mesh->stand_timer,
        (uv_handle_t *)&mesh->child_signal};

    if (!mesh->handles_open) {
        return;
    }
    CHECK(mesh->telling == 0);
    mesh->handles_open = false;
    host_links_close(&mesh->host);
    for (unsigned i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        uv_close(handles[i], NULL);
    }
    for (unsigned i = 0; i < INJECTIONS_MAX; i++) {
        uv_close((uv_handle_t *)&mesh->injection_timers[i], NULL);
    }
    launcher_stop(&mesh->launcher);
    jtag_stop(&mesh->jtag);
}

void mesh_free(struct mesh *mesh)
{
    mesh_job_free(mesh);
    for (uint32_t rank = 0; mesh->nodes && rank < mesh->options.network.nodes; rank++) {
        mesh_console_begin(mesh, rank);
    }
    json_decref(mesh->troubles);
    host_links_free(&mesh->host);
    free(mesh->nodes);
    mesh->nodes = NULL;
}
