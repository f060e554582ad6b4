/*
 * ahead.h - fetches into the cache what the next steps will touch.
 *
 * With some hundred nodes their state fits no near cache, and a step would wait for each line in
 * turn. A part knows which nodes are next, so their lines are asked for all at once, while those
 * before them work. Nothing is changed, and what happens does not depend on it.
 *
 * Context  the thread of a part
 */
#pragma once

#include <stdint.h>

struct outbox;
struct part;

/* Looks at the first of the nodes that are stepped in a round. */
void ahead_begin(struct part *part);

/* ... at those behind the one at a place of their list, before it is stepped. */
void ahead_step(struct part *part, uint32_t place);

/* Looks at the ends whose frames are taken next. */
void ahead_take(const struct outbox *out, uint32_t at);
