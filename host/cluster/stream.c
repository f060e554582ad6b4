#include "host/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 32 * 1024 };

struct stream {
    struct connection *connection; /* NULL: it has ended */
    uv_poll_t poll;
    int fd, events;
    bool closed;
    char *rest; /* that came before the connection ended, and has not left */
    size_t rest_bytes;
};

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;

    close(stream->fd);
    free(stream->rest);
    free(stream);
}

/* The socket's other end sees it at once, though others may hold this one, too. */
static void drop(struct stream *stream)
{
    if (!stream->closed) {
        stream->closed = true;
        shutdown(stream->fd, SHUT_RDWR);
        uv_close((uv_handle_t *)&stream->poll, on_closed);
    }
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Bytes that have left, of `count`. What nobody reads any more has left, too. */
static size_t push(struct stream *stream, const char *bytes, size_t count)
{
    ssize_t sent = send(stream->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);

    return sent >= 0 ? (size_t)sent : would_block() ? 0 : count;
}

/* From the connection to the socket. */
static void give(struct stream *stream)
{
    struct connection *connection = stream->connection;
    size_t sent;

    while (connection->in_bytes > 0 &&
           (sent = push(stream, connection->in, connection->in_bytes)) > 0) {
        connection_take(connection, sent);
    }
}

/* And back. False: the socket is over, and all that it had is in the connection. */
static bool take(struct stream *stream)
{
    struct connection *connection = stream->connection;
    char chunk[CHUNK];

    while (connection->out_bytes < CONNECTION_OUT_FULL && !connection->closed) {
        ssize_t bytes = recv(stream->fd, chunk, sizeof chunk, MSG_DONTWAIT);

        if (bytes <= 0) {
            return bytes < 0 && would_block();
        }
        connection_put(connection, chunk, (size_t)bytes);
    }
    return true;
}

static void on_poll(uv_poll_t *poll, int status, int events);

static void update_poll(struct stream *stream)
{
    const struct connection *connection = stream->connection;
    int events = !connection ? UV_WRITABLE
                             : (connection->out_bytes < CONNECTION_OUT_FULL ? UV_READABLE : 0) |
                                   (connection->in_bytes > 0 ? UV_WRITABLE : 0);

    if (!stream->closed && events != stream->events) {
        stream->events = events;
        if (events) {
            uv_poll_start(&stream->poll, events, on_poll);
        } else {
            uv_poll_stop(&stream->poll);
        }
    }
}

/* What came before the connection ended. */
static void give_rest(struct stream *stream)
{
    size_t sent;

    while (stream->rest_bytes > 0 && (sent = push(stream, stream->rest, stream->rest_bytes)) > 0) {
        stream->rest_bytes -= sent;
        memmove(stream->rest, stream->rest + sent, stream->rest_bytes);
    }
    if (stream->rest_bytes == 0) {
        drop(stream);
    }
}

static void move(struct stream *stream)
{
    if (stream->closed) {
        return;
    }
    if (!stream->connection) {
        give_rest(stream);
    } else {
        give(stream);
        if (!take(stream)) {
            connection_finish(stream->connection);
            drop(stream);
        }
    }
    update_poll(stream);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    move(poll->data);
}

static void on_moved(void *context)
{
    move(context);
}

static void on_ended(void *context, const char *why)
{
    struct stream *stream = context;
    const struct connection *connection = stream->connection;

    (void)why;
    stream->connection = NULL;
    stream->rest = malloc(connection->in_bytes + 1);
    if (stream->rest) {
        stream->rest_bytes = connection->in_bytes;
        memcpy(stream->rest, connection->in, stream->rest_bytes);
    }
    move(stream);
}

void stream_join(uv_loop_t *loop, struct connection *connection, int fd)
{
    struct stream *stream = calloc(1, sizeof *stream);

    if (!stream || uv_poll_init(loop, &stream->poll, fd) != 0) {
        free(stream);
        close(fd);
        connection_close(connection);
        return;
    }
    stream->connection = connection;
    stream->fd = fd;
    stream->poll.data = stream;
    connection->owner =
        (struct connection_owner){.context = stream, .moved = on_moved, .ended = on_ended};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    move(stream);
}
