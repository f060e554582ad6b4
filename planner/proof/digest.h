/*
 * digest.h - what a proved plan gets at last: who has which circuits, its digest, and parts that
 * can be written.
 *
 * Context  host
 */
#pragma once

#include "planner/planner.h"

/* Fills node_at and node_circuits. */
void plan_index(struct plan *plan);

/* CRC-32C of all that nodes do: machine, operation, root, circuits, slots, ports and turns. */
uint32_t plan_digest_of(const struct plan *plan);

/* Whether every row can be written; false: `fault` says which. */
bool plan_parts_fit(const struct plan *plan, struct plan_fault *fault);
