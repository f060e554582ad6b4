#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "reduction/reduction.h"

/* Bytes at hand, on their way from slots to slots. */
struct cargo {
    uint8_t *data;
    uint64_t bytes, room;
};

struct performance {
    const struct plan *plan;
    const struct operation *operation;
    const struct plan_data *data;
    uint32_t element_bytes;
    uint8_t **scratch; /* of each node */
    struct cargo cargo;
};

static uint64_t slot_at(const struct performance *p, uint64_t slot)
{
    return operation_slot_at(p->operation, slot, p->data->bytes, p->element_bytes,
                             p->plan->segments);
}

static void load(struct performance *p, uint32_t node, struct slot_range range)
{
    const uint8_t *space = range.space == SPACE_SEND      ? p->data->send[node]
                           : range.space == SPACE_RECEIVE ? p->data->receive[node]
                                                          : p->scratch[node];
    uint64_t at = slot_at(p, range.first);
    uint64_t bytes = slot_at(p, (uint64_t)range.first + range.count) - at;

    if (bytes == 0) {
        return;
    }
    if (p->cargo.bytes + bytes > p->cargo.room) {
        uint64_t room = 2 * (p->cargo.bytes + bytes);
        uint8_t *data = planner_memory(room, 1);
        if (p->cargo.bytes) {
            memcpy(data, p->cargo.data, p->cargo.bytes);
        }
        free(p->cargo.data);
        p->cargo.data = data;
        p->cargo.room = room;
    }
    memcpy(p->cargo.data + p->cargo.bytes, space + at, bytes);
    p->cargo.bytes += bytes;
}

/* Lays bytes down from place `from` of the cargo on; returns the place behind them. */
static uint64_t unload(struct performance *p, uint32_t node, struct slot_range range, bool combines,
                       uint64_t from)
{
    uint8_t *space = range.space == SPACE_RECEIVE ? p->data->receive[node] : p->scratch[node];
    uint64_t at = slot_at(p, range.first);
    uint64_t bytes = slot_at(p, (uint64_t)range.first + range.count) - at;

    if (bytes == 0) {
        return from;
    }
    if (combines) {
        reduction_combine(p->data->type, p->data->operator_, space + at, p->cargo.data + from,
                          (uint32_t)(bytes / p->element_bytes));
    } else {
        memcpy(space + at, p->cargo.data + from, bytes);
    }
    return from + bytes;
}

static void move(struct performance *p, const struct plan_circuit *circuit)
{
    struct slot_ranges ranges = ranges_of(p->plan, sent_slots(circuit), 0);
    struct slot_range range;
    uint64_t from = 0;

    p->cargo.bytes = 0;
    while (ranges_next(&ranges, &range)) {
        load(p, circuit->from, range);
    }
    ranges = ranges_of(p->plan, received_slots(circuit), 0);
    while (ranges_next(&ranges, &range)) {
        from = unload(p, circuit->to, range, circuit->flags & ROW_COMBINES, from);
    }
}

static void perform_all(const struct plan *plan, const struct plan_data *data)
{
    struct performance p = {.plan = plan, .operation = operation_of(plan->operation), .data = data};
    uint32_t nodes = plan->network.nodes;

    p.element_bytes = p.operation->reduces ? reduction_element_bytes(data->type) : 1;
    p.scratch = planner_memory(nodes, sizeof *p.scratch);
    for (uint32_t node = 0; node < nodes; node++) {
        p.scratch[node] = planner_memory(slot_at(&p, plan->scratch[node]), 1);
    }
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        move(&p, &plan->circuits[i]);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        free(p.scratch[node]);
    }
    free(p.scratch);
    free(p.cargo.data);
}

void plan_perform(const struct plan *plan, const struct plan_data *data)
{
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;

    perform_all(all ? all : plan, data);
    plan_free(all);
}
