#include "collectives/engine_row.h"

#include "collectives/engine_cursor.h"
#include "drivers/status.h"
#include "router/router.h"

enum { RECEIVES_AHEAD = 3 /* rows whose data may still flow in when the next one is set up */ };

bool engine_may_begin(const struct engine *e, const struct plan_row *row)
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
    struct slot_range range;

    e->sized[received] = (struct engine_cursor){.left = 0};
    plan_slots_begin(&slots, e->part, e->row, plan_is_invariant(e->part) ? e->rank : 0, received);
    if (!plan_slots_next(&slots, &router->network, &range)) {
        return;
    }
    struct ecube_block block = engine_block_at(e, range.space, range.first);
    const uint32_t *room = received ? e->call.writable_bytes : e->call.space_bytes;
    if ((uint64_t)block.at + block.bytes > room[range.space]) {
        dissent(e, (struct engine_dissent){.status = E_FAULT});
        return;
    }
    e->sized[received].at = e->call.space[range.space] + block.at;
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

void engine_differ(struct engine *e, uint32_t bytes)
{
    if (!e->operation->sized) {
        e->result.status = E_MISMATCH;
        return;
    }
    dissent(e, (struct engine_dissent){.status = E_MISMATCH,
                                       .peer = e->head.from,
                                       .here = e->receive_bytes,
                                       .there = bytes});
}

void engine_open_row(struct engine *e, const struct router *router, const struct plan_row *row)
{
    unsigned sent = row->send_extents, all = sent + row->receive_extents;

    if (row->step != e->head.step) {
        e->step_clock_ns = e->clock_ns;
        e->step_flow_ns = e->flow_ns;
    }
    e->row_number++;
    e->head = *row;
    e->head.to = plan_peer(e->part, row->to, &router->network, e->rank);
    e->head.from = plan_peer(e->part, row->from, &router->network, e->rank);
    if (e->operation->sized) {
        open_sized(e, router);
    } else {
        e->send_bytes = (uint32_t)engine_extents_bytes(e, 0, sent);
        e->receive_bytes = (uint32_t)engine_extents_bytes(e, sent, all);
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

void engine_stands(struct engine *e, const struct router *router, uint32_t hops, uint32_t bytes,
                   uint64_t done_ns)
{
    e->done_ns = clock_max(e->done_ns, done_ns);
    e->began_ns = clock_max(e->began_ns, done_ns - clock_transfer(&router->profile, hops, bytes));
}
