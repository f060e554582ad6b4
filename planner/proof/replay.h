/*
 * replay.h - limits of a plan's model time that are convex in the size, by replay.
 *
 * A replay takes maxima and sums of what each circuit takes, and that is a straight line over the
 * size: so a plan's time is convex, bends upwards. Of a vector in m segments it is so but for the
 * rests: a piece of c segments of n elements has c n / m of them, less than one more or less. With
 * so many less, or more, the time is convex again, and never above, or below, the plan's.
 *
 * Units    ns of model time, times plan->segments: then all numbers are whole
 * Context  host; pure
 */
#pragma once

#include "planner/planner.h"

enum replay_side { REPLAY_LEAST, REPLAY_MOST };

/* plan_time's model time, from below or above; in one segment it is the time itself. */
uint64_t replay_limit(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                      const struct profile *profile, enum replay_side side);
