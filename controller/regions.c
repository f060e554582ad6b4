/*
 * regions.c - the host at a region of the programs that run: it waits until they all wait there,
 * moves a part for each, and lets them go on together.
 *
 *   ATTENDING    ATTEND goes to one node after another. Each answers when its program waits there
 *                (ATTENDS), however long that takes. Then EVENT_REGION_ATTENDED
 *   ATTENDED     the owner says what is moved (controller_move), or that the programs go on
 *   SCATTERING   a circuit to one node after another, in the order of ranks: each issued at the
 *                model time at which the one before is complete. Its node says what it then holds
 *                (FILLED)
 *   GATHERING    BEGIN goes to AHEAD_MAX nodes, so that they hash at the same time, GRANT to one
 *                after another when the part of the one before is here, as in gatherer.c
 *   LEAVING      LEAVE goes to one node after another; then EVENT_REGION_LEFT
 *
 * What is moved leads back to ATTENDED (EVENT_REGION_MOVED). So nobody has gone on when a part was
 * wrong, when the owner cannot use what it has got, or gives up: the programs wait as before, and
 * whoever comes next finds them there.
 *
 * COLLECT is repeated until the circuit has come, for a node without a slot forgets it. ATTEND and
 * LEAVE are not: they need no slot of the node's.
 *
 * Nobody is too late here. A node that dies breaks the machine, a program that ends is told
 * (EVENT_REGION_FAILED), and for all else the owner has a limit.
 *
 * Programs leave a region together, when their owner says so. It costs a packet for each node, and
 * buys that nobody has gone on when a part was wrong or a person gave up, and that circuits have
 * one order on links, so that model time is the same each time. A region is gathered by COLLECT for
 * a range of one node, for programs that run have no room for others' data.
 *
 * Units    us of wall time for what is repeated; model time in ns
 */
#include <string.h>

#include "controller/gather_plan.h"
#include "controller/internal.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/circuit.h"
#include "wire/gather.h"
#include "wire/region.h"

enum {
    AHEAD_MAX = 32,           /* nodes that hash ahead of the one that is granted */
    SLICE_BYTES = 256 * 1024, /* of a part at a time */
    NUMBER_MAX = 0x3fff,
    NUMBER_SHIFT = 16 /* below it the rank, in a token */
};

static const uint32_t NAME_OF_REGION = UINT32_C(3) << 30; /* no other's begins so */
static const uint32_t RANK_MASK = (UINT32_C(1) << NUMBER_SHIFT) - 1;

static uint32_t nodes_of(const struct controller *controller)
{
    return controller->config.network->nodes;
}

static bool is_in(const struct controller *controller, enum meeting_stage stage)
{
    return controller->phase == PHASE_RUN && !controller->broken &&
           controller->region.stage == stage;
}

static bool goes_on(const struct controller *controller)
{
    return controller->phase == PHASE_RUN && !controller->broken &&
           controller->region.stage != MEETING_NOTHING;
}

static struct controller_part *part_of(const struct controller *controller, uint32_t rank)
{
    return &controller->region.parts[rank];
}

static void enter(struct controller *controller, enum meeting_stage stage)
{
    controller->region.stage = (uint8_t)stage;
    controller->region.again_us = UINT64_MAX;
}

static struct controller_event *fail(struct controller *controller, enum region_failure reason,
                                     uint32_t rank, int status)
{
    struct controller_event *event = controller_tell(controller, EVENT_REGION_FAILED);

    enter(controller, MEETING_NOTHING);
    event->rank = rank;
    event->reason = (uint8_t)reason;
    event->status = status;
    return event;
}

void regions_program_ended(struct controller *controller, uint32_t rank)
{
    if (goes_on(controller) && controller->region.stage != MEETING_LEAVING) {
        fail(controller, REGION_ENDED, rank, E_PEER_GONE);
    }
}

/* Requests ------------------------------------------------------------------------------------ */

static enum controller_refusal refusal(const struct controller *controller)
{
    if (controller->broken) {
        return CONTROLLER_BROKEN;
    }
    if (controller->phase == PHASE_BOOT) {
        return CONTROLLER_BOOTS;
    }
    if (controller->phase != PHASE_RUN || controller->start_next < nodes_of(controller)) {
        return CONTROLLER_IDLE;
    }
    return goes_on(controller) && controller->region.stage != MEETING_ATTENDED ? CONTROLLER_BUSY
                                                                               : CONTROLLER_OK;
}

/* Names go on from the last one's: what comes late is for nothing that goes on now. */
enum controller_refusal controller_attend(struct controller *controller,
                                          const struct controller_rendezvous *rendezvous,
                                          uint64_t now_us)
{
    struct controller_region *region = &controller->region;
    enum controller_refusal refused = refusal(controller);
    uint32_t number = region->number % NUMBER_MAX + 1;

    if (refused != CONTROLLER_OK) {
        return refused;
    }
    controller->now_us = now_us;
    *region = (struct controller_region){.number = number,
                                         .name = NAME_OF_REGION | number << NUMBER_SHIFT,
                                         .waiting = nodes_of(controller),
                                         .parts = rendezvous->parts,
                                         .scratch = rendezvous->scratch};
    strncpy(region->region, rendezvous->region, sizeof region->region - 1);
    for (uint32_t rank = 0; rank < nodes_of(controller); rank++) {
        region->parts[rank].attends = false;
    }
    enter(controller, MEETING_ATTENDING);
    for (uint32_t rank = 0; rank < nodes_of(controller); rank++) {
        if (!controller_has(controller, rank, NODE_RUNNING)) {
            fail(controller, REGION_GONE, rank, E_PEER_GONE);
            break;
        }
    }
    return CONTROLLER_OK;
}

/* What a circuit to each of the nodes that are wanted takes, one behind the other: no link or port
 * is busy when the first is issued. */
static uint64_t scatter_ns(const struct controller *controller)
{
    const struct network *network = controller->config.network;
    const struct profile *profile = &controller->config.profile;
    uint64_t host_ns = (uint64_t)profile->xi_ns * profile->sigma_permille / 1000 +
                       (uint64_t)profile->tau_ns * profile->sigma_permille / 1000;
    uint64_t ns = 0;

    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        const struct controller_part *part = part_of(controller, rank);
        uint32_t between = network_distance(network, network_host_root(network, rank), rank);

        if (part->wanted) {
            ns += host_ns + (uint64_t)between * profile->tau_ns +
                  clock_transfer(profile, between + 1, part->bytes);
        }
    }
    return ns;
}

/* Each node by itself: all are ready at the beginning, and the host takes one after the other. */
static uint64_t gather_ns(const struct controller *controller)
{
    const struct network *network = controller->config.network;
    struct gather_plan plan = {.depth = network_halvings(network)};
    struct gather_node *nodes = controller->region.scratch;

    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        nodes[rank] = (struct gather_node){.bytes = part_of(controller, rank)->bytes};
    }
    return gather_replay(network, &controller->config.profile, &plan, nodes);
}

static void finish_move(struct controller *controller)
{
    struct controller_region *region = &controller->region;
    struct controller_event *event = controller_tell(controller, EVENT_REGION_MOVED);

    enter(controller, MEETING_ATTENDED);
    event->done = region->moved;
    event->base_ns = region->base_ns;
    event->model_ns = region->end_ns;
    event->gather =
        (struct event_gather){.bytes = region->bytes, .predicted_ns = region->predicted_ns};
    controller->reported_ns = clock_max(controller->reported_ns, region->end_ns);
}

void controller_move(struct controller *controller, enum ecube_region_way way, uint64_t now_us)
{
    struct controller_region *region = &controller->region;

    controller->now_us = now_us;
    if (!is_in(controller, MEETING_ATTENDED)) {
        return;
    }
    region->way = (uint8_t)way;
    region->rank = region->next = region->waiting = region->moved = 0;
    region->bytes = 0;
    region->granted = region->opening = false;
    region->end_ns = region->clock_ns = region->base_ns;
    for (uint32_t rank = 0; rank < nodes_of(controller); rank++) {
        struct controller_part *part = part_of(controller, rank);

        part->given = 0;
        part->sent = false;
        part->wanted &= part->bytes > 0;
        region->waiting += part->wanted;
        region->bytes += part->wanted ? part->bytes : 0;
    }
    region->predicted_ns = way == ECUBE_SCATTERED ? scatter_ns(controller) : gather_ns(controller);
    enter(controller, way == ECUBE_SCATTERED ? MEETING_SCATTERING : MEETING_GATHERING);
    if (region->waiting == 0) {
        finish_move(controller);
    }
}

void controller_leave(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    if (is_in(controller, MEETING_ATTENDED)) {
        controller->region.next = 0;
        enter(controller, MEETING_LEAVING);
    }
}

void controller_withdraw(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    if (controller->region.stage != MEETING_LEAVING) {
        enter(controller, MEETING_NOTHING);
    }
}

/* What is sent -------------------------------------------------------------------------------- */

static void send_attends(struct controller *controller)
{
    struct controller_region *region = &controller->region;
    struct attend_body attend = {.name = region->name, .generation = controller->generation};
    uint8_t body[ATTEND_BYTES];

    memcpy(attend.region, region->region, sizeof attend.region);
    attend_pack(body, &attend);
    while (region->next < nodes_of(controller) &&
           router_send(&controller->router, PACKET_ATTEND, region->next, body, sizeof body) ==
               E_OK) {
        region->next++;
    }
}

static void send_leaves(struct controller *controller)
{
    struct controller_region *region = &controller->region;
    uint8_t body[LEAVE_BYTES];

    for (; region->next < nodes_of(controller); region->next++) {
        leave_pack(body, &(struct leave_body){.name = region->name,
                                              .way = region->way,
                                              .bytes = part_of(controller, region->next)->bytes,
                                              .model_ns = region->base_ns});
        if (router_send(&controller->router, PACKET_LEAVE, region->next, body, sizeof body) !=
            E_OK) {
            return;
        }
    }
    enter(controller, MEETING_NOTHING);
    controller_tell(controller, EVENT_REGION_LEFT);
}

/* The next slice of a node's part. */
static const uint8_t *next_slice(struct controller *controller, uint32_t rank, uint32_t *bytes)
{
    struct controller_part *part = part_of(controller, rank);
    const uint8_t *at = part->data + part->given;
    uint32_t left = part->bytes - part->given;

    *bytes = left < SLICE_BYTES ? left : SLICE_BYTES;
    part->given += *bytes;
    return at;
}

static uint32_t next_wanted(const struct controller *controller, uint32_t rank)
{
    while (rank < nodes_of(controller) && !part_of(controller, rank)->wanted) {
        rank++;
    }
    return rank;
}

/* E_FULL: the circuit before has no answer yet, or its memory is still read: either brings it here
 * again. */
static void open_next(struct controller *controller)
{
    struct controller_region *region = &controller->region;
    bool puts_off = region->again_us != UINT64_MAX && controller->now_us < region->again_us;
    uint32_t bytes;

    region->rank = next_wanted(controller, region->rank);
    if (region->opening || region->rank == nodes_of(controller) || puts_off) {
        return;
    }
    struct controller_part *part = part_of(controller, region->rank);
    part->given = 0;
    const uint8_t *data = next_slice(controller, region->rank, &bytes);
    struct circuit_source source = {.dst = region->rank,
                                    .match = region->name,
                                    .flags = OPEN_IMAGE | OPEN_OUTPUT,
                                    .generation = controller->generation,
                                    .issue_ns = region->clock_ns,
                                    .data = {data},
                                    .bytes = {bytes},
                                    .more = part->bytes - bytes,
                                    .token = region->name | region->rank};
    int status = router_open(&controller->router, &source);
    region->again_us = UINT64_MAX;
    if (status == E_OK) {
        region->opening = true;
    } else if (status != E_FULL) {
        fail(controller, REGION_ERROR, region->rank, status);
    }
}

static bool ask(struct controller *controller, uint32_t rank, enum collect_stage stage)
{
    struct controller_region *region = &controller->region;
    struct collect_body collect = {.name = region->name,
                                   .count = 1,
                                   .stage = (uint8_t)stage,
                                   .generation = controller->generation,
                                   .base_ns = region->base_ns};
    uint8_t body[COLLECT_BYTES];

    collect_pack(body, &collect);
    return router_send(&controller->router, PACKET_COLLECT, rank, body, sizeof body) == E_OK;
}

static void grant_next(struct controller *controller)
{
    struct controller_region *region = &controller->region;
    bool due = !region->granted || controller->now_us >= region->again_us;

    region->rank = next_wanted(controller, region->rank);
    if (region->rank < nodes_of(controller) && !region->opening && due) {
        bool sent = ask(controller, region->rank, COLLECT_GRANT);
        region->granted |= sent;
        region->again_us = controller->now_us + (sent ? REPEAT_US : RETRY_US);
    }
    while (region->next < nodes_of(controller) && region->next < region->rank + AHEAD_MAX) {
        bool ahead = region->next > region->rank && part_of(controller, region->next)->wanted;
        if (ahead && !ask(controller, region->next, COLLECT_BEGIN)) {
            return;
        }
        region->next++;
    }
}

void regions_pump(struct controller *controller)
{
    if (!goes_on(controller)) {
        return;
    }
    switch (controller->region.stage) {
    case MEETING_ATTENDING: send_attends(controller); break;
    case MEETING_SCATTERING: open_next(controller); break;
    case MEETING_GATHERING: grant_next(controller); break;
    case MEETING_LEAVING: send_leaves(controller); break;
    default: break;
    }
}

uint64_t regions_deadline(const struct controller *controller)
{
    return goes_on(controller) ? controller->region.again_us : UINT64_MAX;
}

/* Answers ------------------------------------------------------------------------------------- */

static void take_attends(struct controller *controller, const struct notice *notice)
{
    struct controller_region *region = &controller->region;
    struct controller_part *part = part_of(controller, notice->src);
    struct attends_body attends;

    if (!is_in(controller, MEETING_ATTENDING) ||
        !attends_unpack(notice->body, notice->bytes, &attends) || attends.name != region->name ||
        part->attends) {
        return;
    }
    if (attends.status != E_OK) {
        struct controller_event *event =
            fail(controller, REGION_UNKNOWN, notice->src, attends.status);
        event->body = (const uint8_t *)attends.names;
        event->bytes = attends.name_bytes;
        return;
    }
    part->attends = true;
    part->region_bytes = attends.bytes;
    region->base_ns = clock_max(region->base_ns, attends.model_ns);
    region->waiting--;
    if (region->waiting == 0) {
        enter(controller, MEETING_ATTENDED);
        controller_tell(controller, EVENT_REGION_ATTENDED)->base_ns = region->base_ns;
    }
}

/* A part is where it should be, or (wrong) is wanted still. */
static void end_part(struct controller *controller, struct controller_part *part, bool wrong)
{
    struct controller_region *region = &controller->region;

    part->wanted = wrong;
    part->sent = false;
    region->moved += !wrong;
    region->waiting--;
    controller_tell(controller, EVENT_REGION_PROGRESS)->done = region->moved;
    if (region->waiting == 0) {
        finish_move(controller);
    }
}

static void take_filled(struct controller *controller, const struct notice *notice)
{
    struct controller_part *part = part_of(controller, notice->src);
    struct filled_body filled;

    if (!is_in(controller, MEETING_SCATTERING) ||
        !filled_unpack(notice->body, notice->bytes, &filled) ||
        filled.name != controller->region.name || !part->sent) {
        return;
    }
    if (filled.status != E_OK) {
        fail(controller, REGION_ERROR, notice->src, filled.status);
        return;
    }
    end_part(controller, part,
             filled.bytes != part->bytes || memcmp(filled.digest, part->digest, DIGEST_BYTES) != 0);
}

/* A node that is to send says that it cannot. */
static void take_measured(struct controller *controller, const struct notice *notice)
{
    struct measured_body measured;

    if (is_in(controller, MEETING_GATHERING) &&
        measured_unpack(notice->body, notice->bytes, &measured) &&
        measured.name == controller->region.name && measured.status < 0) {
        fail(controller, REGION_ERROR, notice->src, measured.status);
    }
}

static void take_reply(struct controller *controller, const struct notice *notice)
{
    struct controller_region *region = &controller->region;
    struct rts_reply_body reply;

    if (!is_in(controller, MEETING_GATHERING) ||
        !rts_reply_unpack(notice->body, notice->bytes, &reply) || reply.name != region->name) {
        return;
    }
    if (notice->packet_kind == PACKET_CANCEL) {
        fail(controller, REGION_ERROR, notice->src, E_REFUSED);
    } else if (notice->packet_kind == PACKET_RETRY && notice->src == region->rank) {
        region->again_us = controller->now_us + RETRY_US;
    }
}

void regions_packet(struct controller *controller, const struct notice *notice)
{
    if (!goes_on(controller)) {
        return;
    }
    switch (notice->packet_kind) {
    case PACKET_ATTENDS: take_attends(controller, notice); break;
    case PACKET_FILLED: take_filled(controller, notice); break;
    case PACKET_MEASURED: take_measured(controller, notice); break;
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CANCEL: take_reply(controller, notice); break;
    default: break;
    }
}

/* Circuits ------------------------------------------------------------------------------------ */

bool regions_owns(uint32_t token)
{
    return token >= NAME_OF_REGION;
}

/* The rank of a circuit of what goes on now; CONTROLLER_NO_NODE: of something earlier. */
static uint32_t rank_of(const struct controller *controller, uint32_t token,
                        enum meeting_stage stage)
{
    return is_in(controller, stage) && (token & ~RANK_MASK) == controller->region.name
               ? token & RANK_MASK
               : CONTROLLER_NO_NODE;
}

/* The set-up of the circuit of region.rank has an answer. */
static void take_answer(struct controller *controller, const struct notice *notice)
{
    struct controller_region *region = &controller->region;

    region->opening = false;
    if (notice->kind == NOTICE_ACCEPTED) {
        part_of(controller, region->rank)->sent = true;
        region->clock_ns = notice->done_ns;
        region->end_ns = clock_max(region->end_ns, notice->done_ns);
        region->rank++;
        region->again_us = UINT64_MAX;
    } else if (notice->status == E_REFUSED || notice->status == E_BUSY) {
        region->again_us = controller->now_us + RETRY_US;
    } else {
        fail(controller, REGION_ERROR, region->rank, notice->status);
    }
}

static void feed(struct controller *controller, uint32_t token)
{
    uint32_t rank = rank_of(controller, token, MEETING_SCATTERING), bytes = 0;
    const uint8_t *data = NULL;

    if (rank != CONTROLLER_NO_NODE) {
        data = next_slice(controller, rank, &bytes);
    }
    (void)router_feed(&controller->router, token, data, bytes);
}

/* Of the circuits of nodes the row has come, or all. */
static void take_gathered(struct controller *controller, const struct notice *notice)
{
    struct controller_region *region = &controller->region;
    uint32_t rank = rank_of(controller, notice->token, MEETING_GATHERING);
    bool present = rank != CONTROLLER_NO_NODE && rank == region->rank && region->opening;
    struct controller_part *part = present ? part_of(controller, rank) : NULL;

    if (notice->kind == NOTICE_FILLED) {
        router_sink(&controller->router, notice->port, present ? part->data : NULL,
                    present ? part->bytes : UINT32_MAX);
        return;
    }
    if (!present) {
        return;
    }
    struct output_row row = output_row_at(part->row, 0);
    region->opening = region->granted = false;
    if (notice->status != E_OK) {
        fail(controller, REGION_ERROR, rank, notice->status);
    } else if (row.rank != rank || row.bytes != part->bytes) {
        fail(controller, REGION_WRONG, rank, E_FORMAT);
    } else {
        memcpy(part->digest, row.digest, DIGEST_BYTES);
        region->rank++;
        region->again_us = UINT64_MAX;
        end_part(controller, part, false);
    }
}

void regions_notice(struct controller *controller, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_FEED: feed(controller, notice->token); break;
    case NOTICE_ACCEPTED:
    case NOTICE_REFUSED:
        if (rank_of(controller, notice->token, MEETING_SCATTERING) == controller->region.rank) {
            take_answer(controller, notice);
        }
        break;
    case NOTICE_FILLED:
    case NOTICE_RECEIVED: take_gathered(controller, notice); break;
    default: break;
    }
}

/* E_REFUSED: it is another's turn, and it tries again; E_CANCELLED: for good. */
void regions_open(struct controller *controller, unsigned port, const uint8_t *packet)
{
    struct controller_region *region = &controller->region;
    bool known = is_in(controller, MEETING_GATHERING) && open_match(packet) == region->name &&
                 packet_src(packet) < nodes_of(controller);

    if (!known || packet_src(packet) != region->rank || !region->granted || region->opening) {
        router_refuse(&controller->router, port, known ? E_REFUSED : E_CANCELLED);
        return;
    }
    struct controller_part *part = part_of(controller, region->rank);
    if (open_flags(packet) & OPEN_INLINE || open_tag(packet) != OUTPUT_ROW_BYTES ||
        open_length(packet) != OUTPUT_ROW_BYTES + part->bytes) {
        router_refuse(&controller->router, port, E_CANCELLED);
        fail(controller, REGION_WRONG, region->rank, E_FORMAT);
        return;
    }
    struct circuit_sink sink = {.data = part->row,
                                .room = OUTPUT_ROW_BYTES,
                                .more = part->bytes,
                                .token = region->name | region->rank};
    region->opening = true;
    region->again_us = UINT64_MAX;
    region->end_ns = clock_max(region->end_ns, router_accept(&controller->router, port, &sink));
}
