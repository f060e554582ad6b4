/*
 * chain_port.c - characters of one debugger's connection, and the accesses that they begin.
 *
 * Characters are taken in order, up to one that begins accesses; then all nodes concerned work
 * at once, and the rest of the characters is taken when the last access is done. So a connection is
 * never ahead of its own chain.
 */
#include "jtag/daemon/chain_port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "jtag/chain/chain.h"

enum { BACKLOG = 8, PATH_BYTES = 128 };

enum { DBGPRCR = 0x310, PRCR_RESET = 2, WORD = 4 };

enum job_kind { JOB_ACCESS, JOB_RESET, JOB_LEAVE };

/* One for each TAP. */
struct chain_job {
    struct debug_job job;
    struct chain_client *owner;
    unsigned tap;
    enum job_kind kind;
    struct access reset;
};

struct chain_client {
    struct chain_port *port;
    struct chain_client *next;
    struct wire *wire; /* NULL: the client has gone, */
    bool leaves;       /* and lets the nodes go */
    char words[PEER_WORDS_MAX];
    unsigned outstanding; /* jobs under way */
    bool pumps;           /* in pump, which looks at what ends meanwhile */
    size_t kept_bytes, kept_at;
    char kept[WIRE_BUFFER_BYTES];
    struct chain chain;
    struct chain_job jobs[];
};

static void pump(struct chain_client *client);

static void forget(struct chain_client *client)
{
    struct chain_client **at = &client->port->clients;

    while (*at != client) {
        at = &(*at)->next;
    }
    *at = client->next;
    client->port->client_count--;
    free(client);
}

static void on_done(struct debug_job *job)
{
    struct chain_job *done = (struct chain_job *)job;
    struct chain_client *client = done->owner;

    client->outstanding--;
    if (done->kind == JOB_ACCESS) {
        chain_complete(&client->chain, done->tap);
    }
    pump(client);
}

/* A reset is what the debugger itself could write: so it fails where another one has the node. */
static void submit(struct chain_client *client, unsigned tap, enum job_kind kind)
{
    struct chain_job *job = &client->jobs[tap];

    *job = (struct chain_job){.job = {.client = client, .words = client->words, .done = on_done},
                              .owner = client,
                              .tap = tap,
                              .kind = kind,
                              .reset = {.space = ACCESS_DEBUG,
                                        .write = true,
                                        .bytes = WORD,
                                        .address = DBGPRCR,
                                        .value = PRCR_RESET}};
    if (kind == JOB_ACCESS) {
        job->job.access = chain_pending(&client->chain, tap);
    } else if (kind == JOB_RESET) {
        job->job.access = &job->reset;
    }
    client->outstanding++;
    debug_node_submit(&client->port->nodes[tap], &job->job);
}

static void submit_all(struct chain_client *client, enum job_kind kind)
{
    for (unsigned tap = 0; tap < client->port->node_count; tap++) {
        submit(client, tap, kind);
    }
}

static void submit_accesses(struct chain_client *client)
{
    const struct chain *chain = &client->chain;

    for (unsigned tap = chain_pending_from(chain, 0); tap < client->port->node_count;
         tap = chain_pending_from(chain, tap + 1)) {
        submit(client, tap, JOB_ACCESS);
    }
}

static void hang_up(struct chain_client *client)
{
    wire_close(client->wire, false);
    client->wire = NULL;
}

static void send_output(struct chain_client *client)
{
    char output[CHAIN_OUTPUT_MAX];
    size_t count = chain_drain(&client->chain, output, sizeof output);

    if (count > 0) {
        wire_send(client->wire, output, count);
    }
}

static bool takes(const struct chain_client *client)
{
    return client->wire && client->outstanding == 0 &&
           wire_pending(client->wire) < WIRE_PENDING_MAX;
}

/* Characters, up to the next access, event, or their end; false: there are none. */
static bool take_characters(struct chain_client *client)
{
    const uint8_t *next = (const uint8_t *)client->kept + client->kept_at;
    size_t taken;

    if (client->kept_bytes == 0) {
        return false;
    }
    taken = chain_take(&client->chain, next, client->kept_bytes);
    client->kept_at += taken;
    client->kept_bytes -= taken;
    send_output(client);
    return true;
}

/* What can be done now. */
static void turn(struct chain_client *client)
{
    bool more = true;

    while (more && takes(client)) {
        switch (chain_event(&client->chain)) {
        case CHAIN_QUIT: hang_up(client); return;
        case CHAIN_RESET_ENDS: submit_all(client, JOB_RESET); break;
        default:
            submit_accesses(client);
            more = client->outstanding > 0 || client->chain.pending_count > 0 ||
                   take_characters(client);
            break;
        }
    }
}

static void pump(struct chain_client *client)
{
    if (client->pumps) {
        return;
    }
    client->pumps = true;
    turn(client);
    if (!client->wire && client->outstanding == 0 && !client->leaves) {
        client->leaves = true;
        submit_all(client, JOB_LEAVE);
    }
    client->pumps = false;
    if (client->wire) {
        wire_listen(client->wire, client->kept_bytes == 0 && takes(client));
    } else if (client->outstanding == 0) {
        forget(client);
    }
}

static void on_received(void *context, const char *bytes, size_t count)
{
    struct chain_client *client = context;

    CHECK(client->kept_bytes == 0 && count <= sizeof client->kept);
    memcpy(client->kept, bytes, count);
    client->kept_bytes = count;
    client->kept_at = 0;
    pump(client);
}

static void on_drained(void *context)
{
    pump(context);
}

static void on_ended(void *context)
{
    hang_up(context);
    pump(context);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct chain_port *port = server->data;
    struct chain_client *client =
        calloc(1, sizeof *client + port->node_count * sizeof client->jobs[0]);
    struct wire_owner owner = {
        .context = client, .received = on_received, .drained = on_drained, .ended = on_ended};

    CHECK(client);
    client->wire = status == 0 ? wire_accept(server, &owner) : NULL;
    if (client->wire && port->client_count == CHAIN_CLIENTS_MAX) {
        hang_up(client);
    }
    if (!client->wire) {
        free(client);
        return;
    }
    client->port = port;
    client->next = port->clients;
    port->clients = client;
    port->client_count++;
    chain_init(&client->chain, port->node_count);
    peer_describe(wire_process(client->wire), client->words);
    wire_listen(client->wire, true);
}

int chain_port_listen(struct chain_port *port, uv_loop_t *loop, const char *directory,
                      struct debug_node *nodes, unsigned node_count)
{
    char path[PATH_BYTES];
    int status;

    memset(port, 0, sizeof *port);
    port->nodes = nodes;
    port->node_count = node_count;
    uv_pipe_init(loop, &port->server, 0);
    port->server.data = port;
    snprintf(path, sizeof path, "%s/chain", directory);
    status = uv_pipe_bind(&port->server, path);
    return status != 0 ? status : uv_listen((uv_stream_t *)&port->server, BACKLOG, on_connection);
}

void chain_port_close(struct chain_port *port)
{
    uv_close((uv_handle_t *)&port->server, NULL);
    for (struct chain_client *client = port->clients; client; client = client->next) {
        if (client->wire) {
            hang_up(client);
        }
    }
}
