/*
 * clients.c - the connections of the process that holds a machine.
 *
 * A request is one line of JSON, and a connection has one. So a client that has asked is only
 * listened to for its end: what else it sends is thrown away.
 */
#include "host/machine/clients.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "host/console/message.h"

/* All arguments that a node has room for, each character in six: \u0001. */
enum { REQUEST_MAX = 8 << 20, SHOW_BACKLOG_MAX = 1 << 20 };

struct outgoing {
    uv_write_t write;
    struct client *client;
    struct line_receipt receipt;
    char *text;
};

static void on_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;

    free(client->request);
    free(client);
}

/* It may be reached from within a loop over all clients, so it is only marked here. The signal has
 * on_reap come from the top of the loop. */
static void doom(struct client *client)
{
    client->doomed = true;
    uv_async_send(&client->clients->reaper);
}

static void take_away(struct client *client)
{
    struct clients *clients = client->clients;
    struct client **at = &clients->first;

    while (*at != client) {
        at = &(*at)->next;
    }
    *at = client->next;
    clients->listed_count -= client->listed;
    uv_close((uv_handle_t *)&client->pipe, on_closed);
}

static void on_reap(uv_async_t *reaper)
{
    struct clients *clients = reaper->data;
    struct client *next;

    for (struct client *client = clients->first; client; client = next) {
        if (client->doomed) {
            clients->owner.gone(clients->owner.context, client);
        }
        next = client->next;
        if (client->doomed) {
            take_away(client);
        }
    }
}

static size_t backlog(const struct client *client)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&client->pipe);
}

/* The number stands where the lines would have stood, and only when there is room again: else the
 * note itself would be one more line that nobody reads. */
static void tell_left_out(struct client *client)
{
    char text[80];

    if (client->left_out > 0) {
        snprintf(text, sizeof text, "%u lines were left out here: they were not read in time",
                 (unsigned)client->left_out);
        client->left_out = 0;
        client_tell(client, json_pack("{s:s, s:s}", "event", "trouble", "text", text));
    }
}

static void on_written(uv_write_t *write, int status)
{
    struct outgoing *outgoing = (struct outgoing *)(void *)write;
    struct client *client = outgoing->client;
    struct line_receipt receipt = outgoing->receipt;

    free(outgoing->text);
    free(outgoing);
    if (client->doomed) {
        return;
    }
    if (status != 0) {
        doom(client);
        return;
    }
    if (receipt.bytes > 0) {
        client->clients->owner.taken(client->clients->owner.context, &receipt);
    }
    if (backlog(client) <= SHOW_BACKLOG_MAX / 2) {
        tell_left_out(client);
    }
}

static void send_line(struct client *client, const json_t *event,
                      const struct line_receipt *receipt)
{
    struct outgoing *outgoing = calloc(1, sizeof *outgoing);
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));
    size_t bytes = text ? strlen(text) : 0;
    uv_buf_t buffer;

    if (outgoing && text) {
        text[bytes] = '\n'; /* in place of the zero byte: the length travels beside it */
        *outgoing = (struct outgoing){.client = client, .receipt = *receipt, .text = text};
        buffer = uv_buf_init(text, (unsigned)bytes + 1);
        if (uv_write(&outgoing->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) == 0) {
            return;
        }
    }
    free(text);
    free(outgoing);
    doom(client);
}

/* The loop hears of an end only in its turn. Whoever acts for a client asks the socket itself. */
bool client_hung_up(const struct client *client)
{
    char byte;
    uv_os_fd_t fd;

    return client->doomed || uv_fileno((const uv_handle_t *)&client->pipe, &fd) != 0 ||
           recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void client_tell_line(struct client *client, json_t *event, const struct line_receipt *receipt)
{
    if (!client->doomed) {
        send_line(client, event, receipt);
    }
    json_decref(event);
}

void client_tell(struct client *client, json_t *event)
{
    static const struct line_receipt none;

    client_tell_line(client, event, &none);
}

void client_show(struct client *client, json_t *event)
{
    if (backlog(client) > SHOW_BACKLOG_MAX || client->left_out > 0) {
        client->left_out++;
        json_decref(event);
    } else {
        client_tell(client, event);
    }
}

void client_refuse(struct client *client, const char *text)
{
    client_tell(client, json_pack("{s:s, s:s, s:i}", "event", "error", "text", text, "status",
                                  STATUS_BAD_INPUT));
}

/* Without a buffer libuv tells on_read of an error, and that ends the client: a request has a
 * bound. */
static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct client *client = handle->data;
    char *request = realloc(client->request, client->request_bytes + suggested + 1);

    *buffer = uv_buf_init(NULL, 0);
    if (request && client->request_bytes + suggested <= REQUEST_MAX) {
        client->request = request;
        *buffer = uv_buf_init(request + client->request_bytes, (unsigned)suggested);
    } else if (request) {
        client->request = request;
    }
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
    struct client *client = stream->data;
    const struct clients_owner *owner = &client->clients->owner;
    char *end;
    json_t *request;

    (void)buffer;
    if (bytes < 0) {
        uv_read_stop(stream);
        doom(client);
        return;
    }
    client->request_bytes += (size_t)bytes;
    end = client->asked ? NULL : memchr(client->request, '\n', client->request_bytes);
    if (!end) {
        client->request_bytes = client->asked ? 0 : client->request_bytes;
        return;
    }
    client->asked = true;
    request = json_loadb(client->request, (size_t)(end - client->request), 0, NULL);
    client->request_bytes = 0;
    owner->request(owner->context, client, request);
    json_decref(request);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct clients *clients = listener->data;
    struct client *client = status == 0 ? calloc(1, sizeof *client) : NULL;

    if (!client) {
        return;
    }
    uv_pipe_init(listener->loop, &client->pipe, 0);
    client->pipe.data = client;
    client->clients = clients;
    client->next = clients->first;
    clients->first = client;
    /* One too many is accepted all the same: only so can it be told why it is refused. */
    client->listed = clients->listed_count < CLIENTS_MAX;
    clients->listed_count += client->listed;
    uv_accept(listener, (uv_stream_t *)&client->pipe);
    uv_read_start((uv_stream_t *)&client->pipe, on_allocate, on_read);
}

int clients_listen(struct clients *clients, uv_loop_t *loop, const char *path,
                   const struct clients_owner *owner)
{
    int status;

    *clients = (struct clients){.owner = *owner};
    signal(SIGPIPE, SIG_IGN); /* a connection that has broken shows as an error */
    uv_pipe_init(loop, &clients->listener, 0);
    uv_async_init(loop, &clients->reaper, on_reap);
    clients->listener.data = clients->reaper.data = clients;
    status = uv_pipe_bind(&clients->listener, path);
    return status ? status
                  : uv_listen((uv_stream_t *)&clients->listener, CLIENTS_MAX, on_connection);
}

void clients_deafen(struct clients *clients)
{
    if (!uv_is_closing((uv_handle_t *)&clients->listener)) {
        uv_close((uv_handle_t *)&clients->listener, NULL);
    }
}

void clients_close(struct clients *clients)
{
    clients_deafen(clients);
    uv_close((uv_handle_t *)&clients->reaper, NULL);
    while (clients->first) {
        clients->first->doomed = true;
        take_away(clients->first);
    }
}
