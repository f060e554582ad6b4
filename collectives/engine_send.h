/*
 * engine_send.h - the present row's circuit, at its source: what it sends, from where.
 *
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>

#include "collectives/engine.h"

/* Starts the present row's send. When this node is setting up another circuit (E_FULL), STEP_SEND
 * stays, and each step of the node tries again. Any other error ends the collective with this row.
 */
void engine_open_send(struct engine *e, struct router *router);

/* The router wants more of the message. Of a collective that has failed (not `present`) the rest
 * does not come: the memory is the program's again, and the receiver has failed as well. An error
 * here is reported by the notice of the circuit's end. */
void engine_feed(struct engine *e, struct router *router, const struct notice *notice,
                 bool present);

/* A send is over: its slices are free. */
void engine_sent(struct engine *e, const struct notice *notice, bool present);
