/*
 * prove.h - the parts of the proof; plan_prove in planner.h is all of them in this order.
 *
 * Each is false, and fills the fault, where the plan fails. Each may rely on those before it.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

/* Every number of the plan is one that there can be: ranks, pools, slots, steps, flags. */
bool prove_form(const struct plan *plan, struct plan_fault *fault);

/* Every path leads from sender to receiver; fills hops, turns and carries. */
bool prove_paths(struct plan *plan, struct plan_fault *fault);

/* In a step a node sends at most once and receives at most once by each port, the first port first,
 * all ahead or none. */
bool prove_meetings(const struct plan *plan, struct plan_fault *fault);

/* What is read is there, nothing is lost, and all is at last where the operation promises. Says in
 * plan->one_port whether that rests on nodes with one port. */
bool prove_blocks(struct plan *plan, struct plan_fault *fault);

/* An operation without blocks: at last every node has heard of every other. */
bool prove_knowledge(const struct plan *plan, struct plan_fault *fault);

/* Of a plan that has passed the others: its steps, hops and ports, each node's list of circuits,
 * its digest; its parts fit their rows. */
bool prove_end(struct plan *plan, struct plan_fault *fault);

/* Fills a fault at a circuit (NULL: none) and slot (UINT32_MAX: none); false. */
bool plan_fails(struct plan_fault *fault, const struct plan_circuit *circuit, uint32_t slot,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
