/*
 * plan.c - a node's part of a plan: looked through once, then read row by row.
 *
 * Every number in a part has come over a link. plan_check finds all that would harm the kernel:
 * rows that overrun the part, slots outside their spaces, ranks and ports that the network has
 * not. The other functions read what has passed it.
 */
#include "collectives/plan.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "wire/circuit.h"
#include "wire/crc.h"

enum {
    CHECK_AT = 12, /* the check sum's own place, read as zero */
    CHECK_SIZE = 4
};

uint32_t plan_sum(const uint8_t *part, uint32_t bytes)
{
    static const uint8_t zero[CHECK_SIZE];
    uint32_t sum = crc32_add(crc32_add(0, part, CHECK_AT), zero, CHECK_SIZE);

    return crc32_add(sum, part + CHECK_AT + CHECK_SIZE, bytes - CHECK_AT - CHECK_SIZE);
}

const uint8_t *plan_first(const uint8_t *part)
{
    return plan_rows(part) ? part + PLAN_HEADER_BYTES : NULL;
}

const uint8_t *plan_next(const uint8_t *part, const uint8_t *row)
{
    const uint8_t *next = row + plan_row_bytes(row);

    return next < part + plan_bytes(part) ? next : NULL;
}

uint32_t plan_peer(const uint8_t *part, uint32_t peer, const struct network *network, uint32_t rank)
{
    return plan_is_invariant(part) ? network_translate(network, peer, rank) : peer;
}

/* What a check has at hand. */
struct looking {
    const struct network *network;
    const struct operation *operation;
    struct plan_header header;
    uint32_t rank;
};

/* The slots of a space of this node. */
static uint32_t slots_of(const struct looking *l, unsigned space)
{
    if (space == SPACE_SCRATCH) {
        return l->header.scratch;
    }
    return operation_slots(l->operation, (enum space)space, l->header.nodes, l->rank,
                           l->header.root, l->header.segments);
}

static bool extent_fits(const struct looking *l, const struct plan_extent *extent)
{
    if (extent->space >= SPACES || extent->length == 0 || extent->times == 0 ||
        (extent->times > 1 && extent->stride < extent->length)) {
        return false;
    }
    uint64_t last = extent->first + (uint64_t)(extent->times - 1) * extent->stride + extent->length;
    return last <= slots_of(l, extent->space);
}

/* Where blocks have sizes of their own each goes by itself. */
static bool is_one_block(const struct looking *l, const uint8_t *row, unsigned from, unsigned to,
                         enum space space)
{
    if (!l->operation->sized || from == to) {
        return true;
    }
    struct plan_extent extent = plan_extent_at(row, from);
    return to - from == 1 && extent.length == 1 && extent.times == 1 && extent.space == space;
}

/* Adds up the slots of extents [from, to); false when one of them lies outside its space. */
static bool extents_fit(const struct looking *l, const uint8_t *row, unsigned from, unsigned to,
                        uint64_t *slots)
{
    for (; from < to; from++) {
        struct plan_extent extent = plan_extent_at(row, from);
        if (!extent_fits(l, &extent)) {
            return false;
        }
        *slots += (uint64_t)extent.length * extent.times;
    }
    return true;
}

/* Whether a row puts something into a space. */
static bool row_writes(const uint8_t *row, unsigned space)
{
    struct plan_row head = plan_row_at(row);

    for (unsigned i = 0; i < head.receive_extents; i++) {
        if (plan_extent_at(row, head.send_extents + i).space == space) {
            return true;
        }
    }
    return false;
}

bool plan_writes(const uint8_t *part, unsigned space)
{
    for (const uint8_t *row = plan_first(part); row; row = plan_next(part, row)) {
        if (row_writes(row, space)) {
            return true;
        }
    }
    return false;
}

/* The nodes of a path, by a few bits of their numbers: up to 256 nodes none is looked for twice. */
enum { PATH_NODES_MAX = OPEN_HOPS_MAX + 1, PLACES = 256 };

struct path {
    uint32_t nodes[PATH_NODES_MAX];
    uint8_t places[PLACES]; /* 1 + an index in nodes; 0: free */
    unsigned count;
};

_Static_assert(PATH_NODES_MAX < PLACES, "every search comes to a free place, and fits a byte");

/* Adds a node; false when it is there already. */
static bool path_add(struct path *path, uint32_t node)
{
    uint8_t place = (uint8_t)node;

    for (; path->places[place]; place++) {
        if (path->nodes[path->places[place] - 1] == node) {
            return false;
        }
    }
    path->nodes[path->count] = node;
    path->places[place] = (uint8_t)++path->count;
    return true;
}

/* Whether a hop list leads from this node to its row's peer, and comes to no node twice: the peer's
 * router ends a circuit where it first comes there. An invariant row is written for node 0, and
 * leads where it says from there. */
static bool path_leads(const struct looking *l, const uint8_t *list, uint32_t to)
{
    const struct network *network = l->network;
    uint32_t at = l->header.flags & PLAN_INVARIANT ? 0 : l->rank;
    struct path path;

    path.count = 0;
    memset(path.places, 0, sizeof path.places);
    path_add(&path, at);
    for (unsigned i = 0; i < hop_list_count(list); i++) {
        unsigned port = hop_list_at(list, i).port;
        if (port == HOP_DIMENSION_ORDER) {
            if (at == to) {
                return false;
            }
            port = network_next_hop(network, at, to);
        }
        if (port >= network->ports) {
            return false;
        }
        at = network_neighbour(network, at, port);
        if (at == NETWORK_NO_NODE || !path_add(&path, at)) {
            return false;
        }
    }
    return at == to;
}

/* Whether a row's hop list lies inside it and leads to its peer. */
static bool hops_fit(const struct looking *l, const uint8_t *row, uint32_t extents_end,
                     const struct plan_row *head)
{
    if (extents_end + HOP_LIST_BYTES > head->bytes) {
        return false;
    }
    const uint8_t *list = row + extents_end;
    unsigned count = hop_list_count(list);
    return count > 0 && count <= OPEN_HOPS_MAX &&
           extents_end + hop_list_bytes(list) <= head->bytes && path_leads(l, list, head->to);
}

/* A row either copies or has circuits with other nodes. */
static bool flags_fit(const struct looking *l, const struct plan_row *row)
{
    uint32_t self = l->header.flags & PLAN_INVARIANT ? 0 : l->rank;
    bool sends = row->flags & ROW_SENDS, receives = row->flags & ROW_RECEIVES;
    bool copies = row->flags & ROW_COPIES;

    return copies != (sends || receives) &&
           (!sends || (row->to < l->header.nodes && row->to != self)) &&
           (!receives || (row->from < l->header.nodes && row->from != self)) &&
           (copies || sends || row->send_extents == 0) &&
           (copies || receives || row->receive_extents == 0);
}

/* Whether `left` bytes begin with a row that can be executed without harm. */
static bool row_fits(const struct looking *l, const uint8_t *at, uint32_t left)
{
    uint64_t sent = 0, received = 0;

    if (left < PLAN_ROW_BYTES) {
        return false;
    }
    struct plan_row row = plan_row_at(at);
    unsigned extents = (unsigned)row.send_extents + row.receive_extents;
    uint32_t end = PLAN_ROW_BYTES + extents * (uint32_t)PLAN_EXTENT_BYTES;
    unsigned ports = l->header.ports < PLAN_PORTS_MAX ? l->header.ports : PLAN_PORTS_MAX;
    if (row.port >= ports || row.bytes % 4 || row.bytes > left || end > row.bytes ||
        !flags_fit(l, &row)) {
        return false;
    }
    return extents_fit(l, at, 0, row.send_extents, &sent) &&
           extents_fit(l, at, row.send_extents, extents, &received) &&
           !row_writes(at, SPACE_SEND) && is_one_block(l, at, 0, row.send_extents, SPACE_SEND) &&
           is_one_block(l, at, row.send_extents, extents, SPACE_RECEIVE) &&
           (!(row.flags & ROW_COPIES) || sent == received) &&
           (!(row.flags & ROW_SENDS) || hops_fit(l, at, end, &row));
}

/* Whether the rows fill the part, in the order of their steps. */
static bool rows_fit(const struct looking *l, const uint8_t *part)
{
    uint32_t at = PLAN_HEADER_BYTES, rows = 0, step = 0;

    for (; at < l->header.bytes; rows++) {
        if (!row_fits(l, part + at, l->header.bytes - at)) {
            return false;
        }
        struct plan_row row = plan_row_at(part + at);
        if (row.step < step || row.step >= PLAN_STEPS_MAX) {
            return false;
        }
        step = row.step;
        at += row.bytes;
    }
    return rows == l->header.rows;
}

/* One part for all nodes says whose slots are whose, not which segments. */
static bool segments_fit(const struct looking *l)
{
    bool cut = !l->operation->vector && l->header.segments > 1;

    return l->header.segments > 0 &&
           (!cut || (operation_has_segments(l->operation) && !(l->header.flags & PLAN_INVARIANT)));
}

int plan_check(const uint8_t *part, uint32_t bytes, const struct network *network, uint32_t rank)
{
    struct looking l = {.network = network, .rank = rank};

    if (!plan_header_unpack(part, bytes, &l.header) || plan_sum(part, bytes) != l.header.check) {
        return E_FORMAT;
    }
    bool invariant = l.header.flags & PLAN_INVARIANT;
    if (l.header.machine != network_digest(network) || l.header.nodes != network->nodes ||
        l.header.rank != (invariant ? 0 : rank) || (invariant && !network_is_symmetric(network))) {
        return E_NETWORK;
    }
    l.operation = operation_of(l.header.operation);
    if (!l.operation || !l.operation->planned || !segments_fit(&l) ||
        l.header.scratch > PLAN_SCRATCH_MAX ||
        l.header.root >= operation_roots(l.operation, network) || !rows_fit(&l, part)) {
        return E_FORMAT;
    }
    return E_OK;
}

/* The spaces whose slots are translated with the rank. */
static uint8_t translated_spaces(const uint8_t *part)
{
    const struct operation *operation = operation_of(plan_operation(part));
    uint8_t mask = 0;

    for (unsigned space = 0; space < SPACE_SCRATCH && plan_is_invariant(part); space++) {
        if (operation->span[space] == SPAN_NODES) {
            mask |= (uint8_t)(1u << space);
        }
    }
    return mask;
}

void plan_slots_begin(struct plan_slots *slots, const uint8_t *part, const uint8_t *row,
                      uint32_t rank, bool received)
{
    struct plan_row head = plan_row_at(row);

    *slots = (struct plan_slots){.row = row, .rank = rank};
    slots->extent = received ? head.send_extents : 0;
    slots->extent_end = (uint8_t)(head.send_extents + (received ? head.receive_extents : 0));
    slots->translated = translated_spaces(part);
}

/* How many of the blocks from `done` on stay neighbours in memory when the rank is added to their
 * slots, and where the first of them lies. */
static uint32_t translated_range(const struct plan_slots *slots, const struct network *network,
                                 const struct plan_extent *extent, uint32_t *first)
{
    uint32_t base = extent->first + slots->times * extent->stride, count = 1;
    uint32_t length = extent->length;

    if (network->kind == NETWORK_CUBE && !(length & (length - 1)) && base % length == 0) {
        *first = (base ^ slots->rank) & ~(length - 1);
        return length;
    }
    *first = network_translate(network, base + slots->done, slots->rank);
    while (slots->done + count < length &&
           network_translate(network, base + slots->done + count, slots->rank) == *first + count) {
        count++;
    }
    return count;
}

bool plan_slots_next(struct plan_slots *slots, const struct network *network,
                     struct slot_range *range)
{
    if (slots->extent == slots->extent_end) {
        return false;
    }
    struct plan_extent extent = plan_extent_at(slots->row, slots->extent);
    range->space = extent.space;
    range->first = extent.first + slots->times * extent.stride;
    range->count = extent.length;
    if (slots->translated >> extent.space & 1) {
        range->count = translated_range(slots, network, &extent, &range->first);
    }
    slots->done += range->count;
    if (slots->done == extent.length) {
        slots->done = 0;
        slots->times++;
    }
    if (slots->times == extent.times) {
        slots->times = 0;
        slots->extent++;
    }
    return true;
}
