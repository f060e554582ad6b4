/*
 * setup.c - which OPEN goes on next over a link: rules 2 and 4 of README.md.
 *
 * Candidates are the oldest OPEN that each in-port holds, and this node's own. The oldest that may
 * pass goes first. One that follows others on their very path passes without waiting for their
 * answers, but not ahead of an older one from elsewhere that waits for the same link.
 */
#include <stddef.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/internal.h"
#include "router/port.h"
#include "router/router.h"
#include "router/segment.h"
#include "router/state.h"

enum {
    OPEN_SEGMENTS_MAX = 4 /* OPEN, hop list, inline data, its check */
};

/* An OPEN that waits for a port to be set up over: the oldest of an in-port, or this node's own. */
struct waiting {
    unsigned out;
    uint32_t stamp;
    const uint8_t *packet;
    const uint8_t *hops; /* its list, if it has one */
};

/* Whether a schedule's circuit has its turn on a link: 1 yes, 0 not yet, negative: never. */
static int turn(struct port *out, const uint8_t *packet, const uint8_t *hops)
{
    uint16_t epoch = open_epoch(packet);

    if (packet_hops(packet) >= hop_list_count(hops))
        return E_FORMAT;
    struct open_hop hop = hop_list_at(hops, packet_hops(packet));
    if (epoch != out->turn_epoch) {
        if ((int16_t)(epoch - out->turn_epoch) < 0)
            return E_FORMAT;
        out->turn_epoch = epoch;
        out->turn_count = 0;
    }
    if (hop.turn < out->turn_count)
        return E_FORMAT;
    return hop.turn == out->turn_count;
}

bool setup_early(const struct router *router, const uint8_t *packet)
{
    return !(open_flags(packet) & (OPEN_SCHEDULE | OPEN_IMAGE)) &&
           (int16_t)(router->schedules_done - open_epoch(packet)) < 0;
}

void router_schedule_done(struct router *router, uint16_t epoch)
{
    router->schedules_done = epoch;
}

/* Whether a message may go over a link, as far as schedules are concerned: 1, negative to refuse.
 */
static int message_may_pass(const struct router *router, const struct port *out,
                            const uint8_t *packet)
{
    if (setup_early(router, packet))
        return E_BUSY;
    /* It holds links, or the place of this node's own circuits, and what it waits for may wait for
     * its turn: rule 2. */
    return out->setup_count && out->setup_flags & OPEN_SCHEDULE ? E_REFUSED : 1;
}

/* What becomes of an OPEN whose link has no place for it: one with a route of its own could close a
 * circle of those that wait. A schedule's have an order. */
static int when_full(const uint8_t *packet)
{
    return (open_flags(packet) & (OPEN_ROUTE | OPEN_SCHEDULE)) == OPEN_ROUTE ? E_REFUSED : 0;
}

/* The same of one that meets another's set-up: here it could also close a circle when it holds
 * another link of the same ring. It never follows one from its in-port that has no answer yet: the
 * set-up would be that one's, and answers keep their order. */
static int when_busy(const struct router *router, unsigned in, const struct waiting *waiting)
{
    if (!(open_flags(waiting->packet) & OPEN_SCHEDULE) &&
        network_stays_in_ring(&router->network, in, waiting->out))
        return E_REFUSED;
    return when_full(waiting->packet);
}

/* Whether an OPEN from in-port `in` may go on now: 1, 0 to wait, negative to refuse. */
static int may_pass(struct router *router, unsigned in, const struct waiting *waiting)
{
    unsigned port = waiting->out;
    const uint8_t *packet = waiting->packet;
    struct port *out = port < router->port_count ? &router->ports[port] : NULL;

    if (!out || out->channel.state == LINK_DEAD || out->channel.state == LINK_CROSSED)
        return E_LINK_DEAD;
    int now = open_flags(packet) & OPEN_SCHEDULE ? turn(out, packet, waiting->hops)
                                                 : message_may_pass(router, out, packet);
    if (now <= 0)
        return now;
    /* What an in-port sends before it has its answers takes the same path: may_come, and
     * may_open of this node's own. */
    if (out->setup_count && out->setup_holder != in)
        return when_busy(router, in, waiting);
    if (out->order_count + out->draining_count == CIRCUITS_MAX) {
        channel_short(&out->channel, &router->agenda); /* that they have drained may be lost word */
        return when_full(packet);
    }
    bool room = channel_room(&out->channel, OPEN_SEGMENTS_MAX);
    router->setup_short |= !room;
    return room;
}

/* The OPEN's fields that change at each hop. */
static void pass(struct router *router, unsigned in, unsigned port, uint8_t *packet)
{
    struct port *out = &router->ports[port];

    open_set_clock(packet, clock_hop(open_clock(packet), out->free_ns, router_tau(router)));
    packet_set_hops(packet, packet_hops(packet) + 1);
    out->setup_holder = (uint8_t)in;
    out->setup_count++;
    out->setup_flags = open_flags(packet);
    bool is_inline = open_flags(packet) & OPEN_INLINE;
    out->order[out->order_count++] = (uint8_t)(in | (is_inline ? ORDER_INLINE : 0));
    stream_wake(router, out); /* bytes may be here already */
}

static void pass_held(struct router *router, unsigned port)
{
    struct circuit *circuit = circuit_held(&router->ports[port]);
    struct arrival open = circuit->open;

    pass(router, port, circuit->out, open.packet);
    circuit->state = CIRCUIT_OPENED;
    circuit_unhold(router, port, circuit);
    struct segment *segment =
        router_queue_packet(router, circuit->out, open.packet - FRAME_HEADER_BYTES, open.bytes);
    segment->owner = OWNER_BUFFER;
    segment->port = (uint8_t)port;
    segment->number = open.buffer;
    router->circuits_forwarded++;
}

static void pass_own(struct router *router)
{
    unsigned number = router->opening[router->opening_passed++];
    struct source *source = &router->sources[number];

    pass(router, PORT_LOCAL, source->out, source->open + FRAME_HEADER_BYTES);
    source->state = CIRCUIT_OPENED;
    stream_source_open(router, number);
}

static inline bool waiting_at(struct router *router, unsigned in, struct waiting *waiting)
{
    if (in == PORT_LOCAL) {
        const struct source *source = &router->sources[router->opening[router->opening_passed]];
        waiting->out = source->out;
        waiting->stamp = source->stamp;
        waiting->packet = source->open + FRAME_HEADER_BYTES;
        waiting->hops = source_hops(source);
        return true;
    }
    struct port *port = &router->ports[in];
    const struct circuit *circuit = circuit_held(port);
    if (port->channel.state == LINK_DEAD)
        return false;
    waiting->out = circuit->out;
    waiting->stamp = circuit->stamp;
    waiting->packet = circuit->open.packet;
    waiting->hops = open_hops(circuit->open.packet);
    return true;
}

/* The in-ports whose OPENs wait, this node itself being the last. */
static uint32_t holders(const struct router *router)
{
    bool own = router->opening_passed < router->opening_count;

    return router->passing_ports | (own ? 1u << PORT_LOCAL : 0);
}

/* Whether an older OPEN from elsewhere waits for the same port: beads must not keep it out. */
static bool overtakes(struct router *router, const struct waiting *waiting)
{
    struct waiting other;

    for (uint32_t left = holders(router); left; left &= left - 1)
        if (waiting_at(router, (unsigned)__builtin_ctz(left), &other) &&
            other.out == waiting->out && (int32_t)(other.stamp - waiting->stamp) < 0)
            return true;
    return false;
}

/* Lets the oldest circuit that may pass go on; false when none may. */
bool setup_pass_oldest(struct router *router)
{
    struct waiting waiting;
    unsigned best = PORT_NONE;
    uint32_t best_stamp = 0;

    for (uint32_t left = holders(router); left; left &= left - 1) {
        unsigned in = (unsigned)__builtin_ctz(left);
        if (!waiting_at(router, in, &waiting))
            continue;
        int verdict = may_pass(router, in, &waiting);
        if (verdict < 0 && in != PORT_LOCAL) {
            circuit_refuse(router, in, verdict);
            return true;
        }
        if (verdict < 0 && router_notice_room(router)) {
            circuit_answer_source(router, router->opening_passed, verdict, 0);
            return true;
        }
        router->setup_due |= verdict < 0;
        if (verdict > 0 && (best == PORT_NONE || (int32_t)(waiting.stamp - best_stamp) < 0) &&
            (router->ports[waiting.out].setup_count == 0 || !overtakes(router, &waiting))) {
            best = in;
            best_stamp = waiting.stamp;
        }
    }
    if (best == PORT_NONE)
        return false;
    if (best == PORT_LOCAL)
        pass_own(router);
    else
        pass_held(router, best);
    return true;
}
