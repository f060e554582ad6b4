/*
 * controller.c - notices in, events out: which part of the controller a packet is for, and when
 * what is owed is sent.
 *
 * What happens between two events that the owner takes, until there is one:
 *
 *   1. events that have been made     at most a few: of one notice, of time, of a request
 *   2. a node that has died           a list through their entries, for all may die at once
 *   3. a failure that is being told   one link at a time, for there may be many
 *   4. a question that is over        which may end a run, or begin the next question
 *   5. the next notice of the router  its packet is somebody's: boot, download, run, answer
 *   6. nothing                        then all parts send what they can, and the router moves
 *
 * Events are made only when they are taken. So what an event refers to lies where it arrived, in
 * a buffer of the link, until the next one is taken; and no more than a few events wait, however
 * much arrives. What many nodes are to be sent is a cursor, what single nodes are owed a queue
 * through their entries: neither can overflow.
 *
 * A deadline must not lie behind when there is nothing to take: an owner's loop would spin.
 *
 * Units    us of wall time (now_us) and of passed time (controller_pass)
 * Context  owners call in from one thread, never from within; nothing calls them
 */
#include "controller/controller.h"

#include <stddef.h>
#include <string.h>

#include "controller/internal.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "router/port.h"
#include "router/router.h"
#include "wire/circuit.h"
#include "wire/message.h"
#include "wire/packet.h"
#include "wire/record.h"

static size_t align(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

size_t controller_memory_bytes(const struct network *network)
{
    return align(network->nodes * sizeof(struct controller_node)) +
           router_memory_bytes(network_host_links(network), 0);
}

/* The router of this life of the links. Peers are the controller's own memory, which the router
 * goes on looking at: that is why a controller must not be moved. */
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

/* All places for findings are free. They are numbered from 1, so that 0 means none and an entry
 * that is cleared has none. */
static void link_findings(struct controller *controller)
{
    for (unsigned i = 0; i < CONTROLLER_FINDINGS_MAX; i++) {
        controller->findings[i].next = (uint16_t)(i + 1 < CONTROLLER_FINDINGS_MAX ? i + 2 : 0);
        controller->findings[i].node = CONTROLLER_NO_NODE;
    }
    controller->finding_free = 1;
    controller->finding_end = 0;
}

/* All but what outlives a restart of the machine: names of offers, generations and question numbers
 * go on, so that no word from before is taken for one of now. Nobody runs, is owed anything, or is
 * among the silent; the cursors of those to be started and stopped stand at their ends. */
static void begin(struct controller *controller)
{
    controller->broken = controller->restarts = false;
    controller->reported_ns = 0;
    controller->due_first = controller->due_last = CONTROLLER_NO_NODE;
    controller->oldest = controller->newest = controller->unasked = CONTROLLER_NO_NODE;
    controller->death_first = controller->death_last = CONTROLLER_NO_NODE;
    controller->reported_count = controller->right_count = controller->signs = 0;
    controller->resets = controller->cuts = 0;
    controller->resets_due = controller->failing = false;
    controller->failure_us = controller->offers_us = controller->end_us = UINT64_MAX;
    controller->gather.again_us = UINT64_MAX;
    controller->ending = false;
    controller->dead_link_count = controller->dead_links_reported = 0;
    controller->fetch.active = false;
    controller->running = 0;
    controller->start_next = controller->stop_next = controller->config.network->nodes;
    controller->stop_unstarted = controller->config.network->nodes;
    controller->load = (struct controller_load){0};
    controller->repairs = 0;
    controller->repair_first = CONTROLLER_NO_NODE;
    memset(controller->feeds, 0, sizeof controller->feeds);
    link_findings(controller);
    begin_router(controller);
    boot_begin(controller);
}

/* Entries first, then the router's memory, each from the beginning of a line. Offers are named from
 * 1: an answer that is all zeros is to none of them. */
void controller_init(struct controller *controller, const struct controller_config *config,
                     uint64_t now_us)
{
    size_t bytes = align(config->network->nodes * sizeof(struct controller_node));

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
    /* What the owner knows from elsewhere outlives a restart; what nodes have said does not,
     * answers to questions included. The count of the halted goes with their flags. */
    const uint16_t kept = NODE_DEAD | NODE_HALTED;

    controller->now_us = now_us;
    controller->config.incarnation = incarnation;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        struct controller_node *node = &controller->nodes[rank];

        *node = (struct controller_node){.flags = node->flags & kept};
    }
    controller->question.over = true; /* who should answer is no more */
    begin(controller);
}

/* Events are made only when none is waiting, but for those of one notice or request. So a full
 * queue is an owner that goes on asking and takes none. */
struct controller_event *controller_tell(struct controller *controller, enum event_kind kind)
{
    unsigned at = controller->event_first + controller->event_count++;
    struct controller_event *event = &controller->events[at % CONTROLLER_EVENTS_MAX];

    /* The place of the one that has been taken last is still looked at. */
    CHECK(controller->event_count < CONTROLLER_EVENTS_MAX);
    *event = (struct controller_event){.kind = kind, .phase = controller->phase};
    return event;
}

/* A node stands in the queue once, whatever it is owed, so that the queue through the entries can
 * hold all nodes and needs no place of its own. */
void controller_due(struct controller *controller, uint32_t rank, uint8_t due)
{
    struct controller_node *node = &controller->nodes[rank];

    if (node->due == 0) {
        node->due_next = CONTROLLER_NO_NODE;
        if (controller->due_first == CONTROLLER_NO_NODE) {
            controller->due_first = rank;
        } else {
            controller->nodes[controller->due_last].due_next = rank;
        }
        controller->due_last = rank;
    }
    node->due |= due;
}

/* Tells a node how much of its program's text was read. `credited` changes only when the packet has
 * gone: the node's window is judged by what it knows. */
static int send_taken(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];
    uint8_t body[TAKEN_BYTES];

    taken_pack(body, &(struct taken_body){node->taken, controller->generation});
    int status = router_send(&controller->router, PACKET_TAKEN, rank, body, sizeof body);
    if (status == E_OK) {
        node->credited = node->taken;
    }
    return status;
}

static int send_traffic_ask(struct controller *controller, uint32_t rank)
{
    uint8_t body[TRAFFIC_ASK_BYTES];

    traffic_ask_pack(body, controller->nodes[rank].traffic_next);
    return router_send(&controller->router, PACKET_TRAFFIC_ASK, rank, body, sizeof body);
}

/* Sends what nodes are owed, in the order in which it was noted; false: there is no more room. */
static bool pump_owed(struct controller *controller)
{
    while (controller->due_first != CONTROLLER_NO_NODE) {
        uint32_t rank = controller->due_first;
        struct controller_node *node = &controller->nodes[rank];

        /* Several may be owed. A bit that has been sent is taken off at once, so that a second try
         * does not send it twice when another finds no room. Text of a run that is over is
         * nobody's, and its place in the entry may be a download's. */
        if (node->due & PACKET_DUE_TAKEN && controller->phase == PHASE_RUN &&
            send_taken(controller, rank) != E_OK) {
            return false;
        }
        node->due &= (uint8_t)~PACKET_DUE_TAKEN;
        if (node->due & PACKET_DUE_QUERY &&
            router_send(&controller->router, PACKET_QUERY, rank, NULL, 0) != E_OK) {
            return false;
        }
        node->due &= (uint8_t)~PACKET_DUE_QUERY;
        if (node->due & PACKET_DUE_TRAFFIC && send_traffic_ask(controller, rank) != E_OK) {
            return false;
        }
        node->due &= (uint8_t)~PACKET_DUE_TRAFFIC;
        if (node->due & (PACKET_DUE_PLAN | PACKET_DUE_PREDICTED) &&
            plans_answer(controller, rank) != E_OK) {
            return false;
        }
        node->due = 0;
        controller->due_first = node->due_next;
        if (controller->event_count > 0) {
            return false; /* there is one place for its words */
        }
    }
    return true;
}

/* It is not its turn: what is due waits a moment, for a deadline must not lie behind. */
static void put_off(const struct controller *controller, uint64_t *due_us)
{
    if (*due_us <= controller->now_us) {
        *due_us = controller->now_us + RETRY_US;
    }
}

/* Everything that may be sent now. A node gets START and STOP in the order in which the owner
 * wanted them, so nothing later goes while one of them waits for room. What is owed comes next: it
 * is small, and a program may stand for want of it. Questions and offers are repeated anyway. */
static void pump(struct controller *controller)
{
    if (!controller->restarts && run_pump(controller) && pump_owed(controller)) {
        query_pump(controller);
        loader_pump(controller);
        gatherer_pump(controller);
        regions_pump(controller);
        fetcher_pump(controller);
    } else {
        put_off(controller, &controller->offers_us);
        put_off(controller, &controller->gather.again_us);
        put_off(controller, &controller->region.again_us);
    }
    router_move(&controller->router, controller->now_us);
    router_flush(&controller->router);
}

/* LINKS comes again when another link of the node has come up. */
static void take_links(struct controller *controller, const struct notice *notice)
{
    struct links_body links;

    if (links_unpack(notice->body, notice->bytes, &links)) {
        boot_links(controller, notice->src, &links);
    }
}

/* Whose link it is the node says by its port, not by the number that it found there: a neighbour
 * that never told its own is known all the same. */
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

/* The parts look at the phase themselves: a packet may have been sent in the one before. */
static void take_packet(struct controller *controller, const struct notice *notice)
{
    /* A packet says who sent it, and it may lie. After a reset of all what is still on the cables
     * is nobody's. */
    if (notice->src >= controller->config.network->nodes || controller->restarts) {
        return;
    }
    /* Any word shows that a node lives, whatever it says. */
    silence_heard(controller, notice->src);
    if (controller->phase == PHASE_GATHER) {
        gatherer_packet(controller, notice);
    }
    regions_packet(controller, notice);
    switch (notice->packet_kind) {
    case PACKET_LINKS: take_links(controller, notice); break;
    case PACKET_CTS:
    case PACKET_RETRY:
    case PACKET_CANCEL:
    case PACKET_RECEIPT: take_load(controller, notice); break;
    case PACKET_STATE: take_state(controller, notice); break;
    case PACKET_TRAFFIC: query_traffic(controller, notice); break;
    case PACKET_LINK_DEAD: take_dead_link(controller, notice); break;
    case PACKET_RECORDS: fetcher_packet(controller, notice); break;
    default: run_packet(controller, notice); break;
    }
}

/* A circuit has come: programs have left something, or it is a part of a region. */
static void take_open(struct controller *controller, unsigned port)
{
    const uint8_t *packet = router_open_at(&controller->router, port);

    if (packet && open_flags(packet) & OPEN_OUTPUT && regions_owns(open_match(packet))) {
        regions_open(controller, port, packet);
    } else {
        gatherer_open(controller, port);
    }
}

static bool is_of_circuit(const struct notice *notice)
{
    return notice->kind == NOTICE_FEED || notice->kind == NOTICE_ACCEPTED ||
           notice->kind == NOTICE_REFUSED || notice->kind == NOTICE_SENT ||
           notice->kind == NOTICE_FILLED || notice->kind == NOTICE_RECEIVED;
}

static void take_notice(struct controller *controller, const struct notice *notice)
{
    if (is_of_circuit(notice) && regions_owns(notice->token)) {
        regions_notice(controller, notice);
        return;
    }
    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(controller, notice); break;
    case NOTICE_OPEN: take_open(controller, notice->port); break;
    case NOTICE_FILLED:
    case NOTICE_RECEIVED: gatherer_notice(controller, notice); break;
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

/* Whether an event can be made without the router. */
static bool has_events(const struct controller *controller)
{
    return controller->event_count > 0 || controller->failing || controller->ending ||
           controller->death_first != CONTROLLER_NO_NODE || query_is_over(controller);
}

/* Makes the next events of what is known already; false: there are none. A death is told before the
 * failure that it brings, and a failure before the end of a question: reasons come first. */
static bool make_events(struct controller *controller)
{
    if (controller->event_count == 0 && !failure_tell_death(controller)) {
        if (controller->failing) {
            failure_tell(controller);
        } else if (controller->ending) {
            run_end(controller, ENDED_BY_ITSELF);
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
        /* Each round takes a notice, tells a part of a failure or ends a question; when none is
         * left the router moves once more, and what it then has to tell begins the next round. */
        if (!make_events(controller) && !work(controller)) {
            return NULL;
        }
    }
    /* Its place is not used again before the next call: controller_tell leaves one free. */
    event = &controller->events[controller->event_first];
    controller->event_first = (controller->event_first + 1) % CONTROLLER_EVENTS_MAX;
    controller->event_count--;
    return event;
}

/* Only takes what has come; what it means is worked out by controller_event, one notice at a time,
 * because what an event points at lies in a buffer of the link. */
bool controller_step(struct controller *controller, uint64_t now_us)
{
    bool more;

    controller->now_us = now_us;
    more = router_take(&controller->router, now_us);
    /* Time makes events, too. They are only noted here, and made by the next controller_event. */
    if (now_us >= controller->crossed_us) {
        boot_give_up(controller);
    }
    if (now_us >= controller->failure_us) {
        controller->failure_us = UINT64_MAX;
        controller->failing = true;
    }
    if (now_us >= controller->end_us) {
        controller->end_us = UINT64_MAX;
        controller->ending = controller->phase == PHASE_RUN && !controller->broken;
    }
    query_step(controller);
    return more || has_events(controller) || router_noticed(&controller->router);
}

/* Of two times at which something is to be done. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* None of these may lie behind when there is nothing to take, or the owner's loop would spin: where
 * its time is found to have come, each is moved on, set to never, or its question is over. */
uint64_t controller_deadline(const struct controller *controller)
{
    uint64_t deadline_us = router_deadline(&controller->router);

    deadline_us = earlier(deadline_us, controller->crossed_us);
    deadline_us = earlier(deadline_us, controller->failure_us);
    deadline_us = earlier(deadline_us, controller->offers_us);
    deadline_us = earlier(deadline_us, controller->gather.again_us);
    deadline_us = earlier(deadline_us, controller->end_us);
    deadline_us = earlier(deadline_us, regions_deadline(controller));
    deadline_us = earlier(deadline_us, fetcher_deadline(controller));
    return earlier(deadline_us, query_deadline(controller));
}

/* Only the phase that goes on counts silence. The owner says which time counts: not that in which
 * all was stopped, so nobody is given up because a laptop slept. */
void controller_pass(struct controller *controller, uint64_t passed_us, uint64_t now_us)
{
    controller->now_us = now_us;
    controller->passed_us += passed_us;
    /* In a broken machine silence is explained, and nobody waits for it to end. */
    if (controller->broken) {
        return;
    }
    switch (controller->phase) {
    case PHASE_BOOT: boot_pass(controller, passed_us); break;
    case PHASE_DOWNLOAD: loader_pass(controller); break;
    case PHASE_GATHER: gatherer_pass(controller); break;
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
    /* Who is halted answers nothing, and is not asked: a question would wait at it for hours, with
     * others behind it. Let go, it answers what it was asked before, and has its full time again in
     * a download. */
    if (halted) {
        query_leave(controller, rank);
        node->flags |= NODE_HALTED;
    } else {
        node->flags &= (uint16_t)~NODE_HALTED;
        query_join(controller, rank);
        silence_heard(controller, rank);
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
