#include "tests/mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "network/text.h"
#include "node/sha256.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"

const uint8_t one_hop[HOP_LIST_BYTES + HOP_BYTES] = {1, HOP_DIMENSION_ORDER, 0, 0};

enum {
    ARGUMENTS = MESH_PROGRAM,
    PATIENCE_US = 120 * 1000 * 1000,
    QUIET_ROUNDS = 12,
    ANSWER_ROUNDS = 10000
};

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
    mesh->nodes = must(calloc(mesh->count, sizeof *mesh->nodes));
    mesh->blocks = must(calloc(mesh->count, MESH_BLOCK_BYTES));
    mesh->digests = must(calloc(mesh->count, DIGEST_BYTES));
    wire(mesh);
    for (unsigned rank = 0; rank < mesh->count; rank++)
        make_node(mesh, rank);
    mesh->host_memory = must(aligned_alloc(LINE_BYTES, controller_memory_bytes(&mesh->network)));
    struct controller_config config = {.links = mesh->host_links,
                                       .network = &mesh->network,
                                       .profile = profile,
                                       .payload_checked =
                                           fault.flip_per_million || fault.drop_per_million,
                                       .patience_us = PATIENCE_US,
                                       .memory = mesh->host_memory};
    controller_init(&mesh->controller, &config, mesh->now_us);
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
    free(mesh->digests);
    free(mesh->host_memory);
    free(mesh);
}

static void note_packet(struct mesh *mesh, const struct notice *notice)
{
    if (mesh->event_count == MESH_EVENTS)
        return;
    struct mesh_event *event = &mesh->events[mesh->event_count++];
    event->kind = notice->packet_kind;
    event->src = notice->src;
    event->bytes =
        notice->bytes < sizeof event->body ? notice->bytes : (uint32_t)sizeof event->body;
    if (event->bytes > 0)
        memcpy(event->body, notice->body, event->bytes);
}

/* What the host's router has to tell, before the controller takes it. */
static void note_notices(struct mesh *mesh)
{
    const struct router *router = &mesh->controller.router;

    for (unsigned i = 0; i < router->notice_count; i++) {
        const struct notice *notice = &router->notices[(router->notice_first + i) % NOTICES_MAX];
        mesh->accepted += notice->kind == NOTICE_ACCEPTED;
        mesh->refused += notice->kind == NOTICE_REFUSED;
        if (notice->kind == NOTICE_PACKET)
            note_packet(mesh, notice);
    }
}

static void take_events(struct mesh *mesh)
{
    const struct controller_event *event;

    while ((event = controller_event(&mesh->controller))) {
        mesh->told[event->kind]++;
        mesh->last_event = *event;
    }
}

bool mesh_step_host(struct mesh *mesh)
{
    bool more = controller_step(&mesh->controller, mesh->now_us);

    note_notices(mesh);
    take_events(mesh);
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
        more |= who == mesh->count ? mesh_step_host(mesh)
                                   : node_step(mesh->nodes[who].node, mesh->now_us);
    }
    return more || on_the_way(mesh);
}

static uint64_t next_deadline(const struct mesh *mesh)
{
    uint64_t deadline = controller_deadline(&mesh->controller);

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

static const struct mesh_event *answer_since(const struct mesh *mesh, unsigned event, uint32_t rank)
{
    for (; event < mesh->event_count; event++)
        if (mesh->events[event].kind == PACKET_STATE && mesh->events[event].src == rank)
            return &mesh->events[event];
    return NULL;
}

struct state_body mesh_state(struct mesh *mesh, uint32_t rank)
{
    unsigned asked = mesh->event_count;
    const struct mesh_event *answer = NULL;
    struct state_body state = {0};

    CHECK(router_send(&mesh->controller.router, PACKET_QUERY, rank, NULL, 0) == E_OK);
    for (unsigned round = 0; !answer && round < ANSWER_ROUNDS; round++) {
        mesh_round(mesh);
        answer = answer_since(mesh, asked, rank);
    }
    CHECK(answer && state_unpack(answer->body, answer->bytes, &state));
    return state;
}

static void make_blocks(struct mesh *mesh)
{
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        uint8_t *block = mesh->blocks + rank * MESH_BLOCK_BYTES;
        struct sha256 sha;
        block_pack(block, &(struct block_header){.rank = rank});
        sha256_begin(&sha);
        sha256_add(&sha, block, MESH_BLOCK_BYTES);
        sha256_add(&sha, mesh->image, MESH_IMAGE_BYTES);
        sha256_end(&sha, mesh->digests[rank]);
        mesh->nodes[rank].started = false;
    }
}

/* Tests end programs in ways that the host does not hear of. */
static void forget_programs(struct mesh *mesh)
{
    struct controller *controller = &mesh->controller;

    if (controller->phase == PHASE_RUN)
        mesh_settle(mesh);
    for (unsigned rank = 0; rank < mesh->count; rank++)
        controller->nodes[rank].flags &= (uint16_t)~NODE_RUNNING;
    controller->running = 0;
    controller_stop(controller, mesh->now_us);
    take_events(mesh);
}

static bool root_takes(struct mesh *mesh)
{
    return mesh->controller.nodes[0].offer >= OFFER_OPENED;
}

bool mesh_download(struct mesh *mesh)
{
    struct controller_program program = {.blocks = mesh->blocks,
                                         .image = mesh->image,
                                         .block_bytes = MESH_BLOCK_BYTES,
                                         .image_bytes = MESH_IMAGE_BYTES,
                                         .base = MESH_IMAGE,
                                         .entry = MESH_IMAGE,
                                         .bss_end = MESH_IMAGE + MESH_IMAGE_BYTES,
                                         .digests = (const uint8_t(*)[DIGEST_BYTES])mesh->digests,
                                         .messages = &mesh->message,
                                         .message_count = 1};

    forget_programs(mesh);
    make_blocks(mesh);
    mesh->message = (struct download_message){.root = 0, .count = mesh->count};
    if (controller_load(&mesh->controller, &program, mesh->now_us) != CONTROLLER_OK)
        return false;
    mesh->runs = mesh->controller.generation;
    take_events(mesh);
    return mesh_run(mesh, root_takes);
}

static bool is_loaded(struct mesh *mesh)
{
    return mesh->controller.phase == PHASE_LOADED && controller_quiet(&mesh->controller);
}

bool mesh_begin(struct mesh *mesh)
{
    if (!mesh_run(mesh, is_loaded))
        return false;
    controller_run(&mesh->controller, mesh->now_us);
    take_events(mesh);
    return mesh_run(mesh, all_started);
}

bool mesh_load(struct mesh *mesh)
{
    return mesh_download(mesh) && mesh_begin(mesh);
}

static bool has_booted(struct mesh *mesh)
{
    return mesh->controller.phase == PHASE_READY;
}

bool mesh_start(struct mesh *mesh)
{
    return mesh_run(mesh, has_booted) && mesh_load(mesh);
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
