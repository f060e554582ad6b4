/*
 * engine_record.h - what a collective leaves in the node's records (router/recorder.h): its rows
 * and itself.
 *
 * Units    model time in ns
 * Context  the node's step; only where the router has a recorder
 */
#pragma once

#include "collectives/engine.h"

struct recorder;
struct router;

/* The present row is over. */
void engine_record_row(const struct engine *e, struct recorder *recorder);
/* The collective is: with the engine's result. */
void engine_record_over(const struct engine *e, struct recorder *recorder);
/* The run is over: adds the present row and the collective, if they are not, with what they wait
 * for. */
void engine_record_open(const struct engine *e, const struct router *router);
