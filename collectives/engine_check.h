/*
 * engine_check.h - whether a call's arguments and memory are enough for what it asks.
 *
 * Errors   E_ARGUMENT, E_FAULT, E_FULL: what is wrong, as the program sees it
 * Context  the node's step
 */
#pragma once

#include "collectives/engine.h"

/* Whether the program's arguments name what there is; no plan is needed for that. */
int engine_check_call(const struct engine *e, const struct router *router);

/* Whether there is the working memory that the plan wants, and whether what it writes is the
 * program's to write: the root of a broadcast may give constants. */
int engine_check_part(const struct engine *e, const struct router *router);
