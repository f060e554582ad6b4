/*
 * part.c - a plan as the bytes that one node reads (wire/plan.h).
 *
 * What a node sends and what it receives by one port in a step are one row. Copies of the step
 * stand before its rows or behind them, as they do in the list of circuits.
 */
#include <string.h>

#include "collectives/plan.h"
#include "planner/build.h"
#include "planner/proof/digest.h"
#include "planner/proof/prove.h"
#include "wire/circuit.h"

/* A row's extents, and a row. */
struct extents {
    struct plan_extent all[2 * PLAN_EXTENTS_MAX];
    uint32_t count;
    bool full; /* it had more */
};

struct writer {
    const struct plan *plan;
    uint8_t *part; /* NULL: bytes are counted only */
    uint32_t rank, at, rows;
    bool full;
};

static void add_extent(struct extents *extents, const struct plan_extent *extent)
{
    if (extents->count == sizeof extents->all / sizeof extents->all[0]) {
        extents->full = true;
    } else {
        extents->all[extents->count++] = *extent;
    }
}

/* Adds a list of slots, moved by `by`; returns how many extents it makes. */
static uint32_t add_slots(struct extents *extents, const struct plan *plan, struct slots slots,
                          uint32_t by)
{
    uint32_t before = extents->count;
    struct slot_ranges ranges = ranges_of(plan, slots, by);
    struct slot_range range;

    if (by == 0) {
        for (uint32_t i = 0; i < slots.count; i++) {
            add_extent(extents, &plan->extents[slots.at + i]);
        }
    }
    while (by && ranges_next(&ranges, &range)) {
        struct plan_extent *last =
            extents->count > before ? &extents->all[extents->count - 1] : NULL;
        if (last && last->space == range.space && extent_repeats(last, range.first, range.count)) {
            continue; /* a node moves each range of an extent by itself */
        }
        const struct plan_extent one = {.space = range.space,
                                        .first = range.first,
                                        .length = range.count,
                                        .stride = range.count,
                                        .times = 1};
        add_extent(extents, &one);
    }
    return extents->count - before;
}

static uint32_t write_hops(const struct plan *plan, const struct plan_circuit *circuit, uint8_t *at)
{
    struct open_hop hops[OPEN_HOPS_MAX];
    bool ordered = circuit->ports_at == PLAN_DIMENSION_ORDER;

    for (unsigned i = 0; i < circuit->hops; i++) {
        hops[i] = (struct open_hop){.port = ordered ? HOP_DIMENSION_ORDER
                                                    : plan->ports[circuit->ports_at + i],
                                    .turn = plan->turns[circuit->turns_at + i]};
    }
    return hop_list_pack(at, hops, circuit->hops);
}

/* The flags of a row: each end's waits hold for both, what is received is combined or not. */
static uint8_t row_flags(const struct plan_circuit *send, const struct plan_circuit *receive)
{
    const unsigned waits = ROW_AHEAD | ROW_AFTER_RECEIVED | ROW_AFTER_SENT;
    unsigned flags = receive ? receive->flags : send->flags & waits;

    if (send && is_copy(send)) {
        return (uint8_t)flags;
    }
    if (send) {
        flags |= ROW_SENDS | (send->flags & waits);
    }
    return (uint8_t)(flags | (receive ? ROW_RECEIVES : 0));
}

/* Adds the slots of both ends; the row says how many extents they are. */
static void add_ends(struct writer *w, struct extents *extents, struct plan_row *row,
                     const struct plan_circuit *send, const struct plan_circuit *receive)
{
    uint32_t by =
        w->plan->invariant && receive && !is_copy(receive) ? sender_to_zero(w->plan, receive) : 0;
    uint32_t sent = send ? add_slots(extents, w->plan, sent_slots(send), 0) : 0;
    uint32_t received = receive ? add_slots(extents, w->plan, received_slots(receive), by) : 0;

    w->full = w->full || extents->full || sent > PLAN_EXTENTS_MAX || received > PLAN_EXTENTS_MAX;
    row->send_extents = (uint8_t)sent;
    row->receive_extents = (uint8_t)received;
    if (row->flags & ROW_SENDS) {
        row->to = send->to;
    }
    if (row->flags & ROW_RECEIVES) {
        row->from = w->plan->invariant ? by : receive->from;
    }
}

/* Writes a row of which `send` and `receive` are the two ends; either may be NULL. */
static void write_row(struct writer *w, const struct plan_circuit *send,
                      const struct plan_circuit *receive)
{
    struct plan_row row = {.step = (uint16_t)(send ? send : receive)->step,
                           .flags = row_flags(send, receive),
                           .port = (send ? send : receive)->port};
    struct extents extents = {.count = 0};
    uint8_t hops[HOP_LIST_BYTES_MAX];

    add_ends(w, &extents, &row, send, receive);
    uint32_t bytes = PLAN_ROW_BYTES + extents.count * (uint32_t)PLAN_EXTENT_BYTES;
    uint32_t list = row.flags & ROW_SENDS ? write_hops(w->plan, send, hops) : 0;
    row.bytes = (uint16_t)((bytes + list + 3) / 4 * 4);
    if (w->part) {
        uint8_t *at = w->part + w->at;
        memset(at, 0, row.bytes);
        plan_row_pack(at, &row);
        for (uint32_t i = 0; i < extents.count; i++) {
            plan_extent_pack(at + PLAN_ROW_BYTES + i * PLAN_EXTENT_BYTES, &extents.all[i]);
        }
        memcpy(at + bytes, hops, list);
    }
    w->at += row.bytes;
    w->rows++;
}

/* The circuits of a node, in their order. */
static uint32_t circuit_count(const struct writer *w)
{
    if (w->plan->invariant) {
        return w->plan->circuit_count;
    }
    return w->plan->node_at[w->rank + 1] - w->plan->node_at[w->rank];
}

static const struct plan_circuit *circuit_at(const struct writer *w, uint32_t place)
{
    if (w->plan->invariant) {
        return &w->plan->circuits[place];
    }
    return &w->plan->circuits[w->plan->node_circuits[w->plan->node_at[w->rank] + place]];
}

/* Notes a circuit as what the node sends, receives, or both. */
static void take(const struct writer *w, const struct plan_circuit *circuit,
                 const struct plan_circuit **send, const struct plan_circuit **receive)
{
    if (circuit->from == w->rank || w->plan->invariant) {
        *send = circuit;
    }
    if (circuit->to == w->rank || w->plan->invariant) {
        *receive = circuit;
    }
}

static void write_rows(struct writer *w)
{
    uint32_t count = circuit_count(w);

    for (uint32_t i = 0; i < count;) {
        const struct plan_circuit *first = circuit_at(w, i), *send = NULL, *receive = NULL;
        take(w, first, &send, &receive);
        for (i++; !is_copy(first) && i < count; i++) {
            const struct plan_circuit *next = circuit_at(w, i);
            if (next->step != first->step || next->port != first->port || is_copy(next)) {
                break;
            }
            take(w, next, &send, &receive);
        }
        write_row(w, send, receive);
    }
}

static void write_header(const struct writer *w)
{
    const struct plan *plan = w->plan;
    uint32_t rank = plan->invariant ? 0 : w->rank;
    struct plan_header header = {.flags = plan->invariant ? PLAN_INVARIANT : 0,
                                 .bytes = w->at,
                                 .digest = plan->digest,
                                 .machine = network_digest(&plan->network),
                                 .nodes = plan->network.nodes,
                                 .rank = rank,
                                 .root = plan->root,
                                 .operation = (uint8_t)plan->operation,
                                 .algorithm = plan->algorithm,
                                 .segments = (uint16_t)plan->segments,
                                 .scratch = plan->scratch[rank],
                                 .rows = w->rows,
                                 .steps = plan->steps,
                                 .bytes_min = plan->bytes_min,
                                 .bytes_max = plan->bytes_max,
                                 .choice = plan->choice,
                                 .type = plan->type,
                                 .ports = plan->node_ports};

    for (unsigned port = 0; port < plan->network.ports; port++) {
        header.carries[port] = plan->carries[(uint64_t)rank * plan->network.ports + port];
    }
    plan_header_pack(w->part, &header);
    header.check = plan_sum(w->part, w->at);
    plan_header_pack(w->part, &header);
}

uint32_t plan_part(const struct plan *plan, uint32_t rank, uint8_t *part)
{
    struct writer w = {
        .plan = plan, .part = part, .rank = plan->invariant ? 0 : rank, .at = PLAN_HEADER_BYTES};

    write_rows(&w);
    if (part) {
        write_header(&w);
    }
    return w.at;
}

bool plan_parts_fit(const struct plan *plan, struct plan_fault *fault)
{
    struct writer w = {.plan = plan, .at = PLAN_HEADER_BYTES};

    if (!plan->invariant) { /* its slots are written as they stand, and have been counted */
        return true;
    }
    write_rows(&w);
    return !w.full || plan_fails(fault, NULL, UINT32_MAX,
                                 "a circuit has more pieces than a row "
                                 "counts");
}
