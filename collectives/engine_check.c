#include "collectives/engine_check.h"

#include "collectives/engine_cursor.h"
#include "drivers/status.h"
#include "reduction/reduction.h"
#include "router/router.h"

/* The bytes that a space must have. */
static uint64_t space_need(const struct engine *e, const struct router *router, unsigned space)
{
    if (space == SPACE_SCRATCH) {
        return e->part ? engine_slot_at(e, plan_scratch(e->part)) : 0;
    }
    uint32_t slots = operation_slots(e->operation, (enum space)space, router->network.nodes,
                                     router->id, e->call.root, 1);
    return operation_slot_at(e->operation, slots, e->call.bytes,
                             reduction_element_bytes(e->call.type), 1);
}

/* The bytes of a space that a collective uses; none: end is 0. */
struct reach {
    uint64_t begin, end;
};

static struct reach reach_of(const struct engine *e, const struct router *router, unsigned space)
{
    struct reach reach = {UINT64_MAX, 0};

    if (!e->operation->sized || space == SPACE_SCRATCH) {
        return (struct reach){0, space_need(e, router, space)};
    }
    for (uint32_t rank = 0; rank < router->network.nodes; rank++) {
        struct ecube_block block = engine_block_at(e, space, rank);
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

int engine_check_call(const struct engine *e, const struct router *router)
{
    const struct engine_call *call = &e->call;
    const struct operation *operation = e->operation;

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

int engine_check_part(const struct engine *e, const struct router *router)
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
