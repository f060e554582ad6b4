#include "router/router.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/internal.h"
#include "router/port.h"
#include "wire/circuit.h"
#include "wire/packet.h"

enum {
    /* of hops_max: a circuit may be given a way of so many hops in a small network too */
    HOPS_LEAST = OPEN_HOPS_MAX + 1,
    ARRIVALS_PER_STEP = 64, /* taken from one link in one step */
    NOTICES_SPARE = 8       /* notices that one arrival and the pumps after it may need */
};

_Static_assert((int)REPLY_BYTES <= (int)LINE_BYTES, "a reply has room");
_Static_assert((int)REPLIES_MAX <= 8 && CIRCUITS_MAX * OWED_BITS <= 16,
               "masks of replies have room");
_Static_assert(sizeof(void *) != 8 || (sizeof(struct port) % LINE_BYTES == 0 &&
                                       offsetof(struct port, circuits) % LINE_BYTES == 0 &&
                                       offsetof(struct port, channel.refs) < 4 * LINE_BYTES &&
                                       offsetof(struct router, sources_due) == LINE_BYTES),
               "what every frame looks at begins lines");

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

void router_set_network(struct router *router, const struct network *network)
{
    uint32_t hops = 2 * network_diameter(network);

    router->network = *network;
    router->hops_max = hops < HOPS_LEAST ? HOPS_LEAST : hops < UINT16_MAX ? hops : UINT16_MAX;
    for (unsigned p = 0; p < router->port_count; p++)
        router->ports[p].channel.in_ring = network_stays_in_ring(network, p, p);
}

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
                              .attention = config->attention,
                              .slots_free = (1u << (SLOTS_MAX + LARGE_SLOTS_MAX)) - 1,
                              .agenda.wake_us = UINT64_MAX};
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
        channel_init(&router->ports[p].channel, &router->agenda, &channel);
        router->ports[p].setup_holder = PORT_NONE;
    }
    for (unsigned i = 0; i < SLOTS_MAX + LARGE_SLOTS_MAX; i++) {
        struct slot *slot = &router->slots[i];
        slot->body_max = i < SLOTS_MAX ? SLOT_BODY_MAX : PACKET_BODY_MAX;
        slot->bytes = take_memory(&memory, packet + slot->body_max);
    }
    for (unsigned i = 0; i < SOURCES_MAX; i++)
        router->sources[i].open = take_memory(&memory, SOURCE_OPEN_BYTES);
    if (config->network)
        router_set_network(router, config->network);
}

uint64_t router_xi(const struct router *router)
{
    uint64_t xi = router->profile.xi_ns;

    return router->role == ROLE_HOST ? xi * router->profile.sigma_permille / 1000 : xi;
}

uint32_t router_tau(const struct router *router)
{
    uint64_t tau = router->profile.tau_ns;

    return (uint32_t)(router->role == ROLE_HOST ? tau * router->profile.sigma_permille / 1000
                                                : tau);
}

bool router_notice_room(const struct router *router)
{
    return router->notice_count < NOTICES_MAX;
}

struct notice *router_tell(struct router *router)
{
    CHECK(router_notice_room(router));
    if (router->notice_count == 0)
        router->notice_first = 0;
    return &router->notices[(router->notice_first + router->notice_count++) % NOTICES_MAX];
}

/* Takes the first notice off, and gives back where its packet lies. */
static void drop_notice(struct router *router)
{
    const struct notice *notice = &router->notices[router->notice_first];

    if (notice->kind == NOTICE_PACKET)
        channel_release(&router->ports[notice->port].channel, &router->agenda, notice->buffer,
                        CREDIT_CONTROL, 0);
    router->notice_first = (uint8_t)((router->notice_first + 1) % NOTICES_MAX);
    router->notice_count--;
    router->notice_taken = false;
}

const struct notice *router_notice(struct router *router)
{
    if (router->notice_taken)
        drop_notice(router);
    if (router->notice_count == 0)
        return NULL;
    router->notice_taken = true;
    return &router->notices[router->notice_first];
}

static void take_arrival(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct channel *channel = &router->ports[port].channel;

    if (channel->state != LINK_UP)
        channel_release(
            channel, &router->agenda, arrival->buffer,
            packet_kind(arrival->packet) >= PACKET_ROUTED ? CREDIT_CONTROL : CREDIT_NONE, 0);
    else if (packet_kind(arrival->packet) >= PACKET_ROUTED)
        packet_take(router, port, arrival);
    else if (!circuit_take(router, port, arrival)) {
        channel_drop(channel, arrival->buffer);
        channel_kill(channel, &router->agenda, DEAD_PROTOCOL);
    }
}

/* Takes what a link has, which is something, up to a bound; true when there may be more. */
static bool take_link(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    struct arrival arrival;

    bool more = true;
    for (unsigned i = 0; i < ARRIVALS_PER_STEP && more; i++) {
        if (router->notice_count + NOTICES_SPARE > NOTICES_MAX)
            break;
        enum arrival_kind kind = channel_receive(&in->channel, &router->agenda, &arrival);
        if (kind == ARRIVAL_PACKET)
            take_arrival(router, port, &arrival);
        if (in->channel.hello_new)
            identity_take(router, port);
        more = kind != ARRIVAL_NONE && channel_news(&in->channel);
    }
    stream_wake(router, in); /* there may be credit */
    channel_be_patient(&in->channel);
    if (channel_piece(&in->channel))
        router->in_due |= 1u << port;
    return more;
}

/* Tells of links that came up or died, when there is room for all that this may bring. */
static void tell_link(struct router *router, unsigned port)
{
    struct port *p = &router->ports[port];
    uint8_t state = p->channel.state;

    if (router->notice_count + NOTICES_SPARE > NOTICES_MAX) {
        channel_wake(&p->channel, &router->agenda);
        return;
    }
    if (state == LINK_UP && !(p->told & TOLD_UP)) {
        p->told |= TOLD_UP;
        router->setup_due = true;
        *router_tell(router) = (struct notice){.kind = NOTICE_UP, .port = port};
    }
    if (state == LINK_CROSSED && p->told & TOLD_UP && !(p->told & TOLD_CROSSED)) {
        p->told |= TOLD_CROSSED;
        *router_tell(router) = (struct notice){.kind = NOTICE_CROSSED, .port = port};
    }
    if (state == LINK_DEAD && !(p->told & TOLD_DEAD)) {
        p->told |= TOLD_DEAD;
        circuit_port_dead(router, port);
        stream_port_dead(router, port);
        router->setup_due = true;
        router->in_due |= 1u << port;
        *router_tell(router) =
            (struct notice){.kind = NOTICE_DEAD, .port = port, .status = p->channel.dead_reason};
    }
}

static inline void watch_link(struct router *router, unsigned port, const struct port *p)
{
    if (p->channel.state != LINK_UP || !(p->told & TOLD_UP))
        tell_link(router, port);
}

/* A dead link has forgotten them all. */
static void release_reply(struct port *port, unsigned number)
{
    port->replies_busy &= (uint8_t) ~(1u << number);
    if (port->replies_sent)
        port->replies_sent--;
}

static void release_done(struct router *router, struct port *port)
{
    struct channel *channel = &port->channel;
    struct segment segment;

    while (channel_has_done(channel) && channel_take_done(channel, &segment)) {
        router->setup_due |= router->setup_short; /* there is more room */
        stream_wake(router, port);
        switch (segment.owner) {
        case OWNER_BUFFER:
            channel_release(&router->ports[segment.port].channel, &router->agenda, segment.number,
                            segment.credit, segment.credit_bytes);
            break;
        case OWNER_SLOT: router->slots_free |= 1u << segment.number; break;
        case OWNER_REPLY: release_reply(&router->ports[segment.port], segment.number); break;
        case OWNER_HEADER: channel->headers_used--; break;
        case OWNER_SOURCE: stream_source_done(router, segment.number); break;
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
        channel_wake(channel, &router->agenda);
    }
    if (!channel_news(channel))
        return false;
    bool more = take_link(router, port);
    if (channel_has_done(channel))
        release_done(router, p);
    watch_link(router, port, p);
    return more;
}

bool router_take(struct router *router, uint64_t now_us)
{
    bool more = false;

    router->agenda.now_us = now_us;
    uint32_t left = router->attention ? *router->attention : (1u << router->port_count) - 1;
    for (; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        bool waits = port < router->port_count && look(router, port);
        more |= waits;
        if (router->attention && !waits)
            *router->attention &= ~(left & -left);
    }
    return more;
}

/* Has the channels looked at whose time has come. */
static void wake_channels(struct router *router)
{
    uint64_t wake_us = UINT64_MAX;

    for (unsigned p = 0; p < router->port_count; p++) {
        struct channel *channel = &router->ports[p].channel;
        if (channel->wake_us <= router->agenda.now_us)
            channel_wake(channel, &router->agenda);
        else if (channel->wake_us < wake_us)
            wake_us = channel->wake_us;
    }
    router->agenda.wake_us = wake_us;
}

static void flush(struct router *router, unsigned port)
{
    struct port *p = &router->ports[port];
    struct channel *channel = &p->channel;

    if (!channel_acquainted(channel, router->id) &&
        channel_greets(channel, &router->agenda, router->id)) {
        struct hello hello;
        identity_hello(router, port, &hello);
        channel_greet(channel, &router->agenda, &hello);
    }
    channel_flush(channel, &router->agenda);
    if (!channel_settled(channel, router->id))
        channel_wake(channel, &router->agenda);
    watch_link(router, port, p);
    if (channel->state == LINK_DEAD)
        release_done(router, p);
}

void router_move(struct router *router, uint64_t now_us)
{
    router->agenda.now_us = now_us;
    packet_pump(router);
    do {
        router->links_freed = false;
        circuit_pump(router);
        stream_pump(router);
    } while (router->links_freed);
}

void router_flush(struct router *router)
{
    if (router->agenda.now_us >= router->agenda.wake_us)
        wake_channels(router);
    uint32_t due = router->agenda.flush_due;
    router->agenda.flush_due = 0;
    for (; due; due &= due - 1)
        flush(router, (unsigned)__builtin_ctz(due));
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

    for (unsigned p = 0; p < router->port_count; p++)
        all &= channel_delivered(&router->ports[p].channel);
    return all;
}

void router_mark(struct router *router)
{
    for (unsigned p = 0; p < router->port_count; p++)
        channel_mark(&router->ports[p].channel);
}

uint64_t router_deadline(const struct router *router)
{
    return router->agenda.wake_us;
}

/* Whether a circuit may be started before those ahead of it are answered. When this node has
 * completed a schedule since, a hop could refuse the later one for it (rule 5) and let the earlier
 * one pass: that answer would be taken for the earlier one's. */
static bool may_open(const struct router *router, const struct circuit_source *circuit)
{
    if (router->opening_count == 0)
        return true;
    const struct source *first = &router->sources[router->opening[0]];
    return router->opening_count < CIRCUITS_MAX && first->circuit.dst == circuit->dst &&
           circuit_chains(first->circuit.flags) && circuit_chains(circuit->flags) &&
           open_epoch(first->open + FRAME_HEADER_BYTES) == router->schedules_done;
}

static unsigned first_hop(const struct router *router, const struct circuit_source *circuit)
{
    if (open_has_hops(circuit->flags)) {
        CHECK(circuit->hops && hop_list_count(circuit->hops) > 0);
        unsigned port = hop_list_at(circuit->hops, 0).port;
        if (port != HOP_DIMENSION_ORDER)
            return port;
    }
    return router_next_hop(router, circuit->dst);
}

/* Writes a source's OPEN, but for what is sent from where it lies. */
static void write_open(const struct router *router, struct source *source)
{
    const struct circuit_source *circuit = &source->circuit;
    uint8_t *packet = source->open + FRAME_HEADER_BYTES;
    uint32_t inlined = circuit->flags & OPEN_INLINE ? source->length : 0;
    struct open_body open = {.length = source->length,
                             .match = circuit->match,
                             .tag = circuit->tag,
                             .epoch = circuit->flags & OPEN_SCHEDULE ? circuit->epoch
                                                                     : router->schedules_done,
                             .flags = circuit->flags,
                             .generation = circuit->generation,
                             .clock_ns = circuit->issue_ns + router_xi(router),
                             .free_ns = router->send_free_ns};
    packet_pack(packet, PACKET_OPEN, OPEN_BODY_BYTES + source->list_bytes + inlined, router->id,
                circuit->dst);
    open_pack(packet, &open);
    if (source->list_bytes > OPEN_COPY_MAX)
        hop_list_pack(packet + OPEN_BYTES, NULL, 0);
    else if (source->list_bytes > 0)
        memcpy(packet + OPEN_BYTES, circuit->hops, source->list_bytes);
}

int router_open(struct router *router, const struct circuit_source *circuit)
{
    unsigned out = first_hop(router, circuit);

    if (!may_open(router, circuit))
        return E_BUSY;
    if (out >= router->port_count)
        return E_LINK_DEAD;
    unsigned number = (unsigned)__builtin_ctz(~router->sources_used);
    if (number >= SOURCES_MAX)
        return E_BUSY;
    struct source *source = &router->sources[number];
    router->sources_used |= 1u << number;
    source->circuit = *circuit;
    source->state = CIRCUIT_WAITING;
    source->out = (uint8_t)out;
    source->refused = false;
    source->length = circuit->bytes[0] + circuit->bytes[1];
    source->list_bytes =
        (uint16_t)(open_has_hops(circuit->flags) ? hop_list_bytes(circuit->hops) : 0);
    source->moved = 0;
    source->unacknowledged = 0;
    source->stamp = router->stamp++;
    CHECK(source->list_bytes <= HOP_LIST_BYTES_MAX);
    CHECK(!(circuit->flags & OPEN_INLINE) || source->length <= open_inline_max(source->list_bytes));
    router->setup_due = true;
    router->opening[router->opening_count++] = (uint8_t)(source - router->sources);
    write_open(router, source);
    return E_OK;
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
    return channel->state;
}

bool router_quiet(const struct router *router)
{
    if (router->sources_used)
        return false;
    for (unsigned p = 0; p < router->port_count; p++) {
        const struct port *in = &router->ports[p];
        for (unsigned i = 0; i < in->circuit_count; i++) {
            const struct circuit *circuit = &in->circuits[(in->circuit_first + i) % CIRCUITS_MAX];
            if (circuit->out == PORT_LOCAL && circuit->state == CIRCUIT_FLOWING)
                return false;
        }
    }
    return true;
}

void router_reset_clocks(struct router *router)
{
    router->send_free_ns = 0;
    router->receive_free_ns = 0;
    router->schedules_done = 0;
    for (unsigned p = 0; p < router->port_count; p++) {
        router->ports[p].free_ns = 0;
        router->ports[p].turn_epoch = 0;
        router->ports[p].turn_count = 0;
        router->ports[p].chain_ns = 0;
    }
}

void router_kill_port(struct router *router, unsigned port, int reason)
{
    channel_kill(&router->ports[port].channel, &router->agenda, (uint8_t)reason);
}

void router_forgive(struct router *router, uint64_t now_us)
{
    for (unsigned p = 0; p < router->port_count; p++)
        channel_forgive(&router->ports[p].channel, now_us);
}
