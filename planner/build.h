/*
 * build.h - how planners lay down a plan: circuits, copies, and the slots that they move.
 *
 *     struct slots block = slots_begin(plan);
 *     slots_add(plan, &block, SPACE_SEND, to, 1);
 *     build_circuit(plan, step, from, to, block, place, 0);
 *
 * Slots are added in the order in which they travel. One list of slots is open at a time; what has
 * been closed by the next may be used by any number of circuits. What passes a limit is noted in
 * plan->refused, and the plan is worth nothing then.
 *
 * Units    slots
 * Errors   none; plan->refused
 * Context  host
 */
#pragma once

#include <stddef.h>

#include "planner/planner.h"

/* A list of slots: extents [at, at + count) of the plan. */
struct slots {
    uint32_t at, count;
};

static const struct slots NO_SLOTS = {0, 0};

/* Zeroed memory, never NULL; ends the process when there is none. */
void *planner_memory(uint64_t count, size_t bytes);

/* Room for one element more behind `count` of them. */
void *planner_grow(void *memory, uint64_t count, size_t bytes);

struct plan *build_begin(const struct network *network, const struct plan_request *request,
                         bool invariant);

struct slots slots_begin(const struct plan *plan);
void slots_add(struct plan *plan, struct slots *slots, enum space space, uint32_t first,
               uint32_t count);
/* The same of one slot, which an invariant plan moves by itself, as those of slots_apart. */
void slots_add_apart(struct plan *plan, struct slots *slots, enum space space, uint32_t slot);
/* A list of one range. */
struct slots slots_of(struct plan *plan, enum space space, uint32_t first, uint32_t count);
/* One list of slots `stride` apart. An invariant plan moves each by itself, even where they lie
 * together, so they keep their order at every node. */
struct slots slots_apart(struct plan *plan, enum space space, uint32_t first, uint32_t stride,
                         uint32_t count);

/* Whether a range is one more of an extent's, as far behind its last as those lie apart; then the
 * extent has it too. */
bool extent_repeats(struct plan_extent *extent, uint32_t first, uint32_t count);

/* A circuit in dimension order, and one that leaves over the ports given: by plan->port of its
 * nodes. In a step a node has those of port 0 first. */
void build_circuit(struct plan *plan, uint32_t step, uint32_t from, uint32_t to, struct slots send,
                   struct slots receive, uint8_t flags);
void build_routed(struct plan *plan, uint32_t step, uint32_t from, uint32_t to, struct slots send,
                  struct slots receive, uint8_t flags, const uint8_t *ports, uint32_t hops);
void build_copy(struct plan *plan, uint32_t step, uint32_t node, struct slots from, struct slots to,
                uint8_t flags);

/* Lets circuits of a plan of all nodes go ahead wherever they may, and no others (ahead.c). */
void build_ahead(struct plan *plan);
/* The same, but a node's first circuit from a step on waits for all that it has done before. */
void build_ahead_parted(struct plan *plan, uint32_t step);

/* Whether the plan has so many circuits that it would not fit, which is noted. */
bool build_too_many(struct plan *plan, uint64_t circuits);

/* The slots of extents, as ranges of one space. `by` is the rank to which an invariant plan's are
 * translated; 0 otherwise. */
struct slot_ranges {
    const struct plan *plan;
    uint32_t extent, extent_end, times, done, by;
};

struct slot_ranges ranges_of(const struct plan *plan, struct slots slots, uint32_t by);
bool ranges_next(struct slot_ranges *ranges, struct slot_range *range);

/* The next slot, range->first, one by one; begins with an empty range. */
bool ranges_next_slot(struct slot_ranges *ranges, struct slot_range *range);

/* Of a plan of all nodes: where the slots of each begin, [node * SPACES + space], when all stand in
 * one row; how many these are. The caller's to free. */
uint32_t *plan_slots_index(const struct plan *plan, uint32_t *total);

/* Whether slots of a space go along when node 0 is moved: those that there are for every rank. */
bool space_is_translated(const struct plan *plan, unsigned space);

static inline struct slots sent_slots(const struct plan_circuit *circuit)
{
    return (struct slots){circuit->send_at, circuit->send_count};
}

static inline struct slots received_slots(const struct plan_circuit *circuit)
{
    return (struct slots){circuit->receive_at, circuit->receive_count};
}

static inline bool is_copy(const struct plan_circuit *circuit)
{
    return circuit->flags & ROW_COPIES;
}

/* The port of a circuit's hop that leaves node `at`. */
static inline unsigned circuit_port(const struct plan *plan, const struct plan_circuit *circuit,
                                    uint32_t at, unsigned hop)
{
    if (circuit->ports_at == PLAN_DIMENSION_ORDER) {
        return network_next_hop(&plan->network, at, circuit->to);
    }
    return plan->ports[circuit->ports_at + hop];
}

/* The node whose translated circuit of the same row comes to node 0. */
static inline uint32_t sender_to_zero(const struct plan *plan, const struct plan_circuit *circuit)
{
    return network_difference(&plan->network, 0, circuit->to);
}

/* Slots of a space at a node. */
uint32_t plan_slots_at(const struct plan *plan, unsigned space, uint32_t rank);

/* The block that belongs into a slot of SEND at first, or of RECEIVE at last: source * nodes +
 * destination, each 0 where the spaces do not tell it; of a vector its segment; of movements
 * source * MOVEMENTS_MAX + movement. */
uint64_t plan_block_of(const struct plan *plan, enum space space, uint32_t node, uint32_t slot);
