#include "tests/controller/fake_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/text.h"
#include "node/sha256.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/frame.h"
#include "wire/packet.h"

enum { QUIET_ROUNDS = 4, ROUNDS_MAX = 200000, PASS_MS = 100, BOOT_ROUNDS = 50, SAY_MS = 1000 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct network_limits limits = {.nodes = 4096, .place = "in a test"};

static void *must(void *memory)
{
    CHECK(memory);
    return memory;
}

static void make_node(struct fake_nodes *all, unsigned index)
{
    unsigned ports = all->network.ports + 1u;
    struct router_config config = {.id = ID_UNKNOWN, .links = all->node_links[index]};

    for (unsigned p = 0; p < ports; p++) {
        memory_link_absent(&all->nowhere[index][p]);
        all->node_links[index][p] = &all->nowhere[index][p].link;
    }
    memory_link_init(&all->node_ends[index], &all->host_ends[index], &all->seed, &all->fault);
    all->node_links[index][ports - 1] = &all->node_ends[index].link;
    all->host_links[index] = &all->host_ends[index].link;
    if (!all->router_memory[index]) {
        all->router_memory[index] = must(malloc(router_memory_bytes(ports, 0)));
    }
    config.link_count = ports;
    config.memory = all->router_memory[index];
    router_init(&all->routers[index], &config);
}

static void find_right(struct fake_nodes *all)
{
    const struct network *network = &all->network;

    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);

            all->found[rank][p] =
                peer == NETWORK_NO_NODE
                    ? (struct links_port){LINK_SILENT, 0, ID_UNKNOWN}
                    : (struct links_port){LINK_UP, (uint8_t)network_far_port(network, p), peer};
        }
        all->found[rank][network->ports] = (struct links_port){LINK_UP, 0, ID_HOST};
    }
}

static void make_list(struct fake_nodes *all)
{
    uint32_t nodes = all->network.nodes;
    const struct load_program program = {.count = nodes,
                                         .entry = 0x1000,
                                         .bss_end = 0x2000,
                                         .code_end = 0x2000,
                                         .constants_end = 0x2000,
                                         .data_start = 0x2000,
                                         .data_end = FAKE_TOP,
                                         .top = FAKE_TOP};
    const struct load_segment image = {
        .count = nodes, .address = 0x1000, .bytes = FAKE_IMAGE_BYTES};
    const struct load_segment blocks = {.count = nodes,
                                        .address = 0x2000,
                                        .bytes = FAKE_BLOCK_BYTES,
                                        .step = FAKE_BLOCK_BYTES,
                                        .flags = LOAD_BLOCK};

    load_list_pack(all->list, nodes, 1, FAKE_SEGMENTS);
    load_program_pack(all->list, 0, &program);
    load_segment_pack(all->list, FAKE_IMAGE, &image);
    load_segment_pack(all->list, FAKE_BLOCKS, &blocks);
    sha256_of(all->list, FAKE_LIST_BYTES, all->list_digest);
}

static void make_program(struct fake_nodes *all)
{
    uint32_t nodes = all->network.nodes;

    all->blocks = must(calloc(nodes, FAKE_BLOCK_BYTES));
    all->digests = must(calloc(nodes, DIGEST_BYTES));
    all->messages = must(calloc(nodes, sizeof *all->messages));
    make_list(all);
    memset(all->image, 0x5a, FAKE_IMAGE_BYTES);
    sha256_of(all->image, FAKE_IMAGE_BYTES, all->image_digest[0]);
    for (uint32_t rank = 0; rank < nodes; rank++) {
        block_pack(all->blocks + (size_t)rank * FAKE_BLOCK_BYTES,
                   &(struct block_header){.rank = rank, .size = nodes});
        sha256_of(all->blocks + (size_t)rank * FAKE_BLOCK_BYTES, FAKE_BLOCK_BYTES,
                  all->digests[rank]);
    }
    all->strings[FAKE_IMAGE] = all->image;
    all->strings[FAKE_BLOCKS] = all->blocks;
    all->segment_digests[FAKE_IMAGE] = (const uint8_t(*)[DIGEST_BYTES])all->image_digest;
    all->segment_digests[FAKE_BLOCKS] = (const uint8_t(*)[DIGEST_BYTES])all->digests;
}

static void wait_for_links(struct fake_nodes *all)
{
    for (unsigned i = 0; i < BOOT_ROUNDS; i++) {
        fake_wait_ms(all, 1);
    }
    for (unsigned i = 0; i < all->links; i++) {
        CHECK(all->routers[i].ports[all->network.ports].channel.state == LINK_UP);
    }
}

struct fake_nodes *fake_make(const char *network)
{
    struct fake_nodes *all = must(calloc(1, sizeof *all));
    char error[NETWORK_ERROR_MAX];

    all->now_us = 1000;
    CHECK(network_parse(&all->network, network, &limits, error));
    all->links = network_host_links(&all->network);
    all->found = must(calloc(all->network.nodes, sizeof *all->found));
    for (unsigned i = 0; i < all->links; i++) {
        make_node(all, i);
    }
    find_right(all);
    make_program(all);
    all->memory = must(malloc(controller_memory_bytes(&all->network)));
    struct controller_config config = {.links = all->host_links,
                                       .network = &all->network,
                                       .profile = ipsc860,
                                       .dead_after_ms = UINT32_MAX,
                                       .patience_us = FAKE_PATIENCE_US,
                                       .memory = all->memory};
    controller_init(&all->controller, &config, all->now_us);
    wait_for_links(all);
    return all;
}

void fake_restart(struct fake_nodes *all)
{
    for (unsigned i = 0; i < all->links; i++) {
        memory_link_free(&all->node_ends[i], &all->host_ends[i]);
        make_node(all, i);
        all->sniffed[i] = all->host_ends[i].end;
    }
    controller_restart(&all->controller, 0, all->now_us);
    wait_for_links(all);
}

void fake_free(struct fake_nodes *all)
{
    for (unsigned i = 0; i < all->links; i++) {
        memory_link_free(&all->node_ends[i], &all->host_ends[i]);
        free(all->router_memory[i]);
    }
    free(all->memory);
    free(all->found);
    free(all->blocks);
    free(all->digests);
    free(all->messages);
    free(all);
}

/* Reads what the host has put on a cable: a packet is one segment. */
static void sniff(struct fake_nodes *all, unsigned index)
{
    const struct memory_end *end = &all->host_ends[index];

    for (; all->sniffed[index] != end->end; all->sniffed[index]++) {
        const struct memory_segment *segment =
            &end->segments[all->sniffed[index] % MEMORY_SEGMENTS];
        const uint8_t *packet = segment->data + FRAME_HEADER_BYTES;

        if (segment->bytes < FRAME_HEADER_BYTES + PACKET_HEADER_BYTES ||
            !frame_begins(segment->data) || frame_type(segment->data) != FRAME_PACKET ||
            packet_kind(packet) < PACKET_ROUTED) {
            continue;
        }
        CHECK(all->packet_count < FAKE_PACKETS);
        struct fake_packet *heard = &all->packets[all->packet_count++];
        heard->kind = packet_kind(packet);
        heard->dst = packet_dst(packet);
        heard->bytes = packet_body_bytes(packet);
        memcpy(heard->body, packet_body(packet),
               heard->bytes < FAKE_BODY ? heard->bytes : FAKE_BODY);
    }
}

static bool step_node(struct fake_nodes *all, unsigned index)
{
    struct router *router = &all->routers[index];
    const struct notice *notice;
    bool more;

    if (router->id != ID_UNKNOWN) {
        router->network.nodes = 1; /* there is nobody to whom it could pass a packet on */
    }
    more = router_step(router, all->now_us);
    while ((notice = router_notice(router))) {
        if (notice->kind == NOTICE_OPEN && all->refusal != E_OK) {
            router_refuse(router, notice->port, all->refusal);
            all->refusal = E_OK;
        } else if (notice->kind == NOTICE_OPEN) {
            struct circuit_sink sink = {.data = all->sink, .room = sizeof all->sink};
            router_accept(router, notice->port, &sink);
        }
    }
    return more;
}

static bool step_controller(struct fake_nodes *all)
{
    bool more = controller_step(&all->controller, all->now_us);
    const struct controller_event *event;

    while ((event = controller_event(&all->controller))) {
        CHECK(all->event_count < FAKE_EVENTS);
        all->events[all->event_count++] = *event;
        more = true;
    }
    CHECK(more || controller_deadline(&all->controller) > all->now_us);
    return more;
}

static bool on_the_way(const struct fake_nodes *all)
{
    bool any = false;

    for (unsigned i = 0; i < all->links && !all->deaf; i++) {
        any |= all->host_ends[i].first != all->host_ends[i].kicked ||
               all->node_ends[i].first != all->node_ends[i].kicked;
    }
    return any;
}

void fake_settle(struct fake_nodes *all)
{
    unsigned quiet = 0;

    for (unsigned round = 0; quiet < QUIET_ROUNDS; round++) {
        bool more = step_controller(all);

        CHECK(round < ROUNDS_MAX);
        for (unsigned i = 0; i < all->links; i++) {
            sniff(all, i);
            more |= !all->deaf && step_node(all, i);
        }
        quiet = more || on_the_way(all) ? 0 : quiet + 1;
    }
}

void fake_wait_ms(struct fake_nodes *all, unsigned ms)
{
    all->now_us += ms * UINT64_C(1000);
    fake_settle(all);
}

void fake_pass_ms(struct fake_nodes *all, unsigned ms)
{
    for (unsigned passed = 0; passed < ms; passed += PASS_MS) {
        unsigned step_ms = ms - passed < PASS_MS ? ms - passed : PASS_MS;

        all->now_us += step_ms * UINT64_C(1000);
        controller_pass(&all->controller, step_ms * UINT64_C(1000), all->now_us);
        fake_settle(all);
    }
}

void fake_say(struct fake_nodes *all, uint32_t src, uint8_t kind, const void *body, uint32_t bytes)
{
    uint32_t root = network_host_root(&all->network, src);
    struct router *router = &all->routers[network_host_link_of(&all->network, root)];
    uint32_t own = router->id;
    int status = E_FULL;

    /* Acknowledgements take their time, and slots are free only with them. */
    for (unsigned i = 0; i < SAY_MS; i++) {
        router->id = src;
        status = router_send(router, kind, ID_HOST, body, bytes);
        router->id = own;
        if (status == E_OK) {
            break;
        }
        fake_wait_ms(all, 1);
    }
    CHECK(status == E_OK);
    fake_settle(all);
}

void fake_tell_links(struct fake_nodes *all, uint32_t rank)
{
    unsigned ports =
        all->network.ports + (network_host_link_of(&all->network, rank) >= 0 ? 1u : 0u);
    struct links_body links = {.port_count = (uint8_t)ports, .complete = true};
    uint8_t body[LINKS_BYTES_MAX];

    memcpy(links.ports, all->found[rank], sizeof links.ports);
    fake_say(all, rank, PACKET_LINKS, body, links_pack(body, &links));
}

void fake_tell_all_links(struct fake_nodes *all)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        fake_tell_links(all, rank);
    }
}

void fake_reply(struct fake_nodes *all, uint32_t rank, uint8_t kind, uint32_t name)
{
    uint8_t body[CTS_BYTES];

    if (kind == PACKET_CTS) {
        cts_pack(body, &(struct cts_body){.name = name, .match = name});
    } else {
        rts_reply_pack(body, &(struct rts_reply_body){name});
    }
    fake_say(all, rank, kind, body, kind == PACKET_CTS ? CTS_BYTES : RTS_REPLY_BYTES);
}

void fake_say_receipt(struct fake_nodes *all, uint32_t rank, const struct receipt_body *receipt)
{
    uint8_t body[RECEIPT_BYTES + RECEIPT_DIGESTS_MAX * DIGEST_BYTES];

    fake_say(all, rank, PACKET_RECEIPT, body, receipt_pack(body, receipt));
}

void fake_receipt(struct fake_nodes *all, uint32_t rank, uint64_t model_ns)
{
    uint8_t digests[FAKE_SEGMENTS * DIGEST_BYTES];
    const struct receipt_body receipt = {.status = E_OK,
                                         .held_bytes = FAKE_BLOCK_BYTES + FAKE_IMAGE_BYTES,
                                         .model_ns = model_ns,
                                         .count = FAKE_SEGMENTS,
                                         .last = true,
                                         .digests = digests};

    memcpy(digests, all->image_digest[0], DIGEST_BYTES);
    memcpy(digests + DIGEST_BYTES, all->digests[rank], DIGEST_BYTES);
    fake_say_receipt(all, rank, &receipt);
}

void fake_state(struct fake_nodes *all, uint32_t rank, const struct state_body *state)
{
    uint8_t body[STATE_BYTES];

    state_pack(body, state);
    fake_say(all, rank, PACKET_STATE, body, sizeof body);
}

void fake_exit(struct fake_nodes *all, uint32_t rank, int32_t status)
{
    uint8_t body[EXIT_BYTES];

    exit_pack(body, &(struct exit_body){.status = status});
    fake_say(all, rank, PACKET_EXIT, body, sizeof body);
}

void fake_link_dead(struct fake_nodes *all, uint32_t rank, unsigned port, uint8_t reason)
{
    uint8_t body[LINK_DEAD_BYTES];

    link_dead_pack(body, &(struct link_dead_body){.port = (uint8_t)port, .reason = reason});
    fake_say(all, rank, PACKET_LINK_DEAD, body, sizeof body);
}

void fake_find(struct fake_nodes *all, uint32_t rank, uint32_t peer, struct links_port found)
{
    unsigned port = network_port_to(&all->network, rank, peer);

    CHECK(port < all->network.ports);
    all->found[rank][port] = found;
}

void fake_plug(struct fake_nodes *all, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port)
{
    all->found[a][a_port] = (struct links_port){LINK_CROSSED, (uint8_t)b_port, b};
    all->found[b][b_port] = (struct links_port){LINK_CROSSED, (uint8_t)a_port, a};
}

enum controller_refusal fake_load(struct fake_nodes *all, bool each)
{
    uint32_t nodes = all->network.nodes;
    struct controller_load load = {.list = all->list,
                                   .list_bytes = FAKE_LIST_BYTES,
                                   .list_digest = all->list_digest,
                                   .strings = all->strings,
                                   .digests = all->segment_digests,
                                   .messages = all->messages,
                                   .count = each ? nodes : 1};

    for (uint32_t rank = 0; rank < nodes; rank++) {
        all->messages[rank] = (struct download_message){.root = rank, .count = each ? 1 : nodes};
    }
    enum controller_refusal refused = controller_load(&all->controller, &load, all->now_us);
    fake_settle(all);
    return refused;
}

struct fake_nodes *fake_booted(const char *network)
{
    struct fake_nodes *all = fake_make(network);

    fake_tell_all_links(all);
    CHECK(all->controller.phase == PHASE_READY && !all->controller.broken);
    fake_forget(all);
    return all;
}

void fake_load_whole(struct fake_nodes *all)
{
    CHECK(fake_load(all, false) == CONTROLLER_OK);
    fake_reply(all, 0, PACKET_CTS, all->controller.name);
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        fake_receipt(all, rank, 1000 + rank);
    }
    CHECK(all->controller.phase == PHASE_LOADED);
}

struct fake_nodes *fake_loaded(const char *network)
{
    struct fake_nodes *all = fake_booted(network);

    fake_load_whole(all);
    return all;
}

struct fake_nodes *fake_running(const char *network)
{
    struct fake_nodes *all = fake_loaded(network);

    controller_run(&all->controller, all->now_us);
    fake_settle(all);
    CHECK(all->controller.running == all->network.nodes);
    fake_forget(all);
    return all;
}

unsigned fake_sent(const struct fake_nodes *all, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < all->packet_count; i++) {
        count += all->packets[i].kind == kind;
    }
    return count;
}

unsigned fake_sent_to(const struct fake_nodes *all, uint8_t kind, uint32_t dst)
{
    unsigned count = 0;

    for (unsigned i = 0; i < all->packet_count; i++) {
        count += all->packets[i].kind == kind && all->packets[i].dst == dst;
    }
    return count;
}

const struct fake_packet *fake_last(const struct fake_nodes *all, uint8_t kind)
{
    unsigned i = all->packet_count;

    while (i > 0 && all->packets[i - 1].kind != kind) {
        i--;
    }
    CHECK(i > 0);
    return &all->packets[i - 1];
}

void fake_forget(struct fake_nodes *all)
{
    all->packet_count = all->event_count = 0;
}

unsigned fake_told(const struct fake_nodes *all, enum event_kind kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < all->event_count; i++) {
        count += all->events[i].kind == kind;
    }
    return count;
}

const struct controller_event *fake_event(const struct fake_nodes *all, enum event_kind kind)
{
    unsigned i = all->event_count;

    while (i > 0 && all->events[i - 1].kind != kind) {
        i--;
    }
    CHECK(i > 0);
    return &all->events[i - 1];
}
