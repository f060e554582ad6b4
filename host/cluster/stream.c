#include "host/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 32 * 1024 };

struct stream {
    struct connection *connection;
    uv_poll_t poll;
    int fd, events;
    bool closed;
    void (*ended)(void *context, struct stream *stream);
    void *context;
};

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;

    close(stream->fd);
    free(stream);
}

/* The socket's other end sees it at once, though others may hold this one, too. */
static void drop(struct stream *stream)
{
    if (stream->closed) {
        return;
    }
    stream->closed = true;
    shutdown(stream->fd, SHUT_RDWR);
    uv_close((uv_handle_t *)&stream->poll, on_closed);
    if (stream->ended) {
        stream->ended(stream->context, stream);
    }
}

void stream_end(struct stream *stream)
{
    connection_close(stream->connection);
    drop(stream);
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* From the connection to the socket. False: the socket is over. */
static bool give(struct stream *stream)
{
    struct connection *connection = stream->connection;

    while (connection->in_bytes > 0) {
        ssize_t bytes =
            send(stream->fd, connection->in, connection->in_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (bytes < 0) {
            return would_block();
        }
        connection_take(connection, (size_t)bytes);
    }
    return true;
}

/* And back. */
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
    int events = (connection->out_bytes < CONNECTION_OUT_FULL ? UV_READABLE : 0) |
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

static void move(struct stream *stream)
{
    if (stream->closed) {
        return;
    }
    if (!give(stream) || !take(stream)) {
        connection_finish(stream->connection);
        drop(stream);
        return;
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

    (void)why;
    if (!stream->closed) {
        give(stream); /* its last words */
        drop(stream);
    }
}

struct stream *stream_join(uv_loop_t *loop, struct connection *connection, int fd,
                           void (*ended)(void *context, struct stream *stream), void *context)
{
    struct stream *stream = calloc(1, sizeof *stream);

    if (!stream || uv_poll_init(loop, &stream->poll, fd) != 0) {
        free(stream);
        close(fd);
        connection_close(connection);
        return NULL;
    }
    stream->connection = connection;
    stream->fd = fd;
    stream->ended = ended;
    stream->context = context;
    stream->poll.data = stream;
    connection->owner =
        (struct connection_owner){.context = stream, .moved = on_moved, .ended = on_ended};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    move(stream);
    return stream;
}
