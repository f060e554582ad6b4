/*
 * controller.c - notices in, events out: which part of the controller a packet is for, and when
 * what is owed is sent.
 *
 * Events are made when they are taken: the next notice of the router is handled only when all that
 * the one before has left were taken. So what an event refers to lies where it arrived, and no more
 * than a few events wait, however much arrives.
 */
#include "controller/controller.h"

#include <stddef.h>
#include <string.h>

#include "controller/internal.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "router/port.h"
#include "router/router.h"
#include "wire/message.h"
#include "wire/packet.h"

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

size_t controller_memory_bytes(const struct network *network)
{
    return whole_lines(network->nodes * sizeof(struct controller_node)) +
           whole_lines(router_memory_bytes(network_host_links(network), 0));
}

static void begin_router(struct controller *controller)
{
    const struct controller_config *config = &controller->config;
    struct router_config router = {.id = ID_HOST,
                                   .links = config->links,
                                   .link_count = network_host_links(config->network),
                                   .incarnation = config->incarnation,
                                   .payload_checked = config->payload_checked,
                                   .memory = controller->router_memory,
                                   .network = config->network,
                                   .profile = config->profile,
                                   .dead_after_ms = config->dead_after_ms,
                                   .peers = controller->peers};

    CHECK(router.link_count <= CONTROLLER_HOST_LINKS_MAX);
    for (unsigned i = 0; i < router.link_count; i++) {
        controller->peers[i] = network_host_node(config->network, i);
    }
    router_init(&controller->router, &router);
}

static void link_findings(struct controller *controller)
{
    for (unsigned i = 0; i < CONTROLLER_FINDINGS_MAX; i++) {
        controller->findings[i].next = (uint16_t)(i + 1 < CONTROLLER_FINDINGS_MAX ? i + 2 : 0);
        controller->findings[i].node = CONTROLLER_NO_NODE;
    }
    controller->finding_free = 1;
    controller->finding_end = 0;
}

/* All but what outlives a restart of the machine. */
static void begin(struct controller *controller)
{
    controller->broken = controller->restarts = false;
    controller->told_ns = 0;
    controller->owed_first = controller->owed_last = CONTROLLER_NO_NODE;
    controller->oldest = controller->newest = controller->unasked = CONTROLLER_NO_NODE;
    controller->death_first = controller->death_last = CONTROLLER_NO_NODE;
    controller->told_count = controller->right_count = controller->signs = 0;
    controller->resets = controller->cuts = 0;
    controller->resets_untold = controller->failing = false;
    controller->failure_us = controller->offers_us = UINT64_MAX;
    controller->dead_link_count = controller->dead_links_told = 0;
    controller->running = 0;
    controller->start_next = controller->stop_next = controller->config.network->nodes;
    controller->program = (struct controller_program){0};
    link_findings(controller);
    begin_router(controller);
    boot_begin(controller);
}

void controller_init(struct controller *controller, const struct controller_config *config,
                     uint64_t now_us)
{
    size_t bytes = whole_lines(config->network->nodes * sizeof(struct controller_node));

    memset(controller, 0, sizeof *controller);
    controller->config = *config;
    controller->now_us = now_us;
    controller->nodes = config->memory;
    controller->router_memory = (uint8_t *)config->memory + bytes;
    controller->name = 1;
    memset(controller->nodes, 0, bytes);
    begin(controller);
}

void controller_restart(struct controller *controller, uint16_t incarnation, uint64_t now_us)
{
    const uint16_t kept = NODE_DEAD | NODE_HALTED;

    controller->now_us = now_us;
    controller->config.incarnation = incarnation;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        struct controller_node *node = &controller->nodes[rank];

        *node = (struct controller_node){.flags = node->flags & kept, .answered = node->answered};
    }
    controller->question.over = true; /* who should answer is no more */
    begin(controller);
}

struct controller_event *controller_tell(struct controller *controller, enum event_kind kind)
{
    unsigned at = controller->event_first + controller->event_count++;
    struct controller_event *event = &controller->events[at % CONTROLLER_EVENTS_MAX];

    /* The place of the one that has been taken last is still looked at. */
    CHECK(controller->event_count < CONTROLLER_EVENTS_MAX);
    *event = (struct controller_event){.kind = kind, .phase = controller->phase};
    return event;
}

void controller_owe(struct controller *controller, uint32_t rank, uint8_t owed)
{
    struct controller_node *node = &controller->nodes[rank];

    if (node->owed == 0) {
        node->owed_next = CONTROLLER_NO_NODE;
        if (controller->owed_first == CONTROLLER_NO_NODE) {
            controller->owed_first = rank;
        } else {
            controller->nodes[controller->owed_last].owed_next = rank;
        }
        controller->owed_last = rank;
    }
    node->owed |= owed;
}

static int send_taken(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];
    uint8_t body[TAKEN_BYTES];

    taken_pack(body, &(struct taken_body){node->taken, controller->generation});
    int status = router_send(&controller->router, PACKET_TAKEN, rank, body, sizeof body);
    if (status == E_OK) {
        node->told = node->taken;
    }
    return status;
}

/* Sends what nodes are owed, in the order in which it was noted; false: there is no more room. */
static bool pump_owed(struct controller *controller)
{
    while (controller->owed_first != CONTROLLER_NO_NODE) {
        uint32_t rank = controller->owed_first;
        struct controller_node *node = &controller->nodes[rank];

        if (node->owed & OWED_TAKEN && send_taken(controller, rank) != E_OK) {
            return false;
        }
        node->owed &= (uint8_t)~OWED_TAKEN;
        if (node->owed & OWED_QUERY &&
            router_send(&controller->router, PACKET_QUERY, rank, NULL, 0) != E_OK) {
            return false;
        }
        node->owed = 0;
        controller->owed_first = node->owed_next;
    }
    return true;
}

/* STOP and START go first, so that no later packet is ahead of them. */
static void pump(struct controller *controller)
{
    if (!controller->restarts && run_pump(controller) && pump_owed(controller)) {
        query_pump(controller);
        loader_pump(controller);
    } else {
        loader_wait(controller);
    }
    router_move(&controller->router, controller->now_us);
    router_flush(&controller->router);
}

static void take_links(struct controller *controller, const struct notice *notice)
{
    struct links_body links;

    if (links_unpack(notice->body, notice->bytes, &links)) {
        boot_links(controller, notice->src, &links);
    }
}

static void take_dead_link(struct controller *controller, const struct notice *notice)
{
    const struct network *network = controller->config.network;
    struct link_dead_body dead;
    uint32_t peer = ID_HOST;

    if (!link_dead_unpack(notice->body, notice->bytes, &dead)) {
        return;
    }
    if (dead.port < network->ports) {
        peer = network_neighbour(network, notice->src, dead.port);
        peer = peer == NETWORK_NO_NODE ? ID_UNKNOWN : peer;
    }
    failure_link(controller, notice->src, peer, dead.reason);
}

/* What a node says of the download. */
static void take_load(struct controller *controller, const struct notice *notice)
{
    struct cts_body cts;
    struct rts_reply_body reply;
    struct receipt_body receipt;

    switch (notice->packet_kind) {
    case PACKET_CTS:
        if (cts_unpack(notice->body, notice->bytes, &cts)) {
            loader_cts(controller, notice->src, &cts);
        }
        break;
    case PACKET_RECEIPT:
        if (receipt_unpack(notice->body, notice->bytes, &receipt)) {
            loader_receipt(controller, notice->src, &receipt);
        }
        break;
    default:
        if (rts_reply_unpack(notice->body, notice->bytes, &reply)) {
            loader_reply(controller, notice->src, notice->packet_kind, &reply);
        }
        break;
    }
}

static void take_state(struct controller *controller, const struct notice *notice)
{
    struct state_body state;

    if (state_unpack(notice->body, notice->bytes, &state)) {
        query_state(controller, notice->src, &state);
    }
}

static void take_packet(struct controller *controller, const struct notice *notice)
{
    if (notice->src >= controller->config.network->nodes || controller->restarts) {
        return;
    }
    loader_heard(controller, notice->src);
    switch (notice->packet_kind) {
    case PACKET_LINKS: take_links(controller, notice); break;
    case PACKET_CTS:
    case PACKET_RETRY:
    case PACKET_CANCEL:
    case PACKET_RECEIPT: take_load(controller, notice); break;
    case PACKET_STATE: take_state(controller, notice); break;
    case PACKET_LINK_DEAD: take_dead_link(controller, notice); break;
    default: run_packet(controller, notice); break;
    }
}

static void take_notice(struct controller *controller, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(controller, notice); break;
    case NOTICE_OPEN: /* nodes send no messages to the host */
        router_refuse(&controller->router, notice->port, E_REFUSED);
        break;
    case NOTICE_CROSSED: /* in the boot the nodes' LINKS say more */
        if (controller->phase != PHASE_BOOT) {
            router_kill_port(&controller->router, notice->port, DEAD_PROTOCOL);
        }
        break;
    case NOTICE_DEAD:
        failure_link(controller, controller->peers[notice->port], ID_HOST, (uint8_t)notice->status);
        break;
    default: loader_notice(controller, notice); break;
    }
}

static bool has_events(const struct controller *controller)
{
    return controller->event_count > 0 || controller->failing ||
           controller->death_first != CONTROLLER_NO_NODE || query_is_over(controller);
}

/* Makes the next events of what is known already; false: there are none. */
static bool make_events(struct controller *controller)
{
    if (controller->event_count == 0 && !failure_tell_death(controller)) {
        if (controller->failing) {
            failure_tell(controller);
        } else if (query_is_over(controller)) {
            query_finish(controller);
        }
    }
    return has_events(controller);
}

/* Takes one notice, or does what can be done without any; false: there was nothing. */
static bool work(struct controller *controller)
{
    const struct notice *notice = router_notice(&controller->router);

    if (notice) {
        take_notice(controller, notice);
        return true;
    }
    pump(controller);
    return router_noticed(&controller->router) || has_events(controller);
}

const struct controller_event *controller_event(struct controller *controller)
{
    const struct controller_event *event;

    while (controller->event_count == 0) {
        if (!make_events(controller) && !work(controller)) {
            return NULL;
        }
    }
    event = &controller->events[controller->event_first];
    controller->event_first = (controller->event_first + 1) % CONTROLLER_EVENTS_MAX;
    controller->event_count--;
    return event;
}

bool controller_step(struct controller *controller, uint64_t now_us)
{
    bool more;

    controller->now_us = now_us;
    more = router_take(&controller->router, now_us);
    if (now_us >= controller->crossed_us) {
        boot_give_up(controller);
    }
    if (now_us >= controller->failure_us) {
        controller->failure_us = UINT64_MAX;
        controller->failing = true;
    }
    controller->question.over |= now_us >= controller->question.until_us;
    return more || has_events(controller) || router_noticed(&controller->router);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t controller_deadline(const struct controller *controller)
{
    uint64_t deadline_us = router_deadline(&controller->router);

    deadline_us = earlier(deadline_us, controller->crossed_us);
    deadline_us = earlier(deadline_us, controller->failure_us);
    deadline_us = earlier(deadline_us, controller->offers_us);
    if (controller->question.open) {
        deadline_us = earlier(deadline_us, controller->question.until_us);
    }
    return deadline_us;
}

void controller_pass(struct controller *controller, uint64_t passed_us, uint64_t now_us)
{
    controller->now_us = now_us;
    controller->passed_us += passed_us;
    if (controller->broken) {
        return;
    }
    switch (controller->phase) {
    case PHASE_BOOT: boot_pass(controller, passed_us); break;
    case PHASE_DOWNLOAD: loader_pass(controller); break;
    case PHASE_RUN: query_pass(controller, passed_us); break;
    default: break;
    }
}

void controller_halted(struct controller *controller, uint32_t rank, bool halted)
{
    struct controller_node *node = &controller->nodes[rank];

    if (halted == controller_has(controller, rank, NODE_HALTED)) {
        return;
    }
    if (halted) {
        query_leave(controller, rank);
        node->flags |= NODE_HALTED;
    } else {
        node->flags &= (uint16_t)~NODE_HALTED;
        query_join(controller, rank);
        loader_heard(controller, rank);
    }
    if (!controller_has(controller, rank, NODE_DEAD)) {
        controller->halted += halted ? 1 : UINT32_MAX;
    }
}

void controller_forgive(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    router_forgive(&controller->router, now_us);
}

bool controller_quiet(const struct controller *controller)
{
    return router_quiet(&controller->router);
}
