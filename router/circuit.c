/*
 * circuit.c - setting circuits up: OPEN forward, ACCEPT or REFUSE back.
 *
 * Over one directed link circuits are set up for one holder at a time (setup_holder): a single
 * circuit, or several messages from one node to one other, whose OPENs follow each other on the same
 * path like beads. Answers come back in the order of the OPENs, so an answer needs no name: it is
 * for the holder's oldest. Data of several circuits may queue on the link in the order of their
 * OPENs. Every circuit whose bytes are ahead of another's was accepted before the other's OPEN
 * passed, or is an earlier bead on the very same path; so bytes drain in the order of acceptance,
 * and the only waiting that could form a cycle is that of OPENs: the rules of README.md.
 *
 * The circuits of an in-port stand in a ring: those that flow, then those whose OPEN went on without
 * an answer yet, then those whose OPEN is held here.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/internal.h"

enum { TURNS_AT = 48 };

static uint8_t open_flags(const uint8_t *packet)
{
    return packet[30];
}

static struct circuit *circuit_at(struct port *port, unsigned index)
{
    CHECK(index < port->circuit_count);
    return &port->circuits[(port->circuit_first + index) % CIRCUITS_MAX];
}

/* The oldest circuit whose OPEN is held at a port; NULL when there is none. */
static struct circuit *oldest_held(struct port *port)
{
    return port->opens_held ? circuit_at(port, port->circuit_count - port->opens_held) : NULL;
}

/* Takes a circuit out of the ring; the later ones move up. */
static void remove_circuit(struct port *port, const struct circuit *circuit)
{
    unsigned index = 0;

    while (circuit_at(port, index) != circuit)
        index++;
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
static bool open_possible(struct port *in, const struct arrival *arrival)
{
    const uint8_t *packet = arrival->packet;
    unsigned before = unanswered(in);

    if (arrival->bytes < OPEN_BYTES || in->circuit_count == CIRCUITS_MAX ||
        packet[12] >= 2 * TURNS_MAX)
        return false;
    uint32_t length = get32(packet + 16), inlined = arrival->bytes - OPEN_BYTES;
    if (open_flags(packet) & OPEN_INLINE ? inlined != length : inlined != 0 || length == 0)
        return false;
    return before == 0 ||
           (before < CIRCUITS_MAX && circuit_chains(open_flags(packet)) &&
            circuit_chains(in->open_flags) && get32(packet + 8) == in->open_dst);
}

static bool take_answer(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = arrival->packet;
    uint32_t body = packet[0] == PACKET_ACCEPT ? 8 : 4;

    if (in->setup_count == 0 || arrival->bytes < PACKET_HEADER_BYTES + body)
        return false;
    int status = packet[0] == PACKET_ACCEPT ? E_OK : (int32_t)get32(packet + 16);
    circuit_answer(router, port, status, status == E_OK ? get64(packet + 16) : 0);
    channel_release(&in->channel, arrival->buffer, CREDIT_NONE, 0);
    return true;
}

bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = arrival->packet;

    if (packet[0] != PACKET_OPEN)
        return take_answer(router, port, arrival);
    if (!open_possible(in, arrival))
        return false;
    unsigned out = router_next_hop(router, get32(packet + 8));
    in->open_flags = open_flags(packet);
    in->open_dst = get32(packet + 8);
    in->circuit_count++;
    in->opens_held++;
    router->opens_held++;
    *circuit_at(in, in->circuit_count - 1u) =
        (struct circuit){.out = (uint8_t)(out == port ? PORT_NONE : out),
                         .state = CIRCUIT_WAITING,
                         .flags = open_flags(packet),
                         .length = get32(packet + 16),
                         .open = *arrival,
                         .stamp = router->stamp++};
    return true;
}

/* The oldest OPEN of an in-port is held no longer; its circuit stays. */
static void unhold(struct router *router, struct port *in)
{
    oldest_held(in)->open.packet = NULL;
    in->opens_held--;
    router->opens_held--;
}

/* Takes the oldest held OPEN of an in-port off; its circuit stays. */
static void drop_open(struct router *router, struct port *in)
{
    channel_release(&in->channel, oldest_held(in)->open.buffer, CREDIT_NONE, 0);
    unhold(router, in);
}

static void owe_reply(struct router *router, struct port *in, uint8_t kind, int status,
                      uint64_t done_ns)
{
    CHECK(in->owed_count < CIRCUITS_MAX);
    in->owed[in->owed_count++] = (struct reply){kind, status, done_ns};
    router->replies_owed++;
}

/* Refuses the oldest circuit that in-port `port` holds; bytes that follow it already are thrown
 * away. */
static void refuse_held(struct router *router, unsigned port, int status)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit = oldest_held(in);

    drop_open(router, in);
    if (stream_early(circuit->flags)) {
        circuit->out = PORT_NONE;
        circuit->state = CIRCUIT_FLOWING;
    } else {
        remove_circuit(in, circuit);
    }
    owe_reply(router, in, PACKET_REFUSE, status, 0);
    router->circuits_refused++;
}

/* The answer to one of this node's own circuits, opening[index]; true when no bytes of it follow. */
static bool answer_source(struct router *router, unsigned index, int status, uint64_t done_ns)
{
    unsigned number = router->opening[index];
    struct source *source = &router->sources[number];
    uint8_t flags = source->circuit.flags;
    bool bytes_follow = status == E_OK ? !(flags & OPEN_INLINE)
                                       : stream_early(flags) && source->state != CIRCUIT_WAITING;
    struct notice notice = {.kind = status == E_OK ? NOTICE_ACCEPTED : NOTICE_REFUSED,
                            .token = source->circuit.token,
                            .status = status,
                            .done_ns = done_ns};

    router->opening_count--;
    memmove(router->opening + index, router->opening + index + 1, router->opening_count - index);
    if (status == E_OK)
        router->send_free_ns = done_ns;
    router_tell(router, &notice);
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

    owe_reply(router, in, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, status, done_ns);
    if (in->newest_passed) {
        in->newest_passed = false;
        return false;
    }
    while (circuit_at(in, index)->state != CIRCUIT_OPENED || circuit_at(in, index)->out != port)
        index++;
    struct circuit *circuit = circuit_at(in, index);
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
    if (status == E_OK) {
        out->free_ns = done_ns;
        if (out->setup_flags & OPEN_SCHEDULE)
            out->turn_count++;
    }
    bool over = holder == PORT_LOCAL
                    ? answer_source(router, 0, status, done_ns)
                    : answer_passing(router, &router->ports[holder], port, status, done_ns);
    if (over && out->order_count)
        out->order_count--;
}

/* Whether a schedule's circuit has its turn on a link: 1 yes, 0 not yet, negative: never. */
static int turn(struct port *out, unsigned port, const uint8_t *packet)
{
    uint16_t epoch = get16(packet + 28);

    if (port >= TURNS_MAX)
        return E_FORMAT;
    if (epoch != out->turn_epoch) {
        if ((int16_t)(epoch - out->turn_epoch) < 0)
            return E_FORMAT;
        out->turn_epoch = epoch;
        out->turn_count = 0;
    }
    uint16_t mine = get16(packet + TURNS_AT + 2 * port);
    if (mine < out->turn_count)
        return E_FORMAT;
    return mine == out->turn_count;
}

/* Whether an OPEN from in-port `in` takes the same path as those that are being set up over `out`. */
static bool follows(const struct port *out, unsigned in, const uint8_t *packet)
{
    return out->setup_holder == in && out->setup_dst == get32(packet + 8) &&
           circuit_chains(out->setup_flags) && circuit_chains(open_flags(packet));
}

/* Whether the OPEN `packet` from in-port `in` may go over `port` now: 1, 0 to wait, negative to
 * refuse. */
static int may_pass(struct router *router, unsigned in, unsigned port, const uint8_t *packet)
{
    struct port *out = port < router->port_count ? &router->ports[port] : NULL;

    if (!out || out->channel.state == LINK_DEAD || out->channel.state == LINK_CROSSED)
        return E_LINK_DEAD;
    if (open_flags(packet) & OPEN_SCHEDULE) {
        int now = turn(out, port, packet);
        if (now <= 0)
            return now;
    } else if (out->setup_count && out->setup_flags & OPEN_SCHEDULE) {
        /* It holds links, or the place of this node's own circuits, and what it waits for may wait
         * for its turn: rule 2. */
        return E_REFUSED;
    }
    return (out->setup_count == 0 || follows(out, in, packet)) &&
           out->order_count + out->draining_count < CIRCUITS_MAX && channel_room(&out->channel, 3);
}

/* The OPEN's fields that change at each hop. */
static void pass(struct router *router, unsigned in, unsigned port, uint8_t *packet)
{
    struct port *out = &router->ports[port];

    put64(packet + 32, clock_hop(get64(packet + 32), out->free_ns, router_tau(router)));
    packet[12]++;
    out->setup_holder = (uint8_t)in;
    out->setup_count++;
    out->setup_flags = open_flags(packet);
    out->setup_dst = get32(packet + 8);
    out->order[out->order_count++] = (uint8_t)in;
    router->out_busy |= 1u << port;
}

static void pass_held(struct router *router, unsigned port, unsigned out)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit = oldest_held(in);
    struct arrival open = circuit->open;
    struct segment owner = {.owner = OWNER_BUFFER, .port = (uint8_t)port, .number = open.buffer};

    pass(router, port, out, open.packet);
    circuit->state = CIRCUIT_OPENED;
    unhold(router, in);
    router_queue_packet(router, out, open.packet - FRAME_HEADER_BYTES, open.bytes, owner);
    router->circuits_forwarded++;
}

/* An OPEN that waits for a port to be set up over: the oldest of an in-port, or this node's own. */
struct waiting {
    unsigned in, out;
    unsigned index; /* this node's own: its place in router.opening */
    uint32_t stamp;
    const uint8_t *packet;
};

static bool waiting_at(struct router *router, unsigned in, struct waiting *waiting)
{
    waiting->in = in;
    if (in == PORT_LOCAL) {
        for (unsigned i = 0; i < router->opening_count; i++) {
            const struct source *source = &router->sources[router->opening[i]];
            if (source->state != CIRCUIT_WAITING)
                continue;
            waiting->index = i;
            waiting->out = source->out;
            waiting->stamp = source->stamp;
            waiting->packet = source->open + FRAME_HEADER_BYTES;
            return true;
        }
        return false;
    }
    struct port *port = &router->ports[in];
    const struct circuit *circuit = oldest_held(port);
    if (!circuit || port->channel.state == LINK_DEAD || circuit->out == PORT_LOCAL)
        return false;
    waiting->out = circuit->out;
    waiting->stamp = circuit->stamp;
    waiting->packet = circuit->open.packet;
    return true;
}

/* The next in-port after `in`, this node itself being the last; PORT_NONE at the end. */
static unsigned next_in(const struct router *router, unsigned in)
{
    if (in == PORT_LOCAL)
        return PORT_NONE;
    return in + 1 < router->port_count ? in + 1 : PORT_LOCAL;
}

/* Whether an older OPEN from elsewhere waits for the same port: beads must not keep it out. */
static bool overtakes(struct router *router, const struct waiting *one)
{
    struct waiting other;

    for (unsigned in = 0; in != PORT_NONE; in = next_in(router, in))
        if (in != one->in && waiting_at(router, in, &other) && other.out == one->out &&
            (int32_t)(other.stamp - one->stamp) < 0)
            return true;
    return false;
}

static void refuse_waiting(struct router *router, const struct waiting *waiting, int status)
{
    if (waiting->in == PORT_LOCAL)
        answer_source(router, waiting->index, status, 0);
    else
        refuse_held(router, waiting->in, status);
}

static void pass_waiting(struct router *router, const struct waiting *waiting)
{
    if (waiting->in != PORT_LOCAL) {
        pass_held(router, waiting->in, waiting->out);
        return;
    }
    unsigned number = router->opening[waiting->index];
    struct source *source = &router->sources[number];
    pass(router, PORT_LOCAL, waiting->out, source->open + FRAME_HEADER_BYTES);
    source->state = CIRCUIT_OPENED;
    stream_source_open(router, number);
}

/* Lets the oldest circuit that may pass go on; false when none may. */
static bool pass_oldest(struct router *router)
{
    struct waiting waiting, best = {.in = PORT_NONE};

    for (unsigned in = 0; in != PORT_NONE; in = next_in(router, in)) {
        if (!waiting_at(router, in, &waiting))
            continue;
        int verdict = may_pass(router, in, waiting.out, waiting.packet);
        if (verdict < 0) {
            if (in == PORT_LOCAL && !router_notice_room(router))
                continue;
            refuse_waiting(router, &waiting, verdict);
            return true;
        }
        if (verdict > 0 && (best.in == PORT_NONE || (int32_t)(waiting.stamp - best.stamp) < 0) &&
            (router->ports[waiting.out].setup_count == 0 || !overtakes(router, &waiting)))
            best = waiting;
    }
    if (best.in == PORT_NONE)
        return false;
    pass_waiting(router, &best);
    return true;
}

static void tell_opens(struct router *router)
{
    for (unsigned p = 0; p < router->port_count && router_notice_room(router); p++) {
        struct circuit *circuit = oldest_held(&router->ports[p]);
        if (!circuit || circuit->told || circuit->out != PORT_LOCAL)
            continue;
        circuit->told = true;
        router_tell(router, &(struct notice){.kind = NOTICE_OPEN, .port = p});
    }
}

static void send_reply(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    struct reply reply = in->owed[0];
    uint8_t *frame = in->replies[in->reply_next], *packet = frame + FRAME_HEADER_BYTES;
    bool accepted = reply.kind == PACKET_ACCEPT;

    in->owed_count--;
    memmove(in->owed, in->owed + 1, in->owed_count * sizeof in->owed[0]);
    router->replies_owed--;
    in->reply_next = (uint8_t)((in->reply_next + 1) % CIRCUITS_MAX);
    in->replies_busy++;
    memset(packet, 0, PACKET_HEADER_BYTES);
    packet[0] = reply.kind;
    put16(packet + 2, REPLY_BODY);
    put64(packet + 16, accepted ? reply.done_ns : (uint64_t)(int64_t)reply.status);
    router_queue_packet(router, port, frame, PACKET_HEADER_BYTES + REPLY_BODY,
                        (struct segment){.owner = OWNER_REPLY, .port = (uint8_t)port});
}

static void send_replies(struct router *router)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        struct port *in = &router->ports[p];
        while (in->owed_count && in->replies_busy < CIRCUITS_MAX && channel_room(&in->channel, 1))
            send_reply(router, p);
    }
}

void circuit_pump(struct router *router)
{
    if (router->opens_held || router->opening_count) {
        while (pass_oldest(router))
            ;
        tell_opens(router);
    }
    if (router->replies_owed)
        send_replies(router);
}

const uint8_t *router_open_at(const struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    const struct circuit *circuit = oldest_held(in);

    return circuit && circuit->out == PORT_LOCAL ? circuit->open.packet : NULL;
}

/* Model time at which a circuit's bytes begin to flow into this node. */
static uint64_t start_of(const struct router *router, const struct port *in, const uint8_t *packet,
                         uint64_t ready_ns)
{
    uint64_t start_ns = get64(packet + 32);

    /* The links of its path are not free before the circuit ahead of it on the same path is done; it
     * may have passed them before that was known. */
    if (circuit_chains(open_flags(packet)) && in->chain_src == get32(packet + 4))
        start_ns =
            clock_max(start_ns, in->chain_ns + (uint64_t)packet[12] * router->profile.tau_ns);
    if (!router->profile.all_port)
        start_ns = clock_max(start_ns, clock_max(get64(packet + 40), router->receive_free_ns));
    return clock_max(start_ns, ready_ns);
}

uint64_t router_accept(struct router *router, unsigned port, const struct circuit_sink *sink)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = router_open_at(router, port);

    CHECK(packet);
    struct circuit *circuit = oldest_held(in);
    uint64_t done_ns = start_of(router, in, packet, sink->ready_ns) +
                       clock_transfer(&router->profile, packet[12], circuit->length);
    router->receive_free_ns = done_ns;
    in->chain_src = get32(packet + 4);
    in->chain_ns = done_ns;
    circuit->sink = *sink;
    circuit->state = CIRCUIT_FLOWING;
    if (circuit->flags & OPEN_INLINE) {
        uint32_t bytes = circuit->length < sink->room ? circuit->length : sink->room;
        memcpy(sink->data, packet + OPEN_BYTES, bytes);
    }
    drop_open(router, in);
    if (circuit->flags & OPEN_INLINE)
        remove_circuit(in, circuit);
    owe_reply(router, in, PACKET_ACCEPT, E_OK, done_ns);
    return done_ns;
}

void router_refuse(struct router *router, unsigned port, int reason)
{
    CHECK(router_open_at(router, port));
    refuse_held(router, port, reason);
}

void circuit_port_dead(struct router *router, unsigned port)
{
    struct port *dead = &router->ports[port];

    while (dead->setup_count)
        circuit_answer(router, port, E_LINK_DEAD, 0);
    while (dead->opens_held) {
        struct circuit *circuit = oldest_held(dead);
        drop_open(router, dead);
        remove_circuit(dead, circuit);
    }
    router->replies_owed -= dead->owed_count;
    dead->owed_count = 0;
    dead->replies_busy = 0;
}
