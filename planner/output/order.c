/*
 * order.c - in which order a reduction's operands are combined, as words.
 *
 * The plan is gone through once with names instead of bytes: what a slot holds is a rank's operand,
 * or two that have been combined. Every operator gives the same bits whichever of the two is the
 * left one (reduction/reduction.h), so of two the one with the lower rank is written first.
 *
 *     reduce on mesh:1x4 to 0    (0 1) (2 3): 0 and 1 are combined, 2 and 3, and what they give
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"

/* An operand, or the combination of two. */
struct term {
    uint32_t lowest; /* of its ranks */
    uint32_t first, second;
    bool combined;
};

struct ordering {
    const struct plan *plan;
    uint32_t segment;
    struct term *terms;
    uint32_t count;
    uint32_t **slots[SPACES]; /* term in each slot of each node */
    uint32_t *cargo;
    char *words;
    size_t room, used;
};

/* The slots of the segment that is looked at; a space has one of each. */
static bool is_wanted(const struct ordering *o, uint32_t slot)
{
    return slot % o->plan->segments == o->segment;
}

static uint32_t add_term(struct ordering *o, struct term term)
{
    o->terms = planner_grow(o->terms, o->count, sizeof *o->terms);
    o->terms[o->count] = term;
    return o->count++;
}

static uint32_t combine(struct ordering *o, uint32_t one, uint32_t other)
{
    bool in_order = o->terms[one].lowest < o->terms[other].lowest;
    uint32_t first = in_order ? one : other, second = in_order ? other : one;

    return add_term(o, (struct term){o->terms[first].lowest, first, second, true});
}

static void move(struct ordering *o, const struct plan_circuit *circuit)
{
    struct slot_ranges ranges = ranges_of(o->plan, sent_slots(circuit), 0);
    struct slot_range range;
    uint32_t count = 0, taken = 0;

    while (ranges_next(&ranges, &range)) {
        for (uint32_t i = 0; i < range.count; i++) {
            if (is_wanted(o, range.first + i)) {
                o->cargo[count++] = o->slots[range.space][circuit->from][range.first + i];
            }
        }
    }
    ranges = ranges_of(o->plan, received_slots(circuit), 0);
    while (ranges_next(&ranges, &range)) {
        for (uint32_t i = 0; i < range.count; i++) {
            if (!is_wanted(o, range.first + i)) {
                continue;
            }
            uint32_t *slot = &o->slots[range.space][circuit->to][range.first + i];
            uint32_t term = o->cargo[taken++];
            *slot = circuit->flags & ROW_COMBINES ? combine(o, *slot, term) : term;
        }
    }
}

static void begin(struct ordering *o)
{
    uint32_t nodes = o->plan->network.nodes, most = 1;

    for (unsigned space = 0; space < SPACES; space++) {
        o->slots[space] = planner_memory(nodes, sizeof *o->slots[space]);
        for (uint32_t node = 0; node < nodes; node++) {
            uint32_t slots = plan_slots_at(o->plan, space, node);
            most = slots > most ? slots : most;
            o->slots[space][node] = planner_memory(slots, sizeof *o->slots[space][node]);
        }
    }
    o->cargo = planner_memory((uint64_t)SPACES * most, sizeof *o->cargo);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t term = add_term(o, (struct term){.lowest = node});
        for (uint32_t i = 0; i < plan_slots_at(o->plan, SPACE_SEND, node); i++) {
            o->slots[SPACE_SEND][node][i] = term;
        }
    }
}

static void end(struct ordering *o)
{
    for (unsigned space = 0; space < SPACES; space++) {
        for (uint32_t node = 0; node < o->plan->network.nodes; node++) {
            free(o->slots[space][node]);
        }
        free(o->slots[space]);
    }
    free(o->cargo);
    free(o->terms);
}

static void say(struct ordering *o, const char *text)
{
    if (o->used < o->room) {
        o->used += (size_t)snprintf(o->words + o->used, o->room - o->used, "%s", text);
    }
}

/* Terms are made of earlier ones, so a stack as deep as there are terms is enough. */
static void say_term(struct ordering *o, uint32_t whole)
{
    enum { CLOSE = UINT32_MAX, SPACE = UINT32_MAX - 1 };
    uint32_t *stack = planner_memory(5 * (uint64_t)o->count, sizeof *stack), depth = 0;
    char number[16];

    stack[depth++] = whole;
    while (depth > 0) {
        uint32_t top = stack[--depth];
        const struct term *term = &o->terms[top < o->count ? top : 0];
        if (top == CLOSE || top == SPACE) {
            say(o, top == CLOSE ? ")" : " ");
        } else if (!term->combined) {
            snprintf(number, sizeof number, "%u", term->lowest);
            say(o, number);
        } else {
            if (top != whole) {
                say(o, "(");
                stack[depth++] = CLOSE;
            }
            stack[depth++] = term->second;
            stack[depth++] = SPACE;
            stack[depth++] = term->first;
        }
    }
    free(stack);
}

bool plan_order(const struct plan *plan, uint32_t rank, uint32_t segment, char *words, size_t room)
{
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct ordering o = {
        .plan = all ? all : plan, .segment = segment, .words = words, .room = room};

    begin(&o);
    for (uint32_t i = 0; i < o.plan->circuit_count; i++) {
        move(&o, &o.plan->circuits[i]);
    }
    words[0] = '\0';
    say_term(&o, o.slots[SPACE_RECEIVE][rank][segment]);
    end(&o);
    plan_free(all);
    return o.used < room;
}
