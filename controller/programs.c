/*
 * programs.c - programs at work: start, what they say, their ends, stop.
 *
 *   controller_run    START goes to one node after another, as the router has room
 *   a node            runs from its START to EXIT or FAULT, or to its STOP
 *   all have ended    ENDED_BY_ITSELF; after a moment, when one was ended for a dead link of which
 *                     nothing has been heard yet
 *   one aborts        ENDED_ABORTED: the others are stopped
 *   controller_stop   STOP goes to one node after another that runs, and to those that have not
 *                     been told to start while others have: who waits in a collective for a program
 *                     that never starts must hear that it does not
 *   a broken machine  EVENT_BROKEN ends the phase, not the programs: the owner says
 *                     controller_stop, which reaches those to whom there is a way
 *
 * Both are cursors: a machine of any size needs no room here. After a stop the next START or OFFER
 * goes only behind the last STOP, or a node would stop the wrong program.
 *
 * Text: a node may print CONSOLE_WINDOW bytes more than it knows to have been read. The owner says
 * how much has been (controller_taken), the node is fields, and its program goes on.
 *
 * Plans    what a program asks for is answered in plans.c
 *
 * Units    bytes of text modulo 2^32; us of passed time
 */
#include "collectives/operation.h"
#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"
#include "wire/run.h"

enum { EXIT_STATUS_MASK = 0xff };

void controller_run(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    /* It may have broken since the owner was told that all is loaded. */
    if (controller->phase != PHASE_LOADED || controller->broken) {
        return;
    }
    controller->phase = PHASE_RUN;
    controller->start_next = 0;
    controller->stop_unstarted = controller->config.network->nodes;
    controller->ended = 0;
    controller->failed = controller->cut_off = controller->timing_out = false;
    controller->plans_refused = 0;
    controller->region.stage = MEETING_NOTHING;
    controller->region_told = false;
    query_watch(controller); /* nothing has been heard or seen of these programs */
}

/* It runs no more, or is told to stop: what it still says is of a program that is over. */
static void count_end(struct controller *controller, uint32_t rank)
{
    controller->nodes[rank].flags &= (uint16_t)~NODE_RUNNING;
    controller->running--;
}

/* All programs start at the model time when the last node had its data; no clock is ahead of it. */
static bool send_starts(struct controller *controller)
{
    uint8_t body[START_BYTES];

    start_pack(body, &(struct start_body){controller->reported_ns, controller->config.attended,
                                          controller->config.paths, controller->config.records});
    while (controller->start_next < controller->config.network->nodes) {
        struct controller_node *node = &controller->nodes[controller->start_next];

        if (router_send(&controller->router, PACKET_START, controller->start_next, body,
                        sizeof body) != E_OK) {
            return false;
        }
        /* From now on it may be heard, and its text is counted anew. */
        node->flags |= NODE_RUNNING;
        node->received = node->credited = node->taken = 0;
        controller->running++;
        controller->start_next++;
    }
    return true;
}

static bool send_stops(struct controller *controller)
{
    uint32_t nodes = controller->config.network->nodes;
    uint8_t body[STOP_BYTES];

    if (fetcher_closes(controller)) {
        return true;
    }
    stop_pack(body, controller->stop_generation);
    for (; controller->stop_next < nodes; controller->stop_next++) {
        uint32_t rank = controller->stop_next;
        bool runs = controller_has(controller, rank, NODE_RUNNING);

        if (!runs && rank < controller->stop_unstarted) {
            /* When nobody runs there is nobody to look for before those who have not begun. */
            if (controller->running == 0) {
                controller->stop_next = controller->stop_unstarted - 1;
            }
            continue;
        }
        if (router_send(&controller->router, PACKET_STOP, rank, body, sizeof body) != E_OK) {
            return false;
        }
        if (runs) {
            count_end(controller, rank);
        }
    }
    controller->stop_next = nodes;
    return true;
}

bool run_pump(struct controller *controller)
{
    return send_stops(controller) && send_starts(controller);
}

/* Whoever runs is told to stop. The cursor of those to be started is set to its end: whoever it has
 * not reached does not begin. */
static void stop_all(struct controller *controller)
{
    uint32_t nodes = controller->config.network->nodes;

    if (controller->start_next < nodes) { /* else a stop before has noted it */
        controller->stop_unstarted = controller->start_next ? controller->start_next : nodes;
    }
    controller->start_next = nodes;
    controller->stop_next = 0;
    controller->stop_generation = controller->generation;
}

struct controller_event *run_end(struct controller *controller, enum end_reason reason)
{
    /* Who aborts has been told by who calls this. */
    regions_program_ended(controller, CONTROLLER_NO_NODE);
    struct controller_event *event = controller_tell(controller, EVENT_ENDED);

    event->reason = (uint8_t)reason;
    event->done = controller->ended;
    /* At once, though STOP has not gone: a load may be asked for now, and goes behind it. Until
     * then entries say who runs, for those who look at what the programs waited for. */
    controller->phase = PHASE_READY;
    controller->timing_out = controller->ending = false;
    controller->end_us = UINT64_MAX;
    stop_all(controller);
    return event;
}

void controller_keep_records(struct controller *controller, uint32_t records)
{
    controller->config.records = records;
}

void controller_use_cache(struct controller *controller, struct plan_cache *cache)
{
    controller->config.cache = cache;
}

void controller_stop(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    switch (controller->phase) {
    case PHASE_LOADED: controller->phase = PHASE_READY; break;
    case PHASE_RUN: run_end(controller, ENDED_STOPPED); break;
    case PHASE_GATHER:
        if (!controller->broken) { /* else it is about to end */
            gatherer_stop(controller);
        }
        break;
    /* After a failure, programs may still run. */
    case PHASE_READY: stop_all(controller); break;
    default: break;
    }
}

void controller_time_out(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    switch (controller->phase) {
    case PHASE_BOOT:
        /* A boot that is not waited for any longer: some nodes may come, and nobody will know
         * which. */
        controller->broken = true;
        controller->crossed_us = UINT64_MAX;
        controller->phase = PHASE_READY;
        break;
    case PHASE_RUN:
        /* A machine that is broken ends the run by itself, soon. */
        if (!controller->broken && !controller->timing_out) {
            controller->timing_out = true;
            query_ask(controller, QUESTION_TIMEOUT);
        }
        break;
    default: controller_stop(controller, now_us); break;
    }
}

void controller_active(struct controller *controller)
{
    controller->activity++;
}

/* A program has ended; its event has been fields. */
static void program_ended(struct controller *controller, uint32_t rank,
                          struct controller_event *event)
{
    count_end(controller, rank);
    regions_program_ended(controller, rank);
    /* In a broken machine the dead node or link is the reason for the end, and told so. */
    controller->ended++;
    event->done = controller->ended;
    if (controller->ended == controller->config.network->nodes && !controller->broken) {
        if (controller->cut_off) {
            controller->end_us = controller->now_us + FAILURE_COLLECT_MS * UINT64_C(1000);
        } else {
            run_end(controller, ENDED_BY_ITSELF);
        }
    }
}

/* By one program the whole run is over: it has ended, the others are stopped. Those who abort at
 * the same time are not heard any more. */
static void program_aborted(struct controller *controller, uint32_t rank, int32_t status)
{
    count_end(controller, rank);
    controller->ended++;
    regions_program_ended(controller, rank);
    struct controller_event *event = run_end(controller, ENDED_ABORTED);
    event->rank = rank;
    event->status = status;
}

static void take_exit(struct controller *controller, const struct notice *notice)
{
    struct exit_body fields;
    struct controller_event *event;

    if (!exit_unpack(notice->body, notice->bytes, &fields)) {
        return;
    }
    event = controller_tell(controller, EVENT_EXIT);
    event->rank = notice->src;
    /* As a shell has it. */
    event->status = fields.status & EXIT_STATUS_MASK;
    event->collectives = fields.collectives;
    event->reason = fields.aborted ? ENDED_ABORTED : ENDED_BY_ITSELF;
    controller->failed |= event->status != 0;
    if (fields.aborted && !controller->broken) {
        event->done = controller->ended + 1;
        program_aborted(controller, notice->src, fields.status);
    } else {
        program_ended(controller, notice->src, event);
    }
}

/* No text, or text beyond the window, is that of a node that does not keep to the rules. */
static void take_console(struct controller *controller, const struct notice *notice)
{
    struct controller_node *node = &controller->nodes[notice->src];
    struct console_body fields;
    struct controller_event *event;

    if (!console_unpack(notice->body, notice->bytes, &fields) || fields.text_bytes == 0 ||
        node->received - node->credited + fields.text_bytes > CONSOLE_WINDOW) {
        return;
    }
    /* Counted here and not by the owner: what it has not shown yet is text that the node is waiting
     * for. */
    node->received += fields.text_bytes;
    event = controller_tell(controller, EVENT_TEXT);
    event->rank = notice->src;
    event->status = fields.stream;
    event->bytes = fields.text_bytes;
    event->body = fields.text;
}

void controller_taken(struct controller *controller, uint32_t rank, uint32_t bytes)
{
    struct controller_node *node = &controller->nodes[rank];

    if (controller->phase != PHASE_RUN || !controller_has(controller, rank, NODE_RUNNING) ||
        node->received - bytes > node->received - node->credited) {
        return; /* of a program that is over, or less than was told */
    }
    /* The latest count alone is owed; if two come before one is sent, the node hears of both at
     * once. */
    node->taken = bytes;
    controller_due(controller, rank, PACKET_DUE_TAKEN);
}

static void take_report(struct controller *controller, const struct notice *notice)
{
    struct report_body fields;

    if (report_unpack(notice->body, notice->bytes, &fields)) {
        struct controller_event *event = controller_tell(controller, EVENT_REPORT);

        event->rank = notice->src;
        event->report = fields;
    }
}

bool run_is_on_sizes(const struct entry *entry)
{
    const struct operation *operation = operation_of(entry->operation);

    return operation && operation->sized && entry->type != 0;
}

/* Of two that differ both are nodes; where one has failed there is no other. */
static bool names_nodes(const struct controller *controller, const struct disagree_body *fields)
{
    uint32_t nodes = controller->config.network->nodes;

    return fields->first_rank < nodes &&
           (fields->status != E_MISMATCH || fields->other_rank < nodes);
}

/* Of sizes that differ the receiver speaks, and names the sender. */
static void name_ends(struct disagree_body *fields)
{
    if (fields->first.type == SIZES_AGREE) {
        fields->first_rank = fields->other_rank;
        fields->first = fields->other;
    }
    fields->other_rank = fields->first.root;
}

/* What a program had begun when it ended its node goes on with, and may hear of late. */
static void take_disagreement(struct controller *controller, const struct notice *notice)
{
    struct disagree_body fields;

    if (controller->phase != PHASE_RUN || !disagree_unpack(notice->body, notice->bytes, &fields)) {
        return;
    }
    if (fields.status == E_MISMATCH && run_is_on_sizes(&fields.first) &&
        run_is_on_sizes(&fields.other)) {
        name_ends(&fields);
    }
    if (names_nodes(controller, &fields)) {
        struct controller_event *event = controller_tell(controller, EVENT_DISAGREE);

        event->rank = fields.first_rank;
        event->peer = fields.status == E_MISMATCH ? fields.other_rank : ID_UNKNOWN;
        event->status = fields.status;
        event->disagree = fields;
        controller->failed = true;
    }
}

/* What a node says of a program that is over, or was never started, is nobody's. */
static bool is_running(const struct controller *controller, uint32_t rank)
{
    return controller->phase == PHASE_RUN && controller_has(controller, rank, NODE_RUNNING);
}

/* Also of a node whose program has ended: it goes on with what that had begun. */
static void take_question(struct controller *controller, const struct notice *notice)
{
    struct plan_ask_body ask;

    if (plan_ask_unpack(notice->body, notice->bytes, &ask)) {
        plans_ask(controller, notice->src,
                  notice->packet_kind == PACKET_PLAN_ASK ? PACKET_DUE_PLAN : PACKET_DUE_PREDICTED,
                  &ask);
        controller->activity += is_running(controller, notice->src);
    }
}

static void take_fault(struct controller *controller, const struct notice *notice)
{
    struct fault_body fields;
    struct controller_event *event;

    if (!fault_unpack(notice->body, notice->bytes, &fields)) {
        return;
    }
    /* A kernel may stop in any phase. Its node is out of order, but its neighbours do not know that
     * yet. */
    bool is_kernel = fields.kind >= FAULT_KERNEL;
    if (!is_kernel && !is_running(controller, notice->src)) {
        return;
    }
    event = controller_tell(controller, is_kernel ? EVENT_KERNEL_FAULT : EVENT_FAULT);
    event->rank = notice->src;
    event->fault = fields;
    if (is_kernel) {
        failure_break(controller);
        return;
    }
    controller->activity++;
    controller->failed = true;
    controller->cut_off |=
        fields.kind == FAULT_ERROR && (int32_t)fields.registers[0] == E_LINK_DEAD;
    program_ended(controller, notice->src, event);
}

void run_packet(struct controller *controller, const struct notice *notice)
{
    switch (notice->packet_kind) {
    case PACKET_FAULT: take_fault(controller, notice); return;
    case PACKET_DISAGREE: take_disagreement(controller, notice); return;
    case PACKET_PLAN_ASK:
    case PACKET_PREDICT: take_question(controller, notice); return;
    default: break;
    }
    if (!is_running(controller, notice->src)) {
        return;
    }
    /* A word of a program: it does not stand. */
    controller->activity++;
    switch (notice->packet_kind) {
    case PACKET_CONSOLE: take_console(controller, notice); break;
    case PACKET_REPORT: take_report(controller, notice); break;
    case PACKET_EXIT: take_exit(controller, notice); break;
    default: break;
    }
}
