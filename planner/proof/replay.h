/*
 * replay.h - limits of a plan's model time that are convex in the size, by replay.
 *
 * What a circuit takes grows with the size along a straight line, and a replay takes maxima and
 * sums of that. So a plan's time is convex in the size: it bends upwards. A vector in m segments
 * need not divide evenly: c segments of n elements have c n / m elements, rounded up or down. With
 * one element less in each such range the time is convex again, and never above the plan's; with
 * one more, never below it. So it is where the machine's elements are w bytes each, and a circuit's
 * last one is filled in part: b bytes are at least b / w elements, and less than b / w + 1.
 *
 * Units    ns of model time, times plan->segments and the profile's element_bytes: then all numbers
 *          are whole
 * Context  host; pure
 */
#pragma once

#include "planner/planner.h"

enum replay_side { REPLAY_LEAST, REPLAY_MOST };

/* plan_time's model time, from below or above; in one segment, of elements of a byte, it is the
 * time itself. What would pass 2^62 is 0 from below, and UINT64_MAX from above. */
uint64_t replay_limit(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                      const struct profile *profile, enum replay_side side);
