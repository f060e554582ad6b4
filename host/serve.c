#include "host/serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/rundir.h"

enum { CLIENTS_MAX = 32, REQUEST_MAX = 1 << 20, BACKLOG_MAX = 16 << 20, CLOSE_TURNS = 8 };

struct client {
    struct server *server;
    uv_pipe_t pipe;
    char *request; /* what has come of the line */
    size_t request_bytes;
    bool asked;       /* the line was complete */
    bool listens;     /* to console lines */
    bool wants_nodes; /* waits for the answer to a query */
    bool closing;
};

struct server {
    uv_loop_t loop;
    uv_pipe_t listener;
    uv_signal_t signals[3];
    struct mesh mesh;
    struct client *clients[CLIENTS_MAX];
    struct client *runner; /* whose program is loaded */
    int report_fd;         /* -1 when the boot is over */
    int status;
};

struct outgoing {
    uv_write_t write;
    char *text;
};

static void on_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;

    free(client->request);
    free(client);
}

static void drop_client(struct client *client)
{
    struct server *server = client->server;

    if (client->closing) {
        return;
    }
    client->closing = true;
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (server->clients[i] == client) {
            server->clients[i] = NULL;
        }
    }
    uv_close((uv_handle_t *)&client->pipe, on_closed);
    if (server->runner == client) {
        server->runner = NULL;
        mesh_cancel(&server->mesh, 128 + SIGINT);
    }
}

static void on_written(uv_write_t *write, int status)
{
    struct outgoing *outgoing = (struct outgoing *)(void *)write;

    (void)status; /* a client that is gone shows in on_read */
    free(outgoing->text);
    free(outgoing);
}

/* A line for one client; a client that does not read loses its connection. */
static void tell(struct client *client, const json_t *event)
{
    struct outgoing *outgoing = calloc(1, sizeof *outgoing);
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));
    size_t bytes = text ? strlen(text) : 0;
    uv_buf_t buffer;

    if (!outgoing || !text || client->closing) {
        free(text);
        free(outgoing);
        return;
    }
    if (uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) > BACKLOG_MAX) {
        free(text);
        free(outgoing);
        drop_client(client);
        return;
    }
    text[bytes] = '\n'; /* in place of the zero byte: the length travels beside it */
    outgoing->text = text;
    buffer = uv_buf_init(text, (unsigned)bytes + 1);
    if (uv_write(&outgoing->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) != 0) {
        free(text);
        free(outgoing);
    }
}

static void tell_and_forget(struct client *client, json_t *event)
{
    tell(client, event);
    json_decref(event);
}

static void tell_error(struct client *client, const char *text)
{
    tell_and_forget(client, json_pack("{s:s, s:s, s:i}", "event", "error", "text", text, "status",
                                      STATUS_BAD_INPUT));
}

static void report_boot(struct server *server, const json_t *event)
{
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));

    /* Whoever started the mesh has been interrupted: it ends, too. */
    if (text && dprintf(server->report_fd, "%s\n", text) < 0) {
        server->status = STATUS_MESH;
        uv_stop(&server->loop);
    }
    free(text);
}

static void on_emit(void *context, json_t *event)
{
    struct server *server = context;
    const char *kind = json_string_value(json_object_get(event, "event"));
    bool for_listeners = kind && (strcmp(kind, "console") == 0 || strcmp(kind, "trouble") == 0);

    if (server->report_fd >= 0) {
        report_boot(server, event);
    }
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = server->clients[i];

        if (client && (client == server->runner || (client->listens && for_listeners))) {
            tell(client, event);
        }
    }
    json_decref(event);
}

static void on_booted(void *context, int status)
{
    struct server *server = context;
    json_t *event = json_pack("{s:s, s:i}", "event", "end", "status", status);

    report_boot(server, event);
    json_decref(event);
    close(server->report_fd);
    server->report_fd = -1;
    if (status != 0) {
        server->status = status;
        uv_stop(&server->loop);
    }
}

static void on_ended(void *context, int status, json_t *result)
{
    struct server *server = context;
    struct client *runner = server->runner;

    server->runner = NULL;
    if (runner) {
        tell_and_forget(runner, json_pack("{s:s, s:i, s:O}", "event", "end", "status", status,
                                          "result", result));
    }
    json_decref(result);
}

static void serve_load(struct client *client, const json_t *request)
{
    struct server *server = client->server;
    const json_t *list = json_object_get(request, "arguments");
    size_t count = json_array_size(list);
    const char **arguments = calloc(count + 1, sizeof *arguments);
    const char *strategy = json_string_value(json_object_get(request, "strategy"));
    struct mesh_job_request job = {
        .path = json_string_value(json_object_get(request, "path")),
        .arguments = arguments,
        .argument_count = (unsigned)count,
        .x = (int)json_integer_value(json_object_get(request, "x")),
        .timeout_ms = (uint32_t)json_integer_value(json_object_get(request, "timeout_ms")),
    };
    struct message message;

    for (size_t i = 0; arguments && i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        arguments[i] = text ? text : "";
    }
    if (!arguments || !job.path || !strategy) {
        tell_error(client, "malformed request");
    } else if (server->runner) {
        tell_error(client, "the mesh is busy: another program is running");
    } else if (download_parse_strategy(strategy, &job.strategy, &message) != 0) {
        tell_error(client, message.text);
    } else {
        tell_and_forget(client, json_pack("{s:s, s:i}", "event", "nodes", "nodes",
                                          (int)server->mesh.options.topology.nodes));
        server->mesh.options.verbose = json_is_true(json_object_get(request, "verbose"));
        server->runner = client;
        if (mesh_load(&server->mesh, &job, &message) != 0) {
            server->runner = NULL;
            tell_error(client, message.text);
        }
    }
    free(arguments);
}

static void on_queried(void *context, struct mesh *mesh)
{
    struct server *server = context;

    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = server->clients[i];

        if (client && client->wants_nodes) {
            client->wants_nodes = false;
            tell_and_forget(
                client, json_pack("{s:s, s:i, s:s, s:b, s:o, s:f, s:o}", "event", "end", "status",
                                  0, "mesh", mesh->options.topology.name, "broken", mesh->broken,
                                  "dead", mesh_describe_dead(mesh), "boot_ms",
                                  (double)mesh->boot_us / 1e3, "nodes", mesh_describe_nodes(mesh)));
        }
    }
}

static void serve_fault(struct client *client, const char *verb, const json_t *request)
{
    struct mesh *mesh = &client->server->mesh;
    const struct topology *topology = &mesh->options.topology;
    const char *text = json_string_value(json_object_get(request, "what"));
    const char *what = text ? text : "";
    bool cut = strcmp(verb, "cut") == 0, done;
    uint32_t ends[2];
    struct message message;

    if ((cut ? topology_parse_cable(topology, what, ends, &message)
             : topology_parse_node(topology, what, ends, &message)) != 0) {
        tell_error(client, message.text);
        return;
    }
    done = cut ? !mesh_link_is_dead(mesh, ends[0], ends[1]) &&
                     launcher_cut(&mesh->launcher, ends[0], ends[1])
               : launcher_kill(&mesh->launcher, ends[0]);
    if (!done) {
        message_set(&message, "%s %.40s is dead already", cut ? "link" : "node", what);
        tell_error(client, message.text);
        return;
    }
    tell_and_forget(client, json_pack("{s:s, s:i}", "event", "end", "status", 0));
}

/* Whether there was room for a client among those that are told of events and answers. */
static bool is_listed(const struct client *client)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (client->server->clients[i] == client) {
            return true;
        }
    }
    return false;
}

static void serve_request(struct client *client, const json_t *request)
{
    struct server *server = client->server;
    const char *verb = json_string_value(json_object_get(request, "verb"));

    if (server->report_fd >= 0) {
        tell_error(client, "the mesh is still booting");
    } else if (!verb) {
        tell_error(client, "malformed request");
    } else if (!is_listed(client) && strcmp(verb, "down") != 0) {
        tell_error(client, "the mesh is busy: too many tools are connected to it");
    } else if (strcmp(verb, "load") == 0) {
        serve_load(client, request);
    } else if (strcmp(verb, "ps") == 0) {
        client->wants_nodes = true;
        mesh_query(&server->mesh, on_queried, server);
    } else if (strcmp(verb, "console") == 0) {
        client->listens = true;
        tell_and_forget(client, json_pack("{s:s, s:i}", "event", "nodes", "nodes",
                                          (int)server->mesh.options.topology.nodes));
    } else if (strcmp(verb, "cut") == 0 || strcmp(verb, "kill") == 0) {
        serve_fault(client, verb, request);
    } else if (strcmp(verb, "down") == 0) {
        tell_and_forget(client, json_pack("{s:s, s:i}", "event", "end", "status", 0));
        uv_stop(&server->loop);
    } else {
        tell_error(client, "unknown verb");
    }
}

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
    char *end;
    json_t *request;

    (void)buffer;
    if (bytes < 0) {
        drop_client(client);
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
    serve_request(client, request);
    json_decref(request);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *server = listener->data;
    struct client *client = status == 0 ? calloc(1, sizeof *client) : NULL;

    if (!client) {
        return;
    }
    client->server = server;
    uv_pipe_init(&server->loop, &client->pipe, 0);
    client->pipe.data = client;
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (!server->clients[i]) {
            server->clients[i] = client;
            break;
        }
    }
    uv_accept(listener, (uv_stream_t *)&client->pipe);
    uv_read_start((uv_stream_t *)&client->pipe, on_allocate, on_read);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;

    server->status = 128 + number;
    uv_stop(&server->loop);
}

static int listen_on(struct server *server, const char *directory, struct message *message)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    char path[RUNDIR_PATH_MAX + 16];
    int status = uv_loop_init(&server->loop);

    if (status != 0) {
        return message_set(message, "cannot make an event loop: %s", uv_strerror(status));
    }
    for (unsigned i = 0; i < 3; i++) {
        uv_signal_init(&server->loop, &server->signals[i]);
        server->signals[i].data = server;
        uv_signal_start(&server->signals[i], on_signal, numbers[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof path, "%s/control", directory);
    uv_pipe_init(&server->loop, &server->listener, 0);
    server->listener.data = server;
    if (uv_pipe_bind(&server->listener, path) != 0 ||
        uv_listen((uv_stream_t *)&server->listener, CLIENTS_MAX, on_connection) != 0) {
        return message_set(message, "cannot make the control socket %s", path);
    }
    return 0;
}

int serve_mesh(const char *name, const struct mesh_options *options, const struct target *target,
               int report_fd)
{
    static struct server server;
    struct mesh_owner owner = {
        .context = &server, .emit = on_emit, .booted = on_booted, .ended = on_ended};
    struct rundir rundir;
    struct message message;

    server.report_fd = report_fd;
    if (rundir_create(&rundir, name, &message) != 0 ||
        listen_on(&server, rundir.path, &message) != 0 ||
        mesh_start(&server.mesh, &server.loop, options, target, rundir.path, &owner, &message) !=
            0) {
        json_t *event = json_pack("{s:s, s:s, s:i}", "event", "error", "text", message.text,
                                  "status", STATUS_BAD_INPUT);

        report_boot(&server, event);
        json_decref(event);
        rundir_remove(&rundir);
        return STATUS_BAD_INPUT;
    }
    uv_run(&server.loop, UV_RUN_DEFAULT);
    mesh_close(&server.mesh);
    for (unsigned i = 0; i < CLOSE_TURNS;
         i++) { /* lets last words leave; clients see the end of this process */
        uv_run(&server.loop, UV_RUN_NOWAIT);
    }
    mesh_free(&server.mesh);
    rundir_remove(&rundir);
    return server.status;
}
