/*
 * engine_receive.h - the present row's circuit, at its destination: where its bytes go as they
 * arrive.
 *
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>

#include "collectives/engine.h"

/* Accepts the present row's circuit, if it is among those that are held. Circuits of later steps
 * stay held: their senders are ahead. */
void engine_accept_receive(struct engine *e, struct router *router);

/* The present place is full: gives the router the next one. Of a collective that has failed (not
 * `present`) the rest goes nowhere. */
void engine_fill(struct engine *e, struct router *router, const struct notice *notice,
                 bool present);

/* A receive is over. */
void engine_received(struct engine *e, const struct router *router, const struct notice *notice,
                     bool present);
