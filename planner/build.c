#include "planner/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "wire/circuit.h"

enum { ROOM_LEAST = 16 };

/* Ends the process if there is no memory. */
static void *have(void *memory)
{
    enum { STATUS_BAD_INPUT = 2 };

    if (!memory) {
        fputs("ecube: out of memory: this network's plans take more than there is\n", stderr);
        exit(STATUS_BAD_INPUT);
    }
    return memory;
}

void *planner_memory(uint64_t count, size_t bytes)
{
    return have(calloc(count ? count : 1, bytes));
}

/* Doubles at every power of two, so that no room need be kept. */
void *planner_grow(void *memory, uint64_t count, size_t bytes)
{
    if (count && (count < ROOM_LEAST || (count & (count - 1)))) {
        return memory;
    }
    uint64_t room = count ? 2 * count : ROOM_LEAST;

    CHECK(room <= SIZE_MAX / bytes);
    return have(realloc(memory, room * bytes));
}

struct plan *build_begin(const struct network *network, const struct plan_request *request,
                         bool invariant)
{
    struct plan *plan = planner_memory(1, sizeof *plan);

    *plan = (struct plan){.network = *network,
                          .operation = request->operation,
                          .root = request->root,
                          .invariant = invariant,
                          .segments = 1,
                          .choice = request->choice,
                          .bytes_max = UINT32_MAX};
    plan->scratch = planner_memory(invariant ? 1 : network->nodes, sizeof *plan->scratch);
    return plan;
}

void plan_free(struct plan *plan)
{
    if (!plan) {
        return;
    }
    free(plan->scratch);
    free(plan->written);
    free(plan->written_source);
    free(plan->circuits);
    free(plan->extents);
    free(plan->ports);
    free(plan->turns);
    free(plan->carries);
    free(plan->node_at);
    free(plan->node_circuits);
    plan_free(plan->ranks);
    free(plan);
}

struct slots slots_begin(const struct plan *plan)
{
    return (struct slots){plan->extent_count, 0};
}

bool extent_repeats(struct plan_extent *extent, uint32_t first, uint32_t count)
{
    if (count != extent->length || first < extent->first + extent->length) {
        return false;
    }
    if (extent->times == 1) {
        extent->stride = first - extent->first;
    }
    if ((uint64_t)extent->first + (uint64_t)extent->times * extent->stride != first) {
        return false;
    }
    extent->times++;
    return true;
}

/* Whether a range goes on where an extent ends, or repeats it; then the extent has it too. */
static bool extent_takes(struct plan_extent *extent, uint32_t first, uint32_t count)
{
    if (extent->times == 1 && first == extent->first + extent->length) {
        extent->length += count;
        return true;
    }
    return extent_repeats(extent, first, count);
}

static void add_extent(struct plan *plan, struct slots *slots, struct plan_extent extent)
{
    plan->extents = planner_grow(plan->extents, plan->extent_count, sizeof *plan->extents);
    plan->extents[plan->extent_count++] = extent;
    slots->count++;
}

void slots_add(struct plan *plan, struct slots *slots, enum space space, uint32_t first,
               uint32_t count)
{
    CHECK(slots->at + slots->count == plan->extent_count);
    if (count == 0) {
        return;
    }
    struct plan_extent *last = slots->count ? &plan->extents[plan->extent_count - 1] : NULL;
    if (last && last->space == space && extent_takes(last, first, count)) {
        return;
    }
    add_extent(
        plan, slots,
        (struct plan_extent){
            .space = (uint8_t)space, .first = first, .length = count, .stride = count, .times = 1});
}

void slots_add_apart(struct plan *plan, struct slots *slots, enum space space, uint32_t slot)
{
    CHECK(slots->at + slots->count == plan->extent_count);
    struct plan_extent *last = slots->count ? &plan->extents[plan->extent_count - 1] : NULL;

    if (!last || last->space != space || !extent_repeats(last, slot, 1)) {
        add_extent(
            plan, slots,
            (struct plan_extent){
                .space = (uint8_t)space, .first = slot, .length = 1, .stride = 1, .times = 1});
    }
}

struct slots slots_of(struct plan *plan, enum space space, uint32_t first, uint32_t count)
{
    struct slots slots = slots_begin(plan);

    slots_add(plan, &slots, space, first, count);
    return slots;
}

struct slots slots_apart(struct plan *plan, enum space space, uint32_t first, uint32_t stride,
                         uint32_t count)
{
    struct slots slots = slots_begin(plan);

    add_extent(plan, &slots,
               (struct plan_extent){.space = (uint8_t)space,
                                    .first = first,
                                    .length = 1,
                                    .stride = stride,
                                    .times = count});
    return slots;
}

static uint32_t slots_count(const struct plan *plan, struct slots slots)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < slots.count; i++) {
        count += plan->extents[slots.at + i].length * plan->extents[slots.at + i].times;
    }
    return count;
}

bool build_too_many(struct plan *plan, uint64_t circuits)
{
    if (circuits > PLAN_CIRCUITS_MAX) {
        plan->refused = "the plan has more circuits than fit in memory";
    }
    return circuits > PLAN_CIRCUITS_MAX;
}

static struct plan_circuit *append(struct plan *plan, uint32_t step, uint32_t from, uint32_t to,
                                   struct slots send, struct slots receive)
{
    if (step >= PLAN_STEPS_MAX) {
        plan->refused = "the plan has more steps than a row counts";
    }
    if (send.count > PLAN_EXTENTS_MAX || receive.count > PLAN_EXTENTS_MAX) {
        plan->refused = "a circuit has more pieces than a row counts";
    }
    (void)build_too_many(plan, (uint64_t)plan->circuit_count + 1);
    plan->circuits = planner_grow(plan->circuits, plan->circuit_count, sizeof *plan->circuits);
    struct plan_circuit *circuit = &plan->circuits[plan->circuit_count++];
    *circuit = (struct plan_circuit){.step = step,
                                     .from = from,
                                     .to = to,
                                     .send_at = send.at,
                                     .receive_at = receive.at,
                                     .send_count = (uint8_t)send.count,
                                     .receive_count = (uint8_t)receive.count,
                                     .port = plan->port,
                                     .ports_at = PLAN_DIMENSION_ORDER,
                                     .blocks = slots_count(plan, send)};
    return circuit;
}

static void set_hops(struct plan *plan, struct plan_circuit *circuit, uint32_t hops)
{
    if (hops > OPEN_HOPS_MAX) {
        plan->refused = "a path has more hops than a circuit can list";
    }
    circuit->hops = (uint8_t)hops;
}

void build_circuit(struct plan *plan, uint32_t step, uint32_t from, uint32_t to, struct slots send,
                   struct slots receive, uint8_t flags)
{
    struct plan_circuit *circuit = append(plan, step, from, to, send, receive);

    circuit->flags = flags;
    set_hops(plan, circuit, network_distance(&plan->network, from, to));
}

void build_routed(struct plan *plan, uint32_t step, uint32_t from, uint32_t to, struct slots send,
                  struct slots receive, uint8_t flags, const uint8_t *ports, uint32_t hops)
{
    struct plan_circuit *circuit = append(plan, step, from, to, send, receive);

    circuit->flags = flags;
    circuit->ports_at = plan->port_count;
    set_hops(plan, circuit, hops);
    for (uint32_t i = 0; i < hops; i++) {
        plan->ports = planner_grow(plan->ports, plan->port_count, sizeof *plan->ports);
        plan->ports[plan->port_count++] = ports[i];
    }
}

void build_copy(struct plan *plan, uint32_t step, uint32_t node, struct slots from, struct slots to,
                uint8_t flags)
{
    append(plan, step, node, node, from, to)->flags = flags | ROW_COPIES;
}

bool space_is_translated(const struct plan *plan, unsigned space)
{
    return space < SPACE_SCRATCH && operation_of(plan->operation)->span[space] == SPAN_NODES;
}

struct slot_ranges ranges_of(const struct plan *plan, struct slots slots, uint32_t by)
{
    return (struct slot_ranges){
        .plan = plan, .extent = slots.at, .extent_end = slots.at + slots.count, .by = by};
}

/* What of a range, from `done` on, stays together when it is moved to rank `by`: on a cube an
 * aligned one as a whole, which is read upwards. */
static struct slot_range moved(const struct slot_ranges *ranges, struct slot_range whole)
{
    const struct network *network = &ranges->plan->network;
    uint32_t first = whole.first + ranges->done, count = 1;

    if (network->kind == NETWORK_CUBE && !(whole.count & (whole.count - 1)) &&
        whole.first % whole.count == 0) {
        return (struct slot_range){whole.space, (whole.first ^ ranges->by) & ~(whole.count - 1),
                                   whole.count};
    }
    uint32_t to = network_translate(network, first, ranges->by);
    while (ranges->done + count < whole.count &&
           network_translate(network, first + count, ranges->by) == to + count) {
        count++;
    }
    return (struct slot_range){whole.space, to, count};
}

bool ranges_next(struct slot_ranges *ranges, struct slot_range *range)
{
    if (ranges->extent == ranges->extent_end) {
        return false;
    }
    const struct plan_extent *extent = &ranges->plan->extents[ranges->extent];
    *range = (struct slot_range){extent->space, extent->first + ranges->times * extent->stride,
                                 extent->length};
    if (ranges->by && space_is_translated(ranges->plan, extent->space)) {
        *range = moved(ranges, *range);
    }
    ranges->done += range->count;
    if (ranges->done == extent->length) {
        ranges->done = 0;
        ranges->times++;
    }
    if (ranges->times == extent->times) {
        ranges->times = 0;
        ranges->extent++;
    }
    return true;
}

bool ranges_next_slot(struct slot_ranges *ranges, struct slot_range *range)
{
    if (range->count > 1) {
        range->first++;
        range->count--;
        return true;
    }
    return ranges_next(ranges, range);
}

uint32_t *plan_slots_index(const struct plan *plan, uint32_t *total)
{
    uint32_t nodes = plan->network.nodes, *at;

    at = planner_memory((uint64_t)nodes * SPACES, sizeof *at);
    *total = 0;
    for (uint32_t i = 0; i < nodes * SPACES; i++) {
        at[i] = *total;
        *total += plan_slots_at(plan, i % SPACES, i / SPACES);
    }
    return at;
}

uint32_t plan_slots_at(const struct plan *plan, unsigned space, uint32_t rank)
{
    if (space == SPACE_SCRATCH) {
        return plan->scratch[plan->invariant ? 0 : rank];
    }
    return operation_slots(operation_of(plan->operation), (enum space)space, plan->network.nodes,
                           rank, plan->root, plan->segments);
}
