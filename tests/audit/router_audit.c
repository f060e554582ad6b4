/*
 * router_audit.c - every rule of router/due.h the other way round: from the states to the flags
 * that must be set.
 *
 * What a flag stands for is asked with the very predicates that the pumps use where these change
 * nothing (setup_verdict, stream_has_bytes, lane_drains, source_is_done), and is written once more
 * where a pump asks and acts at once. Two things are seen through: a link that has died moves
 * nothing before its owner has been told, which flush_due sees to; and what an in-port's look will
 * hand on to its out-port is missing at neither while the in-port is due.
 */
#include "tests/audit/router_audit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/link/link.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/circuit_state.h"
#include "router/due.h"
#include "router/lane.h"
#include "router/notice.h"
#include "router/packet.h"
#include "router/frame_builder.h"
#include "router/port.h"
#include "router/setup.h"
#include "router/source.h"
#include "router/state.h"
#include "router/stream.h"

enum { TEXT_MAX = 160, DIGITS_MAX = 10, NOBODY = UINT32_MAX };

/* What fails, in words. */
struct text {
    char bytes[TEXT_MAX];
    size_t length;
};

static void add(struct text *text, const char *words)
{
    size_t length = strlen(words);

    if (length > TEXT_MAX - 1 - text->length) {
        length = TEXT_MAX - 1 - text->length;
    }
    memcpy(text->bytes + text->length, words, length);
    text->length += length;
}

static void add_number(struct text *text, const char *what, uint32_t number)
{
    char digits[DIGITS_MAX + 1] = {0};
    unsigned at = DIGITS_MAX;

    if (number == NOBODY) {
        return;
    }
    do {
        digits[--at] = (char)('0' + number % 10);
    } while ((number /= 10) > 0);
    add(text, what);
    add(text, digits + at);
}

_Noreturn void audit_missing(uint32_t node, const char *flag, const char *why, uint32_t port,
                             uint32_t circuit)
{
    struct text text = {.length = 0};

    add(&text, flag);
    add(&text, " is not set, but ");
    add(&text, why);
    add_number(&text, ": node ", node);
    add_number(&text, ", port ", port);
    add_number(&text, ", circuit ", circuit);
    check_failed(__FILE__, __LINE__, text.bytes);
}

/* The flag of a port, or of a source, is needed. */
static void need(const struct router *router, uint32_t mask, unsigned bit, const char *flag,
                 const char *why, uint32_t circuit)
{
    if (!(mask >> bit & 1)) {
        audit_missing(router->id, flag, why, bit, circuit);
    }
}

static void need_setup(const struct router *router, const char *why, uint32_t port)
{
    if (!router->setup_due) {
        audit_missing(router->id, "setup_due", why, port, NOBODY);
    }
}

/* Channels ---------------------------------------------------------------------------------- */

/* What the owner has not been told of a link. */
static bool is_unreported(const struct port *port)
{
    uint8_t state = port->channel.state, reported = port->reported;

    return (state == LINK_UP && !(reported & REPORTED_UP)) ||
           (state == LINK_DEAD && !(reported & REPORTED_DEAD)) ||
           (state == LINK_CROSSED && reported & REPORTED_UP && !(reported & REPORTED_CROSSED));
}

static void audit_channel(const struct router *router, unsigned p)
{
    const struct port *port = &router->ports[p];
    const struct channel *channel = &port->channel;
    const struct channel_due *due = &router->due;
    bool alive = channel->state != LINK_DEAD, flushes = due->flush_due >> p & 1;

    if (!channel_settled(channel, router->id)) {
        need(router, due->flush_due, p, "flush_due", "frames wait to be sent", NOBODY);
    }
    if (is_unreported(port)) {
        need(router, due->flush_due, p, "flush_due", "the owner does not know of it", NOBODY);
    }
    if (!alive && channel->first != channel->end) {
        need(router, due->flush_due, p, "flush_due", "a dead link has segments", NOBODY);
    }
    if (!flushes && channel->wake_us < due->wake_us) {
        audit_missing(router->id, "wake_us", "a channel wants to be looked at", p, NOBODY);
    }
    if (!due && alive && channel_deadline(channel, due) < channel->wake_us) {
        audit_missing(router->id, "the channel's wake_us", "it waits for its time", p, NOBODY);
    }
    if (alive && channel_has_done(channel) && !channel->resent) {
        audit_missing(router->id, "nothing", "acknowledged segments are held", p, NOBODY);
    }
    if (router->links_due && alive && channel->link->arrived && link_has_input(channel->link) &&
        notice_room_for_step(router)) {
        need(router, *router->links_due, p, "links_due", "the link has input", NOBODY);
    }
}

/* Whether a channel that lacks credit, where bytes may be lost, asks for it in time. */
static void need_asking(const struct router *router, unsigned p, const char *why)
{
    const struct channel *channel = &router->ports[p].channel;

    if (channel->checked && channel->state == LINK_UP && channel->short_us == UINT64_MAX) {
        audit_missing(router->id, "short_us", why, p, NOBODY);
    }
}

/* Setting up -------------------------------------------------------------------------------- */

static void audit_held(const struct router *router, unsigned p)
{
    const struct circuit *held = circuit_held(&router->ports[p]);
    bool local = held && held->out == PORT_LOCAL;

    if (held) {
        need(router, router->held_ports, p, "held_ports", "an OPEN is held", held->stamp);
    }
    if (held && !local) {
        need(router, router->passing_ports, p, "passing_ports", "an OPEN is to go on", held->stamp);
    }
    if (local && held->state == CIRCUIT_HELD) {
        need(router, router->unoffered_ports, p, "unoffered_ports", "nobody knows of it",
             held->stamp);
        need_setup(router, "an OPEN is to be told of", p);
    }
    if (router->ports[p].due_count) {
        need(router, router->replies_due, p, "replies_due", "answers are owed", NOBODY);
    }
    /* the other way round as well: who answers looks at the ports that hold and do not pass */
    CHECK(held ||
          !((router->held_ports | router->passing_ports | router->unoffered_ports) >> p & 1));
    CHECK(!local || !(router->passing_ports >> p & 1));
}

/* An OPEN that could pass or be refused, or whose reason to wait would not be noticed when it ends.
 */
static void audit_waiting(const struct router *router, unsigned in)
{
    struct waiting waiting;

    if (!setup_waiting_at(router, in, &waiting)) {
        return;
    }
    int verdict = setup_verdict(router, in, &waiting);
    if (verdict < 0 &&
        !(waiting.out < router->port_count && is_unreported(&router->ports[waiting.out]))) {
        need_setup(router, "an OPEN is to be refused", in);
    }
    if (verdict == SETUP_PASSES && !setup_overtakes(router, &waiting)) {
        need_setup(router, "an OPEN may pass", in);
    }
    if (verdict == SETUP_NO_ROOM && !router->setup_short) {
        need_setup(router, "an OPEN waits for room, and setup_short is not set either", in);
    }
    if (verdict == SETUP_NO_PLACE && !router->setup_due) {
        need_asking(router, waiting.out, "an OPEN waits for circuits to drain");
    }
}

/* Bytes ------------------------------------------------------------------------------------- */

/* The oldest circuit of an in-port, as pump_in of stream.c sees it. */
static void audit_in(const struct router *router, unsigned p)
{
    const struct port *in = &router->ports[p];
    const struct circuit *oldest = in->circuit_count ? circuit_at(in, 0) : NULL;
    bool alive = in->channel.state != LINK_DEAD, piece = channel_piece(&in->channel) != NULL;
    uint32_t stamp = oldest ? oldest->stamp : NOBODY;

    if (piece && !oldest) {
        need(router, router->in_due, p, "in_due", "bytes lie there for no circuit", stamp);
    }
    if (piece && alive && oldest && oldest->state != CIRCUIT_FLOWING &&
        !stream_early(oldest->flags)) {
        need(router, router->in_due, p, "in_due", "bytes came before their answer", stamp);
    }
    if (oldest && stream_is_full(oldest)) {
        if (!(oldest->sinking & SINK_ASKED)) {
            need(router, router->in_due, p, "in_due", "a sink is full", stamp);
        }
    } else if (oldest && oldest->state == CIRCUIT_FLOWING && oldest->out >= PORT_NONE &&
               (piece || (!alive && !is_unreported(in)))) {
        need(router, router->in_due, p, "in_due", "bytes may be taken", stamp);
    }
}

/* Whether a frame can be put together that has so many segments and begins with so many bytes. */
static bool can_send(const struct port *out, unsigned segments, uint32_t bytes, bool header)
{
    return channel_room(&out->channel, segments) && stream_has_credit(out, bytes) &&
           (!header || out->channel.headers_used < HEADERS_MAX);
}

/* The circuit whose turn it is on a link: from an in-port. */
static void audit_relay(const struct router *router, unsigned p, unsigned in)
{
    const struct port *out = &router->ports[p];
    const struct piece *piece = channel_piece(&router->ports[in].channel);
    uint32_t bytes = piece ? piece->bytes : 1, stamp = circuit_at(&router->ports[in], 0)->stamp;

    /* what is seen at the in-port is handed on to its out-port, a dead link when it is told of */
    if (!stream_has_bytes(router, p, in) || router->in_due >> in & 1 ||
        is_unreported(&router->ports[in])) {
        return;
    }
    if (can_send(out, piece ? FRAME_SEGMENTS_MAX : 3, bytes,
                 router->payload_checked || !piece || piece->split)) {
        need(router, router->out_due, p, "out_due", "bytes may go on", stamp);
    }
    if (channel_room(&out->channel, FRAME_SEGMENTS_MAX) && !stream_has_credit(out, bytes) &&
        !(router->out_due >> p & 1)) {
        need_asking(router, p, "bytes wait for credit");
    }
}

/* The same of this node's own circuits. */
static void audit_own(const struct router *router, unsigned p)
{
    const struct port *out = &router->ports[p];
    unsigned number = source_flowing(router, p);

    if (number == SOURCES_MAX) {
        return;
    }
    const struct source *source = &router->sources[number];
    bool cut = source_is_cut(source);
    uint32_t left = cut ? (uint32_t)FILLER_BYTES : source->given - source->moved;
    if (left == 0) {
        return; /* it waits for its owner, audit_source sees whether that knows */
    }
    if (can_send(out, cut ? 3 : 4, left, true)) {
        need(router, router->out_due, p, "out_due", "this node's bytes may go", source->stamp);
    }
    if (channel_room(&out->channel, 4) && !stream_has_credit(out, left) &&
        !(router->out_due >> p & 1)) {
        need_asking(router, p, "this node's bytes wait for credit");
    }
}

static void audit_out(const struct router *router, unsigned p)
{
    const struct port *out = &router->ports[p];

    if (lane_drains(out)) {
        need(router, router->out_due, p, "out_due", "a circuit has drained", NOBODY);
    }
    if (lane_turn(out) && out->order[0] == PORT_LOCAL) {
        audit_own(router, p);
    } else if (lane_turn(out)) {
        audit_relay(router, p, out->order[0]);
    }
}

/* Packets and sources ----------------------------------------------------------------------- */

/* They are tried in every step, so only the mask, and their credit, can be missing. */
static void audit_packets(const struct router *router, unsigned p)
{
    const struct port *in = &router->ports[p];

    if (!in->routed_count) {
        return;
    }
    need(router, router->routed_due, p, "routed_due", "packets for others lie there", NOBODY);
    unsigned out = router_next_hop(router, packet_dst(in->routed[in->routed_first].packet));
    if (out < router->port_count && channel_control_credit(&router->ports[out].channel) == 0) {
        need_asking(router, out, "a packet waits for credit");
    }
}

static void audit_source(const struct router *router, unsigned number)
{
    const struct source *source = &router->sources[number];
    bool used = source->state != SOURCE_FREE;

    if (used) {
        need(router, router->sources_used, number, "sources_used", "a source is", source->stamp);
    }
    if (used && source_is_done(router, number)) {
        need(router, router->sources_due, number, "sources_due", "a source is done", source->stamp);
    }
    if (used && source_is_empty(source)) {
        need(router, router->sources_due, number, "sources_due", "a source is empty",
             source->stamp);
    }
    CHECK(used || !(router->sources_used >> number & 1));
}

void audit_router(const struct router *router)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        audit_channel(router, p);
        audit_held(router, p);
        audit_in(router, p);
        audit_out(router, p);
        audit_packets(router, p);
    }
    for (unsigned i = 0; i < SOURCES_MAX; i++) {
        audit_source(router, i);
    }
    for (uint32_t left = setup_holders(router); left;) {
        audit_waiting(router, due_next(&left));
    }
    CHECK(!router->links_freed);
}
