/*
 * boot.c - the host: boot, download, start and end of a simulation, through its own router.
 *
 * It does what host/mesh_*.c do with emulated nodes: waits until every node has reported its
 * links, downloads an image by decremental scattering, starts the programs together, and takes
 * their exits. When a node tells of a dead link the run has failed: 300 ms later the programs that
 * still run are told to stop.
 *
 * Source  Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *         nodes, section III
 */
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"
#include "router/state.h"
#include "sim/actor.h"
#include "sim/fault.h"
#include "sim/host.h"
#include "sim/loop.h"
#include "sim/memory.h"
#include "sim/observe/trace.h"
#include "sim/program.h"
#include "sim/random.h"
#include "sim/state.h"
#include "wire/message.h"
#include "wire/report.h"
#include "wire/run.h"

static const uint64_t ms_ns = 1000000;

enum {
    REPEAT_MS = 300, /* an offer without an answer */
    BOOT_MS = 10000, /* until links that are missing are named */
    STOP_MS = 300    /* from the first word of a dead link until programs are stopped */
};

bool host_init(struct sim *sim)
{
    struct host *host = &sim->host;
    const struct network *network = sim_network(sim);
    unsigned links = network_host_links(network);

    host->memory = malloc(router_memory_bytes(links, 0));
    host->blocks = calloc(sim->count, BLOCK_BYTES);
    host->image = malloc(sim->layout.image_room);
    host->digests = malloc((size_t)sim->count * DIGEST_BYTES);
    if (!host->memory || !host->blocks || !host->image || !host->digests)
        return false;
    for (unsigned i = 0; i < links; i++) {
        host->links[i] = &sim_host_end(sim, i)->link;
        host->peers[i] = network_host_node(network, i);
    }
    struct router_config config = {.id = ID_HOST,
                                   .links = host->links,
                                   .link_count = links,
                                   .payload_checked = sim->options.payload_checked,
                                   .memory = host->memory,
                                   .network = network,
                                   .profile = sim->options.profile,
                                   .peers = host->peers};
    router_init(&host->router, &config);
    for (uint32_t rank = 0; rank < sim->count; rank++)
        block_pack(host->blocks + (size_t)rank * BLOCK_BYTES,
                   &(struct block_header){.rank = rank, .size = sim->count});
    uint64_t seed = 1;
    for (uint32_t i = 0; i < sim->layout.image_room; i++)
        host->image[i] = (uint8_t)random_next(&seed);
    host->name = 1;
    host->stop_ns = host->give_up_ns = UINT64_MAX;
    host->again_ns = sim->wall_ns + BOOT_MS * ms_ns;
    return true;
}

void host_free(struct sim *sim)
{
    free(sim->host.memory);
    free(sim->host.blocks);
    free(sim->host.image);
    free(sim->host.digests);
}

static void add_message(struct host *host, uint32_t root, uint32_t count)
{
    CHECK(host->message_count <= NETWORK_HALVINGS_MAX);
    host->messages[host->message_count++] = (struct load_message){.root = root, .count = count};
}

/* What the nodes of a partition must answer: the digests of what they are sent. */
static void expect(void *context, unsigned partition)
{
    const struct sim *sim = context;
    const struct host *host = &sim->host;

    for (uint32_t rank = sim->partitions[partition].first; rank < sim->partitions[partition].end;
         rank++) {
        struct sha256_ctx sha;
        sha256_init(&sha);
        sha256_update(&sha, BLOCK_BYTES, host->blocks + (size_t)rank * BLOCK_BYTES);
        sha256_update(&sha, host->image_bytes, host->image);
        sha256_digest(&sha, DIGEST_BYTES, host->digests + (size_t)rank * DIGEST_BYTES);
    }
}

/* Plans the download of an image; the offers go out with the next steps. */
static void begin_download(struct sim *sim, uint32_t bytes)
{
    struct host *host = &sim->host;

    host->name += host->message_count;
    host->image_bytes = bytes;
    host->message_count = host->message_next = 0;
    uint32_t count = sim->count;
    for (unsigned x = network_halvings(sim_network(sim)); x > sim->options.download_x; x--) {
        uint32_t half = network_half(sim_network(sim), count);
        add_message(host, half, count - half);
        count = half;
    }
    add_message(host, 0, count);
    host->receipts = 0;
    for (uint32_t rank = 0; rank < sim->count; rank++)
        sim->actors[rank].heard &= (uint8_t)~HEARD_RECEIPT;
    host->base_ns = host->clock_ns = host->end_ns;
    host->again_ns = sim->wall_ns;
    sim->crowded = true;
    sim_all_partitions(sim, expect);
}

static void enter(struct sim *sim, enum sim_phase phase)
{
    sim->phase = (uint8_t)phase;
    trace_phase(sim);
    sim->progress_ns = sim->wall_ns;
    fault_phase(sim);
}

static void send_offer(struct sim *sim, unsigned index)
{
    struct host *host = &sim->host;
    struct load_message *message = &host->messages[index];
    uint32_t image = PROGRAM_ADDRESS + sim->layout.blocks_bytes;
    struct offer_body offer = {.name = host->name + index,
                               .entry = image,
                               .base = image,
                               .common_bytes = host->image_bytes,
                               .block_bytes = BLOCK_BYTES,
                               .count = message->count,
                               .bss_end = image + host->image_bytes};
    uint8_t body[OFFER_BYTES];

    offer_pack(body, &offer);
    if (router_send(&host->router, PACKET_OFFER, message->root, body, sizeof body) == E_OK)
        message->state = MESSAGE_OFFERED;
}

static void open_message(struct sim *sim)
{
    struct host *host = &sim->host;
    struct load_message *message = &host->messages[host->message_next];
    struct circuit_source source = {
        .dst = message->root,
        .match = message->match,
        .flags = OPEN_IMAGE,
        .issue_ns = host->clock_ns,
        .data = {host->blocks + (size_t)message->root * BLOCK_BYTES, host->image},
        .bytes = {(uint32_t)BLOCK_BYTES * message->count, host->image_bytes},
        .token = host->name + host->message_next,
    };
    if (router_open(&host->router, &source) == E_OK)
        message->state = MESSAGE_OPENED;
}

static void pump_download(struct sim *sim)
{
    struct host *host = &sim->host;
    bool again = sim->wall_ns >= host->again_ns;

    for (unsigned i = host->message_next; i < host->message_count; i++)
        if (host->messages[i].state == MESSAGE_WAITS ||
            (again && host->messages[i].state == MESSAGE_OFFERED))
            send_offer(sim, i);
    if (again)
        host->again_ns = sim->wall_ns + REPEAT_MS * ms_ns;
    if (host->message_next < host->message_count &&
        host->messages[host->message_next].state == MESSAGE_READY)
        open_message(sim);
}

/* Tells all programs to start; each of them begins at the model time at which the last node had
 * its image. */
static void pump_start(struct sim *sim)
{
    struct host *host = &sim->host;
    uint8_t body[START_BYTES];

    start_pack(body, &(struct start_body){host->end_ns});
    while (host->started < sim->count &&
           router_send(&host->router, PACKET_START, host->started, body, sizeof body) == E_OK)
        host->started++;
}

static void begin_run(struct sim *sim)
{
    sim->result.clock_base_ns = sim->host.end_ns;
    if (scenario_sends(sim->options.scenario))
        messages_prepare(sim);
    sim->pause = true;
    enter(sim, SIM_RUN);
}

static void add_download_line(struct sim *sim)
{
    const struct host *host = &sim->host;
    struct sim_line *line = &sim->result.lines[sim->result.line_count++];

    *line = (struct sim_line){.bytes = host->image_bytes,
                              .steps = network_halvings(sim_network(sim)),
                              .nodes = sim->count,
                              .start_ns = host->base_ns,
                              .model_ns = host->end_ns - host->base_ns};
    trace_measured(sim, sim->result.line_count - 1);
}

/* All nodes have what they were sent. */
static void end_download(struct sim *sim)
{
    struct host *host = &sim->host;
    struct sim_result *result = &sim->result;

    result->download_ns = host->end_ns - host->base_ns;
    result->download_bytes =
        (uint64_t)BLOCK_BYTES * sim->count + (uint64_t)host->image_bytes * host->message_count;
    result->receipts = host->receipts;
    if (sim->options.scenario != SIM_LOAD) {
        begin_run(sim);
        return;
    }
    add_download_line(sim);
    sim->pause = true;
    if (result->line_count == sim->options.size_count)
        sim_end(sim, result->trouble_count ? SIM_ERROR : SIM_GOOD);
    else
        begin_download(sim, sim->options.sizes[result->line_count]);
}

static void fail(struct sim *sim)
{
    struct host *host = &sim->host;

    if (host->failing)
        return;
    host->failing = true;
    host->stop_ns = sim->wall_ns + STOP_MS * ms_ns;
}

static void take_receipt(struct sim *sim, uint32_t rank, const struct receipt_body *receipt)
{
    struct host *host = &sim->host;
    struct actor *actor = &sim->actors[rank];
    int status = receipt->status;

    if (sim->phase != SIM_DOWNLOAD || actor->heard & HEARD_RECEIPT)
        return;
    if (status != E_OK) {
        sim_trouble(sim, about_error(SIM_TROUBLE_DOWNLOAD_FAILED, rank, status),
                    "download to node %u failed: %s", rank, status_text(status));
        fail(sim);
        return;
    }
    if (memcmp(receipt->digest, host->digests + (size_t)rank * DIGEST_BYTES, DIGEST_BYTES) != 0) {
        sim_trouble(sim, about_node(SIM_TROUBLE_DOWNLOAD_WRONG, rank),
                    "node %u holds other bytes than were sent to it", rank);
        sim_end(sim, SIM_WRONG);
        return;
    }
    actor->heard |= HEARD_RECEIPT;
    host->receipts++;
    host->end_ns = clock_max(host->end_ns, receipt->model_ns);
    sim->progress_ns = sim->wall_ns;
    if (host->receipts == sim->count)
        end_download(sim);
}

static void take_links(struct sim *sim, uint32_t rank, bool complete)
{
    struct actor *actor = &sim->actors[rank];

    if (!complete || actor->heard & HEARD_LINKS)
        return;
    actor->heard |= HEARD_LINKS;
    sim->progress_ns = sim->wall_ns;
    if (++sim->host.links_told == sim->count && sim->phase == SIM_BOOT) {
        enter(sim, SIM_DOWNLOAD);
        begin_download(sim, sim->options.scenario == SIM_LOAD ? sim->options.sizes[0]
                                                              : sim->options.image_bytes);
    }
}

/* The message that a node has been offered and answers for; NULL when there is none. */
static struct load_message *offered(struct sim *sim, uint32_t want)
{
    struct host *host = &sim->host;
    uint32_t index = want - host->name;

    return sim->phase == SIM_DOWNLOAD && index < host->message_count &&
                   host->messages[index].state == MESSAGE_OFFERED
               ? &host->messages[index]
               : NULL;
}

static void take_ready(struct sim *sim, const struct notice *notice)
{
    struct cts_body ready;
    struct load_message *message;

    if (!cts_unpack(notice->body, notice->bytes, &ready) || !(message = offered(sim, ready.name)))
        return;
    message->match = ready.match;
    message->state = MESSAGE_READY;
}

static void take_gone(struct sim *sim, const struct notice *notice)
{
    struct rts_reply_body word;

    if (!rts_reply_unpack(notice->body, notice->bytes, &word) || !offered(sim, word.name))
        return;
    sim_trouble(sim, about_node(SIM_TROUBLE_DOWNLOAD_REFUSED, notice->src),
                "node %u refused the download", notice->src);
    fail(sim);
}

/* The other end in words: who it has said it is, or who belongs there when it has said nothing yet.
 */
static void end_text(const struct sim *sim, uint32_t rank, unsigned port, uint32_t peer,
                     char text[SIM_TEXT_MAX])
{
    const char *silent = peer == ID_UNKNOWN ? ", which has not said who it is," : "";

    if (peer == ID_HOST || port >= sim_network(sim)->ports)
        snprintf(text, SIM_TEXT_MAX, "the host, port %u%s", port, silent);
    else
        snprintf(
            text, SIM_TEXT_MAX, "node %u%s",
            (unsigned)(peer == ID_UNKNOWN ? network_neighbour(sim_network(sim), rank, port) : peer),
            silent);
}

/* A link of a node; a host link has one node. */
static struct sim_about about_port(const struct sim *sim, enum sim_trouble_kind kind, uint32_t rank,
                                   unsigned port)
{
    return port < sim_network(sim)->ports
               ? about_link(kind, rank, network_neighbour(sim_network(sim), rank, port))
               : about_node(kind, rank);
}

static void tell_dead_link(struct sim *sim, uint32_t rank, const struct link_dead_body *dead)
{
    char end[SIM_TEXT_MAX];

    end_text(sim, rank, dead->port, dead->peer, end);
    sim_trouble(sim, about_port(sim, SIM_TROUBLE_LINK_DIED, rank, dead->port),
                "node %u: its link %u to %s is dead (%s)", rank, dead->port, end,
                dead->reason == DEAD_CARRIER    ? "no carrier"
                : dead->reason == DEAD_TIMEOUT  ? "nothing was acknowledged"
                : dead->reason == DEAD_PROTOCOL ? "it breaks the protocol"
                                                : "another version");
}

static void take_packet(struct sim *sim, const struct notice *notice)
{
    const uint8_t *body = notice->body;
    uint32_t rank = notice->src, bytes = notice->bytes;
    struct links_body links;
    struct receipt_body receipt;
    struct link_dead_body dead;

    if (rank >= sim->count)
        return;
    switch (notice->packet_kind) {
    case PACKET_LINKS:
        if (links_unpack(body, bytes, &links))
            take_links(sim, rank, links.complete);
        break;
    case PACKET_CTS: take_ready(sim, notice); break;
    case PACKET_CANCEL: take_gone(sim, notice); break;
    case PACKET_RECEIPT:
        if (receipt_unpack(body, bytes, &receipt))
            take_receipt(sim, rank, &receipt);
        break;
    case PACKET_EXIT:
        sim->host.exits += !(sim->actors[rank].heard & HEARD_EXIT);
        sim->actors[rank].heard |= HEARD_EXIT;
        break;
    case PACKET_LINK_DEAD:
        if (!link_dead_unpack(body, bytes, &dead))
            break;
        tell_dead_link(sim, rank, &dead);
        fail(sim);
        break;
    case PACKET_DISAGREE:
        sim_trouble(sim, about_node(SIM_TROUBLE_DISAGREE, rank), "node %u: its neighbour disagrees",
                    rank);
        break;
    default: break;
    }
}

static void take_notice(struct sim *sim, const struct notice *notice)
{
    struct host *host = &sim->host;
    bool mine = notice->token == host->name + host->message_next && sim->phase == SIM_DOWNLOAD &&
                host->message_next < host->message_count;

    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(sim, notice); break;
    case NOTICE_ACCEPTED:
        if (!mine)
            break;
        host->messages[host->message_next++].state = MESSAGE_DONE;
        host->clock_ns = notice->done_ns;
        break;
    case NOTICE_REFUSED:
        if (!mine)
            break;
        sim_trouble(sim,
                    about_error(SIM_TROUBLE_DOWNLOAD_REFUSED,
                                host->messages[host->message_next].root, notice->status),
                    "node %u refused the download: %s", host->messages[host->message_next].root,
                    status_text(notice->status));
        fail(sim);
        break;
    case NOTICE_DEAD:
        sim_trouble(sim, about_node(SIM_TROUBLE_HOST_LINK_DIED, host->peers[notice->port]),
                    "the host's link to node %u is dead", host->peers[notice->port]);
        fail(sim);
        break;
    default: break;
    }
}

/* Names the links that are not up, and the nodes that have not told of theirs. */
static void name_links(struct sim *sim)
{
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        const struct router *router = &sim_node(sim, rank)->router;
        if (!(sim->actors[rank].heard & HEARD_LINKS) && !sim->actors[rank].dead)
            sim_trouble(sim, about_node(SIM_TROUBLE_NODE_SILENT, rank),
                        "node %u has not told the host of its links", rank);
        for (unsigned p = 0; p < router->port_count && !sim->actors[rank].dead; p++) {
            uint32_t peer;
            uint8_t port, state = router_port_state(router, p, &peer, &port);
            if (state == LINK_UP || !sim_end_at(sim, rank, p)->peer)
                continue;
            sim_trouble(sim, about_port(sim, SIM_TROUBLE_LINK_MISSING, rank, p),
                        "node %u: its link %u %s", rank, p,
                        state == LINK_SILENT    ? "is silent"
                        : state == LINK_HEARD   ? "hears its neighbour and is not heard"
                        : state == LINK_CROSSED ? "leads to a wrong place"
                                                : "is dead");
        }
    }
}

static void pump(struct sim *sim)
{
    struct host *host = &sim->host;

    switch (sim->phase) {
    case SIM_BOOT:
        if (sim->wall_ns >= host->again_ns) {
            name_links(sim);
            sim_end(sim, SIM_ERROR);
        }
        break;
    case SIM_DOWNLOAD: pump_download(sim); break;
    case SIM_RUN:
        pump_start(sim);
        if (sim->running == 0 && (host->failing || host->exits + sim->deaths >= sim->count))
            host_finish(sim);
        break;
    default: break;
    }
    host_pump_questions(sim);
    if (host->failing && sim->verdict == SIM_RUNS)
        host_pump_failure(sim);
}

bool host_step(struct sim *sim)
{
    struct host *host = &sim->host;
    bool more = router_take(&host->router, sim->wall_ns / 1000);

    do {
        const struct notice *notice;
        while ((notice = router_notice(&host->router)))
            take_notice(sim, notice);
        pump(sim);
        router_move(&host->router, sim->wall_ns / 1000);
        router_flush(&host->router);
    } while (host->router.notice_count &&
             sim->verdict == SIM_RUNS); /* what is told later is too late */
    return more;
}

uint64_t host_deadline(const struct sim *sim)
{
    const struct host *host = &sim->host;
    uint64_t deadline_us = router_deadline(&host->router);
    uint64_t own_ns = sim->phase == SIM_RUN ? UINT64_MAX : host->again_ns;
    uint64_t ask_ns = host_question_ns(sim);

    if (host->failing)
        own_ns = host->give_up_ns == UINT64_MAX ? host->stop_ns : host->give_up_ns;
    own_ns = own_ns < ask_ns ? own_ns : ask_ns;
    uint64_t own_us = own_ns == UINT64_MAX ? UINT64_MAX : (own_ns + 999) / 1000;
    return own_us < deadline_us ? own_us : deadline_us;
}
