#include "planner/written/named_holdings.h"

#include <stdlib.h>

#include "planner/build.h"

enum { DRAWERS_LEAST = 64 };

static bool has_all_nodes(const struct operation *operation, enum space space)
{
    return operation->span[space] == SPAN_NODES || operation->span[space] == SPAN_NODES_ROOT;
}

uint32_t name_in(const struct plan *plan, enum space space, uint32_t node, uint32_t slot)
{
    const struct operation *operation = operation_of(plan->operation);
    uint64_t block = plan_block_of(plan, space, node, slot);

    if (operation->vector || operation_has_pairs(operation)) {
        return (uint32_t)block;
    }
    uint64_t all = (uint64_t)plan->network.nodes * plan->segments;
    return (uint32_t)(has_all_nodes(operation, SPACE_SEND) ? block % all : block / all);
}

/* The slot in which a block belongs, if it belongs into the space of the node at all. */
static struct place place_in(const struct plan *plan, enum space space, uint32_t node,
                             uint32_t name)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t nodes = plan->network.nodes, slot = 0;

    if (operation->vector) {
        slot = name;
    } else if (operation_has_movements(operation)) {
        slot = movement_slot(nodes, plan->root, name % MOVEMENTS_MAX);
    } else if (operation_has_pairs(operation)) {
        slot = space == SPACE_SEND ? name % nodes : name / nodes;
    } else if (has_all_nodes(operation, space)) {
        slot = name;
    } else {
        slot = name % plan->segments;
    }
    if (slot >= plan_slots_at(plan, space, node) || name_in(plan, space, node, slot) != name) {
        return (struct place){.space = SPACE_NONE};
    }
    return (struct place){space, slot};
}

struct place place_promised(const struct plan *plan, uint32_t node, uint32_t name)
{
    return place_in(plan, SPACE_RECEIVE, node, name);
}

/* What a program has before the operation: what it sends, or the root's one buffer. */
static struct place place_given(const struct plan *plan, uint32_t node, uint32_t name)
{
    if (operation_of(plan->operation)->span[SPACE_SEND] != SPAN_NONE) {
        return place_in(plan, SPACE_SEND, node, name);
    }
    return node == plan->root ? place_promised(plan, node, name)
                              : (struct place){.space = SPACE_NONE};
}

struct place holdings_scratch(struct plan *plan, struct holding *holding)
{
    uint32_t *scratch = &plan->scratch[holding->node];
    uint64_t slot = *scratch, m = plan->segments;

    if (operation_of(plan->operation)->vector) {
        slot = (uint64_t)holding->scratches++ * m + holding->name;
    } else {
        slot += (holding->name % m + m - slot % m) % m;
    }
    if (slot >= PLAN_SCRATCH_MAX) {
        plan->refused = "a node needs more slots of scratch than there can be";
        slot = PLAN_SCRATCH_MAX - 1;
    }
    if (slot >= *scratch) {
        *scratch = (uint32_t)slot + 1;
    }
    return (struct place){SPACE_SCRATCH, (uint32_t)slot};
}

static struct holding **bucket_of(struct holdings *holdings, uint32_t node, uint32_t name)
{
    uint64_t key = ((uint64_t)node << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

    return &holdings->buckets[(key >> 32) & (holdings->bucket_count - 1)];
}

/* Half of the buckets stay empty. A bucket has one holding: the next ones take its neighbours. */
static void make_room(struct holdings *holdings)
{
    struct holdings old = *holdings;

    if (2 * (uint64_t)(holdings->count + 1) <= holdings->bucket_count) {
        return;
    }
    holdings->bucket_count = old.bucket_count ? 2 * old.bucket_count : DRAWERS_LEAST;
    holdings->buckets = planner_memory(holdings->bucket_count, sizeof *holdings->buckets);
    for (uint32_t i = 0; i < old.bucket_count; i++) {
        struct holding *h = old.buckets[i];
        if (!h) {
            continue;
        }
        struct holding **bucket = bucket_of(holdings, h->node, h->name);
        while (*bucket) {
            if (++bucket == holdings->buckets + holdings->bucket_count) {
                bucket = holdings->buckets;
            }
        }
        *bucket = h;
    }
    free(old.buckets);
}

struct holding *holdings_find(struct holdings *holdings, const struct plan *plan, uint32_t node,
                              uint32_t name, bool *made)
{
    make_room(holdings);
    struct holding **bucket = bucket_of(holdings, node, name);
    while (*bucket && ((*bucket)->node != node || (*bucket)->name != name)) {
        if (++bucket == holdings->buckets + holdings->bucket_count) {
            bucket = holdings->buckets;
        }
    }
    *made = !*bucket;
    if (*bucket) {
        return *bucket;
    }
    struct holding *h = planner_memory(1, sizeof *h);
    h->node = node;
    h->name = name;
    h->at = place_given(plan, node, name);
    h->other.space = SPACE_NONE;
    holdings->count++;
    *bucket = h;
    return h;
}

void sums_add(struct sum **sums, struct place at, uint64_t *set)
{
    struct sum *sum = planner_memory(1, sizeof *sum);

    *sum = (struct sum){*sums, at, set};
    *sums = sum;
}

void sums_remove(struct sum **sums, struct sum *sum)
{
    while (*sums != sum) {
        sums = &(*sums)->next;
    }
    *sums = sum->next;
    free(sum->set);
    free(sum);
}

struct sum *sums_at(struct sum *sums, struct place at)
{
    while (sums && !same_place(sums->at, at)) {
        sums = sums->next;
    }
    return sums;
}

void holdings_free(struct holdings *holdings)
{
    for (uint32_t i = 0; i < holdings->bucket_count; i++) {
        struct holding *h = holdings->buckets[i];
        while (h && h->sums) {
            sums_remove(&h->sums, h->sums);
        }
        free(h);
    }
    free(holdings->buckets);
}
