/*
 * ranks.h - plans for programs whose ranks are at other nodes (struct network_map).
 *
 * A plan is laid down over nodes: circuits, paths and roots are theirs, and so is the slot of each
 * block. What programs have is by rank; so at last the slots of blocks get the ranks' numbers
 * (ranks_plan), and that is what nodes are given. Circuits, order and times stay.
 *
 *     cube:2 for ring:4, 2 at node 3    node 0 sends slot 3 to node 3    becomes slot 2
 *
 * Such a plan is proved twice: its paths on the machine, and what it makes of blocks as a plan of
 * the ranks, which is that of the guest: so a prefix is one of ranks, and a shift too.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

/* The same plan with slots by rank, proved; NULL: it passes a limit. A plan in which no slot is a
 * rank's is not copied: *same becomes true. */
struct plan *ranks_plan(const struct plan *plan, bool *same, struct plan_fault *fault);

/* The same of a proved plan that was made without a map: it is one for the ranks of this map, too.
 * False: it is not, as where what is combined, or a distance, counts nodes. */
bool ranks_take(struct plan *plan, const struct network_map *map, struct plan_fault *fault);

/* What nodes get of a plan is for the same sizes and ports as the plan: these are known last. */
void ranks_follow(struct plan *plan);

/* plan_prove for a network with a map: an operation on prefixes has those of ranks. */
bool ranks_prove(struct plan *plan, struct plan_fault *fault);
