/*
 * router.c - one step of a router: take, move, flush.
 *
 *   take   what the links hold, port by port: packets and answers are served at once, OPENs and
 *          bytes are noted (due.h); segments that are acknowledged are given back
 *   move   packets, then set-ups, then bytes; again while bytes have freed links for set-ups
 *   flush  to each link all that it is to get in this step, with one kick
 *
 * Whatever a step may tell needs places for notices; when those run out the rest stays where it is,
 * on the link or in the masks, until the owner has taken some. So a slow owner slows its neighbours
 * down by their credit and nothing is lost.
 *
 * Working memory, one piece: ports | segments and pieces of port 0 | of port 1 ... | slots | OPENs
 */
#include "router/router.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/identity.h"
#include "router/packet.h"
#include "router/port.h"
#include "router/setup.h"
#include "router/source.h"
#include "router/stream.h"
#include "router/due.h"
#include "wire/circuit.h"
#include "wire/packet.h"

enum {
    ARRIVALS_PER_STEP = 64 /* taken from one link in one step */
};

_Static_assert((int)REPLIES_MAX <= 8 && CIRCUITS_MAX * DUE_BITS <= 16,
               "masks of replies have room");

static uint32_t align(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

uint32_t router_memory_bytes(unsigned link_count, unsigned ring)
{
    uint32_t packet = FRAME_HEADER_BYTES + PACKET_HEADER_BYTES + FRAME_CHECK_BYTES;
    uint32_t places = ring ? ring : RING_MAX;

    return align(link_count * (uint32_t)sizeof(struct port)) +
           link_count *
               (align(places * sizeof(struct segment)) + align(places * sizeof(struct piece))) +
           SLOTS_MAX * align(packet + SLOT_BODY_MAX) +
           LARGE_SLOTS_MAX * align(packet + PACKET_BODY_MAX) +
           SOURCES_MAX * align(SOURCE_OPEN_BYTES);
}

static void *take_memory(uint8_t **memory, uint32_t bytes)
{
    void *taken = *memory;

    *memory += align(bytes);
    return taken;
}

/* All that is not named is 0: no circuit, no packet, links silent. */
void router_init(struct router *router, const struct router_config *config)
{
    uint8_t *memory = config->memory;
    uint32_t packet = FRAME_HEADER_BYTES + PACKET_HEADER_BYTES + FRAME_CHECK_BYTES;

    CHECK(config->link_count <= PORTS_MAX);
    *router = (struct router){.id = config->id,
                              .role = config->id == ID_HOST ? ROLE_HOST : ROLE_NODE,
                              .profile = config->profile,
                              .dead_after_ms =
                                  config->dead_after_ms ? config->dead_after_ms : DEAD_AFTER_MS,
                              .peers = config->peers,
                              .payload_checked = config->payload_checked,
                              .port_count = config->link_count,
                              .ring = config->ring ? config->ring : RING_MAX,
                              .links_due = config->links_due,
                              .link_counters = config->link_counters,
                              .slots_free = (1u << (SLOTS_MAX + LARGE_SLOTS_MAX)) - 1,
                              .due.wake_us = UINT64_MAX};
    router->ports = take_memory(&memory, config->link_count * (uint32_t)sizeof(struct port));
    memset(router->ports, 0, config->link_count * sizeof(struct port));
    for (unsigned p = 0; p < config->link_count; p++) {
        struct channel_config channel = {.link = config->links[p],
                                         .ring = router->ring,
                                         .incarnation = config->incarnation,
                                         .checked = config->payload_checked,
                                         .dead_after_ms = router->dead_after_ms,
                                         .due_bit = 1u << p};
        channel.segments = take_memory(&memory, router->ring * (uint32_t)sizeof(struct segment));
        channel.pieces = take_memory(&memory, router->ring * (uint32_t)sizeof(struct piece));
        CHECK(channel.segments == router_segments(router, p));
        channel_init(&router->ports[p].channel, &router->due, &channel);
        router->ports[p].setup_holder = PORT_NONE;
    }
    for (unsigned i = 0; i < SLOTS_MAX + LARGE_SLOTS_MAX; i++) {
        struct slot *slot = &router->slots[i];
        slot->body_max = i < SLOTS_MAX ? SLOT_BODY_MAX : PACKET_BODY_MAX;
        slot->bytes = take_memory(&memory, packet + slot->body_max);
    }
    for (unsigned i = 0; i < SOURCES_MAX; i++) {
        router->sources[i].open = take_memory(&memory, SOURCE_OPEN_BYTES);
    }
    if (config->network) {
        identity_set_network(router, config->network);
    }
}

/* A link that is crossed carries nothing but HELLOs: what comes all the same is dropped. */
static void take_arrival(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct channel *channel = &router->ports[port].channel;

    if (channel->state != LINK_UP) {
        channel_release(
            channel, &router->due, arrival->buffer,
            packet_kind(arrival->packet) >= PACKET_ROUTED ? CREDIT_CONTROL : CREDIT_NONE, 0);
    } else if (packet_kind(arrival->packet) >= PACKET_ROUTED) {
        packet_take(router, port, arrival);
    } else if (!circuit_take(router, port, arrival)) {
        channel_drop(channel, arrival->buffer);
        channel_kill(channel, &router->due, DEAD_PROTOCOL);
    }
}

/* Takes what a link has, which is something, up to a bound; true when there may be more. */
static bool take_link(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    struct arrival arrival;

    bool more = true;
    for (unsigned i = 0; i < ARRIVALS_PER_STEP && more; i++) {
        if (!notice_room_for_step(router)) {
            break;
        }
        enum arrival_kind kind = channel_receive(&in->channel, &router->due, &arrival);
        if (kind == ARRIVAL_PACKET) {
            take_arrival(router, port, &arrival);
        }
        if (in->channel.hello_new) {
            identity_take(router, port);
        }
        more = kind != ARRIVAL_NONE && channel_has_input(&in->channel);
    }
    due_credit(router, in); /* there may be */
    channel_be_patient(&in->channel);
    if (channel_piece(&in->channel)) {
        due_bytes(router, port);
    }
    return more;
}

/* Tells of links that came up or died, when there is room for all that this may bring. */
static void tell_link(struct router *router, unsigned port)
{
    struct port *p = &router->ports[port];
    uint8_t state = channel_state(&p->channel);

    if (!notice_room_for_step(router)) {
        channel_wake(&p->channel, &router->due);
        return;
    }
    if (state == LINK_UP && !(p->reported & REPORTED_UP)) {
        p->reported |= REPORTED_UP;
        due_link_changed(router);
        *notice_add(router) = (struct notice){.kind = NOTICE_UP, .port = port};
    }
    if (state == LINK_CROSSED && p->reported & REPORTED_UP && !(p->reported & REPORTED_CROSSED)) {
        p->reported |= REPORTED_CROSSED;
        *notice_add(router) = (struct notice){.kind = NOTICE_CROSSED, .port = port};
    }
    if (state == LINK_DEAD && !(p->reported & REPORTED_DEAD)) {
        p->reported |= REPORTED_DEAD;
        circuit_port_dead(router, port);
        stream_port_dead(router, port);
        due_link_dead(router, port);
        *notice_add(router) = (struct notice){
            .kind = NOTICE_DEAD, .port = port, .status = router_dead_reason(router, port)};
    }
}

static inline void watch_link(struct router *router, unsigned port, const struct port *p)
{
    if (p->channel.state != LINK_UP || !(p->reported & REPORTED_UP)) {
        tell_link(router, port);
    }
}

/* A dead link has forgotten them all. */
static void release_reply(struct port *port, unsigned number)
{
    port->replies_busy &= (uint8_t) ~(1u << number);
    if (port->replies_sent) {
        port->replies_sent--;
    }
}

/* Gives back the memory of segments that the neighbour has acknowledged, each to its owner. */
static void release_done(struct router *router, struct port *port)
{
    struct channel *channel = &port->channel;
    struct segment segment;

    while (channel_has_done(channel) && channel_take_done(channel, &segment)) {
        due_room(router, port);
        switch (segment.owner) {
        case OWNER_BUFFER:
            channel_release(&router->ports[segment.port].channel, &router->due, segment.number,
                            segment.credit, segment.credit_bytes);
            break;
        case OWNER_SLOT: router->slots_free |= 1u << segment.number; break;
        case OWNER_REPLY: release_reply(&router->ports[segment.port], segment.number); break;
        case OWNER_HEADER: channel->headers_used--; break;
        case OWNER_SOURCE: source_acknowledged(router, segment.number); break;
        default: break;
        }
    }
}

/* Looks at one link; true when more is waiting there. */
static bool look(struct router *router, unsigned port)
{
    struct port *p = &router->ports[port];
    struct channel *channel = &p->channel;

    if (channel->link->carrier != p->carrier) {
        p->carrier = (uint8_t)channel->link->carrier;
        channel_wake(channel, &router->due);
    }
    if (!channel_has_input(channel)) {
        return false;
    }
    bool more = take_link(router, port);
    if (channel_has_done(channel)) {
        release_done(router, p);
    }
    watch_link(router, port, p);
    return more;
}

/* A link that may have more keeps its bit: the owner comes again. */
bool router_take(struct router *router, uint64_t now_us)
{
    bool more = false;

    router->due.now_us = now_us;
    uint32_t left = router->links_due ? *router->links_due : (1u << router->port_count) - 1;
    while (left) {
        unsigned port = due_next(&left);
        bool waits = port < router->port_count && look(router, port);
        more |= waits;
        if (router->links_due && !waits) {
            *router->links_due &= ~(UINT32_C(1) << port);
        }
    }
    return more;
}

/* Has the channels looked at whose time has come. */
static void wake_channels(struct router *router)
{
    uint64_t wake_us = UINT64_MAX;

    for (unsigned p = 0; p < router->port_count; p++) {
        struct channel *channel = &router->ports[p].channel;
        if (channel->wake_us <= router->due.now_us) {
            channel_wake(channel, &router->due);
        } else if (channel->wake_us < wake_us) {
            wake_us = channel->wake_us;
        }
    }
    router->due.wake_us = wake_us;
}

/* A link may come up, or die, in here; the owner is told in this step. */
static void flush(struct router *router, unsigned port)
{
    struct port *p = &router->ports[port];
    struct channel *channel = &p->channel;

    if (!channel_acquainted(channel, router->id) &&
        channel_greets(channel, &router->due, router->id)) {
        struct hello hello;
        identity_hello(router, port, &hello);
        channel_greet(channel, &router->due, &hello);
    }
    channel_flush(channel, &router->due);
    if (!channel_settled(channel, router->id)) {
        channel_wake(channel, &router->due);
    }
    watch_link(router, port, p);
    if (channel->state == LINK_DEAD) {
        release_done(router, p);
    }
}

/* What drains frees a link, over which a set-up may go in this very step: or each circuit of a long
 * exchange would wait for one more step at every hop. */
void router_move(struct router *router, uint64_t now_us)
{
    router->due.now_us = now_us;
    packet_pump(router);
    do {
        circuit_pump(router);
        stream_pump(router);
    } while (due_links_freed(router));
}

void router_flush(struct router *router)
{
    if (router->due.now_us >= router->due.wake_us) {
        wake_channels(router);
    }
    uint32_t due = router->due.flush_due;
    router->due.flush_due = 0;
    while (due) {
        flush(router, due_next(&due));
    }
}

bool router_step(struct router *router, uint64_t now_us)
{
    bool more = router_take(router, now_us);

    router_move(router, now_us);
    router_flush(router);
    return more || router->notice_count > 0;
}

uint32_t router_progress(const struct router *router)
{
    return router->progress;
}

bool router_delivered(const struct router *router)
{
    bool all = true;

    for (unsigned p = 0; p < router->port_count; p++) {
        all &= channel_delivered(&router->ports[p].channel);
    }
    return all;
}

void router_mark(struct router *router)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        channel_mark(&router->ports[p].channel);
    }
}

uint64_t router_deadline(const struct router *router)
{
    return router->due.wake_us;
}

const struct notice *router_notice(struct router *router)
{
    return notice_take(router);
}

int router_send(struct router *router, uint8_t kind, uint32_t dst, const void *body, uint32_t bytes)
{
    return packet_send(router, kind, dst, body, bytes);
}

unsigned router_slots_free(const struct router *router)
{
    return packet_slots_free(router);
}

int router_open(struct router *router, const struct circuit_source *circuit)
{
    return source_open(router, circuit);
}

int router_feed(struct router *router, uint32_t token, const uint8_t *data, uint32_t bytes)
{
    return source_feed(router, token, data, bytes);
}

void router_sink(struct router *router, unsigned port, uint8_t *data, uint32_t room)
{
    stream_sink(router, port, data, room);
}

const uint8_t *router_open_at(const struct router *router, unsigned port)
{
    return circuit_open_at(router, port);
}

uint64_t router_accept(struct router *router, unsigned port, const struct circuit_sink *sink)
{
    return circuit_accept(router, port, sink);
}

void router_refuse(struct router *router, unsigned port, int reason)
{
    CHECK(circuit_open_at(router, port));
    circuit_refuse(router, port, reason);
}

/* The host's link carries no schedule's. */
void router_schedule_begin(struct router *router, uint16_t epoch, const uint16_t *carries)
{
    router->schedule = epoch;
    for (unsigned p = 0; p < router->port_count; p++) {
        router->ports[p].turn_total = p < router->network.ports ? carries[p] : 0;
    }
    due_schedule_moved(router);
}

void router_schedule_done(struct router *router, uint16_t epoch)
{
    router->schedules_done = epoch;
    due_schedule_moved(router);
}

bool router_schedule_carried(const struct router *router)
{
    return setup_carried(router);
}

bool router_has_link(const struct router *router, unsigned port)
{
    return port >= router->network.ports ||
           network_neighbour(&router->network, router->id, port) != NETWORK_NO_NODE;
}

uint8_t router_port_state(const struct router *router, unsigned port, uint32_t *peer,
                          uint8_t *peer_port)
{
    const struct channel *channel = &router->ports[port].channel;

    *peer = channel->peer.role == ROLE_HOST && channel->state != LINK_SILENT ? ID_HOST
                                                                             : channel->peer.id;
    *peer_port = channel->peer.port;
    return channel_state(channel);
}

uint8_t router_dead_reason(const struct router *router, unsigned port)
{
    return channel_dead_reason(&router->ports[port].channel);
}

/* Circuits that only pass do not count: their bytes lie in the links' buffers. */
bool router_quiet(const struct router *router)
{
    if (router->sources_used) {
        return false;
    }
    for (unsigned p = 0; p < router->port_count; p++) {
        const struct port *in = &router->ports[p];
        for (unsigned i = 0; i < in->circuit_count; i++) {
            const struct circuit *circuit = circuit_at(in, i);
            if (circuit->out == PORT_LOCAL && circuit->state == CIRCUIT_FLOWING) {
                return false;
            }
        }
    }
    return true;
}

void router_reset_clocks(struct router *router)
{
    memset(router->send_free_ns, 0, sizeof router->send_free_ns);
    memset(router->receive_free_ns, 0, sizeof router->receive_free_ns);
    router->schedules_done = router->schedule = 0;
    for (unsigned p = 0; p < router->port_count; p++) {
        router->ports[p].free_ns = 0;
        router->ports[p].turn_epoch = 0;
        router->ports[p].turn_count = router->ports[p].turn_total = 0;
        router->ports[p].chain_ns = 0;
    }
    due_schedule_moved(router);
}

void router_keep_identity(struct router *router)
{
    router->identity_kept = true;
}

void router_kill_port(struct router *router, unsigned port, int reason)
{
    channel_kill(&router->ports[port].channel, &router->due, (uint8_t)reason);
}

void router_forgive(struct router *router, uint64_t now_us)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        channel_forgive(&router->ports[p].channel, now_us);
    }
}
