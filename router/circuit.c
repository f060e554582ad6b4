/*
 * circuit.c - setting circuits up: OPEN forward, ACCEPT or REFUSE back.
 *
 * Over one directed link at most one circuit is being set up at a time (setup_holder), so an answer
 * that comes back needs no name: it is for the holder. Data of several circuits may queue on the
 * link in the order of their OPENs. Every circuit whose bytes are ahead of another's was accepted
 * before the other's OPEN passed, so bytes drain in the order of acceptance, and the only waiting
 * that could form a cycle is that of OPENs: the rules of README.md.
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

static struct circuit *newest(struct port *port)
{
    CHECK(port->circuit_count > 0);
    return &port->circuits[(port->circuit_first + port->circuit_count - 1) % CIRCUITS_MAX];
}

bool circuit_take(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = arrival->packet;
    uint32_t inlined = arrival->bytes - OPEN_BYTES;

    if (packet[0] != PACKET_OPEN) {
        uint32_t body = packet[0] == PACKET_ACCEPT ? 8 : 4;
        if (in->setup_holder == PORT_NONE || arrival->bytes < PACKET_HEADER_BYTES + body)
            return false;
        int status = packet[0] == PACKET_ACCEPT ? E_OK : (int32_t)get32(packet + 16);
        circuit_answer(router, port, status, status == E_OK ? get64(packet + 16) : 0);
        channel_release(&in->channel, arrival->buffer, CREDIT_NONE, 0);
        return true;
    }
    if (arrival->bytes < OPEN_BYTES || in->open.packet || in->circuit_count == CIRCUITS_MAX ||
        packet[12] >= 2 * TURNS_MAX)
        return false;
    bool is_inline = open_flags(packet) & OPEN_INLINE;
    uint32_t length = get32(packet + 16);
    if (is_inline ? inlined != length : inlined != 0 || length == 0)
        return false;
    unsigned out = router_next_hop(router, get32(packet + 8));
    in->circuit_count++;
    *newest(in) = (struct circuit){.out = (uint8_t)(out == port ? PORT_NONE : out),
                                   .state = CIRCUIT_WAITING,
                                   .flags = open_flags(packet),
                                   .length = length};
    in->open = *arrival;
    router->opens_held++;
    in->open_stamp = router->stamp++;
    in->open_told = false;
    return true;
}

/* Takes the held OPEN of an in-port off; its circuit stays. */
static void drop_open(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];

    channel_release(&in->channel, in->open.buffer, CREDIT_NONE, 0);
    in->open.packet = NULL;
    router->opens_held--;
}

static void owe_reply(struct router *router, struct port *in, uint8_t kind, int status,
                      uint64_t done_ns)
{
    router->replies_owed += in->reply_kind == 0;
    in->reply_kind = kind;
    in->reply_status = status;
    in->reply_done_ns = done_ns;
}

/* Refuses the circuit whose OPEN in-port `port` holds; bytes that follow it already are thrown
 * away. */
static void refuse_held(struct router *router, unsigned port, int status)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit = newest(in);

    drop_open(router, port);
    if (stream_early(circuit->flags)) {
        circuit->out = PORT_NONE;
        circuit->state = CIRCUIT_FLOWING;
    } else {
        in->circuit_count--;
    }
    owe_reply(router, in, PACKET_REFUSE, status, 0);
    router->circuits_refused++;
}

/* The answer to this node's own circuit; true when no bytes of it follow. */
static bool answer_source(struct router *router, int status, uint64_t done_ns)
{
    struct source *source = &router->sources[router->source_opening];
    uint8_t flags = source->circuit.flags;
    bool bytes_follow = status == E_OK ? !(flags & OPEN_INLINE)
                                       : stream_early(flags) && source->state != CIRCUIT_WAITING;
    struct notice notice = {.kind = status == E_OK ? NOTICE_ACCEPTED : NOTICE_REFUSED,
                            .token = source->circuit.token,
                            .status = status,
                            .done_ns = done_ns};

    router->source_opening = SOURCES_MAX;
    if (status == E_OK)
        router->send_free_ns = done_ns;
    router_tell(router, &notice);
    source->refused = status != E_OK;
    if (source->state != CIRCUIT_CLOSED)
        source->state = bytes_follow ? CIRCUIT_FLOWING : CIRCUIT_CLOSED;
    stream_source_check(router, (unsigned)(source - router->sources));
    return !bytes_follow;
}

/* The answer to a circuit that came in at `port`; true when no bytes of it follow. */
static bool answer_passing(struct router *router, unsigned port, int status, uint64_t done_ns)
{
    struct port *in = &router->ports[port];
    bool over = false;

    owe_reply(router, in, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, status, done_ns);
    if (in->newest_passed) {
        in->newest_passed = false;
        return false;
    }
    struct circuit *circuit = newest(in);
    over = circuit->flags & OPEN_INLINE || (status != E_OK && !stream_early(circuit->flags));
    if (over)
        in->circuit_count--;
    else
        circuit->state = CIRCUIT_FLOWING;
    return over;
}

void circuit_answer(struct router *router, unsigned port, int status, uint64_t done_ns)
{
    struct port *out = &router->ports[port];
    unsigned holder = out->setup_holder;

    out->setup_holder = PORT_NONE;
    if (status == E_OK) {
        out->free_ns = done_ns;
        if (out->setup_schedule)
            out->turn_count++;
    }
    bool over = holder == PORT_LOCAL ? answer_source(router, status, done_ns)
                                     : answer_passing(router, holder, status, done_ns);
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
    } else if (in != PORT_LOCAL && out->setup_holder != PORT_NONE && out->setup_schedule) {
        return E_REFUSED; /* it holds links, and what it waits for may wait for its turn: rule 2 */
    }
    return out->setup_holder == PORT_NONE &&
           out->order_count + out->draining_count < CIRCUITS_MAX && channel_room(&out->channel, 3);
}

/* The OPEN's fields that change at each hop. */
static void pass(struct router *router, unsigned in, unsigned port, uint8_t *packet)
{
    struct port *out = &router->ports[port];

    put64(packet + 32, clock_hop(get64(packet + 32), out->free_ns, router_tau(router)));
    packet[12]++;
    out->setup_holder = (uint8_t)in;
    out->setup_schedule = open_flags(packet) & OPEN_SCHEDULE;
    out->order[out->order_count++] = (uint8_t)in;
}

static void pass_held(struct router *router, unsigned in, unsigned port)
{
    struct arrival open = router->ports[in].open;
    struct segment owner = {.owner = OWNER_BUFFER, .port = (uint8_t)in, .number = open.buffer};

    pass(router, in, port, open.packet);
    newest(&router->ports[in])->state = CIRCUIT_OPENED;
    router->ports[in].open.packet = NULL;
    router->opens_held--;
    router_queue_packet(router, port, open.packet - FRAME_HEADER_BYTES, open.bytes, owner);
    router->circuits_forwarded++;
}

/* What waits for a port to be set up over: an in-port's held OPEN, or this node's own. */
static const uint8_t *waiting_at(const struct router *router, unsigned in, unsigned *out,
                                 uint32_t *stamp)
{
    if (in == PORT_LOCAL) {
        if (router->source_opening == SOURCES_MAX)
            return NULL;
        const struct source *source = &router->sources[router->source_opening];
        *out = source->out;
        *stamp = source->stamp;
        return source->state == CIRCUIT_WAITING ? source->open + FRAME_HEADER_BYTES : NULL;
    }
    const struct port *port = &router->ports[in];
    if (!port->open.packet || port->channel.state == LINK_DEAD)
        return NULL;
    *out = port->circuits[(port->circuit_first + port->circuit_count - 1) % CIRCUITS_MAX].out;
    *stamp = port->open_stamp;
    return *out == PORT_LOCAL ? NULL : port->open.packet;
}

static void refuse_waiting(struct router *router, unsigned in, int status)
{
    if (in == PORT_LOCAL)
        answer_source(router, status, 0);
    else
        refuse_held(router, in, status);
}

/* Lets the oldest circuit that may pass go on; false when none may. */
static bool pass_oldest(struct router *router)
{
    unsigned best = PORT_NONE, best_out = 0;
    uint32_t best_stamp = 0;

    for (unsigned i = 0; i <= router->port_count; i++) {
        unsigned in = i == router->port_count ? PORT_LOCAL : i;
        unsigned out;
        uint32_t stamp;
        const uint8_t *packet = waiting_at(router, in, &out, &stamp);
        if (!packet)
            continue;
        int verdict = may_pass(router, in, out, packet);
        if (verdict < 0) {
            if (in == PORT_LOCAL && !router_notice_room(router))
                continue;
            refuse_waiting(router, in, verdict);
            return true;
        }
        if (verdict > 0 && (best == PORT_NONE || (int32_t)(stamp - best_stamp) < 0)) {
            best = in;
            best_out = out;
            best_stamp = stamp;
        }
    }
    if (best == PORT_NONE)
        return false;
    if (best == PORT_LOCAL) {
        struct source *source = &router->sources[router->source_opening];
        pass(router, PORT_LOCAL, best_out, source->open + FRAME_HEADER_BYTES);
        source->state = CIRCUIT_OPENED;
        stream_source_open(router, router->source_opening);
    } else {
        pass_held(router, best, best_out);
    }
    return true;
}

static void tell_opens(struct router *router)
{
    for (unsigned p = 0; p < router->port_count && router_notice_room(router); p++) {
        struct port *in = &router->ports[p];
        if (in->open_told || !router_open_at(router, p))
            continue;
        in->open_told = true;
        router_tell(router, &(struct notice){.kind = NOTICE_OPEN, .port = p});
    }
}

static void send_replies(struct router *router)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        struct port *in = &router->ports[p];
        uint8_t *packet = in->reply + FRAME_HEADER_BYTES;
        bool accepted = in->reply_kind == PACKET_ACCEPT;

        if (!in->reply_kind || in->reply_busy || !channel_room(&in->channel, 1))
            continue;
        memset(packet, 0, PACKET_HEADER_BYTES);
        packet[0] = in->reply_kind;
        put16(packet + 2, REPLY_BODY);
        put64(packet + 16, accepted ? in->reply_done_ns : (uint64_t)(int64_t)in->reply_status);
        in->reply_kind = 0;
        router->replies_owed--;
        in->reply_busy = true;
        router_queue_packet(router, p, in->reply, PACKET_HEADER_BYTES + REPLY_BODY,
                            (struct segment){.owner = OWNER_REPLY, .port = (uint8_t)p});
    }
}

void circuit_pump(struct router *router)
{
    if (router->opens_held || router->source_opening != SOURCES_MAX) {
        while (pass_oldest(router))
            ;
        tell_opens(router);
    }
    if (router->replies_owed)
        send_replies(router);
}

const uint8_t *router_open_at(const struct router *router, unsigned port)
{
    const struct port *in = &router->ports[port];
    const struct circuit *circuit =
        &in->circuits[(in->circuit_first + in->circuit_count + CIRCUITS_MAX - 1) % CIRCUITS_MAX];

    return in->open.packet && circuit->out == PORT_LOCAL ? in->open.packet : NULL;
}

uint64_t router_accept(struct router *router, unsigned port, const struct circuit_sink *sink)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = router_open_at(router, port);
    struct circuit *circuit = newest(in);

    CHECK(packet);
    uint64_t start = get64(packet + 32);
    if (!router->profile.all_port)
        start = clock_max(start, clock_max(get64(packet + 40), router->receive_free_ns));
    start = clock_max(start, sink->ready_ns);
    uint64_t done_ns = start + clock_transfer(&router->profile, packet[12], circuit->length);
    router->receive_free_ns = done_ns;
    circuit->sink = *sink;
    circuit->state = CIRCUIT_FLOWING;
    if (circuit->flags & OPEN_INLINE) {
        uint32_t bytes = circuit->length < sink->room ? circuit->length : sink->room;
        memcpy(sink->data, packet + OPEN_BYTES, bytes);
        in->circuit_count--;
    }
    drop_open(router, port);
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

    if (dead->setup_holder != PORT_NONE)
        circuit_answer(router, port, E_LINK_DEAD, 0);
    if (dead->open.packet) {
        drop_open(router, port);
        dead->circuit_count--;
    }
    router->replies_owed -= dead->reply_kind != 0;
    dead->reply_kind = 0;
    dead->reply_busy = false;
}
