#include "jtag/daemon/notifier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_poll(uv_poll_t *poll, int status, int events);

static bool take_due(bool *due)
{
    bool was = *due;

    *due = false;
    return was;
}

/* The next line; false: nothing is to be told. */
static bool next_line(struct notifier *notifier)
{
    struct notice notice = {.kind = NOTICE_READY};

    notifier->line_sent = 0;
    if (take_due(&notifier->is_ready_due)) {
        notifier->line_bytes = notice_format(&notice, notifier->line);
        return true;
    }
    for (unsigned i = 0; i < notifier->nodes; i++) {
        notice = (struct notice){.kind = NOTICE_RESET, .node = i};
        if (take_due(&notifier->is_reset_due[i])) {
            notifier->line_bytes = notice_format(&notice, notifier->line);
            return true;
        }
        if (take_due(&notifier->is_due[i])) {
            notifier->line_bytes = notice_format(&notifier->now[i], notifier->line);
            return true;
        }
    }
    notifier->line_bytes = 0;
    return false;
}

static void stop(struct notifier *notifier)
{
    uv_poll_stop(&notifier->poll);
    notifier->fd = -1;
    notifier->gone(notifier->context);
}

static void write_lines(struct notifier *notifier)
{
    while (notifier->fd >= 0 &&
           (notifier->line_bytes > notifier->line_sent || next_line(notifier))) {
        ssize_t sent = write(notifier->fd, notifier->line + notifier->line_sent,
                             notifier->line_bytes - notifier->line_sent);

        if (sent > 0) {
            notifier->line_sent += (unsigned)sent;
        } else if (errno == EAGAIN) {
            uv_poll_start(&notifier->poll, UV_WRITABLE | UV_DISCONNECT, on_poll);
            return;
        } else if (errno != EINTR) {
            stop(notifier);
        }
    }
    if (notifier->fd >= 0) {
        uv_poll_start(&notifier->poll, UV_DISCONNECT, on_poll);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct notifier *notifier = poll->data;

    if (status < 0 || (events & UV_DISCONNECT)) {
        stop(notifier);
    } else {
        write_lines(notifier);
    }
}

int notifier_start(struct notifier *notifier, uv_loop_t *loop, int fd, unsigned nodes,
                   enum notice_state state, void *context, void (*gone)(void *context))
{
    memset(notifier, 0, sizeof *notifier);
    notifier->fd = fd;
    notifier->nodes = nodes;
    notifier->context = context;
    notifier->gone = gone;
    for (unsigned i = 0; i < nodes; i++) {
        notifier->now[i] =
            (struct notice){.kind = NOTICE_NODE, .node = i, .state = state, .holder = "-"};
    }
    if (fd < 0) {
        return 0;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    notifier->poll.data = notifier;
    int status = uv_poll_init(loop, &notifier->poll, fd);
    return status != 0 ? status : uv_poll_start(&notifier->poll, UV_DISCONNECT, on_poll);
}

void notifier_tell_ready(struct notifier *notifier)
{
    notifier->is_ready_due = true;
    write_lines(notifier);
}

void notifier_tell_node(struct notifier *notifier, unsigned node, enum notice_state state,
                        const char *holder)
{
    struct notice *now = &notifier->now[node];

    if (now->state != state || strcmp(now->holder, holder) != 0) {
        now->state = state;
        snprintf(now->holder, sizeof now->holder, "%s", holder);
        notifier->is_due[node] = true;
        write_lines(notifier);
    }
}

void notifier_tell_reset(struct notifier *notifier, unsigned node)
{
    notifier->is_reset_due[node] = true;
    write_lines(notifier);
}
