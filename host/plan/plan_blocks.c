#include "host/plan/plan_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

enum { ROOM_LEAST = 1024 };

static const uint32_t NOTHING = UINT32_MAX;

/* Goes through the slots of extents in the order in which they travel. */
struct slots {
    const struct plan_extent *extent, *end;
    uint32_t times, at;
};

static bool next_slot(struct slots *slots, uint8_t *space, uint32_t *slot)
{
    if (slots->extent == slots->end) {
        return false;
    }
    const struct plan_extent *extent = slots->extent;
    *space = extent->space;
    *slot = extent->first + slots->times * extent->stride + slots->at;
    if (++slots->at == extent->length) {
        slots->at = 0;
        slots->times++;
    }
    if (slots->times == extent->times) {
        slots->times = 0;
        slots->extent++;
    }
    return true;
}

static struct slots slots_of(const struct plan *plan, uint32_t at, uint32_t count)
{
    return (struct slots){.extent = plan->extents + at, .end = plan->extents + at + count};
}

static uint32_t slots_in(const struct plan *plan, enum space space, uint32_t node)
{
    if (space == SPACE_SCRATCH) {
        return plan->scratch[plan->invariant ? 0 : node];
    }
    return operation_slots(operation_of(plan->operation), space, plan->network.nodes, node,
                           plan->root, plan->segments);
}

uint64_t plan_blocks_slots(const struct plan *plan)
{
    uint64_t count = 0;

    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        count +=
            (uint64_t)slots_in(plan, SPACE_RECEIVE, node) + slots_in(plan, SPACE_SCRATCH, node);
    }
    return count;
}

void plan_blocks_second(const struct plan *plan, uint32_t name, char text[SECOND_TEXT_MAX])
{
    uint32_t second =
        name % operation_pair_width(operation_of(plan->operation), plan->network.nodes);

    if (operation_has_movements(operation_of(plan->operation))) {
        movement_text(second, text);
    } else {
        snprintf(text, SECOND_TEXT_MAX, "%u", (unsigned)second);
    }
}

/* What a program has put into a slot that it sends. */
static uint32_t given(const struct plan_blocks *blocks, uint32_t node, uint32_t slot)
{
    const struct operation *operation = blocks->operation;

    if (operation->vector) {
        return slot % blocks->plan->segments;
    }
    if (operation_has_movements(operation)) {
        return node * MOVEMENTS_MAX +
               movement_of(blocks->plan->network.nodes, blocks->plan->root, slot);
    }
    if (operation_has_pairs(operation)) {
        return node * blocks->plan->network.nodes + slot;
    }
    uint32_t m = blocks->plan->segments;
    return operation->span[SPACE_SEND] == SPAN_ONE ? node * m + slot : slot;
}

static uint64_t place_of(const struct plan_blocks *blocks, uint32_t node, uint8_t space,
                         uint32_t slot)
{
    uint64_t at = blocks->at[node] + slot;

    CHECK(space == SPACE_RECEIVE || space == SPACE_SCRATCH);
    if (space == SPACE_SCRATCH) {
        at += slots_in(blocks->plan, SPACE_RECEIVE, node);
    }
    CHECK(at < blocks->at[node + 1]);
    return at;
}

static uint32_t read_slot(const struct plan_blocks *blocks, uint32_t node, uint8_t space,
                          uint32_t slot)
{
    uint32_t name = space == SPACE_SEND ? given(blocks, node, slot)
                                        : blocks->held[place_of(blocks, node, space, slot)];

    CHECK(name != NOTHING);
    return name;
}

static void *memory(uint64_t count, size_t bytes)
{
    void *place = malloc(count ? count * bytes : 1);

    CHECK(place);
    return place;
}

/* Where nothing is sent but what the root has in its one buffer, it is there from the beginning. */
static void fill_root(struct plan_blocks *blocks)
{
    const struct plan *plan = blocks->plan;

    if (!blocks->operation->rooted || blocks->operation->span[SPACE_SEND] != SPAN_NONE) {
        return;
    }
    for (uint32_t slot = 0; slot < slots_in(plan, SPACE_RECEIVE, plan->root); slot++) {
        blocks->held[place_of(blocks, plan->root, SPACE_RECEIVE, slot)] =
            blocks->operation->vector ? slot % plan->segments : slot;
    }
}

/* Whether nodes combine what has come when all has: then a block's name does not say whose it is.
 */
static bool combines_at_last(const struct plan *plan)
{
    bool reduces = operation_of(plan->operation)->reduces, combines = false;

    for (uint32_t i = 0; i < plan->circuit_count && reduces; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        bool copy = circuit->from == circuit->to;
        if (!copy && (combines || circuit->flags & ROW_COMBINES)) {
            return false;
        }
        combines = combines || (circuit->flags & ROW_COMBINES);
    }
    return combines;
}

void plan_blocks_begin(struct plan_blocks *blocks, const struct plan *plan)
{
    uint64_t count = plan_blocks_slots(plan), at = 0;

    CHECK(!plan->invariant);
    *blocks = (struct plan_blocks){.plan = plan, .operation = operation_of(plan->operation)};
    blocks->at = memory(plan->network.nodes + UINT64_C(1), sizeof *blocks->at);
    for (uint32_t node = 0; node < plan->network.nodes; node++) {
        blocks->at[node] = at;
        at += (uint64_t)slots_in(plan, SPACE_RECEIVE, node) + slots_in(plan, SPACE_SCRATCH, node);
    }
    blocks->at[plan->network.nodes] = at;
    blocks->held = memory(count, sizeof *blocks->held);
    memset(blocks->held, 0xff, count * sizeof *blocks->held); /* NOTHING */
    fill_root(blocks);
    if (blocks->operation->prefix || combines_at_last(plan)) {
        blocks->held_ranks = memory(count, sizeof *blocks->held_ranks);
    }
}

void plan_blocks_end(struct plan_blocks *blocks)
{
    free(blocks->held);
    free(blocks->at);
    free(blocks->cargo);
    free(blocks->held_ranks);
    free(blocks->cargo_ranks);
}

/* What comes is combined with what is there; the ranks of both must follow each other. */
static struct plan_ranks joined(struct plan_ranks there, struct plan_ranks more)
{
    static const struct plan_ranks apart = {1, 0};

    if (there.first > there.last || more.first > more.last) {
        return apart;
    }
    if (more.last + 1 == there.first) {
        return (struct plan_ranks){more.first, there.last};
    }
    return there.last + 1 == more.first ? (struct plan_ranks){there.first, more.last} : apart;
}

/* Puts the names of what a circuit moves into its receiver's slots; returns those behind them. */
static const uint32_t *write_slots(struct plan_blocks *blocks, const struct plan_circuit *circuit,
                                   const uint32_t *names)
{
    struct slots slots = slots_of(blocks->plan, circuit->receive_at, circuit->receive_count);
    uint8_t space;
    uint32_t slot;

    while (next_slot(&slots, &space, &slot)) {
        uint64_t at = place_of(blocks, circuit->to, space, slot);
        if (blocks->held_ranks) {
            struct plan_ranks more = blocks->cargo_ranks[names - blocks->cargo];
            blocks->held_ranks[at] =
                circuit->flags & ROW_COMBINES ? joined(blocks->held_ranks[at], more) : more;
        }
        blocks->held[at] = *names++;
    }
    return names;
}

static void write_all(struct plan_blocks *blocks)
{
    const uint32_t *names = blocks->cargo;

    while (blocks->unwritten < blocks->next) {
        names = write_slots(blocks, &blocks->plan->circuits[blocks->unwritten++], names);
    }
    blocks->cargo_count = 0;
}

static void make_room(struct plan_blocks *blocks, uint64_t more)
{
    if (blocks->cargo_count + more <= blocks->cargo_room) {
        return;
    }
    blocks->cargo_room = 2 * (blocks->cargo_count + more) + ROOM_LEAST;
    blocks->cargo = realloc(blocks->cargo, blocks->cargo_room * sizeof *blocks->cargo);
    CHECK(blocks->cargo);
    if (blocks->held_ranks) {
        blocks->cargo_ranks =
            realloc(blocks->cargo_ranks, blocks->cargo_room * sizeof *blocks->cargo_ranks);
        CHECK(blocks->cargo_ranks);
    }
}

/* Notes what a circuit reads; returns the first name. */
static const uint32_t *read_slots(struct plan_blocks *blocks, const struct plan_circuit *circuit)
{
    struct slots slots = slots_of(blocks->plan, circuit->send_at, circuit->send_count);
    uint64_t first = blocks->cargo_count;
    uint8_t space;
    uint32_t slot;

    make_room(blocks, circuit->blocks);
    while (next_slot(&slots, &space, &slot)) {
        CHECK(blocks->cargo_count < first + circuit->blocks);
        if (blocks->held_ranks) {
            blocks->cargo_ranks[blocks->cargo_count] =
                space == SPACE_SEND
                    ? (struct plan_ranks){circuit->from, circuit->from}
                    : blocks->held_ranks[place_of(blocks, circuit->from, space, slot)];
        }
        blocks->cargo[blocks->cargo_count++] = read_slot(blocks, circuit->from, space, slot);
    }
    return blocks->cargo ? blocks->cargo + first : NULL;
}

/* Whether a circuit reads what those before it have written. */
static bool comes_after(const struct plan_circuit *circuit, const struct plan_circuit *before)
{
    bool copy = circuit->from == circuit->to, copied = before->from == before->to;

    return circuit->step != before->step || copy || copied;
}

const struct plan_circuit *plan_blocks_next(struct plan_blocks *blocks, const uint32_t **names)
{
    const struct plan *plan = blocks->plan;

    if (blocks->next == plan->circuit_count) {
        return NULL;
    }
    const struct plan_circuit *circuit = &plan->circuits[blocks->next];
    if (blocks->next > 0 && comes_after(circuit, circuit - 1)) {
        write_all(blocks);
    }
    blocks->next++;
    *names = read_slots(blocks, circuit);
    return circuit;
}

const struct plan_ranks *plan_blocks_ranks(const struct plan_blocks *blocks)
{
    const struct plan_circuit *last = &blocks->plan->circuits[blocks->next - 1];

    return blocks->cargo_ranks ? blocks->cargo_ranks + blocks->cargo_count - last->blocks : NULL;
}
