#include "collectives/engine_send.h"

#include <stddef.h>
#include <string.h>

#include "collectives/engine_copy.h"
#include "collectives/engine_cursor.h"
#include "collectives/engine_row.h"
#include "drivers/status.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/circuit.h"

/* Counts bytes that have been copied to lie together: they cost no model time. */
static void count_packed(struct engine *e, const uint8_t *at, uint32_t bytes)
{
    if (at >= e->memory && at < e->memory + ENGINE_BYTES) {
        e->packed += bytes;
    }
}

/* The next portion of a message: a large block as it is, or small ones packed in a slice. */
static const uint8_t *next_portion(const struct engine *e, const struct router *router,
                                   struct engine_portions *source, uint32_t *bytes)
{
    struct engine_cursor *cursor = &source->cursor;
    uint32_t filled = 0;

    cursor_stands(e, router, cursor);
    if (cursor->left >= REFERENCE_BYTES) {
        const uint8_t *at = cursor->at;
        *bytes = cursor->left;
        cursor_pass(cursor, cursor->left);
        return at;
    }
    source->slice ^= 1;
    while (filled < SLICE_BYTES && cursor_stands(e, router, cursor) &&
           cursor->left < REFERENCE_BYTES) {
        uint32_t part = engine_least(cursor->left, SLICE_BYTES - filled);
        memcpy(engine_slice(e, source->slice) + filled, cursor->at, part);
        cursor_pass(cursor, part);
        filled += part;
    }
    *bytes = filled;
    return engine_slice(e, source->slice);
}

/* The message rides in its OPEN: all of it in one slice. */
static const uint8_t *pack_inline(const struct engine *e, const struct router *router,
                                  struct engine_portions *source)
{
    uint8_t *at = engine_slice(e, source->slice);
    uint32_t filled = 0;

    while (cursor_stands(e, router, &source->cursor)) {
        memcpy(at + filled, source->cursor.at, source->cursor.left);
        filled += source->cursor.left;
        source->cursor.left = 0;
    }
    return at;
}

/* Where the present row's message lies; false when it needs slices that another one has. */
static bool find_message(const struct engine *e, const struct router *router,
                         struct circuit_source *circuit, struct engine_portions *source)
{
    circuit->data[0] = e->memory; /* without bytes: any pointer */
    if (e->send_bytes == 0) {
        return true;
    }
    cursor_begin(e, &source->cursor, false);
    cursor_stands(e, router, &source->cursor);
    if (source->cursor.left == e->send_bytes) {
        circuit->data[0] = source->cursor.at;
        circuit->bytes[0] = e->send_bytes;
        return true;
    }
    if (e->source.active) {
        return false;
    }
    source->active = true;
    source->token = engine_token(e);
    circuit->bytes[0] = e->send_bytes;
    if (circuit->flags & OPEN_INLINE) {
        circuit->data[0] = pack_inline(e, router, source);
    } else {
        circuit->data[0] = next_portion(e, router, source, &circuit->bytes[0]);
    }
    circuit->more = source->left = e->send_bytes - circuit->bytes[0];
    return true;
}

void engine_open_send(struct engine *e, struct router *router)
{
    const uint8_t *hops = plan_row_hops(e->row);
    bool is_inline = e->send_bytes <= open_inline_max(hop_list_bytes(hops));
    struct circuit_source circuit = {.dst = e->head.to,
                                     .match = engine_match(e),
                                     .flags =
                                         (uint8_t)(OPEN_SCHEDULE | (is_inline ? OPEN_INLINE : 0)),
                                     .epoch = e->epoch,
                                     .hops = hops,
                                     .issue_ns = engine_issue_ns(e),
                                     .port = engine_port(e),
                                     .token = engine_token(e)};
    struct engine_portions source = {.slice = e->source.slice};

    if (!find_message(e, router, &circuit, &source)) {
        return;
    }
    int status = router_open(router, &circuit);
    if (status == E_FULL) {
        return;
    }
    e->step_waits &= (uint8_t)~STEP_SEND;
    if (status != E_OK) {
        e->result.status = status;
        return;
    }
    e->send_hops = hop_list_count(hops);
    e->sends_pending++;
    if (source.active) {
        e->source = source;
        count_packed(e, circuit.data[0], circuit.bytes[0]);
    }
}

void engine_feed(struct engine *e, struct router *router, const struct notice *notice, bool present)
{
    struct engine_portions *source = &e->source;
    bool more = present && engine_in_portions(source, notice->token);
    uint32_t bytes = 0;
    const uint8_t *at = more ? next_portion(e, router, source, &bytes) : NULL;

    source->left -= bytes;
    count_packed(e, at, bytes);
    (void)router_feed(router, source->token, at, bytes);
}

void engine_sent(struct engine *e, const struct notice *notice, bool present)
{
    if (engine_in_portions(&e->source, notice->token)) {
        e->source.active = false;
    }
    e->sends_pending = (uint8_t)(e->sends_pending - present);
}
