/*
 * report.c - what a node tells the host of itself: its links, dead links, the end of its program,
 * its state.
 *
 * All of it is owed until it has a slot: node->due and dead_due say what, and each step tries
 * again. Nobody asks a second time, so none of it may be dropped. When it is sent:
 *
 *     LINKS      once, when all links are settled, or LINKS_REPORT_US after the node knows its
 *                number; again when a link comes up later
 *     LINK_DEAD  once for each port
 *     FAULT      once, when a program or the kernel has failed
 *     EXIT       once, when a program has exited or was stopped
 *     STATE      for QUERY; several that come before a slot is free have one answer
 *     TRAFFIC    for TRAFFIC_ASK; of several the last
 *
 * It goes out in this order. FAULT, TRAFFIC, LINKS of many ports need one of the two large slots;
 * console text never takes those. LINKS and LINK_DEAD wait until the node knows its number.
 *
 * What STATE says of the program's call, from which the host finds out who waits for whom:
 *
 *     program           wait                             and with it
 *     computes          WAIT_NOTHING                     pc and lr of its last interrupt
 *     sleeps            WAIT_SLEEP                       the time that is left
 *     writes, reports   WAIT_READER, WAIT_CONSOLE
 *     waits or tests    WAIT_SEND, WAIT_RECEIVE          peer, tag, bytes, how far the message is
 *                       WAIT_SEVERAL                         how many requests it waits for
 *     probes            WAIT_PROBE                       peer, tag
 *                       WAIT_COLLECTIVE                  stage, step and the node that is missing
 *     waits at a region WAIT_REGION                      its name and bytes
 *
 * A report that is sent once is owed until it is sent. Fault, exit, state, links (`owed`), dead
 * links, CANCEL for a CTS, word of an entry: each has a place in `struct node`, and each step tries
 * again, for slots come free in steps only. After a disagreement the entry goes on when the host
 * has been told. A node takes no download before it has reported how its last program ended.
 * CANCELs for a CTS have 64 places; more than its own RTSs bring about a node drops and counts.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/due.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/link_counters.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"

/* Word of a link. Before LINKS has been sent, LINKS itself will tell of it. */
void report_notice(struct node *node, const struct notice *notice)
{
    switch (notice->kind) {
    /* From here on LINKS_REPORT_US counts: before, nobody could be told. */
    case NOTICE_IDENTITY: node->identity_us = node->now_us; break;
    case NOTICE_UP:
        if (node->links_reported) {
            node_due_say(node, REPORT_DUE_LINKS);
        }
        break;
    /* In the boot, which is over when a download has come, LINKS tells of crossed cables, and the
     * host names them all: again, when the other end had no number yet, or another. Later it has
     * become another node: what was under way over the link is lost, so it is dead. */
    case NOTICE_CROSSED:
        if (node->load.number > 0 && node->peers_reported >> notice->port & 1) {
            router_kill_port(&node->router, notice->port, DEAD_PROTOCOL);
        } else if (node->links_reported) {
            node_due_say(node, REPORT_DUE_LINKS);
        }
        break;
    case NOTICE_DEAD:
        /* The reason is kept, for the report may have to wait for a slot. */
        node_due_say_dead(node, notice->port);
        node->dead_reason[notice->port] = (uint8_t)notice->status;
        break;
    default: break;
    }
}

/* Whether each link is up and leads to a node with a number. */
static bool links_complete(const struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count; p++) {
        uint32_t peer;
        uint8_t peer_port;
        if (!router_has_link(&node->router, p)) {
            continue;
        }
        if (router_port_state(&node->router, p, &peer, &peer_port) != LINK_UP ||
            peer == ID_UNKNOWN) {
            return false;
        }
    }
    return true;
}

/* Whether waiting changes nothing: each link is up, or crossed for good. Else crossed cables would
 * keep the host waiting for LINKS_REPORT_US. */
static bool links_settled(const struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count; p++) {
        uint32_t peer;
        uint8_t peer_port, state = router_port_state(&node->router, p, &peer, &peer_port);
        if (router_has_link(&node->router, p) &&
            (peer == ID_UNKNOWN || (state != LINK_UP && state != LINK_CROSSED))) {
            return false;
        }
    }
    return true;
}

_Static_assert((int)PORTS_MAX <= (int)LINKS_PORTS_MAX, "LINKS has room for all ports");

/* Built anew for each try: what the links are when it is sent counts, not when it became due. A
 * port without a link is told too, so that a port's number is its place in the list. */
static int send_links(struct node *node)
{
    struct links_body links = {.port_count = (uint8_t)node->router.port_count,
                               .complete = links_complete(node)};
    uint8_t body[LINKS_BYTES_MAX];
    uint32_t peers = 0;

    for (unsigned p = 0; p < node->router.port_count; p++) {
        struct links_port *port = &links.ports[p];
        port->state = router_port_state(&node->router, p, &port->peer, &port->peer_port);
        peers |= (uint32_t)(port->peer != ID_UNKNOWN) << p;
    }
    int status = router_send(&node->router, PACKET_LINKS, ID_HOST, body, links_pack(body, &links));
    if (status == E_OK) {
        node->peers_reported = peers;
    }
    return status;
}

/* Sends LINKS when it is due. Without a number this node has no address to be answered at, and does
 * not know which links it should have. Before that, most links are not up. */
static void pump_links(struct node *node)
{
    if (node->router.id == ID_UNKNOWN) {
        return;
    }
    bool due = links_settled(node) || node->now_us - node->identity_us >= LINKS_REPORT_US;
    if ((due && !node->links_reported) || node->due & REPORT_DUE_LINKS) {
        if (send_links(node) != E_OK) {
            return;
        }
        node->links_reported = true;
        node_due_said(node, REPORT_DUE_LINKS);
    }
}

/* Sends LINK_DEAD for each dead link: both ends do, for one of them may have lost its only way to
 * the host. */
static void pump_dead(struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count && node->dead_due; p++) {
        struct link_dead_body dead = {.port = (uint8_t)p,
                                      .reason = node->dead_reason[p],
                                      .peer = node->router.ports[p].channel.peer.id};
        uint8_t body[LINK_DEAD_BYTES];
        /* A node that has no number yet keeps it owed. */
        if (!(node->dead_due >> p & 1) || node->router.id == ID_UNKNOWN) {
            continue;
        }
        link_dead_pack(body, &dead);
        if (router_send(&node->router, PACKET_LINK_DEAD, ID_HOST, body, sizeof body) != E_OK) {
            return;
        }
        node_due_said_dead(node, p);
    }
}

/* Only the first LINKS has a time of its own: a node whose links never all come up must say which
 * ones it misses, though nothing happens. */
uint64_t report_deadline(const struct node *node)
{
    if (node->links_reported || node->router.id == ID_UNKNOWN) {
        return UINT64_MAX;
    }
    return node->identity_us + LINKS_REPORT_US;
}

/* Of several requests none is told of: each may be the one that ends. */
static uint8_t waits_for_request(const struct node *node, const struct request **request)
{
    uint8_t numbers[ECUBE_REQUESTS_MAX];
    unsigned count = wait_requests(node, numbers);

    if (count != 1) {
        return count ? WAIT_SEVERAL : WAIT_CONSOLE;
    }
    *request = &node->requests[numbers[0]];
    switch ((*request)->kind) {
    case REQUEST_SEND: return WAIT_SEND;
    case REQUEST_RECEIVE: return WAIT_RECEIVE;
    default: return WAIT_COLLECTIVE;
    }
}

/* What the program's open system call waits for, and the request if it is for one. */
static uint8_t waits_for(const struct node *node, const struct request **request)
{
    *request = NULL;
    if (!node->call_open) {
        return WAIT_NOTHING;
    }
    if (node->call_number == ECUBE_CALL_SLEEP) {
        return WAIT_SLEEP;
    }
    if (node->call_number == ECUBE_CALL_PLAN || node->call_number == ECUBE_CALL_PREDICT) {
        return WAIT_PLAN;
    }
    /* WAIT_READER says that the text's reader is slow, WAIT_CONSOLE below that the node has no
     * slot. */
    if (node->call_number == ECUBE_CALL_WRITE && console_room(node) == 0) {
        return WAIT_READER;
    }
    if (node->call_number == ECUBE_CALL_PROBE) {
        return WAIT_PROBE;
    }
    if (node->call_number == ECUBE_CALL_REGION) {
        return WAIT_REGION;
    }
    return waits_for_request(node, request);
}

/* How far a message has come, as this end sees it. STORED is a send only: its receiver's node knows
 * of it, its program has not asked for it. From READY on both programs have asked, but for one that
 * is opened without a CTS. */
static uint8_t transfer_stage(const struct request *request)
{
    if (request->state == STATE_STORED) {
        return TRANSFER_KNOWN;
    }
    if (request->state == STATE_OPENING && !request->match) {
        return TRANSFER_OPEN;
    }
    return request->state > STATE_STORED ? TRANSFER_MOVES : TRANSFER_OPEN;
}

/* Of a receive that is matched what has come; before, what was asked for. */
void report_message(const struct request *request, struct state_body *state)
{
    bool matched = request->kind == REQUEST_RECEIVE && request->state == STATE_MOVING;

    state->transfer = transfer_stage(request);
    state->peer = matched ? request->result_peer : request->peer;
    state->tag = matched ? request->result_tag : request->tag;
    state->bytes = matched ? request->result_bytes : request->bytes;
}

/* What the program waits for; more of it when that is a message or several requests. */
void report_wait(const struct node *node, struct state_body *state)
{
    uint8_t numbers[ECUBE_REQUESTS_MAX];
    const struct request *request;
    struct ecube_abi_probe probe;

    state->wait = waits_for(node, &request);
    if (request && request->kind != REQUEST_COLLECTIVE) {
        report_message(request, state);
    } else if (state->wait == WAIT_SEVERAL) {
        state->peer = state->tag = ECUBE_ANY;
        state->bytes = wait_requests(node, numbers);
    } else if (state->wait == WAIT_PROBE && wait_probed(node, &probe)) {
        (void)message_peer(node, &probe.peer, probe.tag, true);
        state->peer = probe.peer;
        state->tag = probe.tag;
    } else if (state->wait == WAIT_REGION) {
        (void)region_waits(node, state->region, &state->bytes);
    }
}

/* The collective that is under way, whether or not the program waits for it. The partner is whose
 * ENTER, or whose part of the step, is missing. */
static void say_collective(const struct node *node, struct state_body *state)
{
    const struct engine *engine = &node->engine;

    if (!engine_is_active(engine) || state->wait == WAIT_REGION) {
        return;
    }
    state->stage = engine->stage == ENGINE_STEPS ? COLLECTIVE_STEPS : COLLECTIVE_ENTRY;
    state->operation = (uint8_t)engine->call.operation;
    state->collective_bytes = engine->call.bytes;
    state->root = engine->call.root;
    state->partner = engine_awaits(engine, &node->router);
    state->step = (uint16_t)engine_step(engine);
    state->steps = (uint16_t)engine->result.steps;
}

_Static_assert((unsigned)STATE_BYTES <= (unsigned)SLOT_BODY_MAX,
               "it takes none of the slots for console text");

/* Sums over all ports, so that STATE stays short. By COUNTER_PROGRESS the host tells a slow machine
 * from one that stands still. */
static void say_counters(const struct node *node, uint32_t counters[STATE_COUNTERS])
{
    for (unsigned p = 0; p < node->router.port_count; p++) {
        const struct channel *channel = &node->router.ports[p].channel;
        const struct channel_counters *c = &channel->counters;
        counters[COUNTER_FRAMES_SENT] += channel->frames_sent;
        counters[COUNTER_FRAMES_RECEIVED] += channel->frames_received;
        counters[COUNTER_FRAMES_RESENT] += c->retransmissions;
        counters[COUNTER_FRAMES_DAMAGED] += c->damaged;
        counters[COUNTER_GAPS] += c->gaps;
        counters[COUNTER_NAKS] += c->naks;
    }
    counters[COUNTER_PACKETS_FORWARDED] = node->router.packets_forwarded;
    counters[COUNTER_CIRCUITS_FORWARDED] = node->router.circuits_forwarded;
    counters[COUNTER_PACKETS_DROPPED] = node->router.packets_dropped;
    counters[COUNTER_CIRCUITS_REFUSED] = node->router.circuits_refused;
    counters[COUNTER_REQUESTS_DROPPED] = node->dropped_requests;
    counters[COUNTER_COLLECTIVES] = node->engine.epoch;
    counters[COUNTER_PACKED] = node->engine.packed;
    counters[COUNTER_PROGRESS] = node->progress + router_progress(&node->router);
}

/* The last place is kept, not a list: it costs an interrupt two stores. */
void node_interrupted(struct node *node, uint32_t pc, uint32_t lr)
{
    node->program_pc = pc;
    node->program_lr = lr;
}

/* router_mark notes what has been sent up to here: the next STATE says whether all of it has come
 * to the neighbours. When nothing is under way anywhere and nothing has progressed, the machine
 * stands. */
static int send_state(struct node *node)
{
    struct state_body state = {.program = node->program,
                               .requests = node->request_count,
                               .stored = (uint8_t)node->unexpected_count,
                               .status = node->exit_status,
                               .model_ns = node->clock_ns};
    uint8_t body[STATE_BYTES];

    /* STATE_POLLS: the program does not wait, it tests again and again and finds nothing. */
    state.flags = (uint8_t)((router_delivered(&node->router) ? STATE_DELIVERED : 0) |
                            (node->call_open && node->rest_us ? STATE_POLLS : 0));
    report_wait(node, &state);
    say_collective(node, &state);
    /* One that computes is told with its place, one that sleeps with the time that is left. */
    if (node->program == PROGRAM_RUNNING && state.wait == WAIT_NOTHING) {
        state.pc = node->program_pc;
        state.lr = node->program_lr;
    } else if (state.wait == WAIT_SLEEP) {
        uint64_t wake_us = node_wake_us(node);
        state.left_us = wake_us > node->now_us ? wake_us - node->now_us : 0;
    }
    say_counters(node, state.counters);
    state_pack(body, &state);
    int status = router_send(&node->router, PACKET_STATE, ID_HOST, body, sizeof body);
    if (status == E_OK) {
        router_mark(&node->router);
    }
    return status;
}

_Static_assert((int)LINK_OF_HOST == (int)TRAFFIC_HOST && (int)LINK_USERS == (int)TRAFFIC_USERS,
               "the same users");

/* Without counters only frames are told. */
struct traffic_port report_port(const struct node *node, unsigned port)
{
    const struct channel *channel = &node->router.ports[port].channel;
    const struct link_counters *counters = node->router.link_counters;
    struct traffic_port traffic = {.frames = channel->frames_sent,
                                   .repeats = channel->counters.retransmissions,
                                   .damaged = channel->counters.damaged};

    for (unsigned user = 0; counters && user < TRAFFIC_USERS; user++) {
        const struct link_use *use = &counters[port].uses[user];
        traffic.uses[user] = (struct traffic_use){use->bytes, use->busy_ns, use->waited_ns,
                                                  use->circuits, use->refused};
    }
    return traffic;
}

void report_traffic(struct node *node, const struct notice *notice)
{
    if (traffic_ask_unpack(notice->body, notice->bytes, &node->traffic_first)) {
        node_due_say(node, REPORT_DUE_TRAFFIC);
    }
}

static int send_traffic(struct node *node)
{
    struct traffic_header header = {.port_count = (uint8_t)node->router.port_count,
                                    .first = node->traffic_first};
    uint8_t body[TRAFFIC_BYTES_MAX];

    header.first = header.first < header.port_count ? header.first : header.port_count;
    header.told = traffic_told(header.port_count, header.first);
    for (unsigned place = 0; place < header.told; place++) {
        struct traffic_port port = report_port(node, header.first + place);
        traffic_port_pack(body, place, &port);
    }
    return router_send(&node->router, PACKET_TRAFFIC, ID_HOST, body, traffic_pack(body, &header));
}

/* A piece of what lies above the program's stack pointer, from which the host makes a backtrace; of
 * a program that has come where no code is also what lies below, for it may have returned there. Of
 * a stack that has run over its end: what lies above that. The pointer is the program's and may be
 * anything: without memory there is no piece. */
static void add_stack(const struct node *node, uint32_t room, struct fault_body *fault)
{
    const struct node_config *config = &node->config;
    uint32_t from = node->fault.registers[13] & ~3u;
    uint32_t below = node->fault.kind == FAULT_PREFETCH ? room / 2 & ~3u : 0;

    if (from < config->program_address + below) {
        from = config->program_address + below;
    }
    from -= below;
    uint32_t offset = from - config->program_address;
    if (offset >= config->program_bytes) {
        return;
    }
    uint32_t left = config->program_bytes - offset;
    fault->line = from;
    fault->tail = config->program + offset;
    fault->tail_bytes = left < room ? left : room;
}

/* The text of a failed CHECK is its file's name, in the kernel's own memory. */
static void add_text(const char *text, uint32_t room, struct fault_body *fault)
{
    uint32_t length = text ? (uint32_t)strlen(text) : 0;

    fault->tail = (const uint8_t *)text;
    fault->tail_bytes = length < room ? length : room;
}

/* A program's fault carries a piece of its stack. The kernel's own carries a text: its stack is no
 * program's memory. */
static int send_fault(struct node *node)
{
    const struct fault *fault = &node->fault;
    struct fault_body fields = {.kind = (uint16_t)fault->kind,
                                .collectives = engine_entered(&node->engine),
                                .address = fault->address,
                                .status_register = fault->status_register,
                                .processor_status = fault->processor_status,
                                .line = fault->line};
    uint8_t body[PACKET_BODY_MAX];

    memcpy(fields.registers, fault->registers, sizeof fields.registers);
    if (fault->kind < FAULT_KERNEL) {
        add_stack(node, PACKET_BODY_MAX - FAULT_BYTES, &fields);
    } else {
        add_text(fault->text, PACKET_BODY_MAX - FAULT_BYTES, &fields);
    }
    return router_send(&node->router, PACKET_FAULT, ID_HOST, body, fault_pack(body, &fields));
}

/* The status is the program's own; E_CANCELLED after a STOP. */
static int send_exit(struct node *node)
{
    uint8_t body[EXIT_BYTES];

    exit_pack(body, &(struct exit_body){.status = node->exit_status,
                                        .aborted = node->aborted,
                                        .collectives = engine_entered(&node->engine)});
    return router_send(&node->router, PACKET_EXIT, ID_HOST, body, sizeof body);
}

/* Tells what is owed. A bit is cleared only when router_send has taken the packet; from then on it
 * is the router's to deliver. A slot that comes free does so in a step, which comes here, so it
 * needs no timer. FAULT goes before EXIT: a kernel that has failed may not come farther. */
void report_pump(struct node *node)
{
    if (!node->links_reported || node->due & REPORT_DUE_LINKS) {
        pump_links(node);
    }
    if (node->dead_due) {
        pump_dead(node);
    }
    if (node->due & REPORT_DUE_FAULT && send_fault(node) == E_OK) {
        node_due_said(node, REPORT_DUE_FAULT);
    }
    if (node->due & REPORT_DUE_EXIT && send_exit(node) == E_OK) {
        node_due_said(node, REPORT_DUE_EXIT);
    }
    if (node->due & REPORT_DUE_STATE && send_state(node) == E_OK) {
        node_due_said(node, REPORT_DUE_STATE);
    }
    if (node->due & REPORT_DUE_TRAFFIC && send_traffic(node) == E_OK) {
        node_due_said(node, REPORT_DUE_TRAFFIC);
    }
}
