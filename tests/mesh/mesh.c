#include "tests/mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "network/text.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"

const uint8_t one_hop[HOP_LIST_BYTES + HOP_BYTES] = {1, HOP_DIMENSION_ORDER, 0, 0};

enum { ARGUMENTS = MESH_PROGRAM, PATIENCE_US = 120 * 1000 * 1000, QUIET_ROUNDS = 12 };

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "CHECK failed: %s:%d: %s\n", file, line, what);
    abort();
}

static void *must(void *memory)
{
    CHECK(memory);
    return memory;
}

static void make_node(struct mesh *mesh, unsigned rank)
{
    struct mesh_node *n = &mesh->nodes[rank];
    bool host_link = network_host_link_of(&mesh->network, rank) >= 0;
    unsigned links = mesh->network.ports + host_link;
    uint32_t bytes = MESH_DATA - MESH_PROGRAM + mesh->data_bytes;

    n->node = must(malloc(node_bytes()));
    n->memory = must(malloc(node_memory_bytes(links, 0)));
    n->program = must(calloc(1, bytes));
    for (unsigned p = 0; p < links; p++)
        n->links[p] = &n->ends[p].link;
    struct node_config config = {.links = n->links,
                                 .link_count = links,
                                 .program = n->program,
                                 .program_address = MESH_PROGRAM,
                                 .program_bytes = bytes,
                                 .blocks_address = MESH_BLOCKS,
                                 .image_address = MESH_IMAGE,
                                 .memory = n->memory,
                                 .payload_checked =
                                     mesh->fault.flip_per_million || mesh->fault.drop_per_million};
    node_init(n->node, &config);
}

/* A port without a link, at the end of a path, has an end to which nobody is attached. */
static void wire(struct mesh *mesh)
{
    const struct network *network = &mesh->network;

    for (unsigned rank = 0; rank < mesh->count; rank++)
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);
            struct memory_end *end = &mesh->nodes[rank].ends[p];
            if (peer == NETWORK_NO_NODE)
                memory_link_absent(end);
            else if (network_owns_link(network, rank, p))
                memory_link_init(end, &mesh->nodes[peer].ends[network_far_port(network, p)],
                                 &mesh->seed, &mesh->fault);
        }
    for (unsigned i = 0; i < network_host_links(network); i++) {
        uint32_t rank = network_host_node(network, i);
        memory_link_init(&mesh->nodes[rank].ends[network->ports], &mesh->host_ends[i], &mesh->seed,
                         &mesh->fault);
        mesh->host_links[i] = &mesh->host_ends[i].link;
        mesh->host_peers[i] = rank;
    }
}

struct mesh *mesh_make(unsigned dims, uint32_t data_bytes, uint64_t seed, struct memory_fault fault,
                       struct profile profile)
{
    char name[NETWORK_NAME_MAX];

    snprintf(name, sizeof name, "cube:%u", dims);
    return mesh_make_named(name, data_bytes, seed, fault, profile);
}

struct mesh *mesh_make_named(const char *network, uint32_t data_bytes, uint64_t seed,
                             struct memory_fault fault, struct profile profile)
{
    static const struct network_limits limits = {.nodes = 1024, .place = "in a test"};
    struct mesh *mesh = must(calloc(1, sizeof *mesh));
    char error[NETWORK_ERROR_MAX];

    *mesh = (struct mesh){.data_bytes = data_bytes, .seed = seed, .fault = fault};
    CHECK(network_parse(&mesh->network, network, &limits, error));
    mesh->count = mesh->network.nodes;
    unsigned host_links = network_host_links(&mesh->network);
    mesh->nodes = must(calloc(mesh->count, sizeof *mesh->nodes));
    mesh->blocks = must(calloc(mesh->count, MESH_BLOCK_BYTES));
    wire(mesh);
    for (unsigned rank = 0; rank < mesh->count; rank++)
        make_node(mesh, rank);
    mesh->host_memory = must(malloc(router_memory_bytes(host_links, 0)));
    struct router_config config = {.id = ID_HOST,
                                   .links = mesh->host_links,
                                   .link_count = host_links,
                                   .payload_checked =
                                       fault.flip_per_million || fault.drop_per_million,
                                   .memory = mesh->host_memory,
                                   .network = &mesh->network,
                                   .profile = profile,
                                   .peers = mesh->host_peers};
    router_init(&mesh->host, &config);
    for (unsigned i = 0; i < MESH_IMAGE_BYTES; i++)
        mesh->image[i] = (uint8_t)memory_random(&mesh->seed);
    return mesh;
}

void mesh_free(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        struct mesh_node *n = &mesh->nodes[rank];
        for (unsigned p = 0; p < mesh->network.ports; p++)
            if (network_owns_link(&mesh->network, rank, p))
                memory_link_free(&n->ends[p], n->ends[p].peer);
        if (network_host_link_of(&mesh->network, rank) >= 0)
            memory_link_free(&n->ends[mesh->network.ports], n->ends[mesh->network.ports].peer);
        free(n->node);
        free(n->memory);
        free(n->program);
    }
    free(mesh->nodes);
    free(mesh->blocks);
    free(mesh->host_memory);
    free(mesh);
}

static void host_notice(struct mesh *mesh, const struct notice *notice)
{
    if (notice->kind == NOTICE_ACCEPTED) {
        mesh->accepted++;
        mesh->host_clock_ns = notice->done_ns;
    }
    mesh->refused += notice->kind == NOTICE_REFUSED;
    mesh->sent += notice->kind == NOTICE_SENT;
    if (notice->kind != NOTICE_PACKET || mesh->event_count == MESH_EVENTS)
        return;
    struct mesh_event *event = &mesh->events[mesh->event_count++];
    event->kind = notice->packet_kind;
    event->src = notice->src;
    event->bytes =
        notice->bytes < sizeof event->body ? notice->bytes : (uint32_t)sizeof event->body;
    if (event->bytes > 0)
        memcpy(event->body, notice->body, event->bytes);
}

static bool step_host(struct mesh *mesh)
{
    const struct notice *notice;
    bool more = router_step(&mesh->host, mesh->now_us);

    while ((notice = router_notice(&mesh->host)))
        host_notice(mesh, notice);
    return more;
}

static bool on_the_way(const struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++)
        for (unsigned p = 0; p <= mesh->network.ports; p++) {
            const struct memory_end *end = &mesh->nodes[rank].ends[p];
            if (end->peer && end->link.carrier == CARRIER_UP &&
                (end->first != end->kicked || end->peer->first != end->peer->kicked))
                return true;
        }
    return false;
}

bool mesh_round(struct mesh *mesh)
{
    unsigned start = memory_random(&mesh->seed) % (mesh->count + 1);
    unsigned stride = memory_random(&mesh->seed) % 2 ? 1 : mesh->count;
    bool more = false;

    mesh->now_us++;
    for (unsigned i = 0; i <= mesh->count; i++) {
        unsigned who = (start + i * stride) % (mesh->count + 1);
        if (memory_random(&mesh->seed) % 4 == 0)
            continue; /* a slow node: later */
        more |=
            who == mesh->count ? step_host(mesh) : node_step(mesh->nodes[who].node, mesh->now_us);
    }
    return more || on_the_way(mesh);
}

static uint64_t next_deadline(const struct mesh *mesh)
{
    uint64_t deadline = router_deadline(&mesh->host);

    for (unsigned rank = 0; rank < mesh->count; rank++) {
        uint64_t wake = node_deadline(mesh->nodes[rank].node);
        if (wake < deadline)
            deadline = wake;
    }
    return deadline;
}

void mesh_settle(struct mesh *mesh)
{
    unsigned quiet = 0;

    while (quiet < 20)
        quiet = mesh_round(mesh) ? 0 : quiet + 1;
}

bool mesh_run(struct mesh *mesh, bool (*done)(struct mesh *mesh))
{
    uint64_t limit = mesh->now_us + PATIENCE_US;
    unsigned quiet = 0;

    while (!done(mesh)) {
        quiet = mesh_round(mesh) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS) {
            uint64_t deadline = next_deadline(mesh);
            if (deadline >= limit)
                return done(mesh);
            if (deadline > mesh->now_us)
                mesh->now_us = deadline;
            quiet = 0;
        }
        if (mesh->now_us > limit)
            return false;
    }
    return true;
}

unsigned mesh_count_events(const struct mesh *mesh, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mesh->event_count; i++)
        count += mesh->events[i].kind == kind;
    return count;
}

static bool all_links(struct mesh *mesh)
{
    return mesh_count_events(mesh, PACKET_LINKS) == mesh->count;
}

static bool root_answered(struct mesh *mesh)
{
    return mesh_count_events(mesh, PACKET_CTS) + mesh_count_events(mesh, PACKET_RETRY) > 0;
}

static bool all_receipts(struct mesh *mesh)
{
    return mesh_count_events(mesh, PACKET_RECEIPT) == mesh->count && mesh->sent > 0;
}

static bool all_started(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        struct node_start start;
        if (!mesh->nodes[rank].started && node_take_start(mesh->nodes[rank].node, &start))
            mesh->nodes[rank].started = true;
        if (!mesh->nodes[rank].started)
            return false;
    }
    return true;
}

static void forget_events(struct mesh *mesh, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mesh->event_count; i++)
        if (mesh->events[i].kind != kind)
            mesh->events[count++] = mesh->events[i];
    mesh->event_count = count;
}

struct offer_body mesh_offer(const struct mesh *mesh, uint32_t image_bytes, uint8_t generation)
{
    return (struct offer_body){.name = MESH_DOWNLOAD,
                               .entry = MESH_IMAGE,
                               .base = MESH_IMAGE,
                               .common_bytes = image_bytes,
                               .block_bytes = MESH_BLOCK_BYTES,
                               .count = mesh->count,
                               .generation = generation,
                               .bss_end = MESH_IMAGE + image_bytes};
}

struct state_body mesh_heard_state(const struct mesh *mesh)
{
    struct state_body state = {0};

    CHECK(mesh_count_events(mesh, PACKET_STATE) == 1);
    for (unsigned i = 0; i < mesh->event_count; i++)
        if (mesh->events[i].kind == PACKET_STATE)
            CHECK(state_unpack(mesh->events[i].body, mesh->events[i].bytes, &state));
    return state;
}

/* Asks the root again as long as it says RETRY. */
static bool offer(struct mesh *mesh)
{
    uint64_t limit = mesh->now_us + PATIENCE_US;
    struct offer_body offered = mesh_offer(mesh, MESH_IMAGE_BYTES, ++mesh->runs);
    uint8_t body[OFFER_BYTES];

    offer_pack(body, &offered);
    forget_events(mesh, PACKET_CTS);
    while (mesh_count_events(mesh, PACKET_CTS) == 0 && mesh->now_us < limit) {
        forget_events(mesh, PACKET_RETRY);
        if (router_send(&mesh->host, PACKET_OFFER, 0, body, sizeof body) == E_OK &&
            !mesh_run(mesh, root_answered))
            return false;
        for (unsigned i = 0; i < 20; i++)
            mesh_round(mesh);
        mesh->now_us += 100;
    }
    return mesh_count_events(mesh, PACKET_CTS) > 0;
}

bool mesh_download(struct mesh *mesh)
{
    uint32_t bytes = mesh->count * MESH_BLOCK_BYTES;

    mesh->sent = 0;
    forget_events(mesh, PACKET_RECEIPT);
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        block_pack(mesh->blocks + rank * MESH_BLOCK_BYTES, &(struct block_header){.rank = rank});
        mesh->nodes[rank].started = false;
    }
    struct circuit_source source = {.match = MESH_DOWNLOAD,
                                    .flags = OPEN_IMAGE,
                                    .data = {mesh->blocks, mesh->image},
                                    .bytes = {bytes, MESH_IMAGE_BYTES}};
    return offer(mesh) && router_open(&mesh->host, &source) == E_OK;
}

bool mesh_begin(struct mesh *mesh)
{
    if (!mesh_run(mesh, all_receipts))
        return false;
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        uint8_t body[START_BYTES];
        start_pack(body, &(struct start_body){1000000000});
        while (router_send(&mesh->host, PACKET_START, rank, body, sizeof body) != E_OK)
            mesh_round(mesh);
    }
    return mesh_run(mesh, all_started);
}

bool mesh_load(struct mesh *mesh)
{
    return mesh_download(mesh) && mesh_begin(mesh);
}

bool mesh_start(struct mesh *mesh)
{
    return mesh_run(mesh, all_links) && mesh_load(mesh);
}

void *mesh_at(struct mesh *mesh, unsigned rank, uint32_t address)
{
    return mesh->nodes[rank].program + (address - MESH_PROGRAM);
}

int32_t mesh_message(struct mesh *mesh, unsigned rank, uint32_t call, int32_t peer, int32_t tag,
                     uint32_t data, uint32_t bytes)
{
    struct ecube_abi_message message = {data, bytes, peer, tag};
    uint32_t arguments[4] = {ARGUMENTS};
    int32_t result = E_TIMEOUT;

    memcpy(mesh_at(mesh, rank, ARGUMENTS), &message, sizeof message);
    node_call(mesh->nodes[rank].node, mesh->now_us, call, arguments, &result);
    return result;
}

int32_t mesh_collective(struct mesh *mesh, unsigned rank,
                        const struct ecube_abi_collective *collective)
{
    uint32_t arguments[4] = {ARGUMENTS};
    int32_t result = E_TIMEOUT;

    memcpy(mesh_at(mesh, rank, ARGUMENTS), collective, sizeof *collective);
    node_call(mesh->nodes[rank].node, mesh->now_us, ECUBE_CALL_COLLECTIVE, arguments, &result);
    return result;
}

struct ecube_abi_result mesh_wait(struct mesh *mesh, unsigned rank, int32_t request)
{
    uint64_t limit = mesh->now_us + PATIENCE_US;
    uint32_t arguments[4] = {(uint32_t)request, ARGUMENTS};
    struct ecube_abi_result result = {.status = E_TIMEOUT};
    int32_t value = 0;
    unsigned quiet = 0;
    enum node_verdict verdict =
        node_call(mesh->nodes[rank].node, mesh->now_us, ECUBE_CALL_WAIT, arguments, &value);

    while (verdict == NODE_BLOCK && mesh->now_us < limit) {
        quiet = mesh_round(mesh) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS) {
            uint64_t deadline = next_deadline(mesh);
            mesh->now_us =
                deadline < limit ? (deadline > mesh->now_us ? deadline : mesh->now_us) : limit;
            quiet = 0;
        }
        verdict = node_resume(mesh->nodes[rank].node, mesh->now_us, &value);
    }
    if (verdict == NODE_RESUME) {
        memcpy(&result, mesh_at(mesh, rank, ARGUMENTS), sizeof result);
        if (value < 0)
            result.status = value;
    }
    return result;
}

uint64_t mesh_clock(struct mesh *mesh, unsigned rank)
{
    return mesh->nodes[rank].node->clock_ns;
}
