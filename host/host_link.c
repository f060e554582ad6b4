#include "host/host_link.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/incarnation.h"
#include "router/router.h"

enum { STEPS_PER_PUMP = 256, NO_DEADLINE_MS = 3600 * 1000, CACHE_LINE_BYTES = 64 };

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status; /* an error on the socket shows as lost carrier */
    (void)events;
    host_links_pump(poll->data);
}

static void on_timer(uv_timer_t *timer)
{
    host_links_pump(timer->data);
}

int host_links_start(struct host_links *host, uv_loop_t *loop, const struct network *network,
                     const struct profile *profile, uint32_t patience_ms, const int *fds,
                     struct message *message)
{
    host->network = *network;
    host->config = (struct router_config){
        .id = ID_HOST,
        .links = host->links,
        .link_count = network_host_links(network),
        .network = &host->network,
        .profile = *profile,
        .dead_after_ms = patience_ms,
        .peers = host->peers,
        .incarnation = incarnation_next(0, uv_hrtime() / 1000),
    };

    host->count = network_host_links(network);
    host->outbox = calloc(OUTBOX_MAX, sizeof *host->outbox);
    size_t lines = router_memory_bytes(host->count, 0) / CACHE_LINE_BYTES + 1;
    host->router_memory = aligned_alloc(CACHE_LINE_BYTES, lines * CACHE_LINE_BYTES);
    if (!host->outbox || !host->router_memory) {
        return message_set(message, "out of memory");
    }
    uv_timer_init(loop, &host->timer);
    host->timer.data = host;
    host->handles_open = 1;
    for (unsigned i = 0; i < host->count; i++) {
        if (!socket_link_init(&host->sockets[i], fds[i])) {
            return message_set(message, "out of memory");
        }
        host->links[i] = &host->sockets[i].link;
        host->peers[i] = network_host_node(network, i);
        uv_poll_init(loop, &host->polls[i], fds[i]);
        host->polls[i].data = host;
        host->handles_open++;
    }
    host->config.memory = host->router_memory;
    router_init(&host->router, &host->config);
    host_links_pump(host);
    return 0;
}

void host_links_restart(struct host_links *host)
{
    CHECK(!host->pumping);
    host->outbox_first = host->outbox_count = 0;
    if (host->handles_open == 0) {
        return;
    }
    for (unsigned i = 0; i < host->count; i++) {
        socket_link_restart(&host->sockets[i]);
    }
    host->config.incarnation = incarnation_next(host->config.incarnation, uv_hrtime() / 1000);
    router_init(&host->router, &host->config);
}

static bool empty_outbox(struct host_links *host)
{
    bool moved = false;

    while (host->outbox_count > 0) {
        struct outbox_packet *packet = &host->outbox[host->outbox_first];

        if (router_send(&host->router, packet->kind, packet->dst, packet->body, packet->bytes) ==
            E_FULL) {
            break;
        }
        host->outbox_first = (host->outbox_first + 1) % OUTBOX_MAX;
        host->outbox_count--;
        moved = true;
    }
    return moved;
}

/* Listens for what each socket can bring now; a lost one is not asked again. */
static void update_polls(struct host_links *host)
{
    for (unsigned i = 0; i < host->count; i++) {
        int events = (socket_link_wants_read(&host->sockets[i]) ? UV_READABLE : 0) |
                     (socket_link_wants_write(&host->sockets[i]) ? UV_WRITABLE : 0);

        if (events != host->poll_events[i]) {
            host->poll_events[i] = events;
            if (events) {
                uv_poll_start(&host->polls[i], events, on_poll);
            } else {
                uv_poll_stop(&host->polls[i]);
            }
        }
    }
}

/* Never 0 ms: a timer that is set to now from within a timer runs again before the loop looks at
 * signals, children and sockets, and so for ever if the router always wants more. */
static void update_timer(struct host_links *host, bool more)
{
    uint64_t now_us = uv_hrtime() / 1000;
    uint64_t deadline_us = router_deadline(&host->router);
    uint64_t wait_ms = NO_DEADLINE_MS;

    if (more || deadline_us <= now_us) {
        wait_ms = 1;
    } else if (deadline_us != UINT64_MAX) {
        wait_ms = (deadline_us - now_us + 999) / 1000;
    }
    uv_update_time(host->timer.loop);
    uv_timer_start(&host->timer, on_timer, wait_ms < NO_DEADLINE_MS ? wait_ms : NO_DEADLINE_MS, 0);
}

void host_links_pump(struct host_links *host)
{
    bool more = true;
    const struct notice *notice;

    /* A notice function may send, which need not pump again. */
    if (host->pumping || host->handles_open == 0) {
        return;
    }
    host->pumping = true;
    for (unsigned i = 0; i < STEPS_PER_PUMP && more; i++) {
        for (unsigned k = 0; k < host->count; k++) {
            socket_link_flush(&host->sockets[k]);
        }
        more = router_step(&host->router, uv_hrtime() / 1000);
        while ((notice = router_notice(&host->router))) {
            host->packets += notice->kind == NOTICE_PACKET;
            host->notice(host->context, notice);
            more = true;
        }
        more |= empty_outbox(host);
    }
    host->pumping = false;
    if (host->handles_open > 0) {
        update_polls(host);
        update_timer(host, more);
    }
}

bool host_links_send(struct host_links *host, uint8_t kind, uint32_t dst, const void *body,
                     uint32_t bytes)
{
    struct outbox_packet *packet =
        &host->outbox[(host->outbox_first + host->outbox_count) % OUTBOX_MAX];

    if (host->outbox_count == OUTBOX_MAX || bytes > OUTBOX_BODY_MAX) {
        return false;
    }
    packet->kind = kind;
    packet->bytes = (uint8_t)bytes;
    packet->dst = dst;
    if (bytes > 0) {
        memcpy(packet->body, body, bytes);
    }
    host->outbox_count++;
    return true;
}

bool host_links_quiet(const struct host_links *host)
{
    bool quiet = router_quiet(&host->router);

    for (unsigned i = 0; i < host->count; i++) {
        quiet &= !socket_link_wants_write(&host->sockets[i]);
    }
    return quiet;
}

void host_links_close(struct host_links *host)
{
    if (host->handles_open == 0) {
        return;
    }
    uv_close((uv_handle_t *)&host->timer, NULL);
    for (unsigned i = 0; i + 1 < host->handles_open; i++) {
        uv_poll_stop(&host->polls[i]);
        uv_close((uv_handle_t *)&host->polls[i], NULL);
    }
    host->handles_open = 0;
}

void host_links_free(struct host_links *host)
{
    for (unsigned i = 0; i < host->count; i++) {
        socket_link_close(&host->sockets[i]);
    }
    free(host->outbox);
    free(host->router_memory);
    host->outbox = NULL;
    host->router_memory = NULL;
    host->count = 0;
}
