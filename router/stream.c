/*
 * stream.c - the bytes of circuits, by reference: from an in-port's pieces, or a source's memory,
 * to the link.
 *
 * What has arrived by now goes on as one frame, cut where it happens to end: frames are an affair
 * of one hop. The new header is written into the memory in front of the first piece, where a
 * consumed header or the link's headroom is.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/internal.h"
#include "router/notice.h"
#include "router/parcel.h"
#include "router/port.h"
#include "router/segment.h"
#include "router/state.h"
#include "wire/crc.h"

enum {
    USEFUL_PART = 4 /* a frame is not cut shorter than this part of the window for want of credit */
};

static struct circuit *oldest(struct port *port)
{
    return port->circuit_count ? &port->circuits[port->circuit_first] : NULL;
}

static void pop_circuit(struct port *port)
{
    if (oldest(port)->state == CIRCUIT_OPENED)
        port->newest_passed = true;
    port->circuit_first = (uint8_t)((port->circuit_first + 1) % CIRCUITS_MAX);
    port->circuit_count--;
}

static void pop_order(struct port *out)
{
    out->order_count--;
    memmove(out->order, out->order + 1, out->order_count);
}

/* Whether bytes of a circuit may go on now. */
static bool may_flow(uint8_t state, uint8_t flags)
{
    return state == CIRCUIT_FLOWING || (state == CIRCUIT_OPENED && stream_early(flags));
}

/* The circuit at the head of a link's order has had its last byte sent. */
static void close_order(struct port *out)
{
    pop_order(out);
    out->draining[out->draining_count++] = out->channel.data_sent;
}

/* Adds pieces of the oldest circuit of `in` to a parcel, as far as they are there and fit. */
static void collect(struct port *in, unsigned in_port, struct circuit *circuit,
                    struct parcel *parcel, unsigned segments_max, bool checked)
{
    struct piece *piece;

    while (parcel->count < segments_max && parcel->bytes < parcel->limit &&
           !(parcel->flags & FLAG_LAST) && (piece = channel_piece(&in->channel)) != NULL) {
        uint32_t bytes = parcel->limit - parcel->bytes;
        struct segment segment = {.data = piece->data,
                                  .owner = OWNER_BUFFER,
                                  .port = (uint8_t)in_port,
                                  .number = piece->buffer,
                                  .credit = CREDIT_DATA};
        if (bytes < piece->bytes) {
            channel_hold(&in->channel, piece->buffer);
            piece->data += bytes;
            piece->bytes = (uint16_t)(piece->bytes - bytes);
            piece->split = true;
        } else {
            bytes = piece->bytes;
            parcel->flags = piece->flags;
            channel_drop_piece(&in->channel);
        }
        segment.bytes = bytes;
        segment.credit_bytes = bytes;
        parcel_add(parcel, segment, checked);
        circuit->moved += bytes;
    }
}

/* Whether what a circuit has moved is what its OPEN announced; a peer that breaks this is not to be
 * trusted. */
static bool keeps_word(struct router *router, struct port *in, const struct circuit *circuit,
                       uint8_t flags)
{
    if (circuit->moved <= circuit->length &&
        (!(flags & FLAG_LAST) || flags & FLAG_ABORT || circuit->moved == circuit->length))
        return true;
    channel_kill(&in->channel, &router->agenda, DEAD_PROTOCOL);
    return false;
}

/* Whether a frame may go that ends here or is long enough. */
static bool enough_credit(struct router *router, struct port *out, uint32_t bytes)
{
    uint32_t credit = channel_data_credit(&out->channel);
    bool enough =
        credit > 0 && (credit >= bytes || credit >= out->channel.peer_data_window / USEFUL_PART);

    if (!enough)
        channel_short(&out->channel, &router->agenda);
    return enough;
}

/* Tells the next hop that the rest of a circuit will not come. */
static bool send_abort(struct router *router, unsigned out_port, struct port *in)
{
    struct port *out = &router->ports[out_port];
    struct parcel parcel;

    if (!channel_room(&out->channel, 3) || !enough_credit(router, out, FILLER_BYTES))
        return false;
    uint8_t *header = parcel_header(&out->channel);
    if (!header)
        return false;
    parcel_begin(&parcel, &out->channel, header);
    header[FRAME_HEADER_BYTES] = 0;
    struct segment filler = {.data = header + FRAME_HEADER_BYTES, .bytes = FILLER_BYTES};
    parcel_add(&parcel, filler, router->payload_checked);
    parcel.flags = FLAG_LAST | FLAG_ABORT;
    parcel_send(router, out_port, &parcel, header);
    pop_circuit(in);
    router->in_due |= in->channel.due_bit;
    close_order(out);
    return true;
}

/* Whether in-port `in_port` may have something for out-port `out_port`. */
static bool has_bytes(struct router *router, unsigned out_port, unsigned in_port)
{
    struct port *in = &router->ports[in_port];
    const struct circuit *circuit = oldest(in);

    return circuit && circuit->out == out_port && may_flow(circuit->state, circuit->flags) &&
           (channel_piece(&in->channel) || in->channel.state == LINK_DEAD);
}

/* Sends what in-port `in_port` has for out-port `out_port`; false when nothing could go. */
static bool send_from_port(struct router *router, unsigned out_port, unsigned in_port)
{
    struct port *out = &router->ports[out_port], *in = &router->ports[in_port];
    struct circuit *circuit = oldest(in);
    bool checked = router->payload_checked;
    struct parcel parcel;

    const struct piece *piece = channel_piece(&in->channel);
    if (!piece)
        return send_abort(router, out_port, in);
    if (!channel_room(&out->channel, FRAME_SEGMENTS_MAX) ||
        !enough_credit(router, out, piece->bytes))
        return false;
    uint8_t *header = NULL;
    if (checked || piece->split) {
        header = parcel_header(&out->channel);
        if (!header)
            return false;
    }
    parcel_begin(&parcel, &out->channel, header);
    collect(in, in_port, circuit, &parcel, FRAME_SEGMENTS_MAX - 1, checked);
    if (!keeps_word(router, in, circuit, parcel.flags))
        parcel.flags = FLAG_LAST | FLAG_ABORT;
    parcel_send(router, out_port, &parcel, header);
    if (parcel.flags & FLAG_LAST) {
        pop_circuit(in);
        router->in_due |= 1u << in_port;
        close_order(out);
    }
    return true;
}

static struct source *flowing_source(struct router *router, unsigned out_port)
{
    struct source *best = NULL;

    for (uint32_t left = router->sources_used; left; left &= left - 1) {
        struct source *source = &router->sources[__builtin_ctz(left)];
        if (may_flow(source->state, source->circuit.flags) && source->out == out_port &&
            (!best || (int32_t)(source->stamp - best->stamp) < 0))
            best = source;
    }
    return best;
}

static bool send_from_source(struct router *router, unsigned out_port, struct source *source)
{
    struct port *out = &router->ports[out_port];
    struct parcel parcel;

    if (!channel_room(&out->channel, 4))
        return false;
    if (!enough_credit(router, out, source->length - source->moved))
        return false;
    uint8_t *header = parcel_header(&out->channel);
    if (!header)
        return false;
    parcel_begin(&parcel, &out->channel, header);
    while (parcel.bytes < parcel.limit && source->moved < source->length) {
        bool second = source->moved >= source->circuit.bytes[0];
        uint32_t at = second ? source->moved - source->circuit.bytes[0] : source->moved;
        uint32_t bytes = source->circuit.bytes[second] - at;
        if (bytes > parcel.limit - parcel.bytes)
            bytes = parcel.limit - parcel.bytes;
        struct segment segment = {.data = source->circuit.data[second] + at,
                                  .bytes = bytes,
                                  .owner = OWNER_SOURCE,
                                  .number = (uint16_t)(source - router->sources)};
        parcel_add(&parcel, segment, router->payload_checked);
        source->unacknowledged++;
        source->moved += bytes;
    }
    if (source->moved == source->length)
        parcel.flags = FLAG_LAST;
    parcel_send(router, out_port, &parcel, header);
    if (parcel.flags & FLAG_LAST) {
        source->state = CIRCUIT_CLOSED;
        close_order(out);
    }
    return true;
}

/* Sends bytes of the circuit whose turn it is; false when there are none, or none may go. */
static bool send_bytes(struct router *router, unsigned port)
{
    unsigned in = router->ports[port].order[0];

    if (in != PORT_LOCAL)
        return has_bytes(router, port, in) && send_from_port(router, port, in);
    struct source *source = flowing_source(router, port);
    return source && send_from_source(router, port, source);
}

static void drain(struct router *router, struct port *out)
{
    uint32_t consumed = out->channel.data_limit - out->channel.peer_data_window;

    while (out->draining_count && (int32_t)(consumed - out->draining[0]) >= 0) {
        out->draining_count--;
        memmove(out->draining, out->draining + 1, out->draining_count * sizeof out->draining[0]);
        router->setup_due = router->links_freed = true;
    }
}

static void pump_out(struct router *router, unsigned port)
{
    struct port *out = &router->ports[port];

    if (out->draining_count)
        drain(router, out);
    while (stream_turn(out) && send_bytes(router, port))
        ;
}

static void tell_received(struct router *router, unsigned port, const struct circuit *circuit,
                          uint8_t flags)
{
    bool truncated = circuit->length > circuit->sink.room;

    *router_tell(router) = (struct notice){.kind = NOTICE_RECEIVED,
                                           .port = port,
                                           .token = circuit->sink.token,
                                           .bytes = circuit->length,
                                           .status = flags & FLAG_ABORT ? E_LINK_DEAD
                                                     : truncated        ? E_TRUNCATED
                                                                        : E_OK};
}

/* Copies a piece into the sink of a circuit that ends here, as far as there is room. */
static void sink_piece(struct circuit *circuit, const struct piece *piece)
{
    const struct circuit_sink *sink = &circuit->sink;

    if (circuit->moved < sink->room) {
        uint32_t room = sink->room - circuit->moved;
        memcpy(sink->data + circuit->moved, piece->data, piece->bytes < room ? piece->bytes : room);
    }
    circuit->moved += piece->bytes;
}

/* Takes the bytes of circuits that end here, or lead nowhere, off an in-port. */
static void pump_local(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit;

    while ((circuit = oldest(in)) != NULL && circuit->state == CIRCUIT_FLOWING &&
           (circuit->out == PORT_LOCAL || circuit->out == PORT_NONE) &&
           router_notice_room(router)) {
        const struct piece *piece = channel_piece(&in->channel);
        bool local = circuit->out == PORT_LOCAL;
        if (!piece) {
            if (in->channel.state != LINK_DEAD)
                return;
            if (local)
                tell_received(router, port, circuit, FLAG_ABORT);
            pop_circuit(in);
            continue;
        }
        if (circuit->moved + piece->bytes > circuit->length && !(piece->flags & FLAG_ABORT)) {
            channel_kill(&in->channel, &router->agenda, DEAD_PROTOCOL);
        } else if (local) {
            sink_piece(circuit, piece);
        } else {
            circuit->moved += piece->bytes;
        }
        uint8_t flags = piece->flags;
        struct piece done = *piece;
        router->progress++;
        channel_drop_piece(&in->channel);
        channel_release(&in->channel, &router->agenda, done.buffer, CREDIT_DATA, done.bytes);
        if (flags & FLAG_LAST) {
            if (!keeps_word(router, in, circuit, flags))
                flags |= FLAG_ABORT;
            if (local)
                tell_received(router, port, circuit, flags);
            pop_circuit(in);
        }
    }
}

/* Data for which no circuit stands breaks the protocol. */
static void check_stray(struct router *router, struct port *in)
{
    const struct circuit *circuit = oldest(in);

    if (in->channel.state != LINK_DEAD && channel_piece(&in->channel) &&
        (!circuit || (circuit->state != CIRCUIT_FLOWING && !stream_early(circuit->flags))))
        channel_kill(&in->channel, &router->agenda, DEAD_PROTOCOL);
    while (in->channel.state == LINK_DEAD && !circuit && channel_piece(&in->channel)) {
        struct piece stray = *channel_piece(&in->channel);
        channel_drop_piece(&in->channel);
        channel_release(&in->channel, &router->agenda, stray.buffer, CREDIT_DATA, stray.bytes);
    }
}

/* Takes what has come in at a port, here or on to its out-port; false when there was no room to
 * tell of it. */
static bool pump_in(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];

    check_stray(router, in);
    pump_local(router, port);
    const struct circuit *circuit = oldest(in);
    if (circuit && circuit->out < router->port_count)
        router->out_due |= 1u << circuit->out;
    return router_notice_room(router);
}

void stream_pump(struct router *router)
{
    uint32_t again = 0;

    while (router->in_due || router->out_due) {
        uint32_t due = router->in_due ? router->in_due : router->out_due;
        unsigned port = (unsigned)__builtin_ctz(due);
        if (router->in_due) {
            router->in_due = due & (due - 1);
            if (!pump_in(router, port))
                again |= 1u << port;
        } else {
            router->out_due = due & (due - 1);
            pump_out(router, port);
        }
    }
    router->in_due = again;
    for (uint32_t left = router->sources_due; left; left &= left - 1)
        stream_source_check(router, (unsigned)__builtin_ctz(left));
}

/* A piece of an OPEN that lies elsewhere. */
static void add_piece(struct channel *channel, unsigned *count, struct segment segment,
                      const uint8_t *data, uint32_t bytes)
{
    segment.data = data;
    segment.bytes = bytes;
    *channel_place(channel, (*count)++) = segment;
}

void stream_source_open(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];
    const struct circuit_source *circuit = &source->circuit;
    uint8_t *packet = source->open + FRAME_HEADER_BYTES;
    struct channel *channel = &router->ports[source->out].channel;
    struct segment segment = {.owner = OWNER_SOURCE, .number = (uint16_t)number};
    uint32_t listed = source->list_bytes;
    uint32_t inlined = circuit->flags & OPEN_INLINE ? source->length : 0;
    bool list_copied = listed <= OPEN_COPY_MAX, inline_copied = listed + inlined <= OPEN_COPY_MAX;
    uint32_t own = OPEN_BYTES + (list_copied ? listed : 0);
    unsigned count = 0;

    if (inlined && inline_copied)
        memcpy(packet + own, circuit->data[0], inlined);
    own += inline_copied ? inlined : 0;
    add_piece(channel, &count, segment, source->open, FRAME_HEADER_BYTES + own);
    if (!list_copied)
        add_piece(channel, &count, segment, circuit->hops, listed);
    if (inlined && !inline_copied)
        add_piece(channel, &count, segment, circuit->data[0], inlined);
    if (router->payload_checked) {
        uint8_t *check = packet + own + (list_copied ? 0 : HOP_LIST_BYTES);
        uint32_t crc = crc32_add(0, packet, own);
        crc = list_copied ? crc : crc32_add(crc, circuit->hops, listed);
        crc = inline_copied ? crc : crc32_add(crc, circuit->data[0], inlined);
        frame_put_check(check, crc);
        add_piece(channel, &count, segment, check, FRAME_CHECK_BYTES);
    }
    source->unacknowledged += count;
    channel_queue(channel, &router->agenda, FRAME_PACKET,
                  router->payload_checked ? FLAG_CHECKED : 0, OPEN_BYTES + listed + inlined, count);
}

void stream_source_done(struct router *router, unsigned number)
{
    CHECK(router->sources[number].unacknowledged > 0);
    if (--router->sources[number].unacknowledged == 0)
        router->sources_due |= 1u << number;
}

void stream_source_check(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];
    uint32_t bit = 1u << number;

    router->sources_due &= ~bit;
    if (source->state != CIRCUIT_CLOSED || source->unacknowledged)
        return;
    for (unsigned i = 0; i < router->opening_count; i++)
        if (router->opening[i] == number)
            return;
    if (!source->refused) {
        if (!router_notice_room(router)) {
            router->sources_due |= bit;
            return;
        }
        bool whole = source->moved == source->length || source->circuit.flags & OPEN_INLINE;
        *router_tell(router) = (struct notice){.kind = NOTICE_SENT,
                                               .token = source->circuit.token,
                                               .status = whole ? E_OK : E_LINK_DEAD};
    }
    source->state = CIRCUIT_FREE;
    router->sources_used &= ~bit;
}

void stream_port_dead(struct router *router, unsigned port)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        struct port *in = &router->ports[p];
        for (unsigned i = 0; i < in->circuit_count; i++) {
            struct circuit *circuit = &in->circuits[(in->circuit_first + i) % CIRCUITS_MAX];
            if (circuit->out == port && may_flow(circuit->state, circuit->flags)) {
                circuit->out = PORT_NONE;
                circuit->state = CIRCUIT_FLOWING;
                router->in_due |= 1u << p;
            }
        }
    }
    for (unsigned i = 0; i < SOURCES_MAX; i++)
        if (may_flow(router->sources[i].state, router->sources[i].circuit.flags) &&
            router->sources[i].out == port) {
            router->sources[i].state = CIRCUIT_CLOSED;
            router->sources_due |= 1u << i;
        }
    router->ports[port].order_count = 0;
    router->ports[port].draining_count = 0;
}
