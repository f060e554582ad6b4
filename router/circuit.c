/*
 * circuit.c - setting circuits up: OPEN forward, ACCEPT or REFUSE back.
 *
 * Over one directed link circuits are set up for one holder at a time (setup_holder): a single
 * circuit, or several messages from one node to one other, whose OPENs follow each other on the
 * same path. Answers come back in the order of the OPENs, so an answer needs no name: it is for the
 * holder's oldest. Data of several circuits may queue on the link in the order of their
 * OPENs. Every circuit whose bytes are ahead of another's was accepted before the other's OPEN
 * passed, or goes ahead of it on the very same path; so bytes drain in the order of acceptance,
 * and the only waiting that could form a cycle is that of OPENs: the rules of README.md.
 *
 * What the links of a path learn only with the answer (when they are free again), the receiver adds
 * to the model time of the next bead. A bead never follows one from before a collective: rule 5
 * could have the later one answered first. Refused: several messages in one OPEN, which would need
 * room for all of them at each hop.
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
#include "router/circuit_state.h"
#include "router/identity.h"
#include "router/lane.h"
#include "router/notice.h"
#include "router/packet.h"
#include "router/port.h"
#include "router/recorder.h"
#include "router/segment.h"
#include "router/setup.h"
#include "router/source.h"
#include "router/state.h"
#include "router/stream.h"
#include "router/due.h"
#include "wire/circuit.h"
#include "wire/packet.h"

/* The only place where a circuit's state changes. */
static void enter(struct circuit *circuit, enum circuit_state next)
{
    CHECK(circuit_follows(circuit->state, next));
    circuit->state = (uint8_t)next;
}

/* Takes a circuit out of the ring; the later ones move up. */
static void leave_ring(struct port *in, struct circuit *circuit)
{
    unsigned index = 0;

    if (circuit == &in->circuits[in->circuit_first]) {
        in->circuit_first = (uint8_t)((in->circuit_first + 1) % CIRCUITS_MAX);
        in->circuit_count--;
        return;
    }
    while (circuit_at(in, index) != circuit) {
        index++;
    }
    CHECK(index < in->circuit_count);
    for (; index + 1 < in->circuit_count; index++) {
        *circuit_at(in, index) = *circuit_at(in, index + 1);
    }
    in->circuit_count--;
    circuit_at(in, in->circuit_count)->state = CIRCUIT_FREE;
}

/* One that has no answer yet is a schedule's whose bytes have all gone on: the answer is still to
 * be passed back. */
void circuit_close(struct router *router, unsigned port, struct circuit *circuit)
{
    struct port *in = &router->ports[port];

    if (circuit->state == CIRCUIT_OPENED) {
        in->newest_passed = true;
    }
    enter(circuit, CIRCUIT_FREE);
    leave_ring(in, circuit);
    if (in->circuit_count == 0 && channel_piece(&in->channel)) {
        due_bytes(router, port); /* they are nobody's */
    }
}

void circuit_discard(struct router *router, unsigned port, struct circuit *circuit)
{
    circuit->out = PORT_NONE;
    if (circuit->state != CIRCUIT_FLOWING) {
        enter(circuit, CIRCUIT_FLOWING);
    }
    due_bytes(router, port);
}

/* Circuits from a neighbour for which it has not been sent an answer. */
static unsigned unanswered(struct port *in)
{
    unsigned count = in->due_count + in->newest_passed;

    for (unsigned i = 0; i < in->circuit_count; i++) {
        count += circuit_at(in, i)->state != CIRCUIT_FLOWING;
    }
    return count;
}

/* Whether a neighbour may send this OPEN now. What is not so is not refused but ends the link: an
 * answer to it could be taken for another's. */
static bool may_come(const struct router *router, struct port *in, const struct arrival *arrival)
{
    const uint8_t *packet = arrival->packet;
    unsigned before = unanswered(in);

    if (!open_possible(packet, arrival->bytes) || in->circuit_count == CIRCUITS_MAX ||
        packet_hops(packet) >= router->hops_max) {
        return false;
    }
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

    if (in->setup_count == 0 || !unpack_answer(arrival, &accept, &refuse)) {
        return false;
    }
    circuit_answer(router, port, refuse.reason, accept);
    channel_drop(&in->channel, arrival->buffer);
    return true;
}

/* Where an OPEN that has arrived goes: what its list says of a hop comes before the network. */
static unsigned circuit_next_hop(const struct router *router, const uint8_t *packet)
{
    unsigned out = router_next_hop(router, packet_dst(packet));
    struct open_hop hop;

    if (out == PORT_LOCAL || !open_has_hops(open_flags(packet))) {
        return out;
    }
    if (!open_next_hop(packet, &hop)) {
        return PORT_NONE;
    }
    if (hop.port == HOP_DIMENSION_ORDER) {
        return out;
    }
    return hop.port < router->port_count ? hop.port : PORT_NONE;
}

/* An OPEN has arrived for which there is a place. */
static void hold(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    unsigned out = circuit_next_hop(router, arrival->packet);

    in->open_flags = open_flags(arrival->packet);
    in->open_dst = packet_dst(arrival->packet);
    if (in->circuit_count == 0) {
        in->circuit_first = 0;
    }
    struct circuit *circuit = circuit_at(in, in->circuit_count++);
    enter(circuit, CIRCUIT_HELD);
    *circuit = (struct circuit){.out = (uint8_t)(out == port ? PORT_NONE : out),
                                .state = circuit->state,
                                .flags = in->open_flags,
                                .length = open_length(arrival->packet),
                                .open = *arrival,
                                .stamp = router->stamp++};
    if (in->opens_held++ == 0) {
        due_held(router, port, circuit->out == PORT_LOCAL);
    }
}

bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival)
{
    if (packet_kind(arrival->packet) != PACKET_OPEN) {
        return take_answer(router, port, arrival);
    }
    if (!may_come(router, &router->ports[port], arrival)) {
        return false;
    }
    hold(router, port, arrival);
    return true;
}

/* The oldest OPEN of an in-port is held no longer; its circuit stays. */
static void unhold(struct router *router, unsigned port, struct circuit *circuit)
{
    struct port *in = &router->ports[port];

    circuit->open.packet = NULL;
    due_unheld(router, port);
    if (--in->opens_held > 0) {
        due_held(router, port, circuit_held(in)->out == PORT_LOCAL);
    }
}

struct arrival circuit_pass(struct router *router, unsigned port)
{
    struct circuit *circuit = circuit_held(&router->ports[port]);
    struct arrival open = circuit->open;

    enter(circuit, CIRCUIT_OPENED);
    unhold(router, port, circuit);
    return open;
}

/* The same, and its packet is not needed any more. */
static void drop_open(struct router *router, unsigned port, struct circuit *circuit)
{
    channel_drop(&router->ports[port].channel, circuit->open.buffer);
    unhold(router, port, circuit);
}

/* An answer to the neighbour that a circuit came from: ACCEPT, or REFUSE with the reason. */
static void owe_reply(struct router *router, unsigned port, int status, struct accept_body accept)
{
    struct port *in = &router->ports[port];

    if (in->channel.state == LINK_DEAD) {
        return; /* there is nobody to be told */
    }
    CHECK(in->due_count < CIRCUITS_MAX && in->replies_busy != UINT8_MAX);
    unsigned number = (unsigned)__builtin_ctz(~(unsigned)in->replies_busy);
    uint8_t *packet = in->replies[number] + FRAME_HEADER_BYTES;

    packet_pack(packet, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, ANSWER_BYTES, 0, 0);
    if (status == E_OK) {
        accept_pack(packet + PACKET_HEADER_BYTES, &accept);
    } else {
        refuse_pack(packet + PACKET_HEADER_BYTES, &(struct refuse_body){status});
    }
    in->replies_busy |= (uint8_t)(1u << number);
    in->due |= (uint16_t)(number << DUE_BITS * in->due_count++);
    due_reply(router, port);
}

void circuit_refuse(struct router *router, unsigned port, int status)
{
    struct circuit *circuit = circuit_held(&router->ports[port]);

    drop_open(router, port, circuit);
    if (stream_early(circuit->flags)) {
        circuit_discard(router, port, circuit);
    } else {
        circuit_close(router, port, circuit);
    }
    owe_reply(router, port, status, (struct accept_body){0});
    router->circuits_refused++;
}

/* The oldest circuit of an in-port that has been set up over `out` and has no answer. */
static struct circuit *oldest_opened(struct port *in, unsigned out)
{
    unsigned index = 0;

    while (circuit_at(in, index)->state != CIRCUIT_OPENED || circuit_at(in, index)->out != out) {
        CHECK(++index < in->circuit_count);
    }
    return circuit_at(in, index);
}

/* The answer to the oldest circuit of in-port `port` that went over `out`; true when no bytes of it
 * follow. */
static bool answer_passing(struct router *router, unsigned port, unsigned out, int status,
                           struct accept_body accept)
{
    struct port *in = &router->ports[port];

    owe_reply(router, port, status, accept);
    if (in->newest_passed) {
        in->newest_passed = false;
        return false;
    }
    struct circuit *circuit = oldest_opened(in, out);
    bool over = circuit->flags & OPEN_INLINE || (status != E_OK && !stream_early(circuit->flags));
    enter(circuit, CIRCUIT_FLOWING);
    if (over) {
        circuit_close(router, port, circuit);
    }
    return over;
}

/* An answer has come in over the link, or the link has died. Its circuit is the oldest of the one
 * holder that the link is being set up for, so it needs no name. */
void circuit_answer(struct router *router, unsigned port, int status, struct accept_body accept)
{
    unsigned holder = setup_end(router, port, status, accept.done_ns);
    bool over = holder == PORT_LOCAL ? source_answer(router, 0, status, accept)
                                     : answer_passing(router, holder, port, status, accept);

    if (over) {
        lane_leave(&router->ports[port]);
    }
}

/* Tells the owner of the OPENs that are for it, but of those that come too early. */
static void offer_opens(struct router *router)
{
    for (uint32_t left = router->unoffered_ports; left;) {
        unsigned port = due_next(&left);
        struct circuit *circuit = circuit_held(&router->ports[port]);
        if (setup_early(router, circuit->open.packet)) {
            circuit_refuse(router, port, E_BUSY);
            continue;
        }
        if (!notice_room(router)) {
            due_unsaid(router);
            return;
        }
        enter(circuit, CIRCUIT_OFFERED);
        due_announced(router, port);
        *notice_add(router) = (struct notice){.kind = NOTICE_OPEN, .port = port};
    }
}

static void send_reply(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    unsigned number = in->due & DUE_MASK;

    in->due_count--;
    in->due = (uint16_t)(in->due >> DUE_BITS);
    in->replies_sent++;
    struct segment *segment =
        packet_queue(router, port, in->replies[number], PACKET_HEADER_BYTES + ANSWER_BYTES);
    segment->owner = OWNER_REPLY;
    segment->port = (uint8_t)port;
    segment->number = (uint16_t)number;
}

/* Sends answers as far as there is room. A neighbour has memory for no more than CIRCUITS_MAX that
 * it has not acknowledged, and needs no more: it has no more circuits here. */
static void send_replies(struct router *router)
{
    for (uint32_t left = router->replies_due; left;) {
        unsigned port = due_next(&left);
        struct port *in = &router->ports[port];
        while (in->due_count && in->replies_sent < CIRCUITS_MAX && channel_room(&in->channel, 1)) {
            send_reply(router, port);
        }
        if (in->due_count == 0) {
            due_replies_sent(router, port);
        }
    }
}

/* Answers go last: what has been refused just now has one. */
void circuit_pump(struct router *router)
{
    if (router->setup_due) {
        due_setup_taken(router);
        while (setup_waits(router) && setup_pass_oldest(router)) {
            ;
        }
        if (router->unoffered_ports) {
            offer_opens(router);
        }
    }
    if (router->replies_due) {
        send_replies(router);
    }
}

const uint8_t *circuit_open_at(const struct router *router, unsigned port)
{
    const struct circuit *circuit = circuit_held(&router->ports[port]);

    return circuit && circuit->out == PORT_LOCAL ? circuit->open.packet : NULL;
}

/* Model time at which a circuit's bytes begin to flow into this node. */
static uint64_t start_of(const struct router *router, const struct port *in, const uint8_t *packet,
                         const struct circuit_sink *sink)
{
    uint64_t start_ns = open_clock(packet);

    /* The links of its path are not free before the circuit ahead of it on the same path is done;
     * it may have passed them before that was known. */
    if (circuit_chains(open_flags(packet)) && in->chain_src == packet_src(packet)) {
        start_ns = clock_max(start_ns,
                             in->chain_ns + (uint64_t)packet_hops(packet) * router->profile.tau_ns);
    }
    start_ns = clock_max(start_ns, open_free(packet));
    unsigned place = identity_port(router, sink->port);
    if (place < CLOCK_PORTS_MAX) {
        start_ns = clock_max(start_ns, router->receive_free_ns[place]);
    }
    return clock_max(start_ns, sink->ready_ns);
}

/* The model time of completion is known here, before a byte has come: the papers' cost depends on
 * lengths, hops and the times at which the links are free, which the OPEN has collected. */
uint64_t circuit_accept(struct router *router, unsigned port, const struct circuit_sink *sink)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = circuit_open_at(router, port);

    CHECK(packet);
    struct circuit *circuit = circuit_held(in);
    uint64_t start_ns = start_of(router, in, packet, sink);
    uint64_t done_ns =
        start_ns + clock_transfer(&router->profile, packet_hops(packet), open_charged(packet));
    struct accept_body accept = {.done_ns = done_ns,
                                 .other_length = circuit->flags & OPEN_SCHEDULE &&
                                                 circuit->length != sink->room + sink->more};
    unsigned place = identity_port(router, sink->port);
    if (router->recorder) {
        recorder_sink(router, port, sink, start_ns, done_ns);
    }
    if (place < CLOCK_PORTS_MAX) {
        router->receive_free_ns[place] = done_ns;
    }
    router->progress++;
    in->chain_src = packet_src(packet);
    in->chain_ns = done_ns;
    circuit->sink = *sink;
    enter(circuit, CIRCUIT_FLOWING);
    due_bytes(router, port);
    if (circuit->flags & OPEN_INLINE) {
        uint32_t bytes = circuit->length < sink->room ? circuit->length : sink->room;
        CHECK(bytes == circuit->length || sink->more == 0);
        memcpy(sink->data, open_inlined(packet), bytes);
    }
    drop_open(router, port, circuit);
    if (circuit->flags & OPEN_INLINE) {
        circuit_close(router, port, circuit);
    }
    owe_reply(router, port, E_OK, accept);
    return done_ns;
}

/* In this order: answers first, for they are owed to those whose OPENs went out here; then the
 * OPENs that came in here, whose senders nobody can answer; then the answers that were owed there.
 * Bytes are stream_port_dead's. */
void circuit_port_dead(struct router *router, unsigned port)
{
    struct port *dead = &router->ports[port];

    while (dead->setup_count) {
        circuit_answer(router, port, E_LINK_DEAD, (struct accept_body){0});
    }
    while (dead->opens_held) {
        struct circuit *circuit = circuit_held(dead);
        drop_open(router, port, circuit);
        circuit_close(router, port, circuit);
    }
    due_replies_sent(router, port);
    dead->due_count = 0;
    dead->due = 0;
    dead->replies_sent = dead->replies_busy = 0;
}
