#include "collectives/engine.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "reduction/reduction.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/circuit.h"

enum {
    RECEIVES_AHEAD = 3,     /* rows whose data may still flow in when the next one is set up */
    REFERENCE_BYTES = 512,  /* a block of so many bytes is sent, or received, where it is */
    COPY_BYTES = 32 * 1024, /* of a row that copies, in one step */
    SINK_SLICE = SLICES - 1
};

void engine_init(struct engine *e, uint8_t *memory, uint32_t token)
{
    e->memory = memory;
    e->token = token;
    entry_reset(&e->entering, 0);
}

void engine_reset(struct engine *e, uint8_t generation)
{
    CHECK(!engine_is_active(e));
    e->epoch = 0;
    e->clock_ns = 0;
    e->closed = E_OK;
    entry_reset(&e->entering, generation);
    store_reset(&e->store);
}

/* Whether the collective that is under way still has its second entry to come. */
static bool has_second_entry(const struct engine *e)
{
    const struct operation *operation = operation_of(e->call.operation);

    return e->stage >= ENGINE_PLAN && e->stage <= ENGINE_STEPS && operation && operation->sized &&
           !e->agreeing;
}

uint16_t engine_entered(const struct engine *e)
{
    return (uint16_t)(e->epoch + has_second_entry(e));
}

void engine_close(struct engine *e, const struct router *router, int why)
{
    e->closed = (int16_t)why;
    entry_close(&e->entering, router, engine_entered(e), why);
    e->look_due = true;
}

bool engine_is_quiet(const struct engine *e)
{
    return !engine_is_active(e) && !entry_is_due(&e->entering);
}

uint64_t engine_deadline(const struct engine *e)
{
    return e->look_due ? store_deadline(&e->store) : UINT64_MAX;
}

uint32_t engine_step(const struct engine *e)
{
    return e->stage == ENGINE_STEPS && e->head.bytes ? e->head.step + 1u : 0;
}

uint32_t engine_awaits(const struct engine *e, const struct router *router)
{
    switch (e->stage) {
    case ENGINE_PLAN: return ID_HOST;
    case ENGINE_STEPS: return e->step_waits & STEP_SENDS ? e->head.to : e->head.from;
    default: return entry_awaits(&e->entering, router);
    }
}

/* Spaces and slots -------------------------------------------------------------------------- */

static const struct operation *operation_in(const struct engine *e)
{
    return operation_of(e->call.operation);
}

/* Where a slot of any space begins, in bytes. */
static uint64_t slot_at(const struct engine *e, uint64_t slot)
{
    return operation_slot_at(operation_in(e), slot, e->call.bytes,
                             reduction_element_bytes(e->call.type),
                             e->part ? plan_segments(e->part) : 1);
}

static struct ecube_block block_at(const struct engine *e, unsigned space, uint32_t rank)
{
    struct ecube_block block;

    memcpy(&block, e->call.blocks[space] + rank * sizeof block, sizeof block);
    return block;
}

/* The bytes that a space must have. */
static uint64_t space_need(const struct engine *e, const struct router *router, unsigned space)
{
    if (space == SPACE_SCRATCH) {
        return e->part ? slot_at(e, plan_scratch(e->part)) : 0;
    }
    uint32_t slots = operation_slots(operation_in(e), (enum space)space, router->network.nodes,
                                     router->id, e->call.root, 1);
    return operation_slot_at(operation_in(e), slots, e->call.bytes,
                             reduction_element_bytes(e->call.type), 1);
}

/* The bytes of a space that a collective uses; none: end is 0. */
struct reach {
    uint64_t begin, end;
};

static struct reach reach_of(const struct engine *e, const struct router *router, unsigned space)
{
    struct reach reach = {UINT64_MAX, 0};

    if (!operation_in(e)->sized || space == SPACE_SCRATCH) {
        return (struct reach){0, space_need(e, router, space)};
    }
    for (uint32_t rank = 0; rank < router->network.nodes; rank++) {
        struct ecube_block block = block_at(e, space, rank);
        uint64_t end = (uint64_t)block.at + block.bytes;
        if (block.bytes) {
            reach.begin = block.at < reach.begin ? block.at : reach.begin;
            reach.end = end > reach.end ? end : reach.end;
        }
    }
    return reach;
}

static bool overlap(const struct engine *e, const struct router *router, unsigned one,
                    unsigned other)
{
    struct reach a = reach_of(e, router, one), b = reach_of(e, router, other);
    const uint8_t *at = e->call.space[one], *bt = e->call.space[other];

    return a.end && b.end && at + a.begin < bt + b.end && bt + b.begin < at + a.end;
}

/* Whether the program's arguments name what there is; no plan is needed for that. */
static int check_call(const struct engine *e, const struct router *router)
{
    const struct engine_call *call = &e->call;
    const struct operation *operation = operation_in(e);

    if (!operation || call->root >= operation_roots(operation, &router->network) ||
        (operation->reduces ? !reduction_possible(call->type, call->operator_) ||
                                  call->bytes % reduction_element_bytes(call->type)
                            : call->type || call->operator_)) {
        return E_ARGUMENT;
    }
    for (unsigned space = 0; space < SPACE_SCRATCH; space++) {
        if (operation->sized &&
            (!call->blocks[space] ||
             call->blocks_bytes[space] / sizeof(struct ecube_block) < router->network.nodes)) {
            return E_FAULT;
        }
        uint64_t need = reach_of(e, router, space).end;
        if (need && (!call->space[space] || need > call->space_bytes[space])) {
            return E_FAULT;
        }
    }
    return overlap(e, router, SPACE_SEND, SPACE_RECEIVE) ? E_ARGUMENT : E_OK;
}

/* Whether there is the working memory that the plan wants, and whether what it writes is the
 * program's to write: the root of a broadcast may give constants. */
static int check_part(const struct engine *e, const struct router *router)
{
    if (space_need(e, router, SPACE_SCRATCH) > e->call.space_bytes[SPACE_SCRATCH]) {
        return E_FULL;
    }
    for (unsigned space = SPACE_RECEIVE; space < SPACES; space++) {
        if (reach_of(e, router, space).end > e->call.writable_bytes[space] &&
            plan_writes(e->part, space)) {
            return E_FAULT;
        }
    }
    return overlap(e, router, SPACE_SEND, SPACE_SCRATCH) ||
                   overlap(e, router, SPACE_RECEIVE, SPACE_SCRATCH)
               ? E_ARGUMENT
               : E_OK;
}

static void cursor_begin(const struct engine *e, struct engine_cursor *cursor, bool received)
{
    if (operation_in(e)->sized) {
        *cursor = e->sized[received];
        return;
    }
    plan_slots_begin(&cursor->slots, e->part, e->row, plan_is_invariant(e->part) ? e->rank : 0,
                     received);
    cursor->left = 0;
}

/* Sees to it that the cursor stands at bytes; false at the end. Slots without bytes are passed,
 * each at once: without bytes there is nothing to go through. */
static bool cursor_stands(const struct engine *e, const struct router *router,
                          struct engine_cursor *cursor)
{
    struct plan_run run;

    while (cursor->left == 0) {
        if (!plan_slots_next(&cursor->slots, &router->network, &run)) {
            return false;
        }
        uint64_t at = slot_at(e, run.first);
        cursor->at = e->call.space[run.space] + at;
        cursor->left = (uint32_t)(slot_at(e, (uint64_t)run.first + run.count) - at);
    }
    return true;
}

static void cursor_pass(struct engine_cursor *cursor, uint32_t bytes)
{
    cursor->at += bytes;
    cursor->left -= bytes;
}

/* The bytes of the extents [from, to) of the present row. */
static uint64_t extents_bytes(const struct engine *e, unsigned from, unsigned to)
{
    uint64_t bytes = 0;

    for (; from < to && e->call.bytes; from++) {
        struct plan_extent extent = plan_extent_at(e->row, from);
        if (!operation_in(e)->vector) {
            bytes += (uint64_t)extent.run * extent.times * e->call.bytes;
            continue;
        }
        for (uint32_t i = 0; i < extent.times; i++) {
            uint64_t first = extent.first + (uint64_t)i * extent.stride;
            bytes += slot_at(e, first + extent.run) - slot_at(e, first);
        }
    }
    return bytes;
}

/* Begin: plan and entry --------------------------------------------------------------------- */

/* Its clock begins when both it and the one before it were ready. */
void engine_begin(struct engine *e, const struct engine_call *call)
{
    CHECK(e->stage == ENGINE_IDLE);
    e->call = *call;
    e->stage = ENGINE_PLAN;
    e->look_due = true;
    e->epoch++;
    e->part = e->row = NULL;
    e->row_open = false;
    e->receives_pending = e->sends_pending = 0;
    e->clock_ns = e->flow_ns = clock_max(call->issue_ns, e->clock_ns);
    e->result = (struct engine_result){.status = E_OK};
    e->agreeing = false;
    e->dissent = (struct engine_dissent){.status = E_OK};
}

/* If the program has ended meanwhile, nothing behind this epoch takes place: of a collective that
 * failed before its second entry, not even that. */
static void over(struct engine *e, struct router *router, int status)
{
    e->result.status = status;
    e->result.done_ns = e->clock_ns;
    e->stage = ENGINE_OVER;
    store_use(&e->store, NULL);
    if (e->closed) {
        entry_close(&e->entering, router, e->epoch, status == E_LINK_DEAD ? status : e->closed);
        entry_pump(&e->entering, router);
        e->look_due = true;
    }
}

struct engine_result engine_end(struct engine *e)
{
    CHECK(e->stage == ENGINE_OVER);
    e->stage = ENGINE_IDLE;
    return e->result;
}

/* Finds the part, or what keeps this node from taking part; false while the host is being asked. */
static bool find_part(struct engine *e, const struct router *router, uint64_t now_us)
{
    struct engine_call *call = &e->call;
    struct plan_need need = {.operation = (uint8_t)call->operation,
                             .type = call->type,
                             .root = call->root,
                             .bytes = call->bytes,
                             .choice = call->choice};

    if (call->status == E_OK) {
        call->status = check_call(e, router);
    }
    if (call->status != E_OK || !operation_in(e)->planned) {
        return true;
    }
    e->part = store_find(&e->store, &need, router->id);
    if (e->part) {
        store_use(&e->store, e->part);
        call->status = check_part(e, router);
        return true;
    }
    if (store_failed(&e->store, &need, &call->status)) {
        return true;
    }
    call->status = E_OK;
    store_want(&e->store, &need, now_us);
    return false;
}

static void pump_plan(struct engine *e, struct router *router, uint64_t now_us)
{
    if (!find_part(e, router, now_us)) {
        store_pump(&e->store, router, now_us);
        return;
    }
    struct entry mine = {.operation = (uint8_t)e->call.operation,
                         .type = e->call.type,
                         .operator_ = e->call.operator_,
                         .bytes = e->call.bytes,
                         .root = e->call.root,
                         .digest = e->part ? plan_digest(e->part) : 0,
                         .choice = e->call.choice};
    entry_begin(&e->entering, router, &mine, e->call.status, e->clock_ns);
    e->rank = router->id;
    e->stage = ENGINE_ENTRY;
    entry_pump(&e->entering, router);
}

/* The host may have told this node another number or network since the program asked: the plan is
 * for the one that it had. */
static void begin_steps(struct engine *e, struct router *router)
{
    uint16_t carries[PLAN_PORTS_MAX] = {0};

    if (e->rank != router->id) {
        over(e, router, E_NETWORK);
        return;
    }
    if (!e->part) { /* the entry was all */
        e->clock_ns = e->entering.clock_ns;
    }
    for (unsigned port = 0; e->part && port < PLAN_PORTS_MAX; port++) {
        carries[port] = plan_carries(e->part, port);
    }
    router_schedule_begin(router, e->epoch, carries);
    e->result.steps = e->part ? plan_steps(e->part) : 0;
    e->row = e->part ? plan_first(e->part) : NULL;
    e->head = (struct plan_row){0};
    e->stage = ENGINE_STEPS;
}

/* The steps are over: all nodes enter once more, and say whether the sizes of their blocks agreed.
 * This takes no model time, and for the router it is a schedule without circuits. */
static void begin_agreement(struct engine *e, struct router *router)
{
    const struct engine_dissent *dissent = &e->dissent;
    struct entry mine = {
        .operation = (uint8_t)e->call.operation, .type = SIZES_AGREE, .choice = e->call.choice};

    if (dissent->status == E_MISMATCH) {
        mine.type = SIZES_DIFFER;
        mine.bytes = dissent->here;
        mine.root = dissent->peer;
        mine.digest = dissent->there;
    }
    e->agreeing = true;
    e->epoch++;
    entry_begin(&e->entering, router, &mine, dissent->status == E_MISMATCH ? E_OK : dissent->status,
                e->clock_ns);
    e->stage = ENGINE_ENTRY;
    e->look_due = true;
}

static void end_agreement(struct engine *e, struct router *router)
{
    const uint16_t carries[PLAN_PORTS_MAX] = {0};

    router_schedule_begin(router, e->epoch, carries);
    router_schedule_done(router, e->epoch);
    over(e, router, E_OK);
}

/* What a failed entry is to this node: that entries differ, or that one is missing, is so for all;
 * what one node could not do is another error to the others. */
static int failure_here(const struct engine *e, int status)
{
    int own = e->agreeing ? e->dissent.status : e->call.status;

    if (status == E_MISMATCH || entry_is_closure(status)) {
        return status;
    }
    return own != E_OK ? own : E_ELSEWHERE;
}

static void pump_entry(struct engine *e, struct router *router)
{
    int status;

    if (!entry_is_over(&e->entering, e->epoch, &status)) {
        return;
    }
    if (status != E_OK) {
        over(e, router, failure_here(e, status));
    } else if (e->agreeing) {
        end_agreement(e, router);
    } else {
        begin_steps(e, router);
    }
}

/* Rows -------------------------------------------------------------------------------------- */

/* Whether the row that comes next may begin while bytes of earlier ones move. */
static bool may_begin(const struct engine *e, const struct plan_row *row)
{
    if ((row->flags & ROW_AFTER_SENT && e->sends_pending) ||
        (row->flags & ROW_AFTER_RECEIVED && e->receives_pending)) {
        return false;
    }
    return !(row->flags & ROW_RECEIVES) || e->receives_pending < RECEIVES_AHEAD;
}

static void dissent(struct engine *e, struct engine_dissent what)
{
    if (e->dissent.status == E_OK) {
        e->dissent = what;
    }
}

/* Where the present row's block lies, of those with sizes of their own. The program may have
 * changed its tables since they were looked at: so they are read once, here. */
static void find_sized(struct engine *e, const struct router *router, bool received)
{
    struct plan_slots slots;
    struct plan_run run;

    e->sized[received] = (struct engine_cursor){.left = 0};
    plan_slots_begin(&slots, e->part, e->row, plan_is_invariant(e->part) ? e->rank : 0, received);
    if (!plan_slots_next(&slots, &router->network, &run)) {
        return;
    }
    struct ecube_block block = block_at(e, run.space, run.first);
    const uint32_t *room = received ? e->call.writable_bytes : e->call.space_bytes;
    if ((uint64_t)block.at + block.bytes > room[run.space]) {
        dissent(e, (struct engine_dissent){.status = E_FAULT});
        return;
    }
    e->sized[received].at = e->call.space[run.space] + block.at;
    e->sized[received].left = block.bytes;
}

/* The bytes of the present row's blocks, of the same. */
static void open_sized(struct engine *e, const struct router *router)
{
    find_sized(e, router, false);
    find_sized(e, router, true);
    e->send_bytes = e->sized[false].left;
    e->receive_bytes = e->sized[true].left;
    if (e->head.flags & ROW_COPIES && e->send_bytes != e->receive_bytes) {
        dissent(e, (struct engine_dissent){.status = E_MISMATCH,
                                           .peer = e->rank,
                                           .here = e->receive_bytes,
                                           .there = e->send_bytes});
    }
}

/* The present row's circuit brings another number of bytes than this node expects. */
static void differ(struct engine *e, uint32_t bytes)
{
    if (!operation_in(e)->sized) {
        e->result.status = E_MISMATCH;
        return;
    }
    dissent(e, (struct engine_dissent){.status = E_MISMATCH,
                                       .peer = e->head.from,
                                       .here = e->receive_bytes,
                                       .there = bytes});
}

static void open_row(struct engine *e, const struct router *router, const struct plan_row *row)
{
    unsigned sent = row->send_extents, all = sent + row->receive_extents;

    e->head = *row;
    e->head.to = plan_peer(e->part, row->to, &router->network, e->rank);
    e->head.from = plan_peer(e->part, row->from, &router->network, e->rank);
    if (operation_in(e)->sized) {
        open_sized(e, router);
    } else {
        e->send_bytes = (uint32_t)extents_bytes(e, 0, sent);
        e->receive_bytes = (uint32_t)extents_bytes(e, sent, all);
    }
    e->step_waits = (uint8_t)((row->flags & ROW_SENDS ? STEP_SENDS : 0) |
                              (row->flags & ROW_RECEIVES ? STEP_RECEIVE : 0));
    e->done_ns = e->clock_ns;
    e->began_ns = e->flow_ns;
    e->row_open = true;
    if (row->flags & ROW_COPIES) {
        cursor_begin(e, &e->from, false);
        cursor_begin(e, &e->into, true);
    }
}

static uint64_t issue_ns(const struct engine *e)
{
    return e->head.flags & ROW_AHEAD ? e->flow_ns : e->clock_ns;
}

static uint32_t token_of(const struct engine *e)
{
    return e->token | (uint32_t)(e->epoch & 0xff) << 16 | e->head.step;
}

/* A circuit of the present row is accepted: it flows from `done` less its transfer on. */
static void stands(struct engine *e, const struct router *router, uint32_t hops, uint32_t bytes,
                   uint64_t done_ns)
{
    e->done_ns = clock_max(e->done_ns, done_ns);
    e->began_ns = clock_max(e->began_ns, done_ns - clock_transfer(&router->profile, hops, bytes));
}

static void move(const struct engine *e, bool combines, uint8_t *into, const uint8_t *from,
                 uint32_t bytes)
{
    if (combines) {
        reduction_combine(e->call.type, e->call.operator_, into, from,
                          bytes / reduction_element_bytes(e->call.type));
    } else {
        memcpy(into, from, bytes);
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Copies inside the node, at most COPY_BYTES; true when the row is through. */
static bool copy_some(struct engine *e, const struct router *router)
{
    uint32_t room = COPY_BYTES;

    if (e->send_bytes == 0) {
        return true;
    }
    while (room && cursor_stands(e, router, &e->from) && cursor_stands(e, router, &e->into)) {
        uint32_t bytes = least(least(e->from.left, e->into.left), room);
        move(e, e->head.flags & ROW_COMBINES, e->into.at, e->from.at, bytes);
        cursor_pass(&e->from, bytes);
        cursor_pass(&e->into, bytes);
        room -= bytes;
    }
    return room > 0;
}

static uint8_t *slice(const struct engine *e, unsigned number)
{
    return e->memory + number * (unsigned)SLICE_BYTES;
}

/* Sending ----------------------------------------------------------------------------------- */

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
        uint32_t part = least(cursor->left, SLICE_BYTES - filled);
        memcpy(slice(e, source->slice) + filled, cursor->at, part);
        cursor_pass(cursor, part);
        filled += part;
    }
    *bytes = filled;
    return slice(e, source->slice);
}

/* The message rides in its OPEN: all of it in one slice. */
static const uint8_t *pack_inline(const struct engine *e, const struct router *router,
                                  struct engine_portions *source)
{
    uint8_t *at = slice(e, source->slice);
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
    source->token = token_of(e);
    circuit->bytes[0] = e->send_bytes;
    if (circuit->flags & OPEN_INLINE) {
        circuit->data[0] = pack_inline(e, router, source);
    } else {
        circuit->data[0] = next_portion(e, router, source, &circuit->bytes[0]);
    }
    circuit->more = source->left = e->send_bytes - circuit->bytes[0];
    return true;
}

/* Starts the present row's send. E_FULL: this node is setting up another circuit; STEP_SEND stays,
 * and each step of the node tries again. Any other error ends the collective with this row. */
static void open_send(struct engine *e, struct router *router)
{
    const uint8_t *hops = plan_row_hops(e->row);
    bool is_inline = e->send_bytes <= open_inline_max(hop_list_bytes(hops));
    struct circuit_source circuit = {.dst = e->head.to,
                                     .match = e->head.step,
                                     .flags =
                                         (uint8_t)(OPEN_SCHEDULE | (is_inline ? OPEN_INLINE : 0)),
                                     .epoch = e->epoch,
                                     .hops = hops,
                                     .issue_ns = issue_ns(e),
                                     .token = token_of(e)};
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

/* The router wants more of the message. Of a collective that has failed the rest does not come: the
 * memory is the program's again, and the receiver has failed as well. An error here is told by the
 * notice of the circuit's end. */
static void feed(struct engine *e, struct router *router, bool present)
{
    struct engine_portions *source = &e->source;
    uint32_t bytes = 0;
    const uint8_t *at = present ? next_portion(e, router, source, &bytes) : NULL;

    source->left -= bytes;
    count_packed(e, at, bytes);
    (void)router_feed(router, source->token, at, bytes);
}

/* Receiving --------------------------------------------------------------------------------- */

/* Puts what has come into the slice where it belongs. */
static void consume(struct engine *e, const struct router *router, uint32_t bytes)
{
    struct engine_cursor *cursor = &e->sink.cursor;
    const uint8_t *from = slice(e, SINK_SLICE);

    e->packed += bytes;
    while (bytes && cursor_stands(e, router, cursor)) {
        uint32_t part = least(cursor->left, bytes);
        move(e, e->sink.combines, cursor->at, from, part);
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
        sink->given = least(sink->left, SLICE_BYTES);
        sink->left -= sink->given;
        return slice(e, SINK_SLICE);
    }
    uint8_t *at = cursor->at;
    sink->given = cursor->left;
    sink->left -= sink->given;
    cursor_pass(cursor, cursor->left);
    return at;
}

/* The present place is full. Of a collective that has failed the rest goes nowhere. */
static void fill(struct engine *e, struct router *router, unsigned port, bool present)
{
    uint8_t *at = NULL;

    if (present) {
        if (e->sink.sliced) {
            consume(e, router, e->sink.given);
        }
        at = next_place(e, router);
    }
    router_sink(router, port, at, e->sink.given);
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
        sink->data = slice(e, SINK_SLICE);
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
           packet_src(packet) == e->head.from && open_match(packet) == e->head.step;
}

/* Takes the circuit of the present row, which waits at a port. A length that is not the plan's
 * fails the collective. */
static void accept_at(struct engine *e, struct router *router, unsigned port, const uint8_t *packet)
{
    bool is_inline = open_flags(packet) & OPEN_INLINE;
    uint32_t hops = packet_hops(packet), bytes = open_length(packet);
    struct circuit_sink sink = {.ready_ns = issue_ns(e), .token = token_of(e)};

    if (!find_place(e, router, &sink, is_inline)) {
        return;
    }
    if (bytes != e->receive_bytes) {
        differ(e, bytes);
    }
    stands(e, router, hops, bytes, router_accept(router, port, &sink));
    e->step_waits &= (uint8_t)~STEP_RECEIVE;
    if (!is_inline) { /* a notice tells the end */
        e->receives_pending++;
    } else if (e->sink.active && e->sink.token == sink.token) {
        if (bytes == e->receive_bytes) {
            consume(e, router, bytes);
        }
        e->sink.active = false;
    }
}

/* Accepts the present row's circuit, if it is among those that are held. Circuits of later steps
 * stay held: their senders are ahead. */
static void accept_receive(struct engine *e, struct router *router)
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

/* Steps ------------------------------------------------------------------------------------- */

/* Ends the present row when its circuits have been answered; false when it must still wait. After
 * an error nothing is waited for: the answer may never come. */
static bool end_row(struct engine *e)
{
    if (e->result.status == E_OK && e->step_waits) {
        return false;
    }
    e->clock_ns = e->done_ns;
    e->flow_ns = e->began_ns;
    e->row_open = false;
    e->row = plan_next(e->part, e->row);
    return true;
}

/* Begins the next row, or ends the collective; false when it must wait for bytes. They are in use
 * until all have moved, in both directions: only then the buffers are the program's again. */
static bool begin_row(struct engine *e, struct router *router)
{
    if (e->result.status != E_OK) {
        over(e, router, e->result.status);
        return true;
    }
    if (!e->row) {
        if (e->receives_pending || e->sends_pending) {
            return false;
        }
        /* Only one that went through its steps counts as completed for the router, which then lets
         * messages from behind it pass (rule 5): of one that failed the links may never be done. */
        router_schedule_done(router, e->epoch);
        if (has_second_entry(e)) {
            begin_agreement(e, router);
        } else {
            over(e, router, E_OK);
        }
        return true;
    }
    struct plan_row row = plan_row_at(e->row);
    if (!may_begin(e, &row)) {
        return false;
    }
    open_row(e, router, &row);
    return true;
}

/* Each turn either begins a row or ends one, so it ends with the plan at the latest. */
static enum engine_verdict pump_steps(struct engine *e, struct router *router)
{
    while (e->stage == ENGINE_STEPS) {
        if (!e->row_open) {
            if (!begin_row(e, router)) {
                return ENGINE_WAITS;
            }
            continue;
        }
        if (e->head.flags & ROW_COPIES && !copy_some(e, router)) {
            return ENGINE_HAS_MORE;
        }
        if (e->step_waits & STEP_SEND) {
            open_send(e, router);
        }
        if (e->step_waits & STEP_RECEIVE) {
            accept_receive(e, router);
        }
        if (!end_row(e)) {
            return ENGINE_WAITS;
        }
    }
    return e->stage == ENGINE_ENTRY ? ENGINE_HAS_MORE : ENGINE_WAITS;
}

bool engine_has_business(const struct engine *e)
{
    return e->stage == ENGINE_PLAN || e->stage == ENGINE_ENTRY || e->store.asking ||
           entry_has_business(&e->entering);
}

/* Most steps of a node are those of a link or of a row. */
static void attend(struct engine *e, struct router *router, uint64_t now_us)
{
    store_pump(&e->store, router, now_us);
    entry_pump(&e->entering, router);
    if (e->stage == ENGINE_PLAN) {
        pump_plan(e, router, now_us);
    }
    if (e->stage == ENGINE_ENTRY) {
        pump_entry(e, router);
    }
    e->look_due = engine_has_business(e);
}

enum engine_verdict engine_pump(struct engine *e, struct router *router, uint64_t now_us)
{
    if (e->look_due) {
        attend(e, router, now_us);
    }
    return e->stage == ENGINE_STEPS ? pump_steps(e, router) : ENGINE_WAITS;
}

void engine_packet(struct engine *e, const struct router *router, const struct notice *notice,
                   uint64_t now_us)
{
    e->look_due = true;
    if (notice->packet_kind == PACKET_ENTER || notice->packet_kind == PACKET_ENTERED) {
        entry_packet(&e->entering, router, notice);
    } else {
        store_packet(&e->store, router, notice, now_us);
    }
}

/* Whether a portioned circuit is the one that a notice is about. */
static bool is_of(const struct engine_portions *portions, const struct notice *notice)
{
    return portions->active && portions->token == notice->token;
}

/* A send is over: its slices are free. */
static void sent(struct engine *e, const struct notice *notice, bool present)
{
    if (is_of(&e->source, notice)) {
        e->source.active = false;
    }
    e->sends_pending = (uint8_t)(e->sends_pending - present);
}

static void received(struct engine *e, const struct router *router, const struct notice *notice,
                     bool present)
{
    if (is_of(&e->sink, notice)) {
        if (present && notice->status == E_OK && e->sink.sliced) {
            consume(e, router, e->sink.given);
        }
        e->sink.active = false;
    }
    e->receives_pending = (uint8_t)(e->receives_pending - present);
}

/* Whether word of a circuit's end says no more than that its two ends differed, which is known. */
static bool is_dissent(const struct engine *e, const struct notice *notice)
{
    return notice->status == E_TRUNCATED && operation_in(e)->sized;
}

/* A collective that ended in error leaves circuits behind, whose word comes later: their tokens
 * carry its epoch, and it is not taken for the next one's. */
void engine_notice(struct engine *e, struct router *router, const struct notice *notice)
{
    bool present = e->stage == ENGINE_STEPS && (notice->token >> 16 & 0xff) == (e->epoch & 0xff);

    switch (notice->kind) {
    case NOTICE_FEED: feed(e, router, present && is_of(&e->source, notice)); return;
    case NOTICE_FILLED: fill(e, router, notice->port, present && is_of(&e->sink, notice)); return;
    case NOTICE_ACCEPTED:
        if (present) {
            stands(e, router, e->send_hops, e->send_bytes, notice->done_ns);
            if (notice->other_length && !operation_in(e)->sized) { /* else its receiver says so */
                e->result.status = E_MISMATCH;
            }
            e->step_waits &= (uint8_t)~STEP_ANSWER;
        }
        break;
    case NOTICE_REFUSED:
    case NOTICE_SENT: sent(e, notice, present); break;
    default: received(e, router, notice, present); break;
    }
    /* of a block that is longer than its receiver wants, what does not fit is lost */
    if (present && notice->status != E_OK && !is_dissent(e, notice)) {
        e->result.status = notice->status;
    }
}
