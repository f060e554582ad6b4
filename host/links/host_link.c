/*
 * host_link.c - the host's sockets and its next deadline, as handles of the event loop.
 *
 * A socket is watched only for what can be done with it now. One that is always writable, or that
 * has bytes for which no buffer is free, would keep the loop busy for nothing.
 */
#include "host/links/host_link.h"

enum { NO_DEADLINE_MS = 3600 * 1000 };

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct host_links *host = poll->data;

    (void)status; /* an error on the socket shows as lost carrier */
    (void)events;
    host->ready(host->context);
}

static void on_timer(uv_timer_t *timer)
{
    struct host_links *host = timer->data;

    host->ready(host->context);
}

int host_links_open(struct host_links *host, uv_loop_t *loop, const int *fds, unsigned count,
                    struct message *message)
{
    uv_timer_init(loop, &host->timer);
    host->timer.data = host;
    host->handles_open = 1;
    for (unsigned i = 0; i < count; i++) {
        if (!socket_link_init(&host->sockets[i], fds[i])) {
            return message_set(message, "out of memory");
        }
        host->count++;
        host->links[i] = &host->sockets[i].link;
        uv_poll_init(loop, &host->polls[i], fds[i]);
        host->polls[i].data = host;
        host->handles_open++;
    }
    return 0;
}

void host_links_restart(struct host_links *host)
{
    for (unsigned i = 0; i < host->count; i++) {
        socket_link_restart(&host->sockets[i]);
    }
}

void host_links_flush(struct host_links *host)
{
    for (unsigned i = 0; i < host->count; i++) {
        socket_link_flush(&host->sockets[i]);
    }
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
 * signals, children and sockets, and so for ever if the controller always wants more. */
static void update_timer(struct host_links *host, bool more, uint64_t deadline_us)
{
    uint64_t now_us = uv_hrtime() / 1000;
    uint64_t wait_ms = NO_DEADLINE_MS;

    if (more || deadline_us <= now_us) {
        wait_ms = 1;
    } else if (deadline_us != UINT64_MAX) {
        wait_ms = (deadline_us - now_us + 999) / 1000;
    }
    uv_update_time(host->timer.loop);
    uv_timer_start(&host->timer, on_timer, wait_ms < NO_DEADLINE_MS ? wait_ms : NO_DEADLINE_MS, 0);
}

void host_links_wait(struct host_links *host, bool more, uint64_t deadline_us)
{
    if (host->handles_open > 0) {
        update_polls(host);
        update_timer(host, more, deadline_us);
    }
}

bool host_links_quiet(const struct host_links *host)
{
    bool quiet = true;

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
    host->count = 0;
}
