/*
 * host_link.h - the host's ends of the host links, in the event loop: sockets, what they can bring,
 * and the time at which the controller over them wants to run.
 *
 * Whenever one of them has something, `ready` is called; its owner lets the controller do what it
 * can, and says then (host_links_wait) what to listen for.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/computer/limits.h"
#include "host/console/message.h"
#include "host/links/socket_link.h"

struct host_links {
    unsigned count;
    struct socket_link sockets[MACHINE_HOST_LINKS_MAX];
    struct link *links[MACHINE_HOST_LINKS_MAX];
    uv_poll_t polls[MACHINE_HOST_LINKS_MAX];
    int poll_events[MACHINE_HOST_LINKS_MAX];
    uv_timer_t timer;
    unsigned handles_open;
    void (*ready)(void *context);
    void *context;
};

/* Attaches to the host's ends of `count` links. */
int host_links_open(struct host_links *host, uv_loop_t *loop, const int *fds, unsigned count,
                    struct message *message);

/* Begins anew on the same sockets, as nodes do that were reset: what was to be sent is forgotten,
 * half a frame stays half, and what the cables still bring of before is nobody's. */
void host_links_restart(struct host_links *host);

/* Hands to the sockets what they can take now. */
void host_links_flush(struct host_links *host);

/* Listens until a socket has something, or deadline_us (uv_hrtime's clock; UINT64_MAX: never);
 * `more`: there is something to do at once, after what else the loop has to do. */
void host_links_wait(struct host_links *host, bool more, uint64_t deadline_us);

/* Whether no socket has anything to send that it was given: it reads no memory of others. */
bool host_links_quiet(const struct host_links *host);

/* Closes the loop's handles; host_links_free after the loop has run once more. */
void host_links_close(struct host_links *host);
void host_links_free(struct host_links *host);
