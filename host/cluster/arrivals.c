#include "host/cluster/arrivals.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/cluster/peers.h"

enum {
    TICK_MS = 1000,
    WAIT_TICKS = 10,    /* for a handshake and the first line */
    WAITING_MAX = 2048, /* more than a computer's nodes have ports */
};

struct arrival {
    struct arrival *next;
    struct arrivals *arrivals;
    struct connection *connection;
    unsigned ticks;
};

static void forget(struct arrival *arrival)
{
    struct arrival **at = &arrival->arrivals->waiting;

    while (*at != arrival) {
        at = &(*at)->next;
    }
    *at = arrival->next;
    free(arrival);
}

static void on_ended(void *context, const char *why)
{
    struct arrival *arrival = context;
    const struct arrivals_owner *owner = &arrival->arrivals->owner;
    const struct connection *connection = arrival->connection;
    bool foreign =
        !connection->connected && connection->tls.error != 0 && !tls_was_closed(&connection->tls);
    char address[64] = "an unknown address";

    (void)why;
    if (foreign && owner->foreign) {
        peers_far_address(connection->fd, address);
        owner->foreign(owner->context, address);
    }
    forget(arrival);
}

static void on_moved(void *context)
{
    struct arrival *arrival = context;
    const struct arrivals_owner owner = arrival->arrivals->owner;
    struct connection *connection = arrival->connection;
    json_t *line = connection_line(connection);

    if (line) {
        forget(arrival);
        owner.came(owner.context, connection, line);
        json_decref(line);
    }
}

static unsigned count_waiting(const struct arrivals *arrivals)
{
    unsigned count = 0;

    for (const struct arrival *arrival = arrivals->waiting; arrival; arrival = arrival->next) {
        count++;
    }
    return count;
}

static void take(struct arrivals *arrivals, int fd)
{
    struct arrival *arrival =
        count_waiting(arrivals) < WAITING_MAX ? calloc(1, sizeof *arrival) : NULL;
    const struct connection_owner owner = {
        .context = arrival, .moved = on_moved, .ended = on_ended};

    if (!arrival) {
        close(fd);
        return;
    }
    arrival->arrivals = arrivals;
    arrival->connection = connection_open(arrivals->loop, fd, true, arrivals->keys, &owner);
    if (!arrival->connection) {
        free(arrival);
        return;
    }
    arrival->next = arrivals->waiting;
    arrivals->waiting = arrival;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct arrivals *arrivals = poll->data;
    int fd, on = 1;

    (void)status;
    (void)events;
    while ((fd = accept4(arrivals->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        take(arrivals, fd);
    }
    if (errno == EMFILE || errno == ENFILE) {
        uv_poll_stop(poll); /* until the next tick, when others may have closed some */
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct arrivals *arrivals = timer->data;

    uv_poll_start(&arrivals->poll, UV_READABLE, on_poll);
    for (struct arrival *arrival = arrivals->waiting, *next; arrival; arrival = next) {
        next = arrival->next;
        if (++arrival->ticks > WAIT_TICKS) {
            connection_close(arrival->connection);
            forget(arrival);
        }
    }
}

void arrivals_open(struct arrivals *arrivals, uv_loop_t *loop, int listener,
                   const struct tls_keys *keys, const struct arrivals_owner *owner)
{
    *arrivals =
        (struct arrivals){.owner = *owner, .loop = loop, .keys = keys, .listener = listener};
    uv_poll_init(loop, &arrivals->poll, listener);
    arrivals->poll.data = arrivals;
    uv_poll_start(&arrivals->poll, UV_READABLE, on_poll);
    uv_timer_init(loop, &arrivals->timer);
    arrivals->timer.data = arrivals;
    uv_timer_start(&arrivals->timer, on_tick, TICK_MS, TICK_MS);
}
