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
bool source_answer(struct router *router, unsigned index, int status, struct accept_body accept);

/* What router_feed does. */
int source_feed(struct router *router, uint32_t token, const uint8_t *data, uint32_t bytes);

/* The number of the oldest whose bytes go out over a port's link now, or will when it is fed;
 * SOURCES_MAX when there is none. */
unsigned source_flowing(const struct router *router, unsigned out);

/* Whether the rest of its bytes will never come, and the link must be told so. */
bool source_is_cut(const struct source *source);

/* Takes the next bytes of what it has been given, up to so many, which are handed to its link: the
 * segment that stands for them. */
struct segment source_take(struct router *router, struct source *source, uint32_t bytes_max);

/* All that it has been given has been handed over, and there is more to come: its owner is to be
 * asked for it. */
void source_emptied(struct router *router, const struct source *source);

/* All bytes of a source have been handed over, or the rest will never be. */
void source_drain(struct router *router, struct source *source);

/* A segment of a source has been acknowledged. */
void source_acknowledged(struct router *router, unsigned number);

/* Whether a source has nothing more under way; whether it is to ask for its next portion. */
bool source_is_done(const struct router *router, unsigned number);
bool source_is_empty(const struct source *source);

/* Closes the sources that have nothing more under way, asks for portions, and tells of both. */
void source_pump(struct router *router);

/* The link at a port is dead: no more bytes go out there. */
void source_port_dead(struct router *router, unsigned port);
