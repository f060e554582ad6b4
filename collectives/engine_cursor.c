#include "collectives/engine_cursor.h"

#include <string.h>

#include "reduction/reduction.h"
#include "router/router.h"

uint64_t engine_slot_at(const struct engine *e, uint64_t slot)
{
    return operation_slot_at(e->operation, slot, e->call.bytes,
                             reduction_element_bytes(e->call.type),
                             e->part ? plan_segments(e->part) : 1);
}

struct ecube_block engine_block_at(const struct engine *e, unsigned space, uint32_t rank)
{
    struct ecube_block block;

    memcpy(&block, e->call.blocks[space] + rank * sizeof block, sizeof block);
    return block;
}

void cursor_begin(const struct engine *e, struct engine_cursor *cursor, bool received)
{
    if (e->operation->sized) {
        *cursor = e->sized[received];
        return;
    }
    plan_slots_begin(&cursor->slots, e->part, e->row, plan_is_invariant(e->part) ? e->rank : 0,
                     received);
    cursor->left = 0;
}

bool cursor_stands(const struct engine *e, const struct router *router,
                   struct engine_cursor *cursor)
{
    struct slot_range range;

    while (cursor->left == 0) {
        if (!plan_slots_next(&cursor->slots, &router->network, &range)) {
            return false;
        }
        uint64_t at = engine_slot_at(e, range.first);
        cursor->at = e->call.space[range.space] + at;
        cursor->left = (uint32_t)(engine_slot_at(e, (uint64_t)range.first + range.count) - at);
    }
    return true;
}

uint64_t engine_extents_bytes(const struct engine *e, unsigned from, unsigned to)
{
    uint64_t bytes = 0;

    for (; from < to && e->call.bytes; from++) {
        struct plan_extent extent = plan_extent_at(e->row, from);
        if (!e->operation->vector && plan_segments(e->part) == 1) {
            bytes += (uint64_t)extent.length * extent.times * e->call.bytes;
            continue;
        }
        for (uint32_t i = 0; i < extent.times; i++) {
            uint64_t first = extent.first + (uint64_t)i * extent.stride;
            bytes += engine_slot_at(e, first + extent.length) - engine_slot_at(e, first);
        }
    }
    return bytes;
}
