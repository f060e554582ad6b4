/*
 * gdb_port.c - accepts the GDBs of one node, gives one the node, and refuses the others.
 *
 * Each client's bytes go through a relay of its own; only the guest's reaches the emulator. After
 * whatever a relay has heard, settle() looks at its state and does what follows from it.
 */
#include "jtag/stub/gdb_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "jtag/stub/relay.h"

enum { BACKLOG = 8, PATH_BYTES = 128 };

struct gdb_client {
    struct gdb_port *port;
    struct gdb_client *next;
    struct wire *wire;
    char words[PEER_WORDS_MAX];
    struct relay relay;
    size_t kept_bytes; /* that came while an answer is to come */
    char kept[WIRE_BUFFER_BYTES];
};

static void changed(const struct gdb_port *port)
{
    port->owner.changed(port->owner.context);
}

static bool is_guest(const struct gdb_client *client)
{
    return client->port->guest == client;
}

static void forget(struct gdb_client *client, bool sends)
{
    struct gdb_port *port = client->port;
    struct gdb_client **at = &port->clients;

    while (*at != client) {
        at = &(*at)->next;
    }
    *at = client->next;
    port->client_count--;
    if (is_guest(client)) {
        port->guest = NULL;
    }
    wire_close(client->wire, sends);
    free(client);
    changed(port);
}

/* GDB has said good-bye: it closes its connection when it has our answer. */
static void let_go(struct gdb_client *client)
{
    struct gdb_port *port = client->port;

    port->guest = NULL;
    port->lost = client->relay.lost;
    emulator_release(port->emulator, !port->lost);
}

/* After anything that a relay has heard. */
static void settle(struct gdb_client *client)
{
    const struct relay *relay = &client->relay;
    struct gdb_port *port = client->port;

    if (is_guest(client) && relay->state == RELAY_OVER) {
        let_go(client);
    } else if (is_guest(client) && relay->state != RELAY_WAITING) {
        /* A step is over before anybody could look. */
        port->emulator->stands = relay->state != RELAY_RUNNING || relay->kind == RELAY_STEP;
        port->lost = relay->lost;
        emulator_expect(port->emulator, relay_waits(relay));
    }
    wire_listen(client->wire,
                client->kept_bytes == 0 && wire_pending(client->wire) < WIRE_PENDING_MAX);
    changed(port);
}

/* What was kept is taken as far as the relay takes it. */
static void feed(struct gdb_client *client)
{
    size_t used = relay_feed(&client->relay, client->kept, client->kept_bytes);

    client->kept_bytes -= used;
    memmove(client->kept, client->kept + used, client->kept_bytes);
    settle(client);
}

static void on_received(void *context, const char *bytes, size_t count)
{
    struct gdb_client *client = context;

    CHECK(client->kept_bytes == 0 && count <= sizeof client->kept);
    memcpy(client->kept, bytes, count);
    client->kept_bytes = count;
    feed(client);
}

static void on_drained(void *context)
{
    settle(context);
}

/* GDB is gone without a word. */
static void on_ended(void *context)
{
    struct gdb_client *client = context;
    const struct relay *relay = &client->relay;
    struct gdb_port *port = client->port;

    if (is_guest(client)) {
        bool steps = relay->kind == RELAY_STEP;
        bool detaches = relay->state == RELAY_ASKED && relay->kind == RELAY_DETACH;

        if (relay->state == RELAY_WAITING || (relay->state == RELAY_RUNNING && !steps)) {
            emulator_abandon(port->emulator);
        } else {
            emulator_release(port->emulator, detaches);
        }
    }
    forget(client, false);
}

static void on_say(void *context, const char *bytes, size_t count)
{
    struct gdb_client *client = context;

    wire_send(client->wire, bytes, count);
}

static void on_ask(void *context, const char *packet, size_t bytes)
{
    struct gdb_client *client = context;
    const struct relay *relay = &client->relay;

    emulator_pass(client->port->emulator, packet, bytes,
                  relay->state == RELAY_RUNNING && relay->kind == RELAY_STEP);
}

static void on_interrupt(void *context)
{
    struct gdb_client *client = context;

    emulator_interrupt(client->port->emulator);
}

static void on_reset(void *context)
{
    struct gdb_client *client = context;

    client->port->owner.was_reset(client->port->owner.context);
}

static void on_attached(void *context)
{
    struct gdb_client *client = context;
    const struct emulator *emulator = client->port->emulator;
    const struct description_register *control =
        description_find(&emulator->stub.description, "SCTLR");
    struct relay_guard guard = {.guarded = emulator->machine->blank && control,
                                .ram_base = emulator->machine->ram.base,
                                .ram_bytes = emulator->machine->ram.bytes,
                                .control_register = control ? control->number : 0};

    relay_attach(&client->relay, &guard);
    feed(client);
}

static void on_answered(void *context, const char *packet, size_t bytes)
{
    struct gdb_client *client = context;

    relay_answer(&client->relay, packet, bytes);
    feed(client);
}

static void refuse(struct gdb_client *client, const char *verb, const char *words)
{
    char text[RELAY_WORDS_MAX];

    snprintf(text, sizeof text, "node %u %s %s", client->port->emulator->number, verb, words);
    relay_refuse(&client->relay, text);
    feed(client);
}

/* The emulator is gone or silent: a GDB that waits for it is told, one that had it is left. */
static void on_dropped(void *context)
{
    struct gdb_client *client = context;
    struct gdb_port *port = client->port;

    port->guest = NULL;
    if (client->relay.state == RELAY_WAITING) {
        refuse(client, "does not", "answer");
    } else {
        forget(client, true);
    }
}

/* From now on the client has the node, or is refused. */
static void admit(struct gdb_client *client)
{
    struct gdb_port *port = client->port;
    struct emulator_guest guest = {
        .context = client, .attached = on_attached, .answered = on_answered, .dropped = on_dropped};
    char words[PEER_WORDS_MAX] = "another process";

    if (port->guest) {
        refuse(client, "is held by", port->guest->words);
        return;
    }
    port->owner.free_node(port->owner.context, words);
    if (port->emulator->holder != EMULATOR_FREE) {
        refuse(client, "is held by", words);
        return;
    }
    port->guest = client;
    emulator_take(port->emulator, &guest);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct gdb_port *port = server->data;
    struct gdb_client *client = calloc(1, sizeof *client);
    struct wire_owner owner = {
        .context = client, .received = on_received, .drained = on_drained, .ended = on_ended};
    struct relay_owner relay_owner = {.context = client,
                                      .say = on_say,
                                      .ask = on_ask,
                                      .interrupt = on_interrupt,
                                      .was_reset = on_reset};

    CHECK(client);
    client->wire = status == 0 ? wire_accept(server, &owner) : NULL;
    if (client->wire && port->client_count == GDB_CLIENTS_MAX) {
        wire_close(client->wire, false);
        client->wire = NULL;
    }
    if (!client->wire) {
        free(client);
        return;
    }
    client->port = port;
    client->next = port->clients;
    port->clients = client;
    port->client_count++;
    relay_init(&client->relay, &relay_owner);
    peer_describe(wire_process(client->wire), client->words);
    wire_listen(client->wire, true);
    admit(client);
}

int gdb_port_listen(struct gdb_port *port, struct emulator *emulator,
                    const struct gdb_port_owner *owner)
{
    char path[PATH_BYTES];
    int status;

    memset(port, 0, sizeof *port);
    port->emulator = emulator;
    port->owner = *owner;
    uv_pipe_init(emulator->loop, &port->server, 0);
    port->server.data = port;
    snprintf(path, sizeof path, "%s/n%u.gdb", emulator->machine->directory, emulator->number);
    status = uv_pipe_bind(&port->server, path);
    return status != 0 ? status : uv_listen((uv_stream_t *)&port->server, BACKLOG, on_connection);
}

const char *gdb_port_holder(const struct gdb_port *port)
{
    return port->guest && port->guest->relay.state != RELAY_WAITING ? port->guest->words : NULL;
}

void gdb_port_close(struct gdb_port *port)
{
    while (port->clients) {
        on_ended(port->clients);
    }
    uv_close((uv_handle_t *)&port->server, NULL);
}
