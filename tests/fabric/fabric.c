#include "tests/fabric/fabric.h"

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
#include "wire/crc.h"
#include "wire/frame.h"

const uint8_t one_hop[HOP_LIST_BYTES + HOP_BYTES] = {1, HOP_DIMENSION_ORDER, 0, 0};

enum {
    ARGUMENTS = FABRIC_PROGRAM,
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

static void make_node(struct fabric *fabric, unsigned rank)
{
    struct fabric_node *n = &fabric->nodes[rank];
    bool host_link = network_host_link_of(&fabric->network, rank) >= 0;
    unsigned links = fabric->network.ports + host_link;
    /* behind the data of a test as much scratch */
    uint32_t bytes = FABRIC_DATA - FABRIC_PROGRAM + 2 * fabric->data_bytes;

    n->node = must(malloc(node_bytes()));
    n->memory = must(malloc(node_memory_bytes(links, 0)));
    n->plans = must(malloc(FABRIC_PLAN_BYTES));
    n->records = must(malloc(FABRIC_RECORD_BYTES));
    n->program = must(calloc(1, bytes));
    for (unsigned p = 0; p < links; p++) {
        n->links[p] = &n->ends[p].link;
    }
    struct node_config config = {.links = n->links,
                                 .link_count = links,
                                 .program = n->program,
                                 .program_address = FABRIC_PROGRAM,
                                 .program_bytes = bytes,
                                 .stack_top = FABRIC_IMAGE,
                                 .image_address = FABRIC_IMAGE,
                                 .memory = n->memory,
                                 .link_counters = n->link_counters,
                                 .plans = n->plans,
                                 .plan_bytes = FABRIC_PLAN_BYTES,
                                 .records = n->records,
                                 .records_bytes = FABRIC_RECORD_BYTES,
                                 .preload = &fabric->preload,
                                 .payload_checked = fabric->fault.flip_per_million ||
                                                    fabric->fault.drop_per_million};
    node_init(n->node, &config);
}

static void join(struct fabric *fabric, struct memory_end *a, struct memory_end *b)
{
    memory_link_init(a, b, &fabric->seed, &fabric->fault);
    if (fabric->long_chunks) {
        memory_link_lengthen(a);
        memory_link_lengthen(b);
    }
}

/* A port without a link, at the end of a path, has an end to which nobody is attached. */
static void wire(struct fabric *fabric)
{
    const struct network *network = &fabric->network;

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);
            struct memory_end *end = &fabric->nodes[rank].ends[p];
            if (peer == NETWORK_NO_NODE) {
                memory_link_absent(end);
            } else if (network_owns_link(network, rank, p)) {
                join(fabric, end, &fabric->nodes[peer].ends[network_far_port(network, p)]);
            }
        }
    }
    for (unsigned i = 0; i < network_host_links(network); i++) {
        uint32_t rank = network_host_node(network, i);
        memory_link_init(&fabric->nodes[rank].ends[network->ports], &fabric->host_ends[i],
                         &fabric->seed, &fabric->fault);
        fabric->host_links[i] = &fabric->host_ends[i].link;
    }
}

struct fabric *fabric_make(unsigned dims, uint32_t data_bytes, uint64_t seed,
                           struct memory_fault fault, struct profile profile)
{
    char name[NETWORK_NAME_MAX];

    snprintf(name, sizeof name, "cube:%u", dims);
    return fabric_make_named(name, data_bytes, seed, fault, profile);
}

struct fabric *fabric_make_named(const char *network, uint32_t data_bytes, uint64_t seed,
                                 struct memory_fault fault, struct profile profile)
{
    return fabric_make_linked(network, 0, data_bytes, seed, fault, profile);
}

struct fabric *fabric_make_linked(const char *network, unsigned host_links, uint32_t data_bytes,
                                  uint64_t seed, struct memory_fault fault, struct profile profile)
{
    static const struct network_limits limits = {.nodes = 1024, .place = "in a test"};
    struct fabric *fabric = must(calloc(1, sizeof *fabric));
    char error[NETWORK_ERROR_MAX];

    *fabric = (struct fabric){
        .data_bytes = data_bytes, .seed = seed, .fault = fault, .long_chunks = seed & 1};
    CHECK(network_parse(&fabric->network, network, &limits, error));
    CHECK(network_set_host_links(&fabric->network, host_links));
    fabric->count = fabric->network.nodes;
    fabric->nodes = must(calloc(fabric->count, sizeof *fabric->nodes));
    fabric->blocks = must(calloc(fabric->count, FABRIC_BLOCK_BYTES));
    fabric->block_digests = must(calloc(fabric->count, DIGEST_BYTES));
    wire(fabric);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        make_node(fabric, rank);
    }
    fabric->host_memory = must(malloc(controller_memory_bytes(&fabric->network)));
    fabric->cache = plan_cache_make(&fabric->network, &profile);
    struct controller_config config = {.links = fabric->host_links,
                                       .cache = fabric->cache,
                                       .network = &fabric->network,
                                       .profile = profile,
                                       .payload_checked =
                                           fault.flip_per_million || fault.drop_per_million,
                                       .patience_us = PATIENCE_US,
                                       .attended = true,
                                       .memory = fabric->host_memory};
    controller_init(&fabric->controller, &config, fabric->now_us);
    for (unsigned i = 0; i < FABRIC_IMAGE_BYTES; i++) {
        fabric->image[i] = (uint8_t)memory_random(&fabric->seed);
    }
    return fabric;
}

/* An invariant plan has one part, which stands for all. */
void fabric_preload(struct fabric *fabric, const struct plan *plan)
{
    unsigned parts = plan->invariant ? 1 : fabric->count;
    uint64_t *at = must(calloc(parts, sizeof *at)), bytes = 0;
    uint8_t *data;

    CHECK(fabric->preload.count < PRELOAD_MAX);
    for (unsigned rank = 0; rank < parts; rank++) {
        at[rank] = bytes;
        bytes += plan_part(plan, rank, NULL);
    }
    data = must(malloc(bytes));
    for (unsigned rank = 0; rank < parts; rank++) {
        plan_part(plan, rank, data + at[rank]);
    }
    if (plan->invariant) {
        free(at);
        at = NULL;
    }
    fabric->preload.plans[fabric->preload.count++] =
        (struct preloaded_plan){data, at, plan->bytes_min, plan->bytes_max};
}

static void clear_preload(struct plan_preload *preload)
{
    for (unsigned i = 0; i < preload->count; i++) {
        free((void *)preload->plans[i].data);
        free((void *)preload->plans[i].at);
    }
}

void fabric_free(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        struct fabric_node *n = &fabric->nodes[rank];
        for (unsigned p = 0; p < fabric->network.ports; p++) {
            if (network_owns_link(&fabric->network, rank, p)) {
                memory_link_free(&n->ends[p], n->ends[p].peer);
            }
        }
        if (network_host_link_of(&fabric->network, rank) >= 0) {
            memory_link_free(&n->ends[fabric->network.ports], n->ends[fabric->network.ports].peer);
        }
        free(n->node);
        free(n->memory);
        free(n->plans);
        free(n->records);
        free(n->program);
    }
    free(fabric->nodes);
    free(fabric->blocks);
    free(fabric->block_digests);
    free(fabric->host_memory);
    plan_cache_free(fabric->cache);
    clear_preload(&fabric->preload);
    free(fabric);
}

static void note_packet(struct fabric *fabric, const struct notice *notice)
{
    if (fabric->event_count == FABRIC_EVENTS) {
        return;
    }
    struct fabric_event *event = &fabric->events[fabric->event_count++];
    event->kind = notice->packet_kind;
    event->src = notice->src;
    event->bytes =
        notice->bytes < sizeof event->body ? notice->bytes : (uint32_t)sizeof event->body;
    if (event->bytes > 0) {
        memcpy(event->body, notice->body, event->bytes);
    }
}

/* What the host's router has to tell, before the controller takes it. */
static void note_notices(struct fabric *fabric)
{
    const struct router *router = &fabric->controller.router;

    for (unsigned i = 0; i < router->notice_count; i++) {
        const struct notice *notice = &router->notices[(router->notice_first + i) % NOTICES_MAX];
        fabric->accepted += notice->kind == NOTICE_ACCEPTED;
        fabric->refused += notice->kind == NOTICE_REFUSED;
        if (notice->kind == NOTICE_PACKET) {
            note_packet(fabric, notice);
        }
    }
}

static void take_events(struct fabric *fabric)
{
    const struct controller_event *event;

    while ((event = controller_event(&fabric->controller))) {
        fabric->told[event->kind]++;
        fabric->last_event = *event;
        if (event->kind == EVENT_FAULT) {
            fabric->last_fault = *event;
        } else if (event->kind == EVENT_RECORDS_END) {
            fabric->fetched[event->reason]++;
            fabric->damaged += event->records.damaged;
        }
    }
}

bool fabric_step_host(struct fabric *fabric)
{
    bool more = controller_step(&fabric->controller, fabric->now_us);

    note_notices(fabric);
    take_events(fabric);
    return more;
}

static bool on_the_way(const struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        for (unsigned p = 0; p <= fabric->network.ports; p++) {
            const struct memory_end *end = &fabric->nodes[rank].ends[p];
            if (end->peer && end->link.carrier == CARRIER_UP &&
                (end->first != end->kicked || end->peer->first != end->peer->kicked)) {
                return true;
            }
        }
    }
    return false;
}

bool fabric_round(struct fabric *fabric)
{
    unsigned start = memory_random(&fabric->seed) % (fabric->count + 1);
    unsigned stride = memory_random(&fabric->seed) % 2 ? 1 : fabric->count;
    bool more = false;

    fabric->now_us++;
    for (unsigned i = 0; i <= fabric->count; i++) {
        unsigned who = (start + i * stride) % (fabric->count + 1);
        if (memory_random(&fabric->seed) % 4 == 0) {
            continue; /* a slow node: later */
        }
        more |= who == fabric->count ? fabric_step_host(fabric)
                                     : node_step(fabric->nodes[who].node, fabric->now_us);
    }
    return more || on_the_way(fabric);
}

static uint64_t next_deadline(const struct fabric *fabric)
{
    uint64_t deadline = controller_deadline(&fabric->controller);

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint64_t wake = node_deadline(fabric->nodes[rank].node);
        if (wake < deadline) {
            deadline = wake;
        }
    }
    return deadline;
}

void fabric_settle(struct fabric *fabric)
{
    unsigned quiet = 0;

    while (quiet < 20) {
        quiet = fabric_round(fabric) ? 0 : quiet + 1;
    }
}

bool fabric_run(struct fabric *fabric, bool (*done)(struct fabric *fabric))
{
    uint64_t limit = fabric->now_us + PATIENCE_US;
    unsigned quiet = 0;

    while (!done(fabric)) {
        quiet = fabric_round(fabric) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS) {
            uint64_t deadline = next_deadline(fabric);
            if (deadline >= limit) {
                return done(fabric);
            }
            if (deadline > fabric->now_us) {
                fabric->now_us = deadline;
            }
            quiet = 0;
        }
        if (fabric->now_us > limit) {
            return false;
        }
    }
    return true;
}

unsigned fabric_count_events(const struct fabric *fabric, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < fabric->event_count; i++) {
        count += fabric->events[i].kind == kind;
    }
    return count;
}

static bool all_started(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        struct node_start start;
        if (!fabric->nodes[rank].started && node_take_start(fabric->nodes[rank].node, &start)) {
            fabric->nodes[rank].started = true;
        }
        if (!fabric->nodes[rank].started) {
            return false;
        }
    }
    return true;
}

/* Where the list says that the block lies: behind the image, however long it is. */
static uint32_t block_of(uint32_t image_bytes)
{
    return image_bytes <= FABRIC_IMAGE_BYTES
               ? (uint32_t)FABRIC_BLOCK
               : FABRIC_IMAGE + (image_bytes + PROTECTED_PAGE_BYTES - 1) / PROTECTED_PAGE_BYTES *
                                    PROTECTED_PAGE_BYTES;
}

void fabric_list(struct fabric *fabric, uint32_t image_bytes)
{
    uint32_t block_at = block_of(image_bytes);
    struct load_program program = {.count = fabric->count,
                                   .entry = FABRIC_IMAGE,
                                   .bss_end = FABRIC_IMAGE + image_bytes,
                                   .code_end = FABRIC_CODE_END,
                                   .constants_end = FABRIC_CONSTANTS_END,
                                   .data_start = block_at,
                                   .data_end = block_at + PROTECTED_PAGE_BYTES,
                                   .top = block_at + PROTECTED_PAGE_BYTES};
    struct load_segment image = {
        .count = fabric->count, .address = FABRIC_IMAGE, .bytes = image_bytes};
    struct load_segment block = {.count = fabric->count,
                                 .address = block_at,
                                 .bytes = FABRIC_BLOCK_BYTES,
                                 .step = FABRIC_BLOCK_BYTES,
                                 .flags = LOAD_BLOCK};

    load_list_pack(fabric->list, fabric->count, 1, 2);
    load_program_pack(fabric->list, 0, &program);
    load_segment_pack(fabric->list, 0, &image);
    load_segment_pack(fabric->list, 1, &block);
    sha256_of(fabric->list, sizeof fabric->list, fabric->list_digest);
}

struct offer_body fabric_offer(struct fabric *fabric, uint32_t image_bytes, uint8_t generation)
{
    fabric_list(fabric, image_bytes);
    return (struct offer_body){.name = FABRIC_DOWNLOAD,
                               .count = fabric->count,
                               .list_bytes = sizeof fabric->list,
                               .message_bytes = (uint32_t)sizeof fabric->list + image_bytes +
                                                fabric->count * (uint32_t)FABRIC_BLOCK_BYTES,
                               .to_segment = 2,
                               .top = block_of(image_bytes) + PROTECTED_PAGE_BYTES,
                               .generation = generation,
                               .digest = fabric->list_digest};
}

uint8_t *fabric_message_of(const struct fabric *fabric, const struct offer_body *offer)
{
    uint8_t *message = must(calloc(1, offer->message_bytes));

    memcpy(message, fabric->list, sizeof fabric->list);
    return message;
}

struct state_body fabric_heard_state(const struct fabric *fabric)
{
    struct state_body state = {0};

    CHECK(fabric_count_events(fabric, PACKET_STATE) == 1);
    for (unsigned i = 0; i < fabric->event_count; i++) {
        if (fabric->events[i].kind == PACKET_STATE) {
            CHECK(state_unpack(fabric->events[i].body, fabric->events[i].bytes, &state));
        }
    }
    return state;
}

static const struct fabric_event *answer_since(const struct fabric *fabric, unsigned event,
                                               uint32_t rank)
{
    for (; event < fabric->event_count; event++) {
        if (fabric->events[event].kind == PACKET_STATE && fabric->events[event].src == rank) {
            return &fabric->events[event];
        }
    }
    return NULL;
}

struct state_body fabric_state(struct fabric *fabric, uint32_t rank)
{
    unsigned asked = fabric->event_count;
    const struct fabric_event *answer = NULL;
    struct state_body state = {0};

    CHECK(router_send(&fabric->controller.router, PACKET_QUERY, rank, NULL, 0) == E_OK);
    for (unsigned round = 0; !answer && round < ANSWER_ROUNDS; round++) {
        fabric_round(fabric);
        answer = answer_since(fabric, asked, rank);
    }
    CHECK(answer && state_unpack(answer->body, answer->bytes, &state));
    return state;
}

uint32_t fabric_forwarded(const struct fabric *fabric, unsigned rank)
{
    return fabric->nodes[rank].node->router.packets_forwarded;
}

static void make_blocks(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint8_t *block = fabric->blocks + rank * FABRIC_BLOCK_BYTES;

        block_pack(block, &(struct block_header){.rank = rank});
        sha256_of(block, FABRIC_BLOCK_BYTES, fabric->block_digests[rank]);
        fabric->nodes[rank].started = false;
    }
    sha256_of(fabric->image, FABRIC_IMAGE_BYTES, fabric->image_digest[0]);
    fabric->strings[0] = fabric->image;
    fabric->strings[1] = fabric->blocks;
    fabric->digests[0] = (const uint8_t(*)[DIGEST_BYTES])fabric->image_digest;
    fabric->digests[1] = (const uint8_t(*)[DIGEST_BYTES])fabric->block_digests;
}

/* Tests end programs in ways that the host does not hear of. */
static void forget_programs(struct fabric *fabric)
{
    struct controller *controller = &fabric->controller;

    if (controller->phase == PHASE_RUN) {
        fabric_settle(fabric);
    }
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        controller->nodes[rank].flags &= (uint16_t)~NODE_RUNNING;
    }
    controller->running = 0;
    controller_stop(controller, fabric->now_us);
    take_events(fabric);
}

static bool root_takes(struct fabric *fabric)
{
    return fabric->controller.nodes[0].offer >= OFFER_OPENED;
}

bool fabric_download(struct fabric *fabric)
{
    struct controller_load load = {.list = fabric->list,
                                   .list_bytes = sizeof fabric->list,
                                   .list_digest = fabric->list_digest,
                                   .strings = fabric->strings,
                                   .digests = fabric->digests,
                                   .messages = &fabric->message,
                                   .count = 1};

    forget_programs(fabric);
    make_blocks(fabric);
    fabric_list(fabric, FABRIC_IMAGE_BYTES);
    fabric->message = (struct download_message){.root = 0, .count = fabric->count};
    if (controller_load(&fabric->controller, &load, fabric->now_us) != CONTROLLER_OK) {
        return false;
    }
    fabric->runs = fabric->controller.generation;
    take_events(fabric);
    return fabric_run(fabric, root_takes);
}

static bool is_loaded(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_LOADED && controller_quiet(&fabric->controller);
}

bool fabric_begin(struct fabric *fabric)
{
    if (!fabric_run(fabric, is_loaded)) {
        return false;
    }
    controller_run(&fabric->controller, fabric->now_us);
    take_events(fabric);
    return fabric_run(fabric, all_started);
}

bool fabric_load(struct fabric *fabric)
{
    return fabric_download(fabric) && fabric_begin(fabric);
}

static bool has_booted(struct fabric *fabric)
{
    return fabric->controller.phase == PHASE_READY;
}

bool fabric_start(struct fabric *fabric)
{
    return fabric_run(fabric, has_booted) && fabric_load(fabric);
}

struct fabric *fabric_started(unsigned dims, uint32_t data_bytes, uint64_t seed)
{
    static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
    static const struct memory_fault no_fault;
    struct fabric *fabric = fabric_make(dims, data_bytes, seed, no_fault, ipsc860);

    CHECK(fabric_start(fabric));
    return fabric;
}

void *fabric_at(struct fabric *fabric, unsigned rank, uint32_t address)
{
    return fabric->nodes[rank].program + (address - FABRIC_PROGRAM);
}

int32_t fabric_message(struct fabric *fabric, unsigned rank, uint32_t call, int32_t peer,
                       int32_t tag, uint32_t data, uint32_t bytes)
{
    struct ecube_abi_message message = {data, bytes, peer, tag, fabric->paths};
    uint32_t arguments[4] = {ARGUMENTS};
    int32_t result = E_TIMEOUT;

    memcpy(fabric_at(fabric, rank, ARGUMENTS), &message, sizeof message);
    node_call(fabric->nodes[rank].node, fabric->now_us, call, arguments, &result);
    return result;
}

int32_t fabric_collective(struct fabric *fabric, unsigned rank,
                          const struct ecube_abi_collective *collective)
{
    struct ecube_abi_collective call = *collective;

    call.scratch = FABRIC_DATA + fabric->data_bytes;
    call.scratch_bytes = fabric->data_bytes;
    return fabric_collective_with(fabric, rank, &call);
}

int32_t fabric_collective_with(struct fabric *fabric, unsigned rank,
                               const struct ecube_abi_collective *collective)
{
    uint32_t arguments[4] = {ARGUMENTS};
    int32_t result = E_TIMEOUT;

    memcpy(fabric_at(fabric, rank, ARGUMENTS), collective, sizeof *collective);
    node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_COLLECTIVE, arguments, &result);
    return result;
}

int32_t fabric_call(struct fabric *fabric, unsigned rank, uint32_t number, uint32_t first,
                    uint32_t second)
{
    uint64_t limit = fabric->now_us + PATIENCE_US;
    uint32_t arguments[4] = {first, second};
    int32_t value = 0;
    unsigned quiet = 0;
    enum node_verdict verdict =
        node_call(fabric->nodes[rank].node, fabric->now_us, number, arguments, &value);

    while (verdict == NODE_BLOCK && fabric->now_us < limit) {
        quiet = fabric_round(fabric) ? 0 : quiet + 1;
        if (quiet > QUIET_ROUNDS) {
            uint64_t deadline = next_deadline(fabric);
            fabric->now_us =
                deadline < limit ? (deadline > fabric->now_us ? deadline : fabric->now_us) : limit;
            quiet = 0;
        }
        verdict = node_resume(fabric->nodes[rank].node, fabric->now_us, &value);
    }
    return verdict == NODE_RESUME ? value : E_TIMEOUT;
}

struct ecube_abi_result fabric_wait(struct fabric *fabric, unsigned rank, int32_t request)
{
    struct ecube_abi_result result;
    int32_t value = fabric_call(fabric, rank, ECUBE_CALL_WAIT, (uint32_t)request, ARGUMENTS);

    if (value < 0) {
        return (struct ecube_abi_result){.status = value};
    }
    memcpy(&result, fabric_at(fabric, rank, ARGUMENTS), sizeof result);
    return result;
}

/* The private field, for a program that asks by a call takes the result. */
bool fabric_is_done(const struct fabric *fabric, unsigned rank, int32_t request)
{
    return fabric->nodes[rank].node->requests[request].state == STATE_DONE;
}

int32_t fabric_advance(struct fabric *fabric, unsigned rank, uint64_t ns)
{
    uint32_t arguments[4] = {(uint32_t)ns, (uint32_t)(ns >> 32)};
    int32_t result = E_TIMEOUT;

    node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_ADVANCE, arguments, &result);
    return result;
}

/* By hand, for a node does not change its name. */
void fabric_misname(struct fabric *fabric, unsigned rank, unsigned port, uint32_t id)
{
    static uint8_t bytes[FRAME_HEADER_BYTES + HELLO_BYTES + FRAME_CHECK_BYTES];
    struct memory_end *end = &fabric->nodes[rank].ends[port];
    struct hello hello = end->said.hello;
    struct frame frame = {.type = FRAME_HELLO,
                          .flags = FLAG_CHECKED,
                          .length = HELLO_BYTES,
                          .ack = end->said.last.ack};

    hello.id = id;
    frame_pack(bytes, &frame);
    hello_pack(bytes + FRAME_HEADER_BYTES, &hello);
    frame_put_check(
        bytes + FRAME_HEADER_BYTES + HELLO_BYTES,
        crc32_add(frame_payload_start(frame.seq), bytes + FRAME_HEADER_BYTES, HELLO_BYTES));
    CHECK(end->link.ops->send(&end->link, bytes, sizeof bytes) == E_OK);
    end->link.ops->kick(&end->link);
}

uint64_t fabric_clock(struct fabric *fabric, unsigned rank)
{
    return fabric->nodes[rank].node->clock_ns;
}
