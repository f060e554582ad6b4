/*
 * ahead.h - fetches into the cache what the next steps will touch.
 *
 * With some hundred nodes their state fits no near cache, and a step would wait for each line in
 * turn. The loop knows which nodes are next, so their lines are asked for all at once, while those
 * before them work. Nothing is changed, and what happens does not depend on it.
 *
 * Context  the loop of one simulation
 */
#pragma once

#include <stdint.h>

struct sim;

/* Looks at the actors that wait to be stepped, before the first of them is. */
void ahead_ready(const struct sim *sim);

/* Looks at the ends whose events come next. */
void ahead_events(const struct sim *sim);
