/*
 * serve.c - the process that holds a machine which stays: its clients' requests, and its end.
 *
 * One client at a time runs a program (`runner`), one more may wait for it (`waiter`); all others
 * may ask and listen. Whatever is asked gets a word at once, in a boot too. The process ends by
 * `ecube down`, a signal, or when its directory has gone, and then takes the machine with it. Until
 * the boot is over it writes to the tool that has started it (report_fd), and ends with that.
 */
#include "host/machine/serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/machine/clients.h"
#include "host/machine/describe.h"
#include "host/machine/link_maker.h"
#include "host/machine/openocd.h"
#include "host/machine/rundir_watch.h"

enum { CLOSE_TURNS = 8, WAIT_TICK_MS = 20 };

struct server {
    uv_loop_t loop;
    uv_signal_t signals[3];
    struct rundir_watch rundir_watch;
    struct machine machine;
    struct clients clients;
    struct client *runner; /* whose program is loaded */
    struct client *mover;  /* who scatters or gathers */
    struct client *waiter; /* who loads when a job that has ended is out of the way */
    json_t *waiter_request;
    uint64_t waiter_since_ms, waiter_timeout_ms;
    uv_timer_t waiter_timer;
    struct rundir rundir;
    uint64_t start_us;
    const struct serve_options *options;
    uv_poll_t reader_poll; /* while somebody waits for the boot: */
    int report_fd;         /* -1: nobody does */
    int status;
};

static void on_wait_tick(uv_timer_t *timer);

static bool booting(const struct server *server)
{
    return machine_is_booting(&server->machine);
}

static void stop(struct server *server, int status)
{
    server->status = status;
    uv_stop(&server->loop);
}

static void report_boot(struct server *server, const json_t *event)
{
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));

    if (text && dprintf(server->report_fd, "%s\n", text) < 0) {
        stop(server, STATUS_MACHINE); /* nobody reads it: on_reader_gone */
    }
    free(text);
}

static void on_emit(void *context, json_t *event)
{
    struct server *server = context;
    const char *kind = json_string_value(json_object_get(event, "event"));
    bool is_for_all = kind && (strcmp(kind, "trouble") == 0 || strcmp(kind, "boot") == 0);

    if (server->report_fd >= 0) {
        report_boot(server, event);
    }
    for (struct client *client = server->clients.first; client; client = client->next) {
        if (client == server->runner) {
            client_tell(client, json_incref(event));
        } else if (client->listens && is_for_all) {
            client_show(client, json_incref(event));
        }
    }
    json_decref(event);
}

/* Whoever has loaded the program must have taken its lines before it prints more. */
static void on_print(void *context, const struct line *line)
{
    struct server *server = context;
    json_t *event = line_to_json(line);

    for (struct client *client = server->clients.first; client; client = client->next) {
        if (client == server->runner) {
            client_tell_line(client, json_incref(event), &line->receipt);
        } else if (client->listens) {
            client_show(client, json_incref(event));
        }
    }
    json_decref(event);
}

static void on_taken(void *context, const struct line_receipt *receipt)
{
    struct server *server = context;

    machine_line_taken(&server->machine, receipt);
}

/* Whoever waits for the boot has heard enough. */
static void end_report(struct server *server, int status)
{
    json_t *event = json_pack("{s:s, s:i}", "event", "end", "status", status);

    report_boot(server, event);
    json_decref(event);
    if (status != 0) { /* whoever waits for the boot sees the end of this process */
        return;
    }
    uv_close((uv_handle_t *)&server->reader_poll, NULL);
    close(server->report_fd);
    server->report_fd = -1;
}

/* Whoever started the machine has been interrupted: it ends, too. */
static void on_reader_gone(uv_poll_t *poll, int status, int events)
{
    struct server *server = poll->data;

    (void)status;
    (void)events;
    uv_poll_stop(poll);
    stop(server, STATUS_MACHINE);
}

static void watch_reader(struct server *server)
{
    uv_poll_init(&server->loop, &server->reader_poll, server->report_fd);
    server->reader_poll.data = server;
    uv_poll_start(&server->reader_poll, UV_DISCONNECT, on_reader_gone);
}

static void on_blank(void *context)
{
    struct server *server = context;
    json_t *event = json_pack(
        "{s:s, s:s, s:i, s:s}", "event", "blank", "network", server->machine.options.network_name,
        "nodes", (int)server->machine.options.network.nodes, "directory", server->rundir.path);

    if (server->report_fd < 0) {
        json_decref(event);
        return;
    }
    report_boot(server, event);
    json_decref(event);
    if (!server->options->programs) {
        end_report(server, 0);
    }
}

/* When that fails for nodes that were blank, the machine stays: somebody has it in a debugger. */
static void on_booted(void *context, int status)
{
    struct server *server = context;

    if (server->report_fd < 0) {
        return;
    }
    end_report(server, status);
    if (status != 0) {
        stop(server, status);
    }
}

static void on_refused(void *context, const char *text)
{
    struct server *server = context;
    struct client *runner = server->runner;

    server->runner = NULL;
    if (runner) {
        client_refuse(runner, text);
    }
}

static void on_ended(void *context, int status, json_t *result)
{
    struct server *server = context;
    struct client *runner = server->runner;

    server->runner = NULL;
    if (runner) {
        client_tell(runner, json_pack("{s:s, s:i, s:O}", "event", "end", "status", status, "result",
                                      result));
    }
    json_decref(result);
}

/* Whoever has asked may have gone. */
static void on_met(void *context, json_t *event)
{
    struct server *server = context;
    struct client *mover = server->mover;

    if (strcmp(json_string_value(json_object_get(event, "event")), "progress") != 0) {
        server->mover = NULL;
    }
    if (mover) {
        client_tell(mover, event);
    } else {
        json_decref(event);
    }
}

static void forget_waiter(struct server *server)
{
    uv_timer_stop(&server->waiter_timer);
    json_decref(server->waiter_request);
    server->waiter_request = NULL;
    server->waiter = NULL;
}

/* The answer takes time, and the client should know that somebody is there. */
static void tell_heard(struct client *client)
{
    client_tell(client, json_pack("{s:s}", "event", "heard"));
}

/* Until the boot is over, or a job that has ended is out of the way, or --timeout. */
static void wait_for_machine(struct server *server, struct client *client, const json_t *request,
                             uint32_t timeout_ms)
{
    tell_heard(client);
    server->waiter = client;
    server->waiter_request = json_deep_copy(request);
    server->waiter_since_ms = uv_now(&server->loop);
    server->waiter_timeout_ms = timeout_ms;
    uv_timer_start(&server->waiter_timer, on_wait_tick, WAIT_TICK_MS, WAIT_TICK_MS);
}

static void serve_load(struct server *server, struct client *client, const json_t *request)
{
    const struct machine_options *options = &server->machine.options;
    struct job_request wanted;
    struct job job;
    struct message message;

    if (!job_request_from_json(request, &wanted)) {
        client_refuse(client, "malformed request");
    } else if (server->runner || server->waiter) {
        client_refuse(client, "the machine is busy: another program is running");
    } else if (booting(server) || machine_frees(&server->machine)) {
        wait_for_machine(server, client, request, wanted.timeout_ms);
    } else {
        client_tell(client, json_pack("{s:s, s:i}", "event", "nodes", "nodes",
                                      (int)server->machine.options.network.nodes));
        server->machine.options.verbose = json_is_true(json_object_get(request, "verbose"));
        server->runner = client;
        if (job_plan(&job, NULL, &wanted, &server->machine.network, &options->profile, &message) !=
                0 ||
            machine_load(&server->machine, &job, &message) != 0) {
            server->runner = NULL;
            client_refuse(client, message.text);
        }
    }
    job_request_free(&wanted);
}

static void on_wait_tick(uv_timer_t *timer)
{
    struct server *server = timer->data;
    struct client *client = server->waiter;
    uint64_t waited_ms = uv_now(&server->loop) - server->waiter_since_ms;
    json_t *request;

    if (server->machine.stands) { /* nor does this clock go on */
        server->waiter_since_ms += WAIT_TICK_MS;
    } else if (waited_ms >= server->waiter_timeout_ms) {
        client_tell(client,
                    json_pack("{s:s, s:s, s:i}", "event", "error", "text",
                              booting(server)
                                  ? "the run did not begin within --timeout: the machine boots"
                                  : "the run did not begin within --timeout: the download "
                                    "of one that was ended is not over",
                              "status", STATUS_TIMEOUT));
        forget_waiter(server);
    } else if (!booting(server) && !machine_frees(&server->machine)) {
        request = json_incref(server->waiter_request);
        json_object_set_new(request, "timeout_ms",
                            json_integer((json_int_t)(server->waiter_timeout_ms - waited_ms)));
        forget_waiter(server);
        serve_load(server, client, request);
        json_decref(request);
    }
}

static void on_gone(void *context, struct client *client)
{
    struct server *server = context;

    if (server->runner == client) {
        server->runner = NULL;
        machine_cancel(&server->machine, 128 + SIGINT);
    }
    if (server->waiter == client) {
        forget_waiter(server);
    }
    if (server->mover == client) {
        server->mover = NULL;
        meeting_cancel(&server->machine);
    }
}

/* A client that has gone counts as gone even before the loop comes to it. */
static void on_load(struct server *server, struct client *client, const json_t *request)
{
    if (client_hung_up(client)) {
        return;
    }
    if (server->runner && client_hung_up(server->runner)) {
        on_gone(server, server->runner);
    }
    if (server->waiter && client_hung_up(server->waiter)) {
        on_gone(server, server->waiter);
    }
    serve_load(server, client, request);
}

static void serve_region(struct server *server, struct client *client, const json_t *request)
{
    struct region_request wanted;
    struct message message;

    if (server->mover && client_hung_up(server->mover)) {
        on_gone(server, server->mover);
    }
    if (!region_request_from_json(request, &wanted)) {
        client_refuse(client, "malformed request");
        return;
    }
    if (server->mover) {
        client_refuse(client, "the machine is busy: another scatter or gather goes on");
        return;
    }
    tell_heard(client);
    server->mover = client;
    if (meeting_begin(&server->machine, &wanted, &message) != 0) {
        server->mover = NULL;
        client_refuse(client, message.text);
    }
}

/* The worst is said first: a machine whose boot has failed is broken, and boots no more. */
static const char *state_text(const struct server *server)
{
    return machine_is_broken(&server->machine)                     ? "broken"
           : debuggers_blank_count(&server->machine.debuggers) > 0 ? "blank"
           : booting(server)                                       ? "booting"
                                                                   : "whole";
}

/* The answer to `ps`. */
static json_t *describe_machine(const struct server *server, bool links)
{
    const struct machine *machine = &server->machine;
    json_t *answer = json_pack(
        "{s:s, s:i, s:s, s:o, s:s, s:s, s:b, s:o, s:f, s:o}", "event", "end", "status", 0,
        "network", machine->options.network_name, "map", map_describe(&machine->options.network),
        "links", link_maker_name(&machine->target), "state", state_text(server), "broken",
        machine_is_broken(machine), "dead", describe_dead(machine), "boot_ms",
        (double)machine->boot_us / 1e3, "nodes", describe_nodes(machine));

    if (links) {
        json_t *traffic = traffic_describe(&machine->traffic);

        json_object_set_new(traffic, "answers_cut", json_integer(machine->controller.answers_cut));
        json_object_set_new(answer, "traffic", traffic);
    }
    return answer;
}

static void on_answered(void *context)
{
    struct server *server = context;

    for (struct client *client = server->clients.first; client; client = client->next) {
        if (client->wants_nodes) {
            client->wants_nodes = false;
            client_tell(client, describe_machine(server, client->wants_links));
        }
    }
}

/* What is known without asking the nodes. */
static void serve_info(struct server *server, struct client *client)
{
    const struct machine *machine = &server->machine;
    json_t *nodes = json_array();

    for (uint32_t rank = 0; rank < machine->options.network.nodes; rank++) {
        json_array_append_new(nodes, debuggers_describe(&machine->debuggers, rank));
    }
    client_tell(
        client,
        json_pack(
            "{s:s, s:i, s:s, s:s, s:o, s:i, s:i, s:s, s:f, s:s, s:s, s:s, s:o, s:o, s:o}", "event",
            "end", "status", 0, "name", server->options->name, "network",
            machine->options.network_name, "map", map_describe(&machine->options.network),
            "host_links", machine->options.network.host_links, "nodes",
            (int)machine->options.network.nodes, "state", state_text(server), "age_s",
            (double)(uv_hrtime() / 1000 - server->start_us) / 1e6, "directory", server->rundir.path,
            "board", target_board()->name, "kernel", machine->target.kernel, "chain",
            machine->options.chain ? json_sprintf("%s/chain", server->rundir.path) : json_null(),
            "debuggers", nodes, "program",
            machine->job_held ? json_string(machine->job.path) : json_null()));
}

/* What can be asked of a machine that boots: of one that is up though, its nodes blank, or reset,
 * more than of one that somebody waits for. */
static bool refuse_in_boot(struct server *server, struct client *client, const char *verb)
{
    bool waits = server->report_fd < 0 && debuggers_blank_count(&server->machine.debuggers) == 0;
    bool always = verb && (strcmp(verb, "ps") == 0 || strcmp(verb, "console") == 0);
    struct message message;

    if (!booting(server) || (always && (server->machine.target.blank || server->report_fd < 0))) {
        return false;
    }
    if (verb && strcmp(verb, "load") == 0 && waits) {
        return false;
    }
    if (debuggers_blank_count(&server->machine.debuggers) > 0) {
        message_set(&message,
                    "%u nodes are blank: give them a kernel: ecube openocd --name %s -- -c 'init; "
                    "program_all %s; shutdown'",
                    debuggers_blank_count(&server->machine.debuggers), server->options->name,
                    server->machine.target.kernel);
        client_refuse(client, message.text);
    } else {
        client_refuse(client, "the machine is still booting");
    }
    return true;
}

static void serve_fault(struct machine *machine, struct client *client, const char *verb,
                        const json_t *request)
{
    const struct network *network = &machine->options.network;
    const char *text = json_string_value(json_object_get(request, "what"));
    const char *what = text ? text : "";
    bool cut = strcmp(verb, "cut") == 0, done;
    uint32_t ends[2];
    struct message message;

    if (!(cut ? network_parse_cable(network, what, ends, message.text)
              : network_parse_node(network, what, ends, message.text))) {
        client_refuse(client, message.text);
        return;
    }
    /* A link that the controller knows to be dead may still have its cable. */
    done = cut ? !controller_link_is_dead(&machine->controller, ends[0], ends[1]) &&
                     launcher_cut(&machine->launcher, ends[0], ends[1])
               : launcher_kill(&machine->launcher, ends[0]);
    if (!done) {
        message_set(&message, "%s %.40s is dead already", cut ? "link" : "node", what);
        client_refuse(client, message.text);
        return;
    }
    client_tell(client, json_pack("{s:s, s:i}", "event", "end", "status", 0));
}

static void tell_starter(struct server *server, const char *text)
{
    json_t *event =
        json_pack("{s:s, s:s, s:i}", "event", "error", "text", text, "status", STATUS_MACHINE);

    if (server->report_fd >= 0) {
        report_boot(server, event);
    }
    json_decref(event);
}

static void serve_down(struct server *server, struct client *client)
{
    /* The word comes first: to close a machine takes a while. */
    client_tell(client, json_pack("{s:s, s:i}", "event", "end", "status", 0));
    tell_starter(server, "the machine was ended by 'ecube down' before it was up");
    uv_stop(&server->loop);
}

/* Who comes after a failure hears of it, too. */
static void serve_console(struct server *server, struct client *client)
{
    const struct machine *machine = &server->machine;
    char text[DEAD_TEXT_MAX];

    client->listens = true;
    client_tell(client, json_pack("{s:s, s:i}", "event", "nodes", "nodes",
                                  (int)machine->options.network.nodes));
    if (machine_is_broken(machine)) {
        describe_dead_text(machine, text);
        client_tell(client, json_pack("{s:s, s:s}", "event", "trouble", "text", text));
    }
}

static void on_request(void *context, struct client *client, const json_t *request)
{
    struct server *server = context;
    const char *verb = json_string_value(json_object_get(request, "verb"));

    /* One that has given up while this process was stopped wants nothing done any more. */
    if (client_hung_up(client)) {
        return;
    }
    if (verb && strcmp(verb, "info") == 0) {
        serve_info(server, client);
    } else if (verb && strcmp(verb, "down") == 0) {
        serve_down(server, client);
    } else if (refuse_in_boot(server, client, verb)) {
        return;
    } else if (!verb) {
        client_refuse(client, "malformed request");
    } else if (!client->listed) {
        client_refuse(client, "the machine is busy: too many tools are connected to it");
    } else if (strcmp(verb, "load") == 0) {
        on_load(server, client, request);
    } else if (strcmp(verb, "scatter") == 0 || strcmp(verb, "gather") == 0) {
        serve_region(server, client, request);
    } else if (strcmp(verb, "ps") == 0) {
        client->wants_nodes = true;
        client->wants_links = json_is_true(json_object_get(request, "links"));
        tell_heard(client);
        (client->wants_links ? machine_ask_traffic : machine_ask)(&server->machine);
    } else if (strcmp(verb, "console") == 0) {
        serve_console(server, client);
    } else if (strcmp(verb, "cut") == 0 || strcmp(verb, "kill") == 0) {
        serve_fault(&server->machine, client, verb, request);
    } else {
        client_refuse(client, "unknown verb");
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;

    stop(server, 128 + number);
}

/* Nobody finds the machine any more: who uses it now is told, and it ends. */
static void on_directory_gone(void *context)
{
    struct server *server = context;
    json_t *event =
        json_pack("{s:s, s:s, s:i}", "event", "error", "text",
                  "the machine ends: its directory was removed", "status", STATUS_MACHINE);

    if (server->report_fd >= 0) {
        report_boot(server, event);
    }
    for (struct client *client = server->clients.first; client; client = client->next) {
        client_tell(client, json_incref(event));
    }
    json_decref(event);
    stop(server, STATUS_MACHINE);
}

static int listen_on(struct server *server, struct rundir *rundir, struct message *message)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct clients_owner owner = {
        .context = server, .request = on_request, .taken = on_taken, .gone = on_gone};
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    int status = uv_loop_init(&server->loop);

    if (status != 0) {
        return message_set(message, "cannot make an event loop: %s", uv_strerror(status));
    }
    for (unsigned i = 0; i < 3; i++) {
        uv_signal_init(&server->loop, &server->signals[i]);
        server->signals[i].data = server;
        uv_signal_start(&server->signals[i], on_signal, numbers[i]);
    }
    snprintf(path, sizeof path, "%s/control", rundir->path);
    if (clients_listen(&server->clients, &server->loop, path, &owner) != 0) {
        return message_set(message, "cannot make the control socket %s", path);
    }
    watch_reader(server);
    uv_timer_init(&server->loop, &server->waiter_timer);
    server->waiter_timer.data = server;
    rundir_watch_start(&server->rundir_watch, &server->loop, rundir, path, on_directory_gone,
                       server);
    return 0;
}

static int start(struct server *server, struct message *message)
{
    const struct serve_options *options = server->options;
    const struct machine_options *machine = &options->machine;
    struct machine_owner owner = {.context = server,
                                  .emit = on_emit,
                                  .print = on_print,
                                  .blank = on_blank,
                                  .booted = on_booted,
                                  .refused = on_refused,
                                  .ended = on_ended,
                                  .answered = on_answered,
                                  .met = on_met};

    if (rundir_create(&server->rundir, options->name, message) != 0) {
        return -1;
    }
    if (machine->chain && openocd_write_config(server->rundir.path, machine->network.nodes,
                                               options->target.kernel, message) != 0) {
        return -1;
    }
    return listen_on(server, &server->rundir, message) != 0
               ? -1
               : machine_start(&server->machine, &server->loop, machine, &options->target,
                               &server->rundir, &owner, message);
}

/* Whoever waits for the boot waits for this: nothing of the machine is left. */
static void leave(struct server *server)
{
    rundir_remove(&server->rundir);
    if (server->report_fd >= 0) {
        close(server->report_fd);
    }
}

int serve_machine(const struct serve_options *options, int report_fd)
{
    static struct server server;
    struct message message;

    server.options = options;
    server.report_fd = report_fd;
    server.start_us = uv_hrtime() / 1000;
    if (start(&server, &message) != 0) {
        json_t *event = json_pack("{s:s, s:s, s:i}", "event", "error", "text", message.text,
                                  "status", STATUS_BAD_INPUT);

        report_boot(&server, event);
        json_decref(event);
        leave(&server);
        return STATUS_BAD_INPUT;
    }
    uv_run(&server.loop, UV_RUN_DEFAULT);
    /* Who asks now is told so, and does not wait for the end. Closing takes the socket's name away:
     * that of another machine, where the directory is not ours any more. */
    if (rundir_keep(&server.rundir)) {
        clients_deafen(&server.clients);
    }
    forget_waiter(&server);
    rundir_watch_close(&server.rundir_watch);
    machine_close(&server.machine);
    for (unsigned i = 0; i < CLOSE_TURNS;
         i++) { /* lets last words leave; clients see the end of this process */
        uv_run(&server.loop, UV_RUN_NOWAIT);
    }
    machine_free(&server.machine);
    leave(&server);
    return server.status;
}
