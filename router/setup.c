/*
 * setup.c - which OPEN goes on next over a link: rules 2 and 4 of README.md.
 *
 * Candidates are the oldest OPEN that each in-port holds, and this node's own. The oldest that may
 * pass goes first. One that follows others on their very path passes without waiting for their
 * answers, but not ahead of an older one from elsewhere that waits for the same link.
 *
 * Rule 2: what waits while it holds links must not be part of a circle of those that wait.
 *
 * - Along a cube or a mesh an OPEN waits for links in dimension order, so the circle would have to
 *   go back in that order somewhere.
 * - A message that meets a link held by a schedule's circuit is refused, even at its first link:
 *   the schedule's may be waiting for its turn behind one that needs a link, or the place of its
 *   node's own circuits, that the message holds.
 * - A circuit with a route of its own (OPEN_ROUTE) is refused wherever it would wait, even at its
 *   own node's link: its route may go back in the order.
 * - On a ring of four and more an OPEN that holds a link of the ring and meets another's set-up on
 *   the next is refused: N of them, each with a link, would wait in a circle. A schedule's may wait
 *   there, for turns (rule 4) are one order on all links.
 *
 * Rule 4: an OPEN says for each hop how many circuits of its schedule that link carries before it,
 * and the receiver takes them in the order of its own rows. Which circuit goes first is so in the
 * table, not in the race of two OPENs, and model time does not depend on wall time.
 *
 * Example  link 0>4 in a step with circuits 1>4 (its turn there is 0) and 3>4 (1): whichever OPEN
 *          comes to node 0 first, 1>4 passes first; 3>4 finds the link at the model time at which
 *          1>4 is done with it
 */
#include "router/setup.h"

#include <stddef.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/identity.h"
#include "router/lane.h"
#include "router/link_counters.h"
#include "router/notice.h"
#include "router/packet.h"
#include "router/port.h"
#include "router/recorder.h"
#include "router/segment.h"
#include "router/source.h"
#include "router/state.h"
#include "router/due.h"

enum {
    OPEN_SEGMENTS_MAX = 4 /* OPEN, hop list, inline data, its check */
};

/* Whether a schedule's circuit has its turn on a link: 1 yes, 0 not yet, negative: never. The turns
 * of a later epoch begin at 0. */
static int turn(const struct port *out, const uint8_t *packet, const uint8_t *hops)
{
    uint16_t epoch = open_epoch(packet);
    uint16_t passed = epoch == out->turn_epoch ? out->turn_count : 0;

    if (packet_hops(packet) >= hop_list_count(hops) || (int16_t)(epoch - out->turn_epoch) < 0) {
        return E_FORMAT;
    }
    struct open_hop hop = hop_list_at(hops, packet_hops(packet));
    return hop.turn < passed ? E_FORMAT : hop.turn == passed;
}

/* Rule 5. Otherwise the first node to leave a barrier would take a link before the barrier's last
 * circuit, and both their model times would depend on wall time. */
bool setup_early(const struct router *router, const uint8_t *packet)
{
    return !(open_flags(packet) & (OPEN_SCHEDULE | OPEN_IMAGE)) &&
           (int16_t)(router->schedules_done - open_epoch(packet)) < 0;
}

/*
 * The same at the link of a node that is through: the schedule's last circuits on it may be others'
 * and still to come. What follows another on its path is not refused for it: that one is ahead of
 * it in any case, and an answer out of their order would be taken for the other's.
 *
 * Example  on link 1>4 the circuits 1>4, then 0>7 (over 0>1, 1>4, 4>7): node 1 is through with the
 *          first, and its message to 4 waits for the second, of which it knows only the number
 */
static bool link_is_behind(const struct router *router, const struct port *out)
{
    int16_t later = (int16_t)(out->turn_epoch - router->schedule);

    if (router->schedule != router->schedules_done || later > 0) {
        return false; /* of a later schedule the link carries only when all are through this one */
    }
    return (later == 0 ? out->turn_count : 0) < out->turn_total;
}

bool setup_carried(const struct router *router)
{
    for (unsigned port = 0; port < router->port_count; port++) {
        const struct port *out = &router->ports[port];
        if (out->channel.state != LINK_DEAD && link_is_behind(router, out)) {
            return false;
        }
    }
    return true;
}

/* Whether a message may go over a link, as far as schedules are concerned: 1, negative to refuse.
 */
static int message_may_pass(const struct router *router, unsigned in, const struct port *out,
                            const uint8_t *packet)
{
    bool image = open_flags(packet) & OPEN_IMAGE;
    bool follows = out->setup_count && out->setup_holder == in;

    if (setup_early(router, packet) || (!image && !follows && link_is_behind(router, out))) {
        return E_BUSY;
    }
    /* It holds links, or the place of this node's own circuits, and what it waits for may wait for
     * its turn: rule 2. */
    return out->setup_count && out->setup_flags & OPEN_SCHEDULE ? E_REFUSED : 1;
}

/* Whether an OPEN may wait for a link that has no place for it: one with a route of its own could
 * close a circle of those that wait. A schedule's have an order. */
static bool may_wait(const uint8_t *packet)
{
    return (open_flags(packet) & (OPEN_ROUTE | OPEN_SCHEDULE)) != OPEN_ROUTE;
}

/* What becomes of one that meets another's set-up: it could also close a circle when it holds
 * another link of the same ring. It never follows one from its in-port that has no answer yet: the
 * set-up would be that one's, and answers keep their order. */
static int when_busy(const struct router *router, unsigned in, const struct waiting *waiting)
{
    if (!(open_flags(waiting->packet) & OPEN_SCHEDULE) &&
        network_stays_in_ring(&router->network, in, waiting->out)) {
        return E_REFUSED;
    }
    return may_wait(waiting->packet) ? SETUP_BUSY : E_REFUSED;
}

/* In the order of what is worse: a link that is dead never comes back, a turn that is past neither;
 * busy links and full lanes pass. Room comes last, for the channel gives it back soonest. */
int setup_verdict(const struct router *router, unsigned in, const struct waiting *waiting)
{
    unsigned port = waiting->out;
    const uint8_t *packet = waiting->packet;
    const struct port *out = port < router->port_count ? &router->ports[port] : NULL;

    if (!out || out->channel.state == LINK_DEAD || out->channel.state == LINK_CROSSED) {
        return E_LINK_DEAD;
    }
    int now = open_flags(packet) & OPEN_SCHEDULE ? turn(out, packet, waiting->hops)
                                                 : message_may_pass(router, in, out, packet);
    if (now <= 0) {
        return now;
    }
    /* What an in-port sends before it has its answers takes the same path: may_come, and
     * may_open of this node's own. */
    if (out->setup_count && out->setup_holder != in) {
        return when_busy(router, in, waiting);
    }
    if (lane_full(out)) {
        return SETUP_NO_PLACE;
    }
    return channel_room(&out->channel, OPEN_SEGMENTS_MAX) ? SETUP_PASSES : SETUP_NO_ROOM;
}

/* The same; sees to it that what it waits for is noticed. */
static int verdict_on(struct router *router, unsigned in, const struct waiting *waiting)
{
    int verdict = setup_verdict(router, in, waiting);

    if (verdict == SETUP_NO_ROOM) {
        due_short(router);
    }
    if (verdict != SETUP_NO_PLACE) {
        return verdict;
    }
    /* that they have drained may be lost word */
    channel_short(&router->ports[waiting->out].channel, &router->due);
    return may_wait(waiting->packet) ? verdict : E_REFUSED;
}

/* The OPEN's fields that change at each hop. */
static void pass(struct router *router, unsigned in, unsigned port, uint8_t *packet)
{
    struct port *out = &router->ports[port];

    if (router->link_counters) {
        link_counters_pass(router, port, packet);
    }
    if (router->recorder) {
        recorder_passes(router, in, port, packet);
    }
    open_set_clock(packet, clock_hop(open_clock(packet), out->free_ns, identity_tau(router, port)));
    packet_set_hops(packet, packet_hops(packet) + 1);
    if (open_flags(packet) & OPEN_SCHEDULE && open_epoch(packet) != out->turn_epoch) {
        out->turn_epoch = open_epoch(packet);
        out->turn_count = 0;
    }
    out->setup_holder = (uint8_t)in;
    out->setup_count++;
    out->setup_flags = open_flags(packet);
    lane_enter(out, in, open_flags(packet) & OPEN_INLINE);
    due_link_moves(router, out); /* bytes may be here already */
}

unsigned setup_end(struct router *router, unsigned port, int status, uint64_t done_ns)
{
    struct port *out = &router->ports[port];
    unsigned holder = out->setup_holder;

    if (router->link_counters) {
        link_counters_answer(router, port, status == E_OK, done_ns);
    }
    if (--out->setup_count == 0) {
        out->setup_holder = PORT_NONE;
    }
    due_answered(router);
    if (router->recorder) {
        recorder_answered(router, port, status, done_ns);
    }
    if (status == E_OK) {
        router->progress++;
        out->free_ns = done_ns;
        if (out->setup_flags & OPEN_SCHEDULE) {
            out->turn_count++;
        }
    }
    return holder;
}

/* The OPEN goes on out of the buffer that it came in: the old frame header's place takes the new.
 */
static void pass_held(struct router *router, unsigned port)
{
    unsigned out = circuit_held(&router->ports[port])->out;
    struct arrival open = circuit_pass(router, port);

    pass(router, port, out, open.packet);
    struct segment *segment =
        packet_queue(router, out, open.packet - FRAME_HEADER_BYTES, open.bytes);
    segment->owner = OWNER_BUFFER;
    segment->port = (uint8_t)port;
    segment->number = open.buffer;
    router->circuits_forwarded++;
}

static void pass_own(struct router *router)
{
    struct source *source = &router->sources[router->opening[router->opening_passed]];

    pass(router, PORT_LOCAL, source->out, source->open + FRAME_HEADER_BYTES);
    source_pass(router);
}

bool setup_waiting_at(const struct router *router, unsigned in, struct waiting *waiting)
{
    if (in == PORT_LOCAL) {
        const struct source *source = &router->sources[router->opening[router->opening_passed]];
        *waiting = (struct waiting){.out = source->out,
                                    .stamp = source->stamp,
                                    .packet = source->open + FRAME_HEADER_BYTES,
                                    .hops = source_hops(source)};
        return true;
    }
    const struct port *port = &router->ports[in];
    const struct circuit *circuit = circuit_held(port);
    if (port->channel.state == LINK_DEAD) {
        return false;
    }
    *waiting = (struct waiting){.out = circuit->out,
                                .stamp = circuit->stamp,
                                .packet = circuit->open.packet,
                                .hops = open_hops(circuit->open.packet)};
    return true;
}

uint32_t setup_holders(const struct router *router)
{
    bool own = router->opening_passed < router->opening_count;

    return router->passing_ports | (own ? UINT32_C(1) << PORT_LOCAL : 0);
}

/* Beads pass without their answers, so nothing else would ever stop them from keeping out an OPEN
 * that came before. */
bool setup_overtakes(const struct router *router, const struct waiting *waiting)
{
    struct waiting other;

    if (router->ports[waiting->out].setup_count == 0) {
        return false;
    }
    for (uint32_t left = setup_holders(router); left;) {
        if (setup_waiting_at(router, due_next(&left), &other) && other.out == waiting->out &&
            (int32_t)(other.stamp - waiting->stamp) < 0) {
            return true;
        }
    }
    return false;
}

/* A refusal changes what may pass, so it ends the search as a pass does. One that needs a notice
 * for which there is no place is put off to the next step. */
bool setup_pass_oldest(struct router *router)
{
    struct waiting waiting;
    unsigned best = PORT_NONE;
    uint32_t best_stamp = 0;

    for (uint32_t left = setup_holders(router); left;) {
        unsigned in = due_next(&left);
        if (!setup_waiting_at(router, in, &waiting)) {
            continue;
        }
        int verdict = verdict_on(router, in, &waiting);
        bool refuses = verdict < 0 && (in != PORT_LOCAL || notice_room(router));
        if (refuses && router->link_counters && waiting.out < router->port_count) {
            link_counters_refuse(router, waiting.out, waiting.packet);
        }
        if (refuses && in != PORT_LOCAL) {
            circuit_refuse(router, in, verdict);
            return true;
        }
        if (refuses) {
            source_answer(router, router->opening_passed, verdict, (struct accept_body){0});
            return true;
        }
        if (verdict < 0) {
            due_unsaid(router);
        }
        if (verdict == SETUP_PASSES &&
            (best == PORT_NONE || (int32_t)(waiting.stamp - best_stamp) < 0) &&
            !setup_overtakes(router, &waiting)) {
            best = in;
            best_stamp = waiting.stamp;
        }
    }
    if (best == PORT_NONE) {
        return false;
    }
    if (best == PORT_LOCAL) {
        pass_own(router);
    } else {
        pass_held(router, best);
    }
    return true;
}
