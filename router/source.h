/*
 * source.h - the circuits that begin at this node: from router_open to the last acknowledgement.
 *
 * The machine is drawn in circuit_state.h. Those without an answer stand in router->opening, oldest
 * first; all of them go to one node over one link, so that an answer is for the oldest.
 *
 * Units    bytes; model time in ns
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/state.h"

/* What router_open does: E_FULL when it must wait for an answer, E_LINK_DEAD when there is no way.
 */
int source_open(struct router *router, const struct circuit_source *circuit);

/* The OPEN of the oldest that waits goes out over its link, which has room for it. */
void source_pass(struct router *router);

/* The answer to opening[index]: E_OK with its model time of completion, or why not; true when no
 * bytes of it follow. */
bool source_answer(struct router *router, unsigned index, int status, uint64_t done_ns);

/* The number of the oldest that has bytes for a port's link; SOURCES_MAX when there is none. */
unsigned source_flowing(const struct router *router, unsigned out);

/* All bytes of a source have been handed over, or the rest will never be. */
void source_drain(struct router *router, struct source *source);

/* A segment of a source has been acknowledged. */
void source_acknowledged(struct router *router, unsigned number);

/* Whether a source has nothing more under way. */
bool source_is_done(const struct router *router, unsigned number);

/* Closes the sources that have nothing more under way, and tells of them. */
void source_close_done(struct router *router);

/* The link at a port is dead: no more bytes go out there. */
void source_port_dead(struct router *router, unsigned port);
