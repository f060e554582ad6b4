/*
 * stream.c - the bytes of circuits, by reference: from an in-port's pieces, or a source's memory,
 * to the link.
 *
 * What has arrived by now goes on as one frame, cut where it happens to end: frames are an affair
 * of one hop. The new header is written into the memory in front of the first piece, where a
 * consumed header or the link's headroom is. Refused: passing frames on unchanged, which would let
 * a stalled sender hold a frame half sent, and control behind it.
 *
 * Only the oldest circuit of an in-port moves, for its neighbour sends in that order; only the
 * first of a lane sends, for the next hop takes in that order. What one waits for is so always the
 * same circuit at its other ends, and that one is ahead of it everywhere (README.md: bytes drain).
 *
 * in-port 1: circuits A, B       lane of port 3: A, C
 * in-port 2: circuits C, D       lane of port 5: D
 *
 * Here A's bytes go; C waits for A's last byte, D for C's; B has no lane yet: its OPEN is held.
 */
#include "router/stream.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/lane.h"
#include "router/notice.h"
#include "router/frame_builder.h"
#include "router/port.h"
#include "router/segment.h"
#include "router/source.h"
#include "router/state.h"
#include "router/due.h"
#include "wire/crc.h"

enum {
    USEFUL_PART = 4 /* a frame is not cut shorter than this part of the window for want of credit */
};

static struct circuit *oldest(struct port *port)
{
    return port->circuit_count ? &port->circuits[port->circuit_first] : NULL;
}

/* Adds pieces of the oldest circuit of `in` to a frame, as far as they are there and fit. */
static void collect(struct port *in, unsigned in_port, struct circuit *circuit,
                    struct frame_builder *frame, unsigned segments_max, bool checked)
{
    struct piece *piece;

    while (frame->count < segments_max && frame->bytes < frame->limit &&
           !(frame->flags & FLAG_LAST) && (piece = channel_piece(&in->channel)) != NULL) {
        uint32_t bytes = frame->limit - frame->bytes;
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
            frame->flags = piece->flags;
            channel_drop_piece(&in->channel);
        }
        segment.bytes = bytes;
        segment.credit_bytes = bytes;
        frame_builder_add(frame, segment, checked);
        circuit->moved += bytes;
    }
}

/* Whether what a circuit has moved is what its OPEN announced; a peer that breaks this is not to be
 * trusted. */
static bool keeps_word(struct router *router, struct port *in, const struct circuit *circuit,
                       uint8_t flags)
{
    if (circuit->moved <= circuit->length &&
        (!(flags & FLAG_LAST) || flags & FLAG_ABORT || circuit->moved == circuit->length)) {
        return true;
    }
    channel_kill(&in->channel, &router->due, DEAD_PROTOCOL);
    return false;
}

/* Small frames cost their header and their segments at every hop, so a frame is not cut to a scrap
 * of credit: more comes soon. */
bool stream_has_credit(const struct port *out, uint32_t bytes)
{
    uint32_t credit = channel_data_credit(&out->channel);

    return credit > 0 && (credit >= bytes || credit >= out->channel.peer_data_window / USEFUL_PART);
}

/* The same; if not, the neighbour may have to be asked for it. */
static bool enough_credit(struct router *router, struct port *out, uint32_t bytes)
{
    bool enough = stream_has_credit(out, bytes);

    if (!enough) {
        channel_short(&out->channel, &router->due);
    }
    return enough;
}

/* Tells the next hop that the rest of a circuit will not come; false when nothing can go now. */
static bool send_abort(struct router *router, unsigned out_port)
{
    struct port *out = &router->ports[out_port];
    struct frame_builder frame;

    if (!channel_room(&out->channel, 3) || !enough_credit(router, out, FILLER_BYTES)) {
        return false;
    }
    uint8_t *header = frame_builder_header(&out->channel);
    if (!header) {
        return false;
    }
    frame_builder_begin(&frame, &out->channel, header);
    header[FRAME_HEADER_BYTES] = 0;
    struct segment filler = {.data = header + FRAME_HEADER_BYTES, .bytes = FILLER_BYTES};
    frame_builder_add(&frame, filler, router->payload_checked);
    frame.flags = FLAG_LAST | FLAG_ABORT;
    frame_builder_send(router, out_port, &frame, header);
    lane_close(out);
    return true;
}

/* The same of a circuit whose in-port is dead. */
static bool abort_from_port(struct router *router, unsigned out_port, unsigned in_port)
{
    if (!send_abort(router, out_port)) {
        return false;
    }
    circuit_close(router, in_port, oldest(&router->ports[in_port]));
    due_bytes(router, in_port);
    return true;
}

/* The same of one that begins here. */
static bool abort_from_source(struct router *router, unsigned out_port, struct source *source)
{
    if (!send_abort(router, out_port)) {
        return false;
    }
    source_drain(router, source);
    return true;
}

/* A dead in-port has something too: the word that no more will come. */
bool stream_has_bytes(const struct router *router, unsigned out, unsigned in_port)
{
    const struct port *in = &router->ports[in_port];
    const struct circuit *circuit = &in->circuits[in->circuit_first];

    return in->circuit_count && circuit->out == out && circuit_flows(circuit) &&
           (channel_piece(&in->channel) || in->channel.state == LINK_DEAD);
}

/* Sends what in-port `in_port` has for out-port `out_port`; false when nothing could go. */
static bool send_from_port(struct router *router, unsigned out_port, unsigned in_port)
{
    struct port *out = &router->ports[out_port], *in = &router->ports[in_port];
    struct circuit *circuit = oldest(in);
    bool checked = router->payload_checked;
    struct frame_builder frame;

    const struct piece *piece = channel_piece(&in->channel);
    if (!piece) {
        return abort_from_port(router, out_port, in_port);
    }
    if (!channel_room(&out->channel, FRAME_SEGMENTS_MAX) ||
        !enough_credit(router, out, piece->bytes)) {
        return false;
    }
    uint8_t *header = NULL;
    if (checked || piece->split) {
        header = frame_builder_header(&out->channel);
        if (!header) {
            return false;
        }
    }
    frame_builder_begin(&frame, &out->channel, header);
    collect(in, in_port, circuit, &frame, FRAME_SEGMENTS_MAX - 1, checked);
    if (!keeps_word(router, in, circuit, frame.flags)) {
        frame.flags = FLAG_LAST | FLAG_ABORT;
    }
    frame_builder_send(router, out_port, &frame, header);
    if (frame.flags & FLAG_LAST) {
        circuit_close(router, in_port, circuit);
        due_bytes(router, in_port);
        lane_close(out);
    }
    return true;
}

/* Adds to a frame what a source has been given, as far as it fits. */
static void collect_own(struct router *router, struct source *source, struct frame_builder *frame)
{
    while (frame->bytes < frame->limit && source->moved < source->given) {
        struct segment segment = source_take(router, source, frame->limit - frame->bytes);
        frame_builder_add(frame, segment, router->payload_checked);
    }
}

/* Puts a frame of this node's own together: the program's memory is sent as it is, the header
 * stands apart. One that ends a portion asks to be acknowledged at once, for the owner's memory may
 * be needed for the next. */
static bool send_from_source(struct router *router, unsigned out_port, struct source *source)
{
    struct port *out = &router->ports[out_port];
    struct frame_builder frame;

    if (source_is_cut(source)) {
        return abort_from_source(router, out_port, source);
    }
    uint32_t given = source->given - source->moved;
    if (given == 0 || !channel_room(&out->channel, 4) || !enough_credit(router, out, given)) {
        return false;
    }
    uint8_t *header = frame_builder_header(&out->channel);
    if (!header) {
        return false;
    }
    frame_builder_begin(&frame, &out->channel, header);
    collect_own(router, source, &frame);
    bool last = source->moved == source->length, emptied = source->moved == source->given;
    if (emptied) {
        frame.flags = last ? FLAG_LAST : FLAG_ASK;
    }
    frame_builder_send(router, out_port, &frame, header);
    if (last) {
        source_drain(router, source);
        lane_close(out);
    } else if (emptied) {
        source_emptied(router, source);
    }
    return true;
}

/* Sends bytes of the circuit whose turn it is; false when there are none, or none may go. */
static bool send_bytes(struct router *router, unsigned port)
{
    unsigned in = router->ports[port].order[0];

    if (in != PORT_LOCAL) {
        return stream_has_bytes(router, port, in) && send_from_port(router, port, in);
    }
    unsigned source = source_flowing(router, port);
    return source != SOURCES_MAX && send_from_source(router, port, &router->sources[source]);
}

/* Places are freed before bytes go: the next OPEN over this link may go out with this frame. */
static void pump_out(struct router *router, unsigned port)
{
    struct port *out = &router->ports[port];

    for (; lane_drains(out); due_drained(router)) {
        lane_drained(out);
    }
    while (lane_turn(out) && send_bytes(router, port)) {
        ;
    }
}

static void tell_received(struct router *router, unsigned port, const struct circuit *circuit,
                          uint8_t flags)
{
    bool truncated = circuit->sinking & SINK_SHORT;

    *notice_add(router) = (struct notice){.kind = NOTICE_RECEIVED,
                                          .port = port,
                                          .token = circuit->sink.token,
                                          .bytes = circuit->length,
                                          .status = flags & FLAG_ABORT ? E_LINK_DEAD
                                                    : truncated        ? E_TRUNCATED
                                                                       : E_OK};
}

/* Copies bytes into the sink of a circuit that ends here, as far as there is room; returns how many
 * of them are done with: where no more room comes, all. */
static uint32_t sink_bytes(struct circuit *circuit, const uint8_t *data, uint32_t bytes)
{
    struct circuit_sink *sink = &circuit->sink;
    uint32_t fit = bytes < sink->room ? bytes : sink->room;

    if (fit) {
        memcpy(sink->data, data, fit);
        sink->data += fit;
        sink->room -= fit;
    }
    if (fit < bytes && sink->more && circuit->moved + fit < circuit->length) {
        bytes = fit;
    } else if (fit < bytes) {
        circuit->sinking |= SINK_SHORT;
    }
    circuit->moved += bytes;
    return bytes;
}

bool stream_is_full(const struct circuit *circuit)
{
    return circuit->out == PORT_LOCAL && circuit->state == CIRCUIT_FLOWING &&
           circuit->sink.room == 0 && circuit->sink.more > 0 && circuit->moved < circuit->length;
}

/* Asks the owner for room; what comes in at the port waits, so that the answer is for this one. */
static void ask_room(struct router *router, unsigned port, struct circuit *circuit)
{
    if (circuit->sinking & SINK_ASKED) {
        return;
    }
    circuit->sinking |= SINK_ASKED;
    *notice_add(router) =
        (struct notice){.kind = NOTICE_FILLED, .port = port, .token = circuit->sink.token};
}

void stream_sink(struct router *router, unsigned port, uint8_t *data, uint32_t room)
{
    struct circuit *circuit = oldest(&router->ports[port]);

    CHECK(circuit && circuit->sinking & SINK_ASKED);
    CHECK(!data || (room > 0 && room <= circuit->sink.more));
    circuit->sinking &= (uint8_t)~SINK_ASKED;
    circuit->sink.data = data;
    circuit->sink.room = data ? room : 0;
    circuit->sink.more = data ? circuit->sink.more - room : 0;
    due_bytes(router, port);
}

/* So many bytes of the oldest piece are done with. */
static void consume(struct router *router, struct port *in, struct piece *piece, uint32_t bytes)
{
    uint16_t buffer = piece->buffer;

    if (bytes < piece->bytes) {
        channel_hold(&in->channel, buffer);
        piece->data += bytes;
        piece->bytes = (uint16_t)(piece->bytes - bytes);
    } else {
        channel_drop_piece(&in->channel);
    }
    router->progress++;
    channel_release(&in->channel, &router->due, buffer, CREDIT_DATA, bytes);
}

/* Where a circuit ends whose bytes are taken here. */
static void end_here(struct router *router, unsigned port, struct circuit *circuit, uint8_t flags)
{
    if (circuit->out == PORT_LOCAL) {
        tell_received(router, port, circuit, flags);
    }
    circuit_close(router, port, circuit);
}

/* Takes the oldest piece, or as much of it as there is room for. */
static void take_piece(struct router *router, unsigned port, struct circuit *circuit,
                       struct piece *piece)
{
    struct port *in = &router->ports[port];
    uint32_t bytes = piece->bytes;
    uint8_t flags = piece->flags;

    if (circuit->moved + bytes > circuit->length && !(flags & FLAG_ABORT)) {
        channel_kill(&in->channel, &router->due, DEAD_PROTOCOL);
    } else if (circuit->out == PORT_LOCAL) {
        bytes = sink_bytes(circuit, piece->data, bytes);
    } else {
        circuit->moved += bytes;
    }
    bool last = flags & FLAG_LAST && bytes == piece->bytes;
    consume(router, in, piece, bytes);
    if (!last) {
        return;
    }
    if (!keeps_word(router, in, circuit, flags)) {
        flags |= FLAG_ABORT;
    }
    end_here(router, port, circuit, flags);
}

/* Takes the bytes of circuits that end here, or lead nowhere, off an in-port. */
static void pump_local(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];
    struct circuit *circuit;

    while ((circuit = oldest(in)) != NULL && circuit->state == CIRCUIT_FLOWING &&
           circuit->out >= PORT_NONE && notice_room(router)) {
        struct piece *piece = channel_piece(&in->channel);
        if (stream_is_full(circuit)) {
            ask_room(router, port, circuit);
            return;
        }
        if (piece) {
            take_piece(router, port, circuit, piece);
        } else if (in->channel.state == LINK_DEAD) {
            end_here(router, port, circuit, FLAG_ABORT);
        } else {
            return;
        }
    }
}

/* Data for which no circuit stands breaks the protocol. */
static void check_stray(struct router *router, struct port *in)
{
    const struct circuit *circuit = oldest(in);

    if (in->channel.state != LINK_DEAD && channel_piece(&in->channel) &&
        (!circuit || (circuit->state != CIRCUIT_FLOWING && !stream_early(circuit->flags)))) {
        channel_kill(&in->channel, &router->due, DEAD_PROTOCOL);
    }
    while (in->channel.state == LINK_DEAD && !circuit && channel_piece(&in->channel)) {
        struct piece stray = *channel_piece(&in->channel);
        channel_drop_piece(&in->channel);
        channel_release(&in->channel, &router->due, stray.buffer, CREDIT_DATA, stray.bytes);
    }
}

/* Takes what has come in at a port, here or on to its out-port; false when there was no room to
 * tell of it. */
static bool pump_in(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];

    pump_local(router, port);
    check_stray(router, in); /* behind the circuits that end with what was taken */
    const struct circuit *circuit = oldest(in);
    if (circuit && circuit->out < router->port_count) {
        due_bytes_for(router, circuit->out);
    }
    return notice_room(router);
}

/* In-ports first: what they let go on is one frame then, not several. An in-port that finds no
 * place for a notice stays due. */
void stream_pump(struct router *router)
{
    uint32_t again = 0;

    while (router->in_due || router->out_due) {
        unsigned port;
        if (!due_take_bytes(router, &port)) {
            pump_out(router, port);
        } else if (!pump_in(router, port)) {
            again |= UINT32_C(1) << port;
        }
    }
    while (again) {
        due_bytes(router, due_next(&again));
    }
    if (router->sources_due) {
        source_pump(router);
    }
}

void stream_port_dead(struct router *router, unsigned port)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        struct port *in = &router->ports[p];
        for (unsigned i = 0; i < in->circuit_count; i++) {
            struct circuit *circuit = circuit_at(in, i);
            if (circuit->out == port && circuit_flows(circuit)) {
                circuit_discard(router, p, circuit);
            }
        }
    }
    source_port_dead(router, port);
    lane_clear(&router->ports[port]);
}
