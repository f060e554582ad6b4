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
#include "wire/bytes.h"

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

static void take_packet(struct mesh *mesh, const struct notice *notice)
{
    const uint8_t *bytes = notice->packet;
    struct mesh_packet packet = {.kind = bytes[0],
                                 .node = get32(bytes + 4),
                                 .body = bytes + PACKET_HEADER_BYTES,
                                 .bytes = get16(bytes + 2)};

    if (packet.node >= mesh->options.network.nodes) {
        return;
    }
    mesh->nodes[packet.node].silent_us = 0;
    switch (packet.kind) {
    case PACKET_LINKS: mesh_boot_packet(mesh, &packet); break;
    case PACKET_READY:
    case PACKET_LATER:
    case PACKET_GONE:
    case PACKET_RECEIPT: mesh_load_packet(mesh, &packet); break;
    case PACKET_STATE: mesh_query_packet(mesh, &packet); break;
    case PACKET_LINK_DEAD:
        if (packet.bytes >= LINK_DEAD_BYTES) {
            mesh_link_died(mesh, packet.node,
                           packet.body[0] < mesh->options.network.ports
                               ? packet.node ^ UINT32_C(1) << packet.body[0]
                               : ID_HOST,
                           packet.body[1]);
        }
        break;
    default: mesh_run_packet(mesh, &packet); break;
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
