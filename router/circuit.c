/*
 * circuit.c - setting circuits up: OPEN forward, ACCEPT or REFUSE back.
 *
 * Over one directed link circuits are set up for one holder at a time (setup_holder): a single
 * circuit, or several messages from one node to one other, whose OPENs follow each other on the
 * same path like beads. Answers come back in the order of the OPENs, so an answer needs no name: it
 * is for the holder's oldest. Data of several circuits may queue on the link in the order of their
 * OPENs. Every circuit whose bytes are ahead of another's was accepted before the other's OPEN
 * passed, or is an earlier bead on the very same path; so bytes drain in the order of acceptance,
 * and the only waiting that could form a cycle is that of OPENs: the rules of README.md.
 *
 * The circuits of an in-port stand in a ring: those that flow, then those whose OPEN went on
 * without an answer yet, then those whose OPEN is held here.
 */
#include "router/circuit.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/internal.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"
#include "router/segment.h"
#include "router/state.h"
#include "wire/circuit.h"
#include "wire/packet.h"

/* Takes a circuit out of the ring; the later ones move up. */
static void remove_circuit(struct port *port, const struct circuit *circuit)
{
    unsigned index = 0;

    while (circuit_at(port, index) != circuit)
        index++;
    CHECK(index < port->circuit_count);
    for (; index + 1 < port->circuit_count; index++)
        *circuit_at(port, index) = *circuit_at(port, index + 1);
    port->circuit_count--;
}

/* Circuits from a neighbour for which it has not been sent an answer. */
static unsigned unanswered(struct port *in)
{
    unsigned count = in->owed_count + in->newest_passed;

    for (unsigned i = 0; i < in->circuit_count; i++)
        count += circuit_at(in, i)->state != CIRCUIT_FLOWING;
    return count;
}

/* Whether a neighbour may send this OPEN now. */
static bool may_come(const struct router *router, struct port *in, const struct arrival *arrival)
{
    const uint8_t *packet = arrival->packet;
    unsigned before = unanswered(in);

    if (!open_possible(packet, arrival->bytes) || in->circuit_count == CIRCUITS_MAX ||
        packet_hops(packet) >= router->hops_max)
        return false;
    return before == 0 || (before < CIRCUITS_MAX && circuit_chains(open_flags(packet)) &&
                           circuit_chains(in->open_flags) && packet_dst(packet) == in->open_dst);
}

/* Fills one of the two; false when the packet is neither. */
static bool unpack_answer(const struct arrival *arrival, struct accept_body *accept,
                          struct refuse_body *refuse)
{
    const uint8_t *body = packet_body(arrival->packet);
    uint32_t bytes = arrival->bytes - PACKET_HEADER_BYTES;

    switch (packet_kind(arrival->packet)) {
    case PACKET_ACCEPT: return accept_unpack(body, bytes, accept);
    case PACKET_REFUSE: return refuse_unpack(body, bytes, refuse);
    default: return false;
    }
}

static bool take_answer(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    struct accept_body accept = {0};
    struct refuse_body refuse = {E_OK};

    if (in->setup_count == 0 || !unpack_answer(arrival, &accept, &refuse))
        return false;
    circuit_answer(router, port, refuse.reason, accept.done_ns);
    channel_drop(&in->channel, arrival->buffer);
    return true;
}

/* The oldest OPEN held at a port is another one now. */
static void note_held(struct router *router, unsigned port, const struct circuit *circuit)
{
    uint32_t bit = 1u << port;

    router->held_ports |= bit;
    if (circuit->out == PORT_LOCAL)
        router->untold_ports |= bit;
    else
        router->passing_ports |= bit;
}

/* Where an OPEN that has arrived goes: what its list says of a hop comes before the network. */
static unsigned circuit_next_hop(const struct router *router, const uint8_t *packet)
{
    unsigned out = router_next_hop(router, packet_dst(packet));
    struct open_hop hop;

    if (out == PORT_LOCAL || !open_has_hops(open_flags(packet)))
        return out;
    if (!open_next_hop(packet, &hop))
        return PORT_NONE;
    if (hop.port == HOP_DIMENSION_ORDER)
        return out;
    return hop.port < router->port_count ? hop.port : PORT_NONE;
}

bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = arrival->packet;

    if (packet_kind(packet) != PACKET_OPEN)
        return take_answer(router, port, arrival);
    if (!may_come(router, in, arrival))
        return false;
    unsigned out = circuit_next_hop(router, packet);
    in->open_flags = open_flags(packet);
    in->open_dst = packet_dst(packet);
    if (in->circuit_count == 0)
        in->circuit_first = 0;
    router->setup_due = true;
    struct circuit *circuit = circuit_at(in, in->circuit_count++);
    *circuit = (struct circuit){.out = (uint8_t)(out == port ? PORT_NONE : out),
                                .state = CIRCUIT_WAITING,
                                .flags = open_flags(packet),
                                .length = open_length(packet),
                                .open = *arrival,
                                .stamp = router->stamp++};
    if (in->opens_held++ == 0)
        note_held(router, port, circuit);
    return true;
}

void circuit_unhold(struct router *router, unsigned port, struct circuit *circuit)
{
    struct port *in = &router->ports[port];
    uint32_t others = ~(1u << port);

    circuit->open.packet = NULL;
    router->setup_due = true;
    router->held_ports &= others;
    router->passing_ports &= others;
    router->untold_ports &= others;
    if (--in->opens_held > 0)
        note_held(router, port, circuit_held(in));
}

/* Takes the oldest held OPEN of an in-port off; its circuit stays. */
static void drop_open(struct router *router, unsigned port, struct circuit *circuit)
{
    channel_drop(&router->ports[port].channel, circuit->open.buffer);
    circuit_unhold(router, port, circuit);
}

/* An answer to the neighbour that a circuit came from: ACCEPT with its model time of completion, or
 * REFUSE with the reason. */
static void owe_reply(struct router *router, struct port *in, int status, uint64_t done_ns)
{
    if (in->channel.state == LINK_DEAD)
        return; /* there is nobody to be told */
    CHECK(in->owed_count < CIRCUITS_MAX && in->replies_busy != UINT8_MAX);
    unsigned number = (unsigned)__builtin_ctz(~(unsigned)in->replies_busy);
    uint8_t *packet = in->replies[number] + FRAME_HEADER_BYTES;

    packet_pack(packet, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, ANSWER_BYTES, 0, 0);
    if (status == E_OK)
        accept_pack(packet + PACKET_HEADER_BYTES, &(struct accept_body){done_ns});
    else
        refuse_pack(packet + PACKET_HEADER_BYTES, &(struct refuse_body){status});
    in->replies_busy |= (uint8_t)(1u << number);
    in->owed |= (uint16_t)(number << OWED_BITS * in->owed_count++);
    router->owed_ports |= in->channel.due_bit;
}

/* Refuses the oldest circuit that in-port `port` holds; bytes that follow it already are thrown
 * away. */
void circuit_refuse(struct router *router, unsigned port, int status)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit = circuit_held(in);

    drop_open(router, port, circuit);
    if (stream_early(circuit->flags)) {
        circuit->out = PORT_NONE;
        circuit->state = CIRCUIT_FLOWING;
        router->in_due |= 1u << port;
    } else {
        remove_circuit(in, circuit);
    }
    owe_reply(router, in, status, 0);
    router->circuits_refused++;
}

/* The answer to one of this node's own circuits, opening[index]; true when no bytes of it follow.
 */
bool circuit_answer_source(struct router *router, unsigned index, int status, uint64_t done_ns)
{
    unsigned number = router->opening[index];
    struct source *source = &router->sources[number];
    uint8_t flags = source->circuit.flags;
    bool bytes_follow = status == E_OK ? !(flags & OPEN_INLINE)
                                       : stream_early(flags) && source->state != CIRCUIT_WAITING;

    router->opening_count--;
    if (index < router->opening_passed)
        router->opening_passed--;
    for (unsigned i = index; i < router->opening_count; i++)
        router->opening[i] = router->opening[i + 1];
    if (status == E_OK)
        router->send_free_ns = done_ns;
    *router_tell(router) =
        (struct notice){.kind = status == E_OK ? NOTICE_ACCEPTED : NOTICE_REFUSED,
                        .token = source->circuit.token,
                        .status = status,
                        .done_ns = done_ns};
    source->refused = status != E_OK;
    if (source->state != CIRCUIT_CLOSED)
        source->state = bytes_follow ? CIRCUIT_FLOWING : CIRCUIT_CLOSED;
    stream_source_check(router, number);
    return !bytes_follow;
}

/* The answer to the oldest circuit of in-port `in` that went over `port`; true when no bytes of it
 * follow. */
static bool answer_passing(struct router *router, struct port *in, unsigned port, int status,
                           uint64_t done_ns)
{
    unsigned index = 0;

    owe_reply(router, in, status, done_ns);
    if (in->newest_passed) {
        in->newest_passed = false;
        return false;
    }
    struct circuit *circuit = circuit_at(in, index);
    while (circuit->state != CIRCUIT_OPENED || circuit->out != port) {
        index++;
        CHECK(index < in->circuit_count);
        circuit = circuit_at(in, index);
    }
    bool over = circuit->flags & OPEN_INLINE || (status != E_OK && !stream_early(circuit->flags));
    if (over)
        remove_circuit(in, circuit);
    else
        circuit->state = CIRCUIT_FLOWING;
    return over;
}

void circuit_answer(struct router *router, unsigned port, int status, uint64_t done_ns)
{
    struct port *out = &router->ports[port];
    unsigned holder = out->setup_holder;

    if (--out->setup_count == 0)
        out->setup_holder = PORT_NONE;
    router->setup_due = true;
    if (status == E_OK) {
        router->progress++;
        out->free_ns = done_ns;
        if (out->setup_flags & OPEN_SCHEDULE)
            out->turn_count++;
    }
    bool over = holder == PORT_LOCAL
                    ? circuit_answer_source(router, 0, status, done_ns)
                    : answer_passing(router, &router->ports[holder], port, status, done_ns);
    if (over && out->order_count)
        out->order_count--;
}

static void tell_opens(struct router *router)
{
    for (uint32_t left = router->untold_ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        struct circuit *circuit = circuit_held(&router->ports[port]);
        if (setup_early(router, circuit->open.packet)) {
            circuit_refuse(router, port, E_BUSY);
            continue;
        }
        if (!router_notice_room(router)) {
            router->setup_due = true;
            return;
        }
        router->untold_ports &= ~(1u << port);
        *router_tell(router) = (struct notice){.kind = NOTICE_OPEN, .port = port};
    }
}

static void send_reply(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    unsigned number = in->owed & OWED_MASK;

    in->owed_count--;
    in->owed = (uint16_t)(in->owed >> OWED_BITS);
    in->replies_sent++;
    struct segment *segment =
        router_queue_packet(router, port, in->replies[number], PACKET_HEADER_BYTES + ANSWER_BYTES);
    segment->owner = OWNER_REPLY;
    segment->port = (uint8_t)port;
    segment->number = (uint16_t)number;
}

static void send_replies(struct router *router)
{
    for (uint32_t left = router->owed_ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        struct port *in = &router->ports[port];
        while (in->owed_count && in->replies_sent < CIRCUITS_MAX && channel_room(&in->channel, 1))
            send_reply(router, port);
        if (in->owed_count == 0)
            router->owed_ports &= ~(1u << port);
    }
}

void circuit_pump(struct router *router)
{
    if (router->setup_due) {
        router->setup_due = false;
        router->setup_short = false;
        while (setup_waits(router) && setup_pass_oldest(router))
            ;
        if (router->untold_ports)
            tell_opens(router);
    }
    if (router->owed_ports)
        send_replies(router);
}

const uint8_t *router_open_at(const struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    const struct circuit *circuit = circuit_held(in);

    return circuit && circuit->out == PORT_LOCAL ? circuit->open.packet : NULL;
}

/* Model time at which a circuit's bytes begin to flow into this node. */
static uint64_t start_of(const struct router *router, const struct port *in, const uint8_t *packet,
                         uint64_t ready_ns)
{
    uint64_t start_ns = open_clock(packet);

    /* The links of its path are not free before the circuit ahead of it on the same path is done;
     * it may have passed them before that was known. */
    if (circuit_chains(open_flags(packet)) && in->chain_src == packet_src(packet))
        start_ns = clock_max(start_ns,
                             in->chain_ns + (uint64_t)packet_hops(packet) * router->profile.tau_ns);
    if (!router->profile.all_port)
        start_ns = clock_max(start_ns, clock_max(open_free(packet), router->receive_free_ns));
    return clock_max(start_ns, ready_ns);
}

uint64_t router_accept(struct router *router, unsigned port, const struct circuit_sink *sink)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = router_open_at(router, port);

    CHECK(packet);
    struct circuit *circuit = circuit_held(in);
    uint64_t done_ns = start_of(router, in, packet, sink->ready_ns) +
                       clock_transfer(&router->profile, packet_hops(packet), circuit->length);
    router->receive_free_ns = done_ns;
    router->progress++;
    in->chain_src = packet_src(packet);
    in->chain_ns = done_ns;
    circuit->sink = *sink;
    circuit->state = CIRCUIT_FLOWING;
    router->in_due |= 1u << port;
    if (circuit->flags & OPEN_INLINE) {
        uint32_t bytes = circuit->length < sink->room ? circuit->length : sink->room;
        memcpy(sink->data, open_inlined(packet), bytes);
    }
    drop_open(router, port, circuit);
    if (circuit->flags & OPEN_INLINE)
        remove_circuit(in, circuit);
    owe_reply(router, in, E_OK, done_ns);
    return done_ns;
}

void router_refuse(struct router *router, unsigned port, int reason)
{
    CHECK(router_open_at(router, port));
    circuit_refuse(router, port, reason);
}

void circuit_port_dead(struct router *router, unsigned port)
{
    struct port *dead = &router->ports[port];

    while (dead->setup_count)
        circuit_answer(router, port, E_LINK_DEAD, 0);
    while (dead->opens_held) {
        struct circuit *circuit = circuit_held(dead);
        drop_open(router, port, circuit);
        remove_circuit(dead, circuit);
    }
    router->owed_ports &= ~(1u << port);
    dead->owed_count = 0;
    dead->owed = 0;
    dead->replies_sent = dead->replies_busy = 0;
}
