/*
 * gatherer.c - what programs have left, from all nodes to the owner's memory.
 *
 *   MEASURING    MEASURE goes to one node after another, as the router has room; each says how much
 *                it has when its last program is over (MEASURED). Then EVENT_MEASURED
 *   MEASURED     the owner gives memory (controller_collect), and it is planned (gather_plan.h)
 *   COLLECTING   BEGIN goes to the roots of AHEAD_MAX ranges, so that they collect at the same
 *                time; GRANT to one after another, in the order of ranks, when the one before is
 *                here. Its circuit brings its table and then the outputs, each to its place. A host
 *                with a link for each of several ranges of nodes does so in each (lanes)
 *
 * COLLECT is repeated until it has an answer, as an offer is (loader.c). GRANT is answered by the
 * circuit.
 *
 * Who is silent is told as in a download, by the same list: all nodes that have not said how much
 * they have, then all whose outputs are not here. Whatever a node says that cannot be so ends the
 * gather with its name. So does what it says of itself: that it has no room, or that its circuit
 * found no way.
 *
 * A gather that is over before its end leaves nodes that wait for a GRANT. They are let go by the
 * next download, and refused until then.
 *
 * Units    us of wall time for what is repeated, of passed time for silence; model time in ns
 */
#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/circuit.h"
#include "wire/gather.h"

enum { AHEAD_MAX = 32 /* ranges that collect ahead of the one that is granted */ };

static const uint32_t NAME_OF_GATHER = UINT32_C(1) << 31; /* no message's and no offer's */

static uint32_t nodes_of(const struct controller *controller)
{
    return controller->config.network->nodes;
}

/* A broken machine gives nothing more; what is under way ends as it can. */
static bool gathers(const struct controller *controller, enum gathering stage)
{
    return controller->phase == PHASE_GATHER && !controller->broken &&
           controller->gather.stage == stage;
}

static void end(struct controller *controller)
{
    controller->gather.again_us = UINT64_MAX;
    controller->phase = PHASE_READY;
}

/* Who is silent, or has lost a link, breaks the machine: the gather is over when what is dead has
 * been told. */
static void fail(struct controller *controller, enum gather_failure reason, uint32_t rank,
                 int status)
{
    bool breaks = reason == GATHER_SILENT || status == E_LINK_DEAD;

    if (breaks) {
        failure_break(controller);
    } else {
        end(controller);
    }
    struct controller_event *event = controller_tell(controller, EVENT_GATHER_FAILED);

    event->rank = rank;
    event->reason = (uint8_t)reason;
    event->status = status;
    event->done = controller->gather.done;
}

void gatherer_stop(struct controller *controller)
{
    fail(controller, GATHER_STOPPED, controller->gather.lanes[0].rank, E_CANCELLED);
}

/* How much there is ------------------------------------------------------------------------- */

static enum controller_refusal refusal(const struct controller *controller)
{
    if (controller->broken) {
        return CONTROLLER_BROKEN;
    }
    switch (controller->phase) {
    case PHASE_BOOT: return CONTROLLER_BOOTS;
    case PHASE_READY: return CONTROLLER_OK;
    default: return CONTROLLER_BUSY;
    }
}

/* Names go on from the last gather's: what comes late is for nothing that is asked now. */
enum controller_refusal controller_gather(struct controller *controller, uint64_t now_us)
{
    enum controller_refusal refused = refusal(controller);

    if (refused != CONTROLLER_OK) {
        return refused;
    }
    controller->now_us = now_us;
    controller->gather =
        (struct controller_gather){.stage = GATHER_MEASURING,
                                   .name = (controller->gather.name + 1) | NAME_OF_GATHER,
                                   .waiting = nodes_of(controller),
                                   .again_us = UINT64_MAX};
    controller->phase = PHASE_GATHER;
    silence_await_all(controller);
    return CONTROLLER_OK;
}

static void send_measures(struct controller *controller)
{
    struct controller_gather *gather = &controller->gather;
    uint8_t body[MEASURE_BYTES];

    measure_pack(body, &(struct measure_body){gather->name, controller->generation});
    while (gather->next < nodes_of(controller) &&
           router_send(&controller->router, PACKET_MEASURE, gather->next, body, sizeof body) ==
               E_OK) {
        gather->next++;
    }
}

static void tell_measured(struct controller *controller)
{
    struct controller_event *event = controller_tell(controller, EVENT_MEASURED);

    event->done = nodes_of(controller);
    event->base_ns = controller->gather.base_ns;
    event->gather = (struct event_gather){.bytes = controller->gather.bytes};
    controller->gather.stage = GATHER_MEASURED;
}

/* A piece that is none of the program's memory counts nothing; that shows in the output itself. */
static void take_measure(struct controller *controller, uint32_t rank,
                         const struct measured_body *measured)
{
    struct controller_gather *gather = &controller->gather;
    struct controller_node *node = &controller->nodes[rank];

    if (!controller_has(controller, rank, NODE_SILENT)) {
        return; /* it has said so before */
    }
    if (measured->status != E_OK && measured->status != E_FAULT) {
        fail(controller, GATHER_ERROR, rank, measured->status);
        return;
    }
    silence_forget(controller, rank);
    node->output_bytes = measured->bytes;
    node->output_room = measured->room;
    gather->bytes += measured->bytes;
    gather->base_ns = clock_max(gather->base_ns, measured->model_ns);
    controller->reported_ns = clock_max(controller->reported_ns, measured->model_ns);
    if (--gather->waiting == 0) {
        tell_measured(controller);
    }
}

/* The plan ---------------------------------------------------------------------------------- */

static void plan(struct controller *controller)
{
    struct controller_gather *gather = &controller->gather;
    struct gather_node *nodes = gather->outputs.scratch;

    for (uint32_t rank = 0; rank < nodes_of(controller); rank++) {
        nodes[rank] = (struct gather_node){.bytes = controller->nodes[rank].output_bytes,
                                           .room = controller->nodes[rank].output_room};
    }
    gather->plan = gather_plan_make(controller->config.network, &controller->config.profile, nodes);
}

/* What of the outputs is in a range. */
static uint64_t range_bytes(const struct controller *controller, uint32_t rank, uint32_t count)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        bytes += controller->nodes[rank + i].output_bytes;
    }
    return bytes;
}

/* The lane of a node. */
static struct gather_lane *lane_of(struct controller *controller, uint32_t rank)
{
    return &controller->gather.lanes[network_range_of(controller->config.network, rank)];
}

static unsigned lanes_of(const struct controller *controller)
{
    return network_ranges(controller->config.network);
}

/* The range that begins with the lane's rank is the next one. */
static void turn_to_range(struct controller *controller, struct gather_lane *lane)
{
    lane->count = gather_range(controller->config.network, &controller->gather.plan, lane->rank);
    lane->range_bytes =
        (uint32_t)range_bytes(controller, lane->rank, lane->count); /* one message */
}

/* The outputs of all lie in the order of ranks. */
static void begin_lanes(struct controller *controller)
{
    uint64_t data_at = 0;

    for (unsigned i = 0; i < lanes_of(controller); i++) {
        struct gather_lane *lane = &controller->gather.lanes[i];
        uint32_t count, first = network_range(controller->config.network, i, &count);

        *lane = (struct gather_lane){
            .next = first, .rank = first, .end = first + count, .data_at = data_at};
        data_at += range_bytes(controller, first, count);
        turn_to_range(controller, lane);
    }
}

void controller_collect(struct controller *controller, const struct controller_outputs *outputs,
                        uint64_t now_us)
{
    struct controller_gather *gather = &controller->gather;

    controller->now_us = now_us;
    if (!gathers(controller, GATHER_MEASURED)) {
        return;
    }
    gather->outputs = *outputs;
    gather->stage = GATHER_COLLECTS;
    gather->end_ns = gather->base_ns;
    plan(controller);
    silence_await_all(controller);
    for (uint32_t rank = 0; rank < nodes_of(controller); rank++) {
        controller->nodes[rank].offer = OFFER_NONE;
    }
    begin_lanes(controller);
}

/* COLLECT ----------------------------------------------------------------------------------- */

/* It is the turn of a range whose circuit is not here yet. */
static bool is_granted(const struct gather_lane *lane, uint32_t rank)
{
    return rank == lane->rank && !lane->receiving;
}

static bool ask(struct controller *controller, struct gather_lane *lane, uint32_t rank)
{
    struct controller_gather *gather = &controller->gather;
    bool grant = is_granted(lane, rank);
    struct collect_body collect = {
        .name = gather->name,
        .count = gather_range(controller->config.network, &gather->plan, rank),
        .stage = grant ? COLLECT_GRANT : COLLECT_BEGIN,
        .generation = controller->generation,
        .base_ns = gather->base_ns};
    uint8_t body[COLLECT_BYTES];

    collect_pack(body, &collect);
    if (router_send(&controller->router, PACKET_COLLECT, rank, body, sizeof body) != E_OK) {
        gather->again_us = controller->now_us + RETRY_US;
        return false;
    }
    if (gather->again_us > controller->now_us + REPEAT_US) {
        gather->again_us = controller->now_us + REPEAT_US;
    }
    lane->granted |= grant;
    return true;
}

/* Asks again whoever of a lane has not answered; false: the router has no room. */
static bool ask_lane_again(struct controller *controller, struct gather_lane *lane)
{
    const struct network *network = controller->config.network;

    for (uint32_t rank = lane->rank; rank < lane->next;
         rank += gather_range(network, &controller->gather.plan, rank)) {
        bool due = is_granted(lane, rank) || controller->nodes[rank].offer == OFFER_SENT;
        if (due && !ask(controller, lane, rank)) {
            return false;
        }
    }
    return true;
}

/* Those of at most AHEAD_MAX ranges. */
static void ask_again(struct controller *controller)
{
    if (controller->now_us < controller->gather.again_us) {
        return;
    }
    controller->gather.again_us = UINT64_MAX;
    for (unsigned i = 0; i < lanes_of(controller); i++) {
        if (!ask_lane_again(controller, &controller->gather.lanes[i])) {
            return;
        }
    }
}

/* The next range of a lane is told to collect; false: there is none, or no room now. */
static bool ask_next(struct controller *controller, struct gather_lane *lane)
{
    struct controller_gather *gather = &controller->gather;

    if (lane->next == lane->end || gather->ahead == AHEAD_MAX ||
        !ask(controller, lane, lane->next)) {
        return false;
    }
    controller->nodes[lane->next].offer = OFFER_SENT;
    gather->ahead++;
    lane->next += gather_range(controller->config.network, &gather->plan, lane->next);
    return true;
}

/* Grants first; then one range of each lane in turn, so that none waits for others' ranges. */
static void ask_more(struct controller *controller)
{
    struct gather_lane *lanes = controller->gather.lanes;
    bool more = true;

    for (unsigned i = 0; i < lanes_of(controller); i++) {
        if (!lanes[i].granted && lanes[i].next > lanes[i].rank &&
            !ask(controller, &lanes[i], lanes[i].rank)) {
            return;
        }
    }
    while (more) {
        more = false;
        for (unsigned i = 0; i < lanes_of(controller); i++) {
            more |= ask_next(controller, &lanes[i]);
        }
    }
}

void gatherer_pump(struct controller *controller)
{
    if (gathers(controller, GATHER_MEASURING)) {
        send_measures(controller);
    } else if (gathers(controller, GATHER_COLLECTS)) {
        ask_again(controller);
        ask_more(controller);
    }
}

/* Answers ----------------------------------------------------------------------------------- */

static void take_measured(struct controller *controller, const struct notice *notice)
{
    struct measured_body measured;

    if (!measured_unpack(notice->body, notice->bytes, &measured) ||
        measured.name != controller->gather.name) {
        return;
    }
    if (gathers(controller, GATHER_MEASURING)) {
        take_measure(controller, notice->src, &measured);
    } else if (gathers(controller, GATHER_COLLECTS) && measured.status < 0) {
        fail(controller, GATHER_ERROR, notice->src, measured.status);
    }
}

/* A node answers for the range that it is the root of, and was asked for. */
static void take_reply(struct controller *controller, const struct notice *notice)
{
    struct controller_gather *gather = &controller->gather;
    struct controller_node *node = &controller->nodes[notice->src];
    struct rts_reply_body reply;

    if (!rts_reply_unpack(notice->body, notice->bytes, &reply) || reply.name != gather->name ||
        !gathers(controller, GATHER_COLLECTS) || node->offer == OFFER_NONE) {
        return;
    }
    if (notice->packet_kind == PACKET_QUEUED) {
        node->offer = OFFER_READY;
    } else if (notice->packet_kind == PACKET_RETRY) {
        node->offer = OFFER_SENT;
        gather->again_us = controller->now_us + RETRY_US;
    } else {
        fail(controller, GATHER_REFUSED, notice->src, E_OK);
    }
}

void gatherer_packet(struct controller *controller, const struct notice *notice)
{
    switch (notice->packet_kind) {
    case PACKET_MEASURED: take_measured(controller, notice); break;
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CANCEL: take_reply(controller, notice); break;
    default: break;
    }
}

/* Circuits ---------------------------------------------------------------------------------- */

static uint32_t table_bytes(uint32_t count)
{
    return count * (uint32_t)OUTPUT_ROW_BYTES;
}

static void accept(struct controller *controller, struct gather_lane *lane, unsigned port)
{
    struct controller_gather *gather = &controller->gather;
    struct circuit_sink sink = {.data =
                                    gather->outputs.table + (size_t)lane->rank * OUTPUT_ROW_BYTES,
                                .room = table_bytes(lane->count),
                                .more = lane->range_bytes,
                                .token = gather->name};

    lane->receiving = true;
    lane->port = (uint8_t)port;
    gather->end_ns = clock_max(gather->end_ns, router_accept(&controller->router, port, &sink));
}

/* E_REFUSED: it is another's turn, and it tries again; E_CANCELLED: for good. */
void gatherer_open(struct controller *controller, unsigned port)
{
    const struct controller_gather *gather = &controller->gather;
    const uint8_t *packet = router_open_at(&controller->router, port);
    bool known = packet && gathers(controller, GATHER_COLLECTS) &&
                 open_flags(packet) & OPEN_OUTPUT && open_match(packet) == gather->name;

    if (!packet) {
        return;
    }
    uint32_t src = packet_src(packet);
    struct gather_lane *lane = src < nodes_of(controller) ? lane_of(controller, src) : NULL;
    if (!known || !lane || !is_granted(lane, src) || !lane->granted) {
        router_refuse(&controller->router, port, known ? E_REFUSED : E_CANCELLED);
    } else if (open_flags(packet) & OPEN_INLINE || open_tag(packet) != table_bytes(lane->count) ||
               open_length(packet) != table_bytes(lane->count) + lane->range_bytes) {
        router_refuse(&controller->router, port, E_CANCELLED);
        fail(controller, GATHER_WRONG, lane->rank, E_FORMAT);
    } else {
        accept(controller, lane, port);
    }
}

/* The first node of the range whose row is another than what it has said that it has; that behind
 * the range: there is none. */
static uint32_t first_wrong(const struct controller *controller, const struct gather_lane *lane)
{
    uint32_t rank = lane->rank;

    for (; rank < lane->rank + lane->count; rank++) {
        struct output_row row = output_row_at(controller->gather.outputs.table, rank);
        if (row.rank != rank || row.bytes != controller->nodes[rank].output_bytes) {
            break;
        }
    }
    return rank;
}

static void finish(struct controller *controller)
{
    const struct controller_gather *gather = &controller->gather;
    struct controller_event *event = controller_tell(controller, EVENT_GATHERED);

    event->done = nodes_of(controller);
    event->base_ns = gather->base_ns;
    event->model_ns = gather->end_ns;
    event->gather =
        (struct event_gather){.bytes = gather->bytes, .predicted_ns = gather->plan.predicted_ns};
    controller->reported_ns = clock_max(controller->reported_ns, gather->end_ns);
    end(controller);
}

/* All of a range is here. */
static void take_range(struct controller *controller, struct gather_lane *lane)
{
    struct controller_gather *gather = &controller->gather;
    uint32_t end_rank = lane->rank + lane->count, wrong = first_wrong(controller, lane);

    if (wrong < end_rank) {
        fail(controller, GATHER_WRONG, wrong, E_FORMAT);
        return;
    }
    gather->done += lane->count;
    for (; lane->rank < end_rank; lane->rank++) {
        silence_forget(controller, lane->rank);
    }
    lane->data_at += lane->range_bytes;
    lane->granted = lane->receiving = false;
    gather->ahead--;
    controller_tell(controller, EVENT_GATHER_PROGRESS)->done = gather->done;
    if (gather->done == nodes_of(controller)) {
        finish(controller);
    } else if (lane->rank < lane->end) {
        turn_to_range(controller, lane);
    }
}

/* The lane whose bytes come in at a port; NULL: none of this gather's. */
static struct gather_lane *lane_at(struct controller *controller, const struct notice *notice)
{
    struct controller_gather *gather = &controller->gather;

    for (unsigned i = 0; i < lanes_of(controller); i++) {
        if (gather->lanes[i].receiving && gather->lanes[i].port == notice->port) {
            bool present = gathers(controller, GATHER_COLLECTS) && notice->token == gather->name;
            return present ? &gather->lanes[i] : NULL;
        }
    }
    return NULL;
}

void gatherer_notice(struct controller *controller, const struct notice *notice)
{
    struct gather_lane *lane = lane_at(controller, notice);

    if (notice->kind == NOTICE_FILLED) {
        uint8_t *data = lane ? controller->gather.outputs.data + lane->data_at : NULL;
        router_sink(&controller->router, notice->port, data, lane ? lane->range_bytes : 0);
    } else if (lane && notice->status == E_OK) {
        take_range(controller, lane);
    } else if (lane) {
        fail(controller, GATHER_ERROR, lane->rank, notice->status);
    }
}

void gatherer_pass(struct controller *controller)
{
    uint32_t rank;

    if (controller->gather.stage != GATHER_MEASURED && silence_too_long(controller, &rank)) {
        fail(controller, GATHER_SILENT, rank, E_TIMEOUT);
    }
}
