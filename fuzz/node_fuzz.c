/*
 * node_fuzz.c - one whole node: any bytes and any well-made frames on all links, time, lost
 * carriers, stalled devices, and a hostile program.
 *
 * The input's first byte says how far the node has come (enum world_stage); then each operation
 * takes what it needs. Fields can name what the node has given out (request names, the present
 * collective, the present download), so that answers find what they answer.
 */
#include <string.h>

#include "collectives/plan.h"
#include "planner/planner.h"
#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "fuzz/world.h"
#include "network/network.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "wire/circuit.h"
#include "wire/gather.h"
#include "wire/parcel.h"
#include "wire/record.h"
#include "wire/region.h"

enum action {
    DO_STEP,
    DO_SETTLE,
    DO_RAW,
    DO_FRAME,
    DO_PACKET,
    DO_ENTER,
    DO_PLAN,
    DO_OPEN,
    DO_STEP_OPEN,
    DO_DATA,
    DO_ANSWER,
    DO_OFFER,
    DO_HELLO,
    DO_TIME,
    DO_LINK,
    DO_CALL,
    DO_MESSAGE,
    DO_COLLECTIVE,
    DO_FAULT,
    DO_WAIT,
    DO_GATHER,
    DO_REGION,
    DO_COUNT
};

static struct world world;

static struct neighbour *read_neighbour(struct input *input)
{
    return &world.neighbours[input_u8(input) % WORLD_PORTS];
}

static struct lie read_lie(struct input *input)
{
    uint8_t what = input_u8(input);

    /* mostly the truth: a lie often ends the link */
    return lie_read(input, what < LIES_FIRST    ? 0
                           : what == LIES_FIRST ? LIE_FOR_OTHER
                                                : what & (LIE_FOR_OTHER - 1));
}

/* A number that may be a rank, the host, or anything. */
static uint32_t read_place(struct input *input)
{
    uint8_t what = input_u8(input);

    return what < 8 ? what : what < 0x80 ? 0 : what < 0xc0 ? ID_HOST : input_u32(input);
}

/* A name of a request, of the download, or anything. */
static uint32_t read_name(struct input *input)
{
    uint8_t what = input_u8(input);

    if (what < ECUBE_REQUESTS_MAX) {
        return request_name(world.node, &world.node->requests[what]);
    }
    return what < 0x80 ? world.node->load.name : input_u32(input);
}

static void push_raw(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint32_t bytes;
    const uint8_t *raw = input_bytes(input, input_u8(input), &bytes);

    pipe_push(neighbour->pipe, raw, bytes);
}

static void push_frame(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t type = input_u8(input), flags = input_u8(input);
    struct lie lie = read_lie(input);
    uint32_t bytes;
    const uint8_t *payload = input_bytes(input, input_u8(input), &bytes);

    neighbour_frame(neighbour, type % 8, flags, payload, bytes, &lie);
}

static void push_packet(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t kind = input_u8(input), body[CTS_BYTES + UINT8_MAX];
    uint32_t src = read_place(input), dst = read_place(input), bytes;
    struct lie lie = read_lie(input);

    struct cts_body first = {0}; /* what begins with names; the rest is as it may be */
    first.name = read_name(input);
    first.match = read_name(input);
    first.room = input_u16(input);
    cts_pack(body, &first);
    const uint8_t *rest = input_bytes(input, input_u8(input), &bytes);
    memcpy(body + CTS_BYTES, rest, bytes);
    if (kind == 0xff) {
        kind = PACKET_TRAFFIC_ASK;
    } else if (kind < 0xc0) {
        kind = (uint8_t)(PACKET_ROUTED + kind % 27);
    }
    neighbour_packet(neighbour, kind, src, dst, body, CTS_BYTES + bytes, &lie);
}

/* What a neighbour says on entering the present collective, or not quite: a child, or the parent.
 * */
static void push_enter(struct input *input)
{
    static const struct lie truth;
    const struct engine *engine = &world.node->engine;
    struct enter_body enter = engine->entering.sum;
    struct entered_body entered = {.clock_ns = input_u8(input)};
    uint8_t port = input_u8(input), body[ENTER_BYTES], differ = input_u8(input);
    uint32_t src = node_id(world.node) ^ 1u << port % WORLD_DIMS;

    enter.epoch = entered.epoch = (uint16_t)(engine->entering.decided + (int8_t)input_u8(input));
    enter.generation = entered.generation =
        differ & 8 ? input_u8(input) : world.node->load.generation;
    enter.status = entered.status = differ & 16 ? (int16_t)input_u16(input) : 0;
    enter.first_rank = src;
    enter.first.operation = (uint8_t)(enter.first.operation + (differ & 1));
    enter.first.bytes += differ >> 1 & 1;
    enter.other_rank = differ & 4 ? input_u32(input) : ID_UNKNOWN;
    enter.failed = differ & 32 ? input_u32(input) : ID_UNKNOWN;
    if (port & 0x80) {
        entered_pack(body, &entered);
    } else {
        enter_pack(body, &enter);
    }
    neighbour_packet(&world.neighbours[port % WORLD_DIMS],
                     port & 0x80 ? PACKET_ENTERED : PACKET_ENTER, src, node_id(world.node), body,
                     port & 0x80 ? ENTERED_BYTES : ENTER_BYTES, &truth);
}

/* The part that the node asks for, as a host has it; NULL: there is none. */
static const uint8_t *wanted_part(uint32_t *bytes)
{
    static struct plan_cache *caches[2][2];
    static const struct profile profiles[2] = {{0}, {.ports = PORTS_ALL}};
    bool all = clock_all_ports(&world.node->router.profile);
    struct network network = world.node->router.network;
    const struct plan_need *need = &world.node->engine.store.need;
    struct plan_cache **cache = &caches[network.kind == NETWORK_CUBE][all];
    struct plan_request request = {
        .operation = need->operation, .root = need->root, .bytes = need->bytes, .type = need->type};
    const char *words;
    int status;

    if (network.nodes != 1u << WORLD_DIMS || node_id(world.node) >= network.nodes) {
        return NULL;
    }
    network.map = NULL; /* the node's own, which changes under a cache that outlives the world */
    if (!*cache) {
        *cache = plan_cache_make(&network, &profiles[all]);
    }
    return plan_cache_part(*cache, &request, node_id(world.node), bytes, &status, &words);
}

/* A piece of the part that the node asks for, true or changed at one place, with a check sum that
 * is right all the same; or the answer to PREDICT. */
static void push_plan(struct input *input)
{
    static const struct lie truth;
    const struct plan_store *store = &world.node->engine.store;
    static uint8_t part[4096];
    uint8_t body[PLAN_PART_BYTES + PLAN_PART_MAX], what = input_u8(input);
    struct plan_part_body piece = {.question = store->question + (what & 1),
                                   .offset = store->got + (what & 2 ? input_u16(input) : 0)};
    const uint8_t *found = store->asking ? wanted_part(&piece.total) : NULL;
    uint32_t bytes = 0;

    if (found && piece.total <= sizeof part) {
        memcpy(part, found, piece.total);
        if (what & 4) {
            part[input_u16(input) % piece.total] = input_u8(input);
        }
        plan_set_check(part, plan_sum(part, piece.total));
        bytes = piece.offset < piece.total ? piece.total - piece.offset : 0;
        bytes = bytes < PLAN_PART_MAX ? bytes : PLAN_PART_MAX;
        memcpy(body + PLAN_PART_BYTES, part + (bytes ? piece.offset : 0), bytes);
    } else {
        piece.total = what & 8 ? input_u32(input) : 0;
        piece.status = -(int32_t)input_u8(input);
    }
    plan_part_pack(body, &piece);
    neighbour_packet(&world.neighbours[WORLD_HOST_PORT],
                     what & 16 ? PACKET_PREDICTED : PACKET_PLAN_PART, ID_HOST, node_id(world.node),
                     body, PLAN_PART_BYTES + (what & 32 ? bytes / 2 : bytes), &truth);
}

struct open {
    uint32_t src, dst, length, match, tag, inlined;
    uint16_t epoch, turn;
    uint8_t flags, port;
    uint8_t hops, listed; /* entries of its list, and how many it says that there are */
    uint8_t cut;          /* so many bytes are missing at the end */
};

static void push_open_packet(struct neighbour *neighbour, const struct open *open,
                             const struct lie *lie)
{
    uint8_t packet[PACKET_HEADER_BYTES + PACKET_BODY_MAX];
    struct open_hop hops[UINT8_MAX];
    uint32_t bytes = OPEN_BYTES, left;
    struct open_body told = {.length = open->length,
                             .match = open->match,
                             .tag = open->tag,
                             .epoch = open->epoch,
                             .flags = open->flags,
                             .clock_ns = 1000000};

    for (unsigned i = 0; i < open->hops; i++) {
        hops[i] = (struct open_hop){open->port, open->turn};
    }
    open_pack(packet, &told);
    if (open_has_hops(open->flags)) {
        bytes += hop_list_pack(packet + OPEN_BYTES, hops, open->hops);
        packet[OPEN_BYTES] = open->listed;
    }
    left = (uint32_t)sizeof packet - bytes;
    uint32_t inlined = open->inlined < left ? open->inlined : left;
    memset(packet + bytes, 0x5a, inlined);
    bytes = bytes + inlined - PACKET_HEADER_BYTES;
    neighbour_packet(neighbour, PACKET_OPEN, open->src, open->dst, packet_body(packet),
                     open->cut < bytes ? bytes - open->cut : 0, lie);
}

/* The list of an OPEN that says its route: as it may be, or too long, or cut off. */
static void read_route(struct input *input, struct open *open)
{
    uint8_t what = input_u8(input);

    open->port = input_u8(input);
    open->hops = input_u8(input);
    open->listed = what & 1 ? input_u8(input) : open->hops;
    open->cut = what & 2 ? input_u8(input) : 0;
}

static void push_open(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    struct lie lie = read_lie(input);
    struct open open = {.port = HOP_DIMENSION_ORDER, .hops = 4, .listed = 4};

    open.src = read_place(input);
    open.dst = read_place(input);
    open.match = read_name(input);
    open.tag = input_u8(input);
    open.flags = input_u8(input);
    open.epoch = (uint16_t)(world.node->engine.epoch + input_u8(input) % 4);
    open.turn = input_u8(input) % 4;
    open.length = input_u16(input);
    if (open.flags & OPEN_ROUTE) {
        read_route(input, &open);
    }
    if (open.flags & OPEN_SHARE &&
        !(open.flags & OPEN_REQUEST)) { /* which of how many, and where */
        uint8_t which = input_u8(input);
        open.match = (open.match & 0xffff) | (which & 15u) << 16 | (uint32_t)(which >> 4) << 24;
        open.tag = input_u16(input);
    }
    if (open.flags & OPEN_INLINE) {
        open.inlined = open.length %= OPEN_INLINE_MAX + 1;
    }
    if (open.flags & 0x80) { /* a length that is not what follows */
        open.length += input_u32(input);
    }
    push_open_packet(neighbour, &open, &lie);
}

/* The circuit that the present step of a collective, or the present download, waits for. */
static void push_step_open(struct input *input)
{
    static const struct lie truth;
    struct neighbour *neighbour = read_neighbour(input);
    const struct engine *engine = &world.node->engine;
    const struct load *load = &world.node->load;
    uint8_t what = input_u8(input);
    bool download = what & 1;
    struct open open = {.src = download ? load->from : engine->head.from,
                        .dst = node_id(world.node),
                        .length = download ? load->message_bytes : engine->receive_bytes,
                        .tag = download ? load->list_bytes : 0,
                        .match = download ? load->name
                                          : open_match_of(engine->head.step, engine->head.port),
                        .epoch = engine->epoch,
                        .port = HOP_DIMENSION_ORDER,
                        .hops = 4,
                        .listed = 4,
                        .flags = download ? OPEN_IMAGE : OPEN_SCHEDULE};

    if (!download && open.length <= OPEN_INLINE_MAX) {
        open.flags |= OPEN_INLINE;
        open.inlined = open.length;
    }
    push_open_packet(neighbour, &open, &truth);
    if (download) {
        world_settle(&world); /* its bytes wait for the answer */
    }
    if (!(open.flags & OPEN_INLINE) && open.length > 0 && open.length <= 16384) {
        static uint8_t data[16384];
        memset(data, 0, sizeof data);
        uint32_t map = download ? world_data(&world, data) : 0;
        if (map && what & 2) { /* one that is wrong somewhere */
            uint32_t place = input_u8(input) % WORLD_MAP_BYTES;
            data[map + place] = input_u8(input);
        }
        neighbour_frame(neighbour, FRAME_DATA, FLAG_CHECKED | FLAG_LAST, data, open.length, &truth);
    }
}

static void push_data(struct input *input)
{
    static uint8_t payload[FRAME_DATA_MAX];
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t flags = input_u8(input) & 7;
    struct lie lie = read_lie(input);
    uint32_t bytes = input_u16(input) % 9000u + 1;

    memset(payload, 0xda, bytes);
    neighbour_frame(neighbour, FRAME_DATA, flags, payload, bytes, &lie);
}

static void push_answer(struct input *input)
{
    static const struct lie truth;
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t what = input_u8(input), body[ANSWER_BYTES];

    if (what & 1) {
        accept_pack(body, &(struct accept_body){.done_ns = 2000000});
    } else {
        refuse_pack(body, &(struct refuse_body){(int8_t)input_u8(input)});
    }
    neighbour_packet(neighbour, what & 1 ? PACKET_ACCEPT : PACKET_REFUSE, 0, 0, body, sizeof body,
                     &truth);
}

/* The offer of a message in small parcels, from a line's head on. */
static void cut_offer(struct input *input, struct offer_body *offer)
{
    uint32_t rank = node_id(world.node);
    struct load_list list;

    offer->parcel_bytes = 1 + input_u8(input);
    offer->head = input_u8(input) & 3;
    if (rank < 4 && offer->head <= rank && offer->count <= 4 - rank &&
        load_list_open(&list, world.list, sizeof world.list)) {
        struct load_cut cut = {offer->head, rank - offer->head + offer->count, offer->parcel_bytes,
                               offer->from_segment, offer->to_segment};
        struct load_walk walk = load_walk_at(&cut);
        offer->message_bytes = offer->list_bytes + load_parcel_pass(&list, &cut, &walk, rank);
    }
}

/* An offer, as it may be or not quite: bits 1 to 7 of `differ` say what is not so; bit 0: it is of
 * parcels. */
static void push_offer(struct input *input)
{
    enum { LIST = 5, DIGEST };
    struct neighbour *neighbour = read_neighbour(input);
    uint32_t from = read_place(input), segments = 0, generation = 0;
    struct lie lie = read_lie(input);
    uint8_t differ = input_u8(input), body[OFFER_BYTES], name = input_u8(input);
    world_list(&world);
    struct offer_body offer = world_offer(&world, input_u8(input));
    uint32_t *const fields[] = {&offer.list_bytes, &offer.top, &offer.message_bytes, &segments,
                                &generation};

    offer.name = name;
    if (differ & 1) {
        cut_offer(input, &offer);
    }
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (differ >> (i + 1) & 1) {
            *fields[i] = input_u32(input);
        }
    }
    if (segments) {
        offer.from_segment = segments & 7;
        offer.to_segment = (uint16_t)(segments >> 16);
    }
    if (differ >> (LIST + 1) & 1) {
        uint32_t word = input_u32(input);
        world.list[word % sizeof world.list] = (uint8_t)(word >> 24);
        world_seal_list(&world);
    }
    if (differ >> (DIGEST + 1) & 1) {
        world.digest[input_u32(input) % sizeof world.digest]++;
    }
    offer.generation = (uint8_t)generation;
    offer_pack(body, &offer);
    neighbour_packet(neighbour, PACKET_OFFER, from, node_id(world.node), body, sizeof body, &lie);
}

/* How much is there, what has been noted, or: collect it, for anyone; names are few, so that they
 * come again. */
static void push_gather(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint32_t from = read_place(input), name = UINT32_C(1) << 31;
    struct lie lie = read_lie(input);
    uint8_t what = input_u8(input), count = input_u8(input), body[COLLECT_BYTES];
    struct measure_body measure = {.name = name | (what >> 4 & 3), .generation = what >> 6 == 3};
    struct collect_body collect = {.name = measure.name,
                                   .count = count,
                                   .stage = what & 1,
                                   .generation = measure.generation,
                                   .base_ns = what & 2 ? input_u32(input) : 0};

    if ((what & 12) == 12) {
        records_ask_pack(body, &(struct records_ask_body){.from = count,
                                                          .count = what >> 4,
                                                          .generation = measure.generation});
        neighbour_packet(neighbour, PACKET_RECORDS_ASK, from, node_id(world.node), body,
                         RECORDS_ASK_BYTES, &lie);
    } else if (what & 4) {
        measure_pack(body, &measure);
        neighbour_packet(neighbour, PACKET_MEASURE, from, node_id(world.node), body, MEASURE_BYTES,
                         &lie);
    } else {
        collect_pack(body, &collect);
        neighbour_packet(neighbour, PACKET_COLLECT, from, node_id(world.node), body, sizeof body,
                         &lie);
    }
}

/* The program waits at one of two regions, or at none that may be; the kernel may write there. */
static void call_region(struct input *input)
{
    static const char *const names[] = {"in", "out", ""};
    uint8_t what = input_u8(input);
    uint32_t arguments[4] = {WORLD_PROGRAM}, at = WORLD_PROGRAM + 256 + input_u8(input) * 4u;
    struct ecube_abi_region regions[2] = {{.address = at, .bytes = input_u16(input)},
                                          {.address = at, .bytes = input_u8(input)}};
    struct ecube_abi_rendezvous call = {.regions = WORLD_PROGRAM + 64,
                                        .count = what & 16 ? input_u32(input) : 2,
                                        .index = what & 32 ? input_u8(input) : what & 1};

    strcpy(regions[0].name, names[what >> 1 & 1 ? 0 : 2]);
    strcpy(regions[1].name, names[1]);
    if (what & 64) {
        call.regions = input_u32(input);
    }
    if (!world.blocked && world_poke(&world, WORLD_PROGRAM + 64, regions, sizeof regions) &&
        world_poke(&world, WORLD_PROGRAM, &call, sizeof call)) {
        world_grant(&world, WORLD_PROGRAM, sizeof call);
        world_grant(&world, at, regions[call.index & 1].bytes);
        world_call(&world, ECUBE_CALL_REGION, arguments);
    }
}

/* The host waits at a region, fills it, or lets the program go; names are few, so that they come
 * again. */
static void region(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t what = input_u8(input), body[ATTEND_BYTES];
    uint32_t from = what & 4 ? read_place(input) : ID_HOST;
    uint32_t name = UINT32_C(3) << 30 | (uint32_t)(what >> 6) << 16;
    struct lie lie = read_lie(input);
    struct attend_body attend = {name, what >> 3 & 1, "in"};
    struct leave_body leave = {name, what >> 3 & 3, input_u8(input), input_u16(input)};

    switch (what & 3) {
    case 0: call_region(input); break;
    case 1:
        attend.region[1] = what & 32 ? 'x' : attend.region[1];
        attend_pack(body, &attend);
        neighbour_packet(neighbour, PACKET_ATTEND, from, node_id(world.node), body, ATTEND_BYTES,
                         &lie);
        break;
    case 2:
        leave_pack(body, &leave);
        neighbour_packet(neighbour, PACKET_LEAVE, from, node_id(world.node), body, LEAVE_BYTES,
                         &lie);
        break;
    default: {
        struct open open = {.src = from,
                            .dst = node_id(world.node),
                            .match = name,
                            .tag = what & 32 ? input_u8(input) : 0,
                            .flags = OPEN_IMAGE | OPEN_OUTPUT,
                            .length = input_u8(input) + 1u};
        push_open_packet(neighbour, &open, &lie);
    }
    }
}

static void push_hello(struct input *input)
{
    struct neighbour *neighbour = read_neighbour(input);
    uint8_t what = input_u8(input), id = input_u8(input), peer_id = input_u8(input);
    struct hello hello = {.version = PROTOCOL_VERSION,
                          .role = what >> 2 & 1,
                          .port = (uint8_t)(neighbour - world.neighbours),
                          .id = id,
                          .network = NETWORK_CUBE,
                          .dims = WORLD_DIMS,
                          .heard = what & 3,
                          .ports = what >> 3 & 1 ? PORTS_ALL : 1,
                          .data_window = DATA_WINDOW,
                          .control_window = CONTROL_WINDOW,
                          .element_ns = 425,
                          .element_bytes = peer_id,
                          .peer_id = peer_id,
                          .dead_after_ms = DEAD_AFTER_MS};

    if (what & 16) {
        hello.data_window = input_u32(input);
    }
    if (what & 32) {
        hello.control_window = input_u16(input);
    }
    if (what & 64) {
        uint8_t size = input_u8(input);
        hello.dims = size & 15;
        hello.last[size >> 4 & (HELLO_SIZES_MAX - 1)] = input_u8(input);
    }
    if (what & 128) {
        hello.id = input_u32(input);
        hello.port = input_u8(input);
        hello.network = input_u8(input);
        hello.version = input_u8(input);
    }
    neighbour->incarnation = (uint16_t)(neighbour->incarnation + (id >> 7)); /* it starts anew */
    neighbour_hello(neighbour, &hello);
}

static void pass_time(struct input *input)
{
    uint32_t ms = input_u16(input);
    uint64_t deadline = node_deadline(world.node);

    if (ms == 0 && deadline != UINT64_MAX) { /* as the timer would */
        world.now_us = deadline > world.now_us ? deadline : world.now_us;
    }
    world.now_us += (uint64_t)ms * 1000;
    world_settle(&world);
}

static void change_link(struct input *input)
{
    struct pipe *pipe = read_neighbour(input)->pipe;
    uint8_t what = input_u8(input);

    if (what < 4) {
        pipe->link.carrier = CARRIER_LOST;
    } else if (what < 32) {
        pipe->stalled = true;
    } else if (what < 64) {
        pipe_drain(pipe);
    } else {
        pipe->chunk_bytes = 1 + input_u16(input) % link_chunk_max(&pipe->link);
    }
}

static uint32_t read_address(struct input *input, uint8_t what)
{
    return what & 1 ? input_u32(input) : WORLD_PROGRAM + 256 + input_u16(input) % 16000u;
}

enum {
    FIXED = 7,    /* in three bits: where it says, code and constants lie */
    OUTPUT = 0xff /* in place of a call's number, for one that is larger than those drawn */
};

/* Any call with any arguments; what it may make the kernel write is granted first. */
static void call(struct input *input)
{
    uint8_t number = input_u8(input), what = input_u8(input);
    uint32_t arguments[4];

    for (unsigned i = 0; i < 4; i++) {
        arguments[i] =
            what >> i & 1 ? input_u32(input) : WORLD_PROGRAM + (input_u16(input) & 0x3ffc);
    }
    if (what >> 5 == FIXED) {
        for (unsigned i = 0; i < 2; i++) {
            arguments[i] = WORLD_IMAGE + (arguments[i] & 0xffc);
        }
    }
    if (number % 12 == ECUBE_CALL_WAIT || number % 12 == ECUBE_CALL_TEST) {
        arguments[0] = what & 16 ? arguments[0] : arguments[0] % ECUBE_REQUESTS_MAX;
        world_grant(&world, arguments[1], sizeof(struct ecube_abi_result));
    }
    if (number % 12 == ECUBE_CALL_INFO) {
        world_grant(&world, arguments[0], sizeof(struct ecube_abi_info));
    }
    if (number % 12 == ECUBE_CALL_CLOCK) {
        world_grant(&world, arguments[0], sizeof(struct ecube_abi_clock));
    }
    if (number % 12 != ECUBE_CALL_RECEIVE && number % 12 != ECUBE_CALL_COLLECTIVE) {
        bool output = number == OUTPUT;
        arguments[1] = output ? arguments[1] % 8 : arguments[1]; /* pieces */
        world_call(&world,
                   output          ? ECUBE_CALL_OUTPUT
                   : number < 0xf0 ? number % 12
                                   : number,
                   arguments);
    }
}

/* A set of requests, a message to look for, a receive that is given up; seldom, the end of the run.
 */
static void call_wait(struct input *input)
{
    uint8_t what = input_u8(input);
    uint32_t arguments[4] = {WORLD_PROGRAM};
    int32_t numbers[8];
    struct ecube_abi_set set = {.requests = read_address(input, what) & ~3u,
                                .count = input_u8(input) % 10u,
                                .poll = what >> 1 & 1};
    struct ecube_abi_probe probe = {
        .peer = (int8_t)input_u8(input), .tag = (int8_t)input_u8(input), .poll = set.poll};

    for (unsigned i = 0; i < 8; i++) {
        numbers[i] = what & 4 ? (int32_t)input_u32(input) : input_u8(input) % ECUBE_REQUESTS_MAX;
    }
    if (!node_program_runs(world.node) || world.blocked) {
        return;
    }
    switch (what >> 4) {
    case 0: world_call(&world, ECUBE_CALL_ABORT, arguments); return;
    case 1:
    case 2:
    case 3:
    case 4:
        arguments[0] = (uint32_t)numbers[0];
        world_call(&world, ECUBE_CALL_CANCEL, arguments);
        return;
    case 5:
    case 6:
    case 7:
    case 8:
        world_poke(&world, WORLD_PROGRAM, &probe, sizeof probe);
        world_grant(&world, WORLD_PROGRAM, sizeof probe);
        world_call(&world, ECUBE_CALL_PROBE, arguments);
        return;
    default:
        world_poke(&world, WORLD_PROGRAM, &set, sizeof set);
        world_poke(&world, set.requests, numbers, sizeof numbers);
        world_grant(&world, WORLD_PROGRAM, sizeof set);
        world_call(&world, ECUBE_CALL_WAIT_ANY, arguments);
    }
}

static void call_message(struct input *input)
{
    uint8_t what = input_u8(input);
    struct ecube_abi_message message = {0};
    uint32_t arguments[4] = {WORLD_PROGRAM};
    bool send = what & 4;

    message.data = read_address(input, what);
    if (what >> 5 == FIXED) {
        message.data = WORLD_IMAGE + message.data % 4096u;
    }
    message.bytes = what & 2 ? input_u32(input) : input_u16(input);
    message.peer = (int8_t)input_u8(input);
    message.tag = (int8_t)input_u8(input);
    if (!(what & 8)) {
        message.peer &= 3;
    }
    message.paths = what & 16 ? input_u8(input) % 4 : 0;
    if (!node_program_runs(world.node) || world.blocked) {
        return;
    }
    world_poke(&world, WORLD_PROGRAM, &message, sizeof message);
    if (!send) {
        world_grant(&world, message.data, message.bytes);
    }
    world_call(&world, send ? ECUBE_CALL_SEND : ECUBE_CALL_RECEIVE, arguments);
}

/* Tables of blocks, seldom outside memory, as what they name may be. */
static void write_blocks(struct input *input, uint8_t what, struct ecube_abi_collective *call)
{
    enum { NODES = 1 << WORLD_DIMS };
    struct ecube_block send[NODES], receive[NODES];

    call->root = what & 4 ? call->root : 0;
    call->send_blocks = read_address(input, what >> 5);
    call->receive_blocks = read_address(input, what >> 6);
    for (unsigned i = 0; i < NODES; i++) {
        send[i] = (struct ecube_block){input_u8(input), input_u16(input) % 3000u};
        receive[i] = (struct ecube_block){input_u16(input), input_u16(input) % 3000u};
        world_grant(&world, call->receive + receive[i].at, receive[i].bytes);
    }
    world_poke(&world, call->send_blocks, send, sizeof send);
    world_poke(&world, call->receive_blocks, receive, sizeof receive);
}

static void call_collective(struct input *input)
{
    uint8_t what = input_u8(input);
    struct ecube_abi_collective collective = {0};
    uint32_t arguments[4] = {WORLD_PROGRAM};

    collective.operation = input_u8(input) % (ECUBE_OPERATIONS + 1);
    collective.root = input_u8(input) % 5;
    collective.block_bytes = what & 2 ? input_u32(input) : input_u16(input) % 4000u;
    collective.send = read_address(input, what);
    collective.receive = read_address(input, what >> 2);
    collective.scratch = read_address(input, what >> 4);
    collective.scratch_bytes = input_u16(input) % 4000u;
    if (what & 8) {
        collective.type = input_u8(input) % (ECUBE_DOUBLE_INT32 + 2);
        collective.operator_ = input_u8(input) % (ECUBE_MAXLOC + 2);
    }
    if (!node_program_runs(world.node) || world.blocked) {
        return;
    }
    if (collective.operation == ECUBE_EXCHANGEV) {
        write_blocks(input, what, &collective);
    }
    world_poke(&world, WORLD_PROGRAM, &collective, sizeof collective);
    world_grant(&world, collective.receive, collective.block_bytes);
    world_grant(&world, collective.receive, collective.block_bytes << WORLD_DIMS);
    world_grant(&world, collective.scratch, collective.scratch_bytes);
    world_call(&world, ECUBE_CALL_COLLECTIVE, arguments);
}

static void fault(struct input *input)
{
    struct fault fault = {.kind = input_u8(input), .text = "file.c"};

    if (!node_program_runs(world.node) || world.blocked) {
        return;
    }
    node_fault(world.node, world.now_us, &fault);
}

static void operate(struct input *input)
{
    switch (input_u8(input) % DO_COUNT) {
    case DO_STEP: world_step(&world); break;
    case DO_SETTLE: world_settle(&world); break;
    case DO_RAW: push_raw(input); break;
    case DO_FRAME: push_frame(input); break;
    case DO_PACKET: push_packet(input); break;
    case DO_ENTER: push_enter(input); break;
    case DO_PLAN: push_plan(input); break;
    case DO_OPEN: push_open(input); break;
    case DO_STEP_OPEN: push_step_open(input); break;
    case DO_DATA: push_data(input); break;
    case DO_ANSWER: push_answer(input); break;
    case DO_OFFER: push_offer(input); break;
    case DO_HELLO: push_hello(input); break;
    case DO_TIME: pass_time(input); break;
    case DO_LINK: change_link(input); break;
    case DO_CALL: call(input); break;
    case DO_MESSAGE: call_message(input); break;
    case DO_COLLECTIVE: call_collective(input); break;
    case DO_WAIT: call_wait(input); break;
    case DO_GATHER: push_gather(input); break;
    case DO_REGION: region(input); break;
    default: fault(input); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t setup = input_u8(&input);

    world.all_ports = (setup & 0x0c) == 0x04;
    world.mapped = (setup & 0x18) == 0x10;
    world_begin(&world, setup % STAGE_COUNT, setup & 0x80, setup & 0x20, setup >> 6 & 1);
    while (input.left > 0) {
        operate(&input);
    }
    world_settle(&world);
    world_end(&world);
    return 0;
}
