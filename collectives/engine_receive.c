#include "collectives/engine_receive.h"

#include <stddef.h>

#include "collectives/engine_copy.h"
#include "collectives/engine_cursor.h"
#include "collectives/engine_row.h"
#include "drivers/status.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/circuit.h"

enum { SINK_SLICE = SLICES - 1 };

/* Puts what has come into the slice where it belongs. */
static void consume(struct engine *e, const struct router *router, uint32_t bytes)
{
    struct engine_cursor *cursor = &e->sink.cursor;
    const uint8_t *from = engine_slice(e, SINK_SLICE);

    e->packed += bytes;
    while (bytes && cursor_stands(e, router, cursor)) {
        uint32_t part = engine_least(cursor->left, bytes);
        engine_move(e, e->sink.combines, cursor->at, from, part);
        cursor_pass(cursor, part);
        from += part;
        bytes -= part;
    }
}

/* The place for the next bytes of a message: a large block's own, or the slice. Its size is one of
 * whole elements, but for the last one. */
static uint8_t *next_place(struct engine *e, const struct router *router)
{
    struct engine_portions *sink = &e->sink;
    struct engine_cursor *cursor = &sink->cursor;

    cursor_stands(e, router, cursor);
    sink->sliced = sink->combines || cursor->left < REFERENCE_BYTES;
    if (sink->sliced) {
        sink->given = engine_least(sink->left, SLICE_BYTES);
        sink->left -= sink->given;
        return engine_slice(e, SINK_SLICE);
    }
    uint8_t *at = cursor->at;
    sink->given = cursor->left;
    sink->left -= sink->given;
    cursor_pass(cursor, cursor->left);
    return at;
}

void engine_fill(struct engine *e, struct router *router, const struct notice *notice, bool present)
{
    uint8_t *at = NULL;

    if (present && engine_in_portions(&e->sink, notice->token)) {
        if (e->sink.sliced) {
            consume(e, router, e->sink.given);
        }
        at = next_place(e, router);
    }
    router_sink(router, notice->port, at, e->sink.given);
}

/* Where the present row's message goes; false when it needs the slice that another one has. */
static bool find_place(struct engine *e, const struct router *router, struct circuit_sink *sink,
                       bool is_inline)
{
    struct engine_portions portions = {
        .token = sink->token, .left = e->receive_bytes, .combines = e->head.flags & ROW_COMBINES};

    sink->data = e->memory; /* without bytes: any pointer */
    if (e->receive_bytes == 0) {
        return true;
    }
    cursor_begin(e, &portions.cursor, true);
    cursor_stands(e, router, &portions.cursor);
    if (portions.cursor.left == e->receive_bytes && !portions.combines) {
        sink->data = portions.cursor.at;
        sink->room = e->receive_bytes;
        return true;
    }
    if (e->sink.active) {
        return false;
    }
    portions.active = true;
    e->sink = portions;
    if (is_inline) {
        sink->data = engine_slice(e, SINK_SLICE);
        sink->room = e->receive_bytes;
        return true;
    }
    sink->data = next_place(e, router);
    sink->room = e->sink.given;
    sink->more = e->sink.left;
    return true;
}

static bool is_awaited(const struct engine *e, const uint8_t *packet)
{
    return open_flags(packet) & OPEN_SCHEDULE && open_epoch(packet) == e->epoch &&
           packet_src(packet) == e->head.from && open_match(packet) == engine_match(e);
}

/* Takes the circuit of the present row, which waits at a port. A length that is not the plan's
 * fails the collective. */
static void accept_at(struct engine *e, struct router *router, unsigned port, const uint8_t *packet)
{
    bool is_inline = open_flags(packet) & OPEN_INLINE;
    uint32_t hops = packet_hops(packet), bytes = open_length(packet);
    struct circuit_sink sink = {
        .ready_ns = engine_issue_ns(e), .port = engine_port(e), .token = engine_token(e)};

    if (!find_place(e, router, &sink, is_inline)) {
        return;
    }
    if (bytes != e->receive_bytes) {
        engine_differ(e, bytes);
    }
    engine_stands(e, router, hops, bytes, router_accept(router, port, &sink));
    e->step_waits &= (uint8_t)~STEP_RECEIVE;
    if (!is_inline) { /* a notice tells the end */
        e->receives_pending++;
    } else if (engine_in_portions(&e->sink, sink.token)) {
        if (bytes == e->receive_bytes) {
            consume(e, router, bytes);
        }
        e->sink.active = false;
    }
}

void engine_accept_receive(struct engine *e, struct router *router)
{
    for (uint32_t left = router_opens(router); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctz(left);
        const uint8_t *packet = router_open_at(router, port);
        if (is_awaited(e, packet)) {
            accept_at(e, router, port, packet);
            return;
        }
    }
}

void engine_received(struct engine *e, const struct router *router, const struct notice *notice,
                     bool present)
{
    if (engine_in_portions(&e->sink, notice->token)) {
        if (present && notice->status == E_OK && e->sink.sliced) {
            consume(e, router, e->sink.given);
        }
        e->sink.active = false;
    }
    e->receives_pending = (uint8_t)(e->receives_pending - present);
}
