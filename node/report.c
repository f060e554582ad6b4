/*
 * report.c - what a node tells the host of itself: its links, dead links, the end of its program,
 * its state.
 */
#include <string.h>

#include "drivers/status.h"
#include "node/state.h"
#include "router/channel_state.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"
#include "wire/bytes.h"

void report_notice(struct node *node, const struct notice *notice, uint64_t now_us)
{
    switch (notice->kind) {
    case NOTICE_IDENTITY: node->identity_us = now_us; break;
    case NOTICE_UP:
        if (node->links_told)
            node->owed |= OWED_LINKS;
        break;
    case NOTICE_CROSSED: /* the boot tells of crossed cables; later, what it carries is lost */
        if (node->links_told)
            router_kill_port(&node->router, notice->port, DEAD_PROTOCOL);
        break;
    case NOTICE_DEAD:
        node->dead_owed |= 1u << notice->port;
        node->dead_reason[notice->port] = (uint8_t)notice->status;
        break;
    default: break;
    }
}

static bool links_complete(const struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count; p++) {
        uint32_t peer;
        uint8_t peer_port;
        if (router_port_state(&node->router, p, &peer, &peer_port) != LINK_UP || peer == ID_UNKNOWN)
            return false;
    }
    return true;
}

/* Whether waiting changes nothing: each link is up, or crossed for good. */
static bool links_settled(const struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count; p++) {
        uint32_t peer;
        uint8_t peer_port, state = router_port_state(&node->router, p, &peer, &peer_port);
        if (peer == ID_UNKNOWN || (state != LINK_UP && state != LINK_CROSSED))
            return false;
    }
    return true;
}

static int send_links(struct node *node)
{
    uint8_t body[LINKS_HEADER_BYTES + PORTS_MAX * LINKS_PORT_BYTES] = {0};

    body[0] = (uint8_t)node->router.port_count;
    body[1] = links_complete(node);
    for (unsigned p = 0; p < node->router.port_count; p++) {
        uint8_t *entry = body + LINKS_HEADER_BYTES + p * LINKS_PORT_BYTES;
        uint32_t peer;
        entry[0] = router_port_state(&node->router, p, &peer, &entry[1]);
        put32(entry + 4, peer);
    }
    return router_send(&node->router, PACKET_LINKS, ID_HOST, body,
                       LINKS_HEADER_BYTES + node->router.port_count * LINKS_PORT_BYTES);
}

static void pump_links(struct node *node, uint64_t now_us)
{
    if (node->router.id == ID_UNKNOWN)
        return;
    bool due = links_settled(node) || now_us - node->identity_us >= LINKS_REPORT_US;
    if ((due && !node->links_told) || node->owed & OWED_LINKS) {
        if (send_links(node) != E_OK)
            return;
        node->links_told = true;
        node->owed &= (uint8_t)~OWED_LINKS;
    }
}

static void pump_dead(struct node *node)
{
    for (unsigned p = 0; p < node->router.port_count && node->dead_owed; p++) {
        uint8_t body[LINK_DEAD_BYTES] = {(uint8_t)p, node->dead_reason[p]};
        if (!(node->dead_owed >> p & 1) || node->router.id == ID_UNKNOWN)
            continue;
        put32(body + 4, node->router.ports[p].channel.peer.id);
        if (router_send(&node->router, PACKET_LINK_DEAD, ID_HOST, body, sizeof body) != E_OK)
            return;
        node->dead_owed &= ~(1u << p);
    }
}

uint64_t report_deadline(const struct node *node)
{
    if (node->links_told || node->router.id == ID_UNKNOWN)
        return UINT64_MAX;
    return node->identity_us + LINKS_REPORT_US;
}

/* What the program's open system call waits for. */
static uint8_t waits_for(const struct node *node, const struct request **request)
{
    *request = NULL;
    if (!node->call_open)
        return WAIT_NOTHING;
    if (node->call_number == ECUBE_CALL_SLEEP)
        return WAIT_SLEEP;
    if (node->call_number == ECUBE_CALL_WRITE && console_room(node) == 0)
        return WAIT_READER;
    if (node->call_number != ECUBE_CALL_WAIT && node->call_number != ECUBE_CALL_TEST)
        return WAIT_CONSOLE;
    *request = &node->requests[node->call_arguments[0]];
    switch ((*request)->kind) {
    case REQUEST_SEND: return WAIT_SEND;
    case REQUEST_RECEIVE: return WAIT_RECEIVE;
    case REQUEST_COLLECTIVE: return WAIT_COLLECTIVE;
    default: return WAIT_NOTHING;
    }
}

static uint8_t transfer_stage(const struct request *request)
{
    if (request->state == STATE_STORED)
        return TRANSFER_KNOWN;
    return request->state > STATE_STORED ? TRANSFER_MOVES : TRANSFER_OPEN;
}

static void put_message(const struct request *request, uint8_t *body)
{
    bool matched = request->kind == REQUEST_RECEIVE && request->state == STATE_MOVING;

    body[2] = transfer_stage(request);
    put32(body + 4, (uint32_t)(matched ? request->result_peer : request->peer));
    put32(body + 8, (uint32_t)(matched ? request->result_tag : request->tag));
    put32(body + 16, matched ? request->result_bytes : request->bytes);
}

static void put_collective(const struct node *node, uint8_t *body)
{
    const struct collective *c = &node->collective;

    if (!collective_active(node))
        return;
    body[20] = c->walking ? COLLECTIVE_STEPS : COLLECTIVE_ENTRY;
    body[21] = (uint8_t)c->arguments.operation;
    put32(body + 40, c->arguments.block_bytes);
    put32(body + 44, c->arguments.root);
    put32(body + 48, c->walking ? c->step.peer : node->router.id ^ 1u << c->round);
    if (c->walking) {
        put16(body + 52, (uint16_t)(c->step.step + 1));
        put16(body + 54, (uint16_t)c->steps);
    }
}

_Static_assert(STATE_COUNTERS_AT + 4 * STATE_COUNTERS == STATE_BYTES, "STATE ends with counters");
_Static_assert((unsigned)STATE_BYTES <= (unsigned)SLOT_BODY_MAX,
               "it takes none of the slots for console text");

static void put_counters(const struct node *node, uint8_t *at)
{
    uint32_t counters[STATE_COUNTERS] = {0};

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
    counters[COUNTER_COLLECTIVES] = node->collective.epoch;
    counters[COUNTER_PROGRESS] = node->progress + router_progress(&node->router);
    for (unsigned i = 0; i < STATE_COUNTERS; i++)
        put32(at + 4 * i, counters[i]);
}

void node_interrupted(struct node *node, uint32_t pc, uint32_t lr)
{
    node->program_pc = pc;
    node->program_lr = lr;
}

static int send_state(struct node *node)
{
    const struct request *request;
    uint8_t body[STATE_BYTES] = {node->program};

    body[1] = waits_for(node, &request);
    body[STATE_FLAGS_AT] =
        (uint8_t)((router_delivered(&node->router) ? STATE_DELIVERED : 0) |
                  (request && node->call_number == ECUBE_CALL_TEST ? STATE_POLLS : 0));
    body[3] = node->request_count;
    if (request && request->kind != REQUEST_COLLECTIVE)
        put_message(request, body);
    put32(body + 12, (uint32_t)node->exit_status);
    put_collective(node, body);
    put64(body + 24, node->clock_ns);
    if (node->program == PROGRAM_RUNNING && body[1] == WAIT_NOTHING) {
        put32(body + 32, node->program_pc);
        put32(body + 36, node->program_lr);
    } else if (body[1] == WAIT_SLEEP) {
        uint64_t wake_us = node_wake_us(node);
        put64(body + 32, wake_us > node->router.now_us ? wake_us - node->router.now_us : 0);
    }
    put_counters(node, body + STATE_COUNTERS_AT);
    int status = router_send(&node->router, PACKET_STATE, ID_HOST, body, sizeof body);
    if (status == E_OK)
        router_mark(&node->router);
    return status;
}

/* A piece of what lies above the program's stack pointer, for a backtrace; of a stack that has run
 * over its end what lies above that. Where it begins, and how many bytes it has. */
static uint32_t put_stack(const struct node *node, uint8_t *at, uint32_t room, uint32_t *start)
{
    const struct node_config *config = &node->config;
    uint32_t from = node->fault.registers[13] & ~3u;

    if (from < config->program_address)
        from = config->program_address;
    uint32_t offset = from - config->program_address;
    if (offset >= config->program_bytes)
        return 0;
    uint32_t left = config->program_bytes - offset, bytes = left < room ? left : room;
    memcpy(at, config->program + offset, bytes);
    *start = from;
    return bytes;
}

static uint32_t put_text(const char *text, uint8_t *at, uint32_t room)
{
    uint32_t length = text ? (uint32_t)strlen(text) : 0, bytes = length < room ? length : room;

    memcpy(at, text ? text : "", bytes);
    return bytes;
}

static int send_fault(struct node *node)
{
    const struct fault *fault = &node->fault;
    uint8_t body[PACKET_BODY_MAX] = {0};
    uint32_t line = fault->line, room = PACKET_BODY_MAX - FAULT_BYTES;
    uint32_t bytes = fault->kind < FAULT_KERNEL ? put_stack(node, body + FAULT_BYTES, room, &line)
                                                : put_text(fault->text, body + FAULT_BYTES, room);

    put32(body, fault->kind);
    put32(body + 4, fault->address);
    put32(body + 8, fault->status_register);
    for (unsigned i = 0; i < 16; i++)
        put32(body + 12 + 4 * i, fault->registers[i]);
    put32(body + 76, fault->cpsr);
    put32(body + 80, line);
    return router_send(&node->router, PACKET_FAULT, ID_HOST, body, FAULT_BYTES + bytes);
}

static int send_exit(struct node *node)
{
    uint8_t body[4];

    put32(body, (uint32_t)node->exit_status);
    return router_send(&node->router, PACKET_EXIT, ID_HOST, body, sizeof body);
}

/* A slot that comes free does so in a step, which comes here: what is owed then is said. */
void report_pump(struct node *node, uint64_t now_us)
{
    if (!node->links_told || node->owed & OWED_LINKS)
        pump_links(node, now_us);
    if (node->dead_owed)
        pump_dead(node);
    if (node->owed & OWED_FAULT && send_fault(node) == E_OK)
        node->owed &= (uint8_t)~OWED_FAULT;
    if (node->owed & OWED_EXIT && send_exit(node) == E_OK)
        node->owed &= (uint8_t)~OWED_EXIT;
    if (node->owed & OWED_STATE && send_state(node) == E_OK)
        node->owed &= (uint8_t)~OWED_STATE;
}
