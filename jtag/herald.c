#include "jtag/herald.h"

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
static bool next_line(struct herald *herald)
{
    struct notice notice = {.kind = NOTICE_READY};

    herald->line_sent = 0;
    if (take_due(&herald->is_ready_due)) {
        herald->line_bytes = notice_format(&notice, herald->line);
        return true;
    }
    for (unsigned i = 0; i < herald->nodes; i++) {
        notice = (struct notice){.kind = NOTICE_RESET, .node = i};
        if (take_due(&herald->is_reset_due[i])) {
            herald->line_bytes = notice_format(&notice, herald->line);
            return true;
        }
        if (take_due(&herald->is_due[i])) {
            herald->line_bytes = notice_format(&herald->now[i], herald->line);
            return true;
        }
    }
    herald->line_bytes = 0;
    return false;
}

static void stop(struct herald *herald)
{
    uv_poll_stop(&herald->poll);
    herald->fd = -1;
    herald->gone(herald->context);
}

static void write_lines(struct herald *herald)
{
    while (herald->fd >= 0 && (herald->line_bytes > herald->line_sent || next_line(herald))) {
        ssize_t sent = write(herald->fd, herald->line + herald->line_sent,
                             herald->line_bytes - herald->line_sent);

        if (sent > 0) {
            herald->line_sent += (unsigned)sent;
        } else if (errno == EAGAIN) {
            uv_poll_start(&herald->poll, UV_WRITABLE | UV_DISCONNECT, on_poll);
            return;
        } else if (errno != EINTR) {
            stop(herald);
        }
    }
    if (herald->fd >= 0) {
        uv_poll_start(&herald->poll, UV_DISCONNECT, on_poll);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct herald *herald = poll->data;

    if (status < 0 || (events & UV_DISCONNECT)) {
        stop(herald);
    } else {
        write_lines(herald);
    }
}

int herald_start(struct herald *herald, uv_loop_t *loop, int fd, unsigned nodes,
                 enum notice_state state, void *context, void (*gone)(void *context))
{
    memset(herald, 0, sizeof *herald);
    herald->fd = fd;
    herald->nodes = nodes;
    herald->context = context;
    herald->gone = gone;
    for (unsigned i = 0; i < nodes; i++) {
        herald->now[i] =
            (struct notice){.kind = NOTICE_NODE, .node = i, .state = state, .holder = "-"};
    }
    if (fd < 0) {
        return 0;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    herald->poll.data = herald;
    int status = uv_poll_init(loop, &herald->poll, fd);
    return status != 0 ? status : uv_poll_start(&herald->poll, UV_DISCONNECT, on_poll);
}

void herald_tell_ready(struct herald *herald)
{
    herald->is_ready_due = true;
    write_lines(herald);
}

void herald_tell_node(struct herald *herald, unsigned node, enum notice_state state,
                      const char *holder)
{
    struct notice *now = &herald->now[node];

    if (now->state != state || strcmp(now->holder, holder) != 0) {
        now->state = state;
        snprintf(now->holder, sizeof now->holder, "%s", holder);
        herald->is_due[node] = true;
        write_lines(herald);
    }
}

void herald_tell_reset(struct herald *herald, unsigned node)
{
    herald->is_reset_due[node] = true;
    write_lines(herald);
}
