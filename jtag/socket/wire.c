#include "jtag/socket/wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/check.h"

struct wire {
    uv_pipe_t pipe;
    uv_connect_t connecting;
    uv_shutdown_t shutting;
    uv_idle_t failure; /* tells an error of a write later, not from within wire_send */
    struct wire_owner owner;
    size_t pending;
    bool listens, doomed;
    unsigned handles; /* that are not closed yet */
    char buffer[WIRE_BUFFER_BYTES];
};

struct pending_write {
    uv_write_t write;
    size_t count;
    char bytes[];
};

static void on_closed(uv_handle_t *handle)
{
    struct wire *wire = handle->data;

    if (--wire->handles == 0) {
        free(wire);
    }
}

static void destroy(struct wire *wire)
{
    if (!uv_is_closing((uv_handle_t *)&wire->pipe)) {
        uv_close((uv_handle_t *)&wire->pipe, on_closed);
        uv_close((uv_handle_t *)&wire->failure, on_closed);
    }
}

static void end(struct wire *wire)
{
    uv_idle_stop(&wire->failure);
    if (wire->doomed) {
        destroy(wire);
    } else {
        wire->owner.ended(wire->owner.context);
    }
}

static void on_failure(uv_idle_t *idle)
{
    end(idle->data);
}

static void end_later(struct wire *wire)
{
    uv_read_stop((uv_stream_t *)&wire->pipe);
    wire->listens = false;
    if (!uv_is_closing((uv_handle_t *)&wire->failure)) {
        uv_idle_start(&wire->failure, on_failure);
    }
}

static void on_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct wire *wire = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(wire->buffer, sizeof wire->buffer);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct wire *wire = stream->data;

    if (count < 0) {
        uv_read_stop(stream);
        end(wire);
    } else if (count > 0) {
        wire->owner.received(wire->owner.context, buffer->base, (size_t)count);
    }
}

static void on_connected(uv_connect_t *request, int status)
{
    struct wire *wire = request->data;

    if (wire->doomed) {
        return;
    }
    if (status != 0) {
        end(wire);
        return;
    }
    wire_listen(wire, true);
    wire->owner.opened(wire->owner.context);
}

static struct wire *make(uv_loop_t *loop, const struct wire_owner *owner)
{
    struct wire *wire = calloc(1, sizeof *wire);

    CHECK(wire);
    wire->owner = *owner;
    wire->handles = 2;
    uv_pipe_init(loop, &wire->pipe, 0);
    uv_idle_init(loop, &wire->failure);
    wire->pipe.data = wire->failure.data = wire->connecting.data = wire->shutting.data = wire;
    return wire;
}

struct wire *wire_connect(uv_loop_t *loop, const char *path, const struct wire_owner *owner)
{
    struct wire *wire = make(loop, owner);

    uv_pipe_connect(&wire->connecting, &wire->pipe, path, on_connected);
    return wire;
}

struct wire *wire_accept(uv_stream_t *server, const struct wire_owner *owner)
{
    struct wire *wire = make(server->loop, owner);

    if (uv_accept(server, (uv_stream_t *)&wire->pipe) != 0) {
        destroy(wire);
        return NULL;
    }
    return wire;
}

static void on_written(uv_write_t *write, int status)
{
    struct pending_write *pending = (struct pending_write *)write;
    struct wire *wire = write->data;

    wire->pending -= pending->count;
    free(pending);
    if (status == UV_ECANCELED) {
        return;
    }
    if (status != 0) {
        end_later(wire);
    } else if (wire->pending == 0 && !wire->doomed && wire->owner.drained) {
        wire->owner.drained(wire->owner.context);
    }
}

static void keep(struct wire *wire, const char *bytes, size_t count)
{
    struct pending_write *pending = malloc(sizeof *pending + count);
    uv_buf_t buffer;

    CHECK(pending);
    memcpy(pending->bytes, bytes, count);
    pending->count = count;
    pending->write.data = wire;
    wire->pending += count;
    buffer = uv_buf_init(pending->bytes, (unsigned)count);
    if (uv_write(&pending->write, (uv_stream_t *)&wire->pipe, &buffer, 1, on_written) != 0) {
        wire->pending -= count;
        free(pending);
        end_later(wire);
    }
}

void wire_send(struct wire *wire, const void *bytes, size_t count)
{
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)count);
    int sent = wire->pending > 0 ? UV_EAGAIN : uv_try_write((uv_stream_t *)&wire->pipe, &buffer, 1);

    if (sent < 0 && sent != UV_EAGAIN) {
        end_later(wire);
        return;
    }
    sent = sent < 0 ? 0 : sent;
    if ((size_t)sent < count) {
        keep(wire, buffer.base + sent, count - (size_t)sent);
    }
}

size_t wire_pending(const struct wire *wire)
{
    return wire->pending;
}

void wire_listen(struct wire *wire, bool listens)
{
    if (listens == wire->listens) {
        return;
    }
    wire->listens = listens;
    if (listens) {
        uv_read_start((uv_stream_t *)&wire->pipe, on_buffer, on_read);
    } else {
        uv_read_stop((uv_stream_t *)&wire->pipe);
    }
}

pid_t wire_process(const struct wire *wire)
{
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)&wire->pipe, &fd) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
        return 0;
    }
    return peer.pid;
}

static void on_shut(uv_shutdown_t *request, int status)
{
    if (status != UV_ECANCELED) {
        destroy(request->data);
    }
}

/* With nothing to send there is no shutdown: libuv forgets one that is asked for while it still
 * connects, and the wire would never go. */
void wire_close(struct wire *wire, bool sends)
{
    wire->doomed = true;
    wire_listen(wire, false);
    uv_idle_stop(&wire->failure);
    if (!sends || wire->pending == 0 ||
        uv_shutdown(&wire->shutting, (uv_stream_t *)&wire->pipe, on_shut) != 0) {
        destroy(wire);
    }
}
