#include "fuzz/world.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "network/network.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "router/link_counters.h"
#include "wire/circuit.h"
#include "wire/run.h"

enum { STEPS_MAX = 20000 };

static const struct lie truth;

static void make_memory(struct world *world)
{
    if (world->node) {
        return;
    }
    world->node = malloc(node_bytes());
    world->memory = malloc(node_memory_bytes(WORLD_PORTS, 0));
    world->program = malloc(WORLD_PROGRAM_BYTES);
    world->copy = malloc(WORLD_PROGRAM_BYTES);
    CHECK(world->node && world->memory && world->program && world->copy);
}

static void greet(struct world *world, bool ring)
{
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .network = NETWORK_CUBE,
                          .dims = WORLD_DIMS,
                          .heard = HEARD_ALL,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .sigma_permille = 1000,
                          .xi_ns = 65000,
                          .tau_ns = 10000,
                          .element_ns = 425,
                          .dead_after_ms = DEAD_AFTER_MS};

    hello.ports = world->all_ports ? PORTS_ALL : 1;
    if (ring) {
        hello.network = NETWORK_RING;
        hello.dims = 1;
        hello.last[0] = 3;
    }
    for (unsigned p = 0; p < WORLD_PORTS; p++) {
        hello.role = p == WORLD_HOST_PORT ? ROLE_HOST : ROLE_NODE;
        hello.port = (uint8_t)(ring && p != WORLD_HOST_PORT ? 1 - p : p);
        hello.id = p == WORLD_HOST_PORT ? ID_HOST : ring ? 1 + 2 * p : 1u << p;
        hello.peer_id = 0;
        neighbour_hello(&world->neighbours[p], &hello);
    }
    world_settle(world);
    CHECK(node_id(world->node) == 0);
}

/* Segments of every kind: common, windows or a map, one string at two places, and a block for each.
 */
void world_list(struct world *world)
{
    static const struct load_segment segments[WORLD_SEGMENTS] = {
        {.count = 4, .address = WORLD_IMAGE, .bytes = WORLD_IMAGE_BYTES},
        {.count = 4, .address = WORLD_IMAGE + 512, .bytes = 40, .step = 24},
        {.first = 2, .count = 2, .address = WORLD_IMAGE + 1024, .bytes = 100},
        {.count = 4, .address = WORLD_IMAGE + 1200, .bytes = 100, .flags = LOAD_SAME},
        {.count = 4,
         .address = WORLD_BLOCK,
         .bytes = WORLD_BLOCK_BYTES,
         .step = WORLD_BLOCK_BYTES,
         .flags = LOAD_BLOCK}};
    static const struct load_program program = {.count = 4,
                                                .entry = WORLD_IMAGE,
                                                .bss_end = WORLD_CONSTANTS_END,
                                                .code_end = WORLD_CONSTANTS_END,
                                                .constants_end = WORLD_CONSTANTS_END,
                                                .data_start = WORLD_BLOCK,
                                                .data_end = WORLD_TOP,
                                                .top = WORLD_TOP};

    static const struct load_segment map = {
        .count = 4, .address = WORLD_IMAGE + 512, .bytes = WORLD_MAP_BYTES, .flags = LOAD_MAP};

    load_list_pack(world->list, 4, 1, WORLD_SEGMENTS);
    load_program_pack(world->list, 0, &program);
    for (uint32_t i = 0; i < WORLD_SEGMENTS; i++) {
        load_segment_pack(world->list, i, i == 1 && world->mapped ? &map : &segments[i]);
    }
    world_seal_list(world);
}

uint32_t world_data(const struct world *world, uint8_t *data)
{
    uint32_t at = WORLD_LIST_BYTES + WORLD_IMAGE_BYTES;

    memcpy(data, world->list, WORLD_LIST_BYTES);
    if (!world->mapped) {
        return 0;
    }
    load_map_pack(data + at,
                  &(struct load_map){.nodes = 4, .kind = NETWORK_RING, .dims = 1, .sizes = {4}});
    for (uint32_t rank = 0; rank < 4; rank++) {
        load_map_put(data + at, 4, rank, rank ^ rank / 2);
    }
    return at;
}

void world_seal_list(struct world *world)
{
    sha256_of(world->list, sizeof world->list, world->digest);
}

struct offer_body world_offer(const struct world *world, uint32_t count)
{
    struct load_list list;
    uint32_t rank = node_id(world->node), bytes = 100;

    if (rank < 4 && count <= 4 && load_list_open(&list, world->list, sizeof world->list)) {
        bytes = (uint32_t)load_data_bytes(&list, 0, WORLD_SEGMENTS, rank, count);
    }
    return (struct offer_body){.name = 1,
                               .count = count,
                               .list_bytes = sizeof world->list,
                               .message_bytes = (uint32_t)sizeof world->list + bytes,
                               .to_segment = WORLD_SEGMENTS,
                               .top = WORLD_TOP,
                               .digest = world->digest};
}

static void download(struct world *world)
{
    struct neighbour *host = &world->neighbours[WORLD_HOST_PORT];
    uint8_t offer[OFFER_BYTES], open[OPEN_BYTES], start[START_BYTES];
    uint8_t data[4096] = {0};

    world_list(world);
    struct offer_body body = world_offer(world, 1);
    CHECK(body.message_bytes <= sizeof data);
    world_data(world, data);
    offer_pack(offer, &body);
    neighbour_packet(host, PACKET_OFFER, ID_HOST, 0, offer, sizeof offer, &truth);
    world_settle(world);
    open_pack(open, &(struct open_body){.length = body.message_bytes,
                                        .match = body.name,
                                        .tag = body.list_bytes,
                                        .flags = OPEN_IMAGE});
    neighbour_packet(host, PACKET_OPEN, ID_HOST, 0, packet_body(open), OPEN_BODY_BYTES, &truth);
    world_settle(world);
    neighbour_frame(host, FRAME_DATA, FLAG_CHECKED | FLAG_LAST, data, body.message_bytes, &truth);
    world_settle(world);
    start_pack(start, &(struct start_body){.attended = true, .records = WORLD_RECORDS});
    neighbour_packet(host, PACKET_START, ID_HOST, 0, start, sizeof start, &truth);
    world_settle(world);
    CHECK(node_program_runs(world->node));
    memset(world->granted, 0, sizeof world->granted);
    memcpy(world->copy, world->program, WORLD_PROGRAM_BYTES);
}

void world_begin(struct world *world, enum world_stage stage, bool payload_checked, bool ring,
                 uint16_t incarnation)
{
    make_memory(world);
    for (unsigned p = 0; p < WORLD_PORTS; p++) {
        pipe_init(&world->pipes[p]);
        if (p == WORLD_LONG_PORT) {
            pipe_lengthen(&world->pipes[p]);
        }
        world->links[p] = &world->pipes[p].link;
    }
    memset(world->memory, 0xa5, node_memory_bytes(WORLD_PORTS, 0));
    memset(world->program, 0, WORLD_PROGRAM_BYTES);
    memset(world->copy, 0, WORLD_PROGRAM_BYTES);
    memset(world->granted, 0, sizeof world->granted);
    world_list(world);
    world->now_us = 1000000;
    world->blocked = false;
    world->download = 0;
    static uint8_t plans[WORLD_PLAN_BYTES];
    static struct link_counters link_counters[WORLD_PORTS];
    memset(link_counters, 0, sizeof link_counters);
    static _Alignas(8) uint8_t records[WORLD_RECORD_BYTES];
    struct node_config config = {.links = world->links,
                                 .link_count = WORLD_PORTS,
                                 .program = world->program,
                                 .program_address = WORLD_PROGRAM,
                                 .program_bytes = WORLD_PROGRAM_BYTES,
                                 .stack_top = WORLD_IMAGE,
                                 .image_address = WORLD_IMAGE,
                                 .memory = world->memory,
                                 .link_counters = link_counters,
                                 .plans = plans,
                                 .plan_bytes = sizeof plans,
                                 .records = records,
                                 .records_bytes = sizeof records,
                                 .incarnation = incarnation,
                                 .payload_checked = payload_checked};
    node_init(world->node, &config);
    for (unsigned p = 0; p < WORLD_PORTS; p++) {
        world->neighbours[p] = (struct neighbour){.pipe = &world->pipes[p],
                                                  .channel = &world->node->router.ports[p].channel,
                                                  .incarnation = 1};
    }
    if (stage >= STAGE_LINKS) {
        greet(world, ring);
    }
    if (stage >= STAGE_RUNNING) {
        download(world);
    }
}

/* A download may write from the image on, and nowhere else. */
static void watch_download(struct world *world)
{
    if (world->download != world->node->load.number) {
        world->download = world->node->load.number;
        uint32_t before = WORLD_IMAGE - WORLD_PROGRAM;
        memset(world->granted + before, 1, WORLD_PROGRAM_BYTES - before);
    }
}

bool world_step(struct world *world)
{
    bool more = node_step(world->node, world->now_us);

    watch_download(world);
    return more;
}

/* The program, if it waits, asks again. */
static void resume(struct world *world)
{
    int32_t result;

    if (world->blocked) {
        world->blocked = node_resume(world->node, world->now_us, &result) == NODE_BLOCK;
    }
}

void world_settle(struct world *world)
{
    struct node_start start;
    unsigned steps = 0;

    while (world_step(world)) {
        CHECK(++steps < STEPS_MAX);
    }
    CHECK(node_deadline(world->node) > world->now_us);
    invariants_check(world);
    if (node_take_start(world->node, &start)) {
        uint32_t end = WORLD_PROGRAM + WORLD_PROGRAM_BYTES;
        CHECK(start.block_bytes == 0 || (start.block >= WORLD_IMAGE && start.block < end &&
                                         start.block_bytes <= end - start.block));
        world->blocked = false;
    }
    resume(world);
}

bool world_poke(struct world *world, uint32_t address, const void *data, uint32_t bytes)
{
    uint32_t offset = address - WORLD_PROGRAM;

    if (offset > WORLD_PROGRAM_BYTES || bytes > WORLD_PROGRAM_BYTES - offset) {
        return false;
    }
    memcpy(world->program + offset, data, bytes);
    memcpy(world->copy + offset, data, bytes);
    return true;
}

void world_grant(struct world *world, uint32_t address, uint32_t bytes)
{
    uint32_t offset = address - WORLD_PROGRAM;

    if (offset >= WORLD_PROGRAM_BYTES || bytes > WORLD_PROGRAM_BYTES - offset) {
        return; /* a call that names it must fail */
    }
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t at = address + i;
        world->granted[offset + i] |=
            at < WORLD_IMAGE || (at >= WORLD_CONSTANTS_END && at < WORLD_BLOCK) || at >= WORLD_TOP;
    }
}

void world_call(struct world *world, uint32_t number, const uint32_t arguments[4])
{
    int32_t result;

    if (!node_program_runs(world->node) || world->blocked) {
        return;
    }
    world->blocked =
        node_call(world->node, world->now_us, number, arguments, &result) == NODE_BLOCK;
    watch_download(world);
}

void world_end(struct world *world)
{
    for (unsigned p = 0; p < WORLD_PORTS; p++) {
        pipe_drain(&world->pipes[p]);
        world->pipes[p].link.carrier = CARRIER_LOST;
    }
    world_settle(world);
    world_settle(world); /* a dead link's own buffers come back with the next step */
    invariants_check_end(world);
    /* a gather may write where the program's heap was */
    bool gathered = world->node->gather.number > 0;
    uint32_t end = gathered ? world->node->load.top - WORLD_PROGRAM : WORLD_PROGRAM_BYTES;
    for (uint32_t i = 0; i < WORLD_PROGRAM_BYTES && i < end; i++) {
        CHECK(world->granted[i] || world->program[i] == world->copy[i]);
    }
}
