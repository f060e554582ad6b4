/*
 * written.h - plans that were written, in place of the planner's own for their operation, root and
 * sizes.
 *
 * Units    bytes
 * Context  host
 */
#pragma once

#include "planner/planner.h"

/* Whether a written plan is for a request that names no algorithm, and right on its machine. */
bool written_suits(const struct plan *written, const struct plan_request *request);

/* Leaves out of a plan's sizes those that a written plan is for. The plan is for `bytes` at least,
 * for which the written one is not. */
void written_cut(struct plan *plan, const struct plan *written, uint32_t bytes);
