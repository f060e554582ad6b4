#include "host/cluster/connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_poll(uv_poll_t *poll, int status, int events);

static void on_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;

    tls_end(&connection->tls);
    close(connection->fd);
    free(connection->out);
    free(connection);
}

void connection_close(struct connection *connection)
{
    if (!connection->closed) {
        connection->closed = true;
        uv_close((uv_handle_t *)&connection->poll, on_closed);
    }
}

static void end(struct connection *connection, const char *why)
{
    if (connection->closed) {
        return;
    }
    connection_close(connection);
    if (!connection->finishes) {
        connection->owner.ended(connection->owner.context, why);
    }
}

/* Reads when there is room, writes when there is something. */
static void update_poll(struct connection *connection)
{
    bool shakes = !connection->connected;
    bool writes = shakes ? tls_wants_write(&connection->tls) : connection->out_bytes > 0;
    bool reads = shakes ? !writes : connection->in_bytes < CONNECTION_IN_MAX;
    int events = (reads ? UV_READABLE : 0) | (writes ? UV_WRITABLE : 0);

    if (connection->closed || !connection->began || events == connection->events) {
        return;
    }
    connection->events = events;
    if (events) {
        uv_poll_start(&connection->poll, events, on_poll);
    } else {
        uv_poll_stop(&connection->poll);
    }
}

/* Whether anything has left. */
static bool flush(struct connection *connection)
{
    ssize_t bytes;
    bool any = false;

    while (connection->out_bytes > 0 && !connection->closed &&
           (bytes = tls_write(&connection->tls, connection->out, connection->out_bytes)) != 0) {
        if (bytes < 0) {
            end(connection, tls_why(&connection->tls));
            return any;
        }
        connection->out_bytes -= (size_t)bytes;
        memmove(connection->out, connection->out + bytes, connection->out_bytes);
        any = true;
    }
    if (connection->out_bytes == 0 && connection->finishes) {
        shutdown(connection->fd, SHUT_WR);
    }
    return any;
}

/* Whether anything has come. What ends the connection is told when the bytes before have been. */
static bool fill(struct connection *connection, bool *over)
{
    ssize_t bytes = 0;
    bool any = false;

    while (connection->in_bytes < CONNECTION_IN_MAX &&
           (bytes = tls_read(&connection->tls, connection->in + connection->in_bytes,
                             CONNECTION_IN_MAX - connection->in_bytes)) > 0) {
        connection->in_bytes += connection->finishes ? 0 : (size_t)bytes;
        any = true;
    }
    *over = bytes < 0;
    return any;
}

static bool shake(struct connection *connection)
{
    int result = tls_shake(&connection->tls);

    connection->connected = result > 0;
    if (result < 0) {
        end(connection, tls_why(&connection->tls));
    }
    return result > 0;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct connection *connection = poll->data;
    bool moved = false, over = false;

    (void)status; /* an error shows when it is read or written */
    (void)events;
    connection->began = true;
    if (!connection->connected && !(moved = shake(connection))) {
        update_poll(connection);
        return;
    }
    moved |= flush(connection);
    if (!connection->closed) {
        moved |= fill(connection, &over);
    }
    if (moved && !connection->closed && !connection->finishes) {
        connection->owner.moved(connection->owner.context);
    }
    if (over) {
        end(connection, tls_why(&connection->tls));
    }
    update_poll(connection);
}

struct connection *connection_open(uv_loop_t *loop, int fd, bool server,
                                   const struct tls_keys *keys,
                                   const struct connection_owner *owner)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection || tls_begin(&connection->tls, fd, server, keys) != 0 ||
        uv_poll_init(loop, &connection->poll, fd) != 0) {
        if (connection) {
            tls_end(&connection->tls);
        }
        free(connection);
        close(fd);
        return NULL;
    }
    connection->owner = *owner;
    connection->fd = fd;
    connection->poll.data = connection;
    connection->events = server ? UV_READABLE : UV_WRITABLE;
    uv_poll_start(&connection->poll, connection->events, on_poll);
    return connection;
}

void connection_finish(struct connection *connection)
{
    connection->finishes = true;
    connection->in_bytes = 0;
    if (connection->connected) {
        flush(connection);
    }
    update_poll(connection);
}

void connection_take(struct connection *connection, size_t count)
{
    ssize_t bytes;

    connection->in_bytes -= count;
    memmove(connection->in, connection->in + count, connection->in_bytes);
    /* the socket does not tell of what GnuTLS has read of it already */
    while (connection->in_bytes < CONNECTION_IN_MAX && tls_holds(&connection->tls) &&
           (bytes = tls_read(&connection->tls, connection->in + connection->in_bytes,
                             CONNECTION_IN_MAX - connection->in_bytes)) > 0) {
        connection->in_bytes += (size_t)bytes;
    }
    update_poll(connection);
}

json_t *connection_line(struct connection *connection)
{
    char *end_of_line = memchr(connection->in, '\n', connection->in_bytes);
    size_t bytes = end_of_line ? (size_t)(end_of_line - connection->in) : 0;
    json_t *line;

    if (connection->closed || (!end_of_line && connection->in_bytes < CONNECTION_IN_MAX)) {
        return NULL;
    }
    line = end_of_line ? json_loadb(connection->in, bytes, 0, NULL) : NULL;
    if (!json_is_object(line)) {
        json_decref(line);
        end(connection, "what came is no line of the protocol");
        return NULL;
    }
    connection_take(connection, bytes + 1);
    return line;
}

void connection_words(char *words, size_t room, const char *text)
{
    size_t used = 0;

    for (; text[used] != '\0' && used + 1 < room; used++) {
        unsigned char c = (unsigned char)text[used];

        words[used] = c < ' ' || c == 0x7f ? '?' : text[used];
    }
    words[used] = '\0';
}

void connection_put(struct connection *connection, const void *bytes, size_t count)
{
    size_t need = connection->out_bytes + count;

    if (connection->closed) {
        return;
    }
    if (need > connection->out_room) {
        char *larger = realloc(connection->out, 2 * need);

        if (!larger) {
            end(connection, "out of memory");
            return;
        }
        connection->out = larger;
        connection->out_room = 2 * need;
    }
    memcpy(connection->out + connection->out_bytes, bytes, count);
    connection->out_bytes = need;
    if (connection->connected && need == count) {
        flush(connection);
    }
    update_poll(connection);
}

void connection_tell(struct connection *connection, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);

    json_decref(line);
    if (text) {
        size_t bytes = strlen(text);

        text[bytes] = '\n';
        connection_put(connection, text, bytes + 1);
        free(text);
    }
}
