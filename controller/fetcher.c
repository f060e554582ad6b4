/*
 * fetcher.c - brings the records of all nodes to the host (wire/record.h), when a run is over,
 * however it has ended.
 *
 *   all nodes     RECORDS_ASK for none: what is open is noted, and nothing more. The programs are
 *                 stopped when all have answered, or after CLOSE_US: else a stop here would be the
 *                 end of what waits there
 *
 *   then one after another, FETCH_LANES at once:
 *
 *     asked     RECORDS_ASK from the first record on, for FETCH_COUNT of them
 *     answered  RECORDS as they come, in order: EVENT_RECORDS for each packet; when so many are
 *               here, asked for the next
 *     over      all that it has written are here; or it is dead or halted, or has been silent for
 *               SILENT_US, though asked every ASK_US: EVENT_RECORDS_END, which says so
 *
 * A packet that does not begin where the one before has ended is of an earlier question, or one was
 * lost: it is left alone, and the question repeated. One that is damaged (records_unpack) is left
 * alone likewise, and counted.
 *
 * Nothing here is a circuit, so nothing takes model time, or a link from anybody.
 *
 * Units    us of wall time
 */
#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/record.h"

enum {
    FETCH_COUNT = 16 * RECORDS_PACKET_MAX,
    ASK_US = 1500 * 1000,
    SILENT_US = 6 * 1000 * 1000,
    CLOSE_US = 2 * 1000 * 1000
};

enum controller_refusal controller_fetch(struct controller *controller, uint64_t now_us)
{
    struct controller_fetch *fetch = &controller->fetch;

    controller->now_us = now_us;
    if (controller->phase == PHASE_BOOT || controller->restarts) {
        return CONTROLLER_BOOTS;
    }
    if (controller->phase != PHASE_READY || fetch->active) {
        return CONTROLLER_BUSY;
    }
    *fetch =
        (struct controller_fetch){.active = true, .closing = true, .closed_us = now_us + CLOSE_US};
    for (unsigned i = 0; i < FETCH_LANES; i++) {
        fetch->lanes[i].node = CONTROLLER_NO_NODE;
    }
    return CONTROLLER_OK;
}

void controller_fetch_stop(struct controller *controller)
{
    controller->fetch.active = false;
}

/* A node has no more to say, or cannot be asked. */
static void end_node(struct controller *controller, uint32_t node, enum fetch_end end,
                     const struct fetch_lane *lane)
{
    struct controller_event *event = controller_tell(controller, EVENT_RECORDS_END);

    event->rank = node;
    event->reason = (uint8_t)end;
    event->done = ++controller->fetch.done;
    event->records = (struct event_records){.written = lane ? lane->written : 0,
                                            .lost = lane ? lane->lost : 0,
                                            .damaged = lane ? lane->damaged : 0};
}

static bool send_ask(struct controller *controller, uint32_t node, uint64_t from, uint16_t count)
{
    uint8_t body[RECORDS_ASK_BYTES];

    records_ask_pack(body, &(struct records_ask_body){
                               .from = from, .count = count, .generation = controller->generation});
    return router_send(&controller->router, PACKET_RECORDS_ASK, node, body, sizeof body) == E_OK;
}

static bool ask(struct controller *controller, struct fetch_lane *lane)
{
    lane->owed = !send_ask(controller, lane->node, lane->next, FETCH_COUNT);
    lane->left = FETCH_COUNT;
    lane->again_us = controller->now_us + ASK_US;
    return !lane->owed;
}

static bool cannot_be_asked(const struct controller *controller, uint32_t node)
{
    return controller_has(controller, node, NODE_DEAD | NODE_HALTED);
}

bool fetcher_closes(const struct controller *controller)
{
    return controller->fetch.active && controller->fetch.closing;
}

/* False while some are still to be told, or waited for. */
static bool close_all(struct controller *controller)
{
    struct controller_fetch *fetch = &controller->fetch;
    uint32_t nodes = controller->config.network->nodes;

    for (; fetch->next < nodes; fetch->next++) {
        if (cannot_be_asked(controller, fetch->next)) {
            fetch->closed++;
        } else if (!send_ask(controller, fetch->next, 0, 0)) {
            break;
        }
    }
    if (fetch->closed < nodes && controller->now_us < fetch->closed_us) {
        return false;
    }
    fetch->closing = false;
    fetch->next = 0;
    return true;
}

/* Gives a lane the next node that can be asked; false: there is none, or one cannot be and that is
 * to be told first. */
static bool take_node(struct controller *controller, struct fetch_lane *lane)
{
    struct controller_fetch *fetch = &controller->fetch;

    if (fetch->next == controller->config.network->nodes) {
        return false;
    }
    uint32_t node = fetch->next++;
    if (cannot_be_asked(controller, node)) {
        end_node(controller, node,
                 controller_has(controller, node, NODE_DEAD) ? FETCH_DEAD : FETCH_HALTED, NULL);
        return false;
    }
    *lane = (struct fetch_lane){
        .node = node, .owed = true, .silent_us = controller->now_us + SILENT_US};
    return true;
}

/* One at a time may end, for each leaves an event. */
static void pump_lane(struct controller *controller, struct fetch_lane *lane)
{
    if (lane->node == CONTROLLER_NO_NODE && !take_node(controller, lane)) {
        return;
    }
    uint32_t node = lane->node;
    bool dead = controller_has(controller, node, NODE_DEAD);
    if (dead || controller_has(controller, node, NODE_HALTED) ||
        controller->now_us >= lane->silent_us) {
        lane->node = CONTROLLER_NO_NODE;
        end_node(controller, node,
                 dead                                            ? FETCH_DEAD
                 : controller_has(controller, node, NODE_HALTED) ? FETCH_HALTED
                                                                 : FETCH_SILENT,
                 lane);
    } else if (lane->owed || controller->now_us >= lane->again_us) {
        (void)ask(controller, lane);
    }
}

void fetcher_pump(struct controller *controller)
{
    struct controller_fetch *fetch = &controller->fetch;

    if (fetcher_closes(controller) && !close_all(controller)) {
        return;
    }
    for (unsigned i = 0; fetch->active && i < FETCH_LANES && controller->event_count == 0; i++) {
        pump_lane(controller, &fetch->lanes[i]);
    }
    if (fetch->active && fetch->done == controller->config.network->nodes &&
        controller->event_count == 0) {
        fetch->active = false;
        controller_tell(controller, EVENT_FETCHED);
    }
}

/* What is owed is tried again whenever the router has moved. */
uint64_t fetcher_deadline(const struct controller *controller)
{
    const struct controller_fetch *fetch = &controller->fetch;
    uint64_t deadline_us = UINT64_MAX;

    if (fetcher_closes(controller)) {
        bool owed = fetch->next < controller->config.network->nodes;
        uint64_t due_us = owed ? controller->now_us + RETRY_US : fetch->closed_us;
        return due_us > controller->now_us ? due_us : controller->now_us + RETRY_US;
    }
    for (unsigned i = 0; fetch->active && i < FETCH_LANES; i++) {
        const struct fetch_lane *lane = &fetch->lanes[i];
        if (lane->node == CONTROLLER_NO_NODE) {
            continue;
        }
        uint64_t due_us = lane->owed ? controller->now_us + RETRY_US : lane->again_us;
        due_us = due_us < lane->silent_us ? due_us : lane->silent_us;
        if (due_us <= controller->now_us) { /* it is not its turn: a deadline must not lie behind */
            due_us = controller->now_us + RETRY_US;
        }
        deadline_us = deadline_us < due_us ? deadline_us : due_us;
    }
    return deadline_us;
}

static struct fetch_lane *lane_of(struct controller *controller, uint32_t node)
{
    struct controller_fetch *fetch = &controller->fetch;

    for (unsigned i = 0; fetch->active && i < FETCH_LANES; i++) {
        if (fetch->lanes[i].node == node) {
            return &fetch->lanes[i];
        }
    }
    return NULL;
}

void fetcher_packet(struct controller *controller, const struct notice *notice)
{
    struct fetch_lane *lane = lane_of(controller, notice->src);
    struct records_body records;

    if (fetcher_closes(controller)) {
        controller->fetch.closed += records_unpack(notice->body, notice->bytes, &records) &&
                                    records.generation == controller->generation;
        return;
    }
    if (!lane) {
        return;
    }
    if (!records_unpack(notice->body, notice->bytes, &records)) {
        lane->damaged++;
        return;
    }
    bool next = records.first == lane->next || (!lane->heard && records.first > lane->next);
    if (records.generation != controller->generation || !next) {
        return;
    }
    if (!lane->heard) { /* what it has no more */
        lane->heard = true;
        lane->lost = records.first;
    }
    lane->silent_us = controller->now_us + SILENT_US;
    lane->next = records.first + records.count;
    lane->written = records.written;
    lane->left -= records.count < lane->left ? records.count : lane->left;
    if (records.count > 0) {
        struct controller_event *event = controller_tell(controller, EVENT_RECORDS);
        event->rank = lane->node;
        event->body = records.records;
        event->bytes = records.count * (uint32_t)RECORD_BYTES;
    }
    if (lane->next == lane->written) {
        uint32_t node = lane->node;
        lane->node = CONTROLLER_NO_NODE;
        end_node(controller, node, FETCH_WHOLE, lane);
    } else if (lane->left == 0) {
        lane->owed = true;
    }
}
