/*
 * node.c - one step of a node, and the life of its program.
 *
 * States of the program (enum program_state, wire/report.h):
 *
 *     NONE --OFFER--> LOADING --hash done--> LOADED --START--> RUNNING --exit, STOP--> EXITED
 *                                                              RUNNING --fault-------> FAULTED
 *
 * An OFFER leads to LOADING from every state but RUNNING, and a download that fails leads to NONE.
 * START only marks the start as due. The state becomes RUNNING in node_take_start, when boot/
 * really enters the program: until then a STOP or another OFFER takes the start back.
 *
 * A step, in this order:
 *
 *     router_take    what the links hold becomes notices
 *     node_work      rounds of: handle all notices; pump collective, messages, download, gather,
 *                    region, reports; let the router move. Until a round brings nothing new,
 *                    ROUNDS_MAX at most
 *     router_flush   the frames of all rounds go to the links at once
 *
 * Invariants
 * - A notice is handled at once and completely. What cannot be done now, for want of a packet slot,
 *   a circuit source or a place, stays as state, and a pump looks at it again in a later step. So
 *   no handler waits.
 * - Slots and sources come free in steps only. So a pump that found none needs no timer: the step
 *   that frees one runs the pumps after it.
 * - Each entry does bounded work. What a step leaves over it reports as `more`.
 */
#include "node/node.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/region.h"

enum { ROUNDS_MAX = 8 }; /* of notices and pumps in one step */

size_t node_bytes(void)
{
    return sizeof(struct node);
}

size_t node_memory_bytes(unsigned link_count, unsigned ring)
{
    return router_memory_bytes(link_count, ring) + node_pool_bytes();
}

size_t node_pool_bytes(void)
{
    return (size_t)POOL_MAX * POOL_BYTES + ENGINE_BYTES;
}

/* `completions` begins at 1, and a new request's `tested` is 0, so that it counts as not tested
 * yet. */
void node_init(struct node *node, const struct node_config *config)
{
    memset(node, 0, sizeof *node);
    node->config = *config;
    struct router_config router = {.id = ID_UNKNOWN,
                                   .links = config->links,
                                   .link_count = config->link_count,
                                   .incarnation = config->incarnation,
                                   .payload_checked = config->payload_checked,
                                   .links_due = config->links_due,
                                   .link_counters = config->link_counters,
                                   .ring = config->ring,
                                   .memory = config->memory};
    router_init(&node->router, &router);
    uint8_t *behind =
        (uint8_t *)config->memory + router_memory_bytes(config->link_count, config->ring);
    node->pool = config->pool ? config->pool : (void *)behind;
    engine_init(&node->engine, node->pool[POOL_MAX], (uint32_t)TOKEN_STEP << 24);
    store_init(&node->engine.store, config->plans, config->plan_bytes, config->preload);
    node->completions = 1;
    match_reset(node);
}

uint32_t node_id(const struct node *node)
{
    return node->router.id;
}

/* A download that goes on is seen by its own state, for PROGRAM_LOADING is a part of it. */
bool node_is_over(const struct node *node)
{
    return node->program != PROGRAM_RUNNING &&
           !(node->due & (REPORT_DUE_FAULT | REPORT_DUE_EXIT)) && node->load.state == LOAD_IDLE &&
           engine_is_quiet(&node->engine) && router_quiet(&node->router) &&
           router_schedule_carried(&node->router);
}

int node_reply(struct node *node, uint8_t kind, uint32_t dst, uint32_t name)
{
    uint8_t body[RTS_REPLY_BYTES];

    rts_reply_pack(body, &(struct rts_reply_body){name});
    return router_send(&node->router, kind, dst, body, sizeof body);
}

void node_answer(struct node *node, uint8_t kind, uint32_t dst, uint32_t name)
{
    if (node_reply(node, kind, dst, name) != E_OK) {
        node->dropped_requests++;
    }
}

/* Offers a circuit that is held at a port to whom it is for. It may stay held: the router keeps it
 * until it is accepted or refused, and its sender waits. A step's circuit is accepted when its step
 * comes (collective.c); program_end and a download look again at those that are still held. */
static void take_open(struct node *node, unsigned port)
{
    const uint8_t *packet = router_open_at(&node->router, port);

    if (!packet) {
        return;
    }
    if (open_flags(packet) & OPEN_SCHEDULE) {
        /* A node opens circuits of a collective only after all nodes have begun it. So where no
         * program runs and none has been begun, the collective is over and nobody will ever accept
         * this one. */
        if (node->program != PROGRAM_RUNNING && !engine_is_active(&node->engine)) {
            router_refuse(&node->router, port, node_gone(node));
        }
    } else if (open_flags(packet) & OPEN_OUTPUT && packet_src(packet) == ID_HOST) {
        region_open(node, port, packet);
    } else if (open_flags(packet) & OPEN_OUTPUT) {
        gather_open(node, port, packet);
    } else if (open_flags(packet) & OPEN_IMAGE) {
        load_open(node, port, packet);
    } else {
        match_open(node, port, packet);
    }
}

/* The order matters. The new state comes first, because what follows asks it whether this node
 * still takes messages and takes part in collectives. Circuits that are held come last: those for
 * the ended program are refused now. A collective that has begun goes on without its program
 * (collective.c). A fault is told by a report of its own, so only an exit owes EXIT. */
void program_end(struct node *node, enum program_state state, int32_t status)
{
    node->program = (uint8_t)state;
    node_due_program(node);
    node->start_due = node->aborted = false;
    node->exit_status = status;
    if (state == PROGRAM_EXITED) {
        node_due_say(node, REPORT_DUE_EXIT);
    }
    node_due_call(node, false);
    record_dropped(node);
    message_end(node);
    region_end(node);
    engine_close(&node->engine, &node->router, node_gone(node));
    for (unsigned p = 0; p < node->router.port_count; p++) {
        take_open(node, p);
    }
}

/* The host has read text of the program (TAKEN): the program may write as much more. The number
 * counts modulo 2^32 and comes from outside: it is believed only if it lies between what was taken
 * before and what was sent, and is of this generation, or it would open the window too far. */
static void take_taken(struct node *node, const struct notice *notice)
{
    struct taken_body taken;

    if (!taken_unpack(notice->body, notice->bytes, &taken) ||
        taken.generation != node->load.generation) {
        return;
    }
    if (taken.bytes - node->console_taken <= node->console_sent - node->console_taken) {
        node->console_taken = taken.bytes;
        node_due_program(node);
    }
}

/* START is for a program that is loaded and nothing else: one that comes late or twice must not
 * start a program again. The host names the latest model time of all nodes, so no clock goes
 * back. */
static void take_start(struct node *node, const struct notice *notice)
{
    struct start_body start;

    if (node->program != PROGRAM_LOADED || !start_unpack(notice->body, notice->bytes, &start)) {
        return;
    }
    node->start_due = true;
    node_due_program(node);
    node->clock_ns = start.model_ns;
    node->attended = start.attended;
    node->paths = start.paths;
    record_start(node, start.records);
}

/* QUEUED, RETRY, CTS and CANCEL answer an RTS, an OFFER or a COLLECT of this node; CANCEL also
 * answers one of its CTSs. The body has only a name, so load.c and gather.c look first whether it
 * is their own. message.c would answer the CTS for an OFFER with a CANCEL, for it knows no message
 * of that name. */
static void take_answer(struct node *node, const struct notice *notice)
{
    struct answer answer = {.kind = notice->packet_kind, .src = notice->src};
    struct cts_body cts;
    struct rts_reply_body reply;

    if (notice->packet_kind == PACKET_CTS) {
        if (!cts_unpack(notice->body, notice->bytes, &cts)) {
            return;
        }
        answer.name = cts.name;
        answer.match = cts.match;
    } else {
        if (!rts_reply_unpack(notice->body, notice->bytes, &reply)) {
            return;
        }
        answer.name = reply.name;
    }
    if (!load_answer(node, &answer) && !gather_answer(node, &answer)) {
        message_answer(node, &answer);
    }
}

/* One that is for an earlier program comes too late: nodes are reached over different ways, and the
 * next download may have passed it. */
static void take_stop(struct node *node, const struct notice *notice)
{
    bool named = stop_names(notice->body, notice->bytes, node->load.generation);

    if (notice->bytes > 0 && !named) {
        return;
    }
    /* START may have come in this very step: without start_due the STOP would be lost, and the
     * program would start and be waited for in vain. */
    if (node->program == PROGRAM_RUNNING || node->start_due) {
        node_close_records(node);
        program_end(node, PROGRAM_EXITED, E_CANCELLED);
    } else if (named && node->program == PROGRAM_LOADED) {
        /* Others have been started: it takes part in nothing that they have begun. */
        node->program = PROGRAM_NONE;
        node_due_program(node);
        engine_close(&node->engine, &node->router, E_PEER_GONE);
    }
}

/* A kind that is not known here is dropped: what neighbours send is data. */
static void take_packet(struct node *node, const struct notice *notice)
{
    switch (notice->packet_kind) {
    case PACKET_CTS:
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CANCEL: take_answer(node, notice); break;
    case PACKET_RTS: match_rts(node, notice); break;
    case PACKET_ENTER:
    case PACKET_ENTERED:
    case PACKET_PLAN_PART:
    case PACKET_PREDICTED:
        engine_packet(&node->engine, &node->router, notice, node->now_us);
        node_due_program(node);
        break;
    case PACKET_OFFER: load_offer(node, notice); break;
    case PACKET_START: take_start(node, notice); break;
    case PACKET_STOP: take_stop(node, notice); break;
    /* Owed, not answered here: all slots may be taken now. So each question has its answer, and the
     * host need not ask twice. */
    case PACKET_QUERY: node_due_say(node, REPORT_DUE_STATE); break;
    case PACKET_TRAFFIC_ASK: report_traffic(node, notice); break;
    case PACKET_TAKEN: take_taken(node, notice); break;
    case PACKET_MEASURE: gather_measure(node, notice); break;
    case PACKET_COLLECT: gather_collect(node, notice); break;
    case PACKET_ATTEND: region_attend(node, notice); break;
    case PACKET_LEAVE: region_leave(node, notice); break;
    case PACKET_RECORDS_ASK: record_asked(node, notice); break;
    default: break;
    }
}

/* A token says in its highest byte whose circuit it is, and below that which use of it: each of the
 * six drops what is about an earlier one. */
static void take_notice(struct node *node, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(node, notice); break;
    case NOTICE_OPEN: take_open(node, notice->port); break;
    case NOTICE_ACCEPTED:
    case NOTICE_REFUSED:
    case NOTICE_SENT:
    case NOTICE_RECEIVED:
    case NOTICE_FEED:
    case NOTICE_FILLED:
        if (notice->token >> 24 == TOKEN_REQUEST) {
            message_notice(node, notice);
        } else if (notice->token >> 24 == TOKEN_SHARE) {
            parallel_notice(node, notice);
        } else if (notice->token >> 24 == TOKEN_STEP) {
            engine_notice(&node->engine, &node->router, notice);
        } else if (notice->token >> 24 == TOKEN_OUTPUT) {
            gather_notice(node, notice);
        } else if (notice->token >> 24 == TOKEN_REGION) {
            region_notice(node, notice);
        } else {
            load_notice(node, notice);
        }
        break;
    default: report_notice(node, notice); break;
    }
}

/* A notice may let something move, and what moves may bring notices in the same step (a circuit
 * that begins or ends here): hence rounds. Every system call that gives work ends here too, so that
 * what a program sends leaves at once. */
bool node_work(struct node *node)
{
    bool more = false;

    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        const struct notice *notice;
        uint32_t slots;
        while (router_noticed(&node->router) && (notice = router_notice(&node->router))) {
            take_notice(node, notice);
        }
        more = collective_pump(node);
        message_pump(node);
        more |= node->load_due && load_pump(node);
        more |= node->gather_due && gather_pump(node);
        more |= node->region_due && region_pump(node);
        report_pump(node);
        if (node->recording.asked) {
            record_pump(node);
        }
        slots = node->router.slots_free;
        router_move(&node->router, node->now_us);
        /* Packets for a dead link have been dropped and their slots are free: what is owed may take
         * them. No other event would bring the node back here. */
        if (node->router.notice_count == 0 && !(node->router.slots_free & ~slots)) {
            break;
        }
    }
    router_flush(&node->router);
    return more || node->router.notice_count > 0;
}

bool node_step(struct node *node, uint64_t now_us)
{
    node->now_us = now_us;
    bool more = router_take(&node->router, now_us);

    return node_work(node) || more;
}

/* The program's own time is not in here: see node_wake_us. */
uint64_t node_deadline(const struct node *node)
{
    uint64_t deadline = router_deadline(&node->router);
    uint64_t others[] = {message_deadline(node), load_deadline(node), gather_deadline(node),
                         report_deadline(node), engine_deadline(&node->engine)};

    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i] < deadline) {
            deadline = others[i];
        }
    }
    return deadline;
}

/* Once per download, before its bytes come: boot/ takes the pages away, so that the next program
 * finds its memory clear and not the text of the last one. */
bool node_takes_memory(struct node *node)
{
    bool takes = node->memory_new;

    node->memory_new = false;
    return takes;
}

/* The report goes first, before all else that the end brings about: a kernel that has failed may
 * not come that far. Without a slot it stays owed. */
static void end_by_fault(struct node *node, const struct fault *fault, int32_t status)
{
    node->fault = *fault;
    node_due_say(node, REPORT_DUE_FAULT);
    report_pump(node);
    /* When an EXIT is owed, the program had ended before its kernel failed: its exit status
     * stands. */
    if (!(node->due & REPORT_DUE_EXIT)) {
        program_end(node, PROGRAM_FAULTED, status);
    }
}

/* Where the program was last interrupted is forgotten: STATE would show it as the new one's
 * place. */
bool node_take_start(struct node *node, struct node_start *start)
{
    const struct load *load = &node->load;

    if (!node->start_due) {
        return false;
    }
    node->start_due = false;
    node->program = PROGRAM_RUNNING;
    node->program_pc = node->program_lr = 0;
    struct load_map_fault wrong = map_take(node);
    if (wrong.wrong) {
        const struct fault fault = {.kind = FAULT_MAP,
                                    .registers = {wrong.wrong, wrong.a, wrong.b, wrong.c}};
        end_by_fault(node, &fault, E_FORMAT);
        return false;
    }
    *start = (struct node_start){.entry = load->entry,
                                 .stack_top = node->config.stack_top,
                                 .block = load->block,
                                 .block_bytes = load->block_bytes,
                                 .code_end = load->code_end,
                                 .constants_end = load->constants_end,
                                 .data_start = load->data_start,
                                 .data_end = load->data_end};
    return true;
}

bool node_program_moves(struct node *node)
{
    return node_due_program_seen(node);
}

bool node_program_runs(const struct node *node)
{
    return node->program == PROGRAM_RUNNING;
}

/* Ends the program by a fault, or reports that the kernel itself has failed. This may be the last
 * time that the kernel runs at all. */
void node_fault(struct node *node, uint64_t now_us, const struct fault *fault)
{
    node->now_us = now_us;
    end_by_fault(node, fault, 0);
    node_work(node);
}
