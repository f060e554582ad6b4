/*
 * memory.c - what plans want of a node beside the buffers of the call.
 */
#include "planner/build.h"

enum { MEMORY_FREE = 1 << 20 /* bytes that need no reason */, BUFFERS_TIMES = 2 };

uint32_t plan_scratch_most(const struct plan *plan)
{
    uint32_t nodes = plan->invariant ? 1 : plan->network.nodes, slots = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        slots = plan->scratch[node] > slots ? plan->scratch[node] : slots;
    }
    return slots;
}

uint64_t plan_memory(const struct plan *plan, uint32_t bytes, uint32_t element_bytes)
{
    return operation_slot_at(operation_of(plan->operation), plan_scratch_most(plan), bytes,
                             element_bytes, plan->segments);
}

/* The root has the largest buffers, if there is one. */
uint64_t plan_buffers(const struct plan *plan, uint32_t bytes, uint32_t element_bytes)
{
    const struct operation *operation = operation_of(plan->operation);
    uint32_t node = operation->rooted ? plan->root : 0;
    uint64_t slots =
        (uint64_t)plan_slots_at(plan, SPACE_SEND, node) + plan_slots_at(plan, SPACE_RECEIVE, node);

    return operation_slot_at(operation, slots, bytes, element_bytes, plan->segments);
}

bool plan_is_large(const struct plan *plan, uint32_t bytes, uint32_t element_bytes)
{
    uint64_t memory = plan_memory(plan, bytes, element_bytes);

    return memory > MEMORY_FREE &&
           memory > BUFFERS_TIMES * plan_buffers(plan, bytes, element_bytes);
}
