#include "bench/rivals/draft.h"

#include <stdlib.h>

enum place { BEFORE, AMONG, BEHIND }; /* where in its step */

struct move {
    uint32_t step, number; /* number: as it was said */
    enum place place;
    uint32_t from, to;
    struct slots send, receive;
    uint8_t flags;
};

/* More waits than are needed cost no model time. */
static const uint8_t WAITS = ROW_AFTER_RECEIVED | ROW_AFTER_SENT;

struct draft draft_begin(const struct network *network, const struct plan_request *request,
                         enum space work, uint32_t slots, uint32_t scratch)
{
    struct draft draft = {.plan = build_begin(network, request, false),
                          .next = planner_memory(network->nodes, sizeof *draft.next),
                          .nodes = network->nodes,
                          .dims = network->dims,
                          .work = work,
                          .slots = slots};

    if (operation_of(request->operation)->vector) {
        draft.plan->segments = slots;
    }
    for (uint32_t node = 0; node < network->nodes; node++) {
        draft.plan->scratch[node] = scratch;
    }
    return draft;
}

static int compare(const void *a, const void *b)
{
    const struct move *x = a, *y = b;

    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return x->number < y->number ? -1 : 1;
}

struct plan *draft_end(struct draft *draft)
{
    qsort(draft->moves, draft->count, sizeof *draft->moves, compare);
    for (uint32_t i = 0; i < draft->count; i++) {
        const struct move *move = &draft->moves[i];
        if (move->place == AMONG) {
            build_circuit(draft->plan, move->step, move->from, move->to, move->send, move->receive,
                          move->flags);
        } else {
            build_copy(draft->plan, move->step, move->from, move->send, move->receive, move->flags);
        }
    }
    free(draft->moves);
    free(draft->next);
    return draft->plan;
}

uint32_t draft_step(const struct draft *draft)
{
    uint32_t step = 0;

    for (uint32_t node = 0; node < draft->nodes; node++) {
        step = draft->next[node] > step ? draft->next[node] : step;
    }
    return step;
}

uint32_t draft_step_of(const struct draft *draft, uint32_t a, uint32_t b)
{
    return draft->next[a] > draft->next[b] ? draft->next[a] : draft->next[b];
}

static void append(struct draft *draft, struct move move)
{
    move.number = draft->count;
    move.flags |= WAITS;
    draft->moves = planner_grow(draft->moves, draft->count, sizeof *draft->moves);
    draft->moves[draft->count++] = move;
}

static void reach(struct draft *draft, uint32_t node, uint32_t step)
{
    if (draft->next[node] <= step) {
        draft->next[node] = step + 1;
    }
}

void draft_circuit(struct draft *draft, uint32_t step, uint32_t from, uint32_t to,
                   struct slots send, struct slots receive, uint8_t flags)
{
    append(draft, (struct move){.step = step,
                                .place = AMONG,
                                .from = from,
                                .to = to,
                                .send = send,
                                .receive = receive,
                                .flags = flags});
    reach(draft, from, step);
    reach(draft, to, step);
}

void draft_copy(struct draft *draft, uint32_t step, uint32_t node, struct slots from,
                struct slots to)
{
    append(
        draft,
        (struct move){
            .step = step, .place = BEFORE, .from = node, .to = node, .send = from, .receive = to});
}

/* As many slots behind `base` as work has: [first, first + count) of them, modulo their number. */
static struct slots round_slots(struct draft *draft, enum space space, uint32_t base,
                                uint32_t first, uint32_t count)
{
    struct slots slots = slots_begin(draft->plan);
    uint32_t low = first % draft->slots;
    uint32_t here = count < draft->slots - low ? count : draft->slots - low;

    slots_add(draft->plan, &slots, space, base + low, here);
    slots_add(draft->plan, &slots, space, base, count - here);
    return slots;
}

struct slots draft_work(struct draft *draft, uint32_t first, uint32_t count)
{
    return round_slots(draft, draft->work, 0, first, count);
}

void draft_pass(struct draft *draft, uint32_t step, uint32_t from, uint32_t to, uint32_t first,
                uint32_t count)
{
    struct slots slots = draft_work(draft, first, count);

    draft_circuit(draft, step, from, to, slots, slots, 0);
}

void draft_combine(struct draft *draft, uint32_t step, uint32_t from, uint32_t to, uint32_t first,
                   uint32_t count)
{
    struct slots slots = draft_work(draft, first, count);
    struct slots landing = round_slots(draft, SPACE_SCRATCH, draft->landing, first, count);

    draft_circuit(draft, step, from, to, slots, landing, 0);
    append(draft, (struct move){.step = step,
                                .place = BEHIND,
                                .from = to,
                                .to = to,
                                .send = landing,
                                .receive = slots,
                                .flags = ROW_COMBINES});
}
