/*
 * setup.h - which OPEN goes on next over a link: rules 2 and 4 of README.md.
 *
 * Units    model time in ns
 * Context  the router's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/state.h"

/* What is to be done with an OPEN that waits for its link; a negative status: it is refused. */
enum setup_verdict {
    SETUP_NO_TURN,  /* others of its schedule go over the link first */
    SETUP_BUSY,     /* for another's set-up to be answered */
    SETUP_NO_PLACE, /* for the bytes of an earlier circuit to be read by the neighbour */
    SETUP_NO_ROOM,  /* for segments of the channel to be acknowledged */
    SETUP_PASSES
};

/* An OPEN that waits for a port to be set up over: the oldest of an in-port, or this node's own. */
struct waiting {
    unsigned out;
    uint32_t stamp;
    const uint8_t *packet;
    const uint8_t *hops; /* its list, if it has one */
};

/* Whether this node's live links have carried all that they carry in the last schedule that it has
 * completed, circuits of others included. */
bool setup_carried(const struct router *router);

/* Whether a message's OPEN is one of a sender that is a collective ahead of this node: rule 5. */
bool setup_early(const struct router *router, const uint8_t *packet);

/* Mask of the in-ports whose OPENs wait for links; bit PORT_LOCAL: this node's own does. */
uint32_t setup_holders(const struct router *router);

/* What waits at one of them; false: its link is dead, and it will be dropped. */
bool setup_waiting_at(const struct router *router, unsigned in, struct waiting *waiting);

/* What is to be done with it: enum setup_verdict, or why it is refused. */
int setup_verdict(const struct router *router, unsigned in, const struct waiting *waiting);

/* Whether it follows others on their path, while an older OPEN from elsewhere waits for the same
 * link: circuits of one pair must not keep that one out. */
bool setup_overtakes(const struct router *router, const struct waiting *waiting);

/* Whether any OPEN is to go on. */
static inline bool setup_waits(const struct router *router)
{
    return router->passing_ports || router->opening_passed < router->opening_count;
}

/* Lets the oldest circuit that may pass go on, or refuses one; false when none may. */
bool setup_pass_oldest(struct router *router);

/* The oldest set-up over a port's link has been answered: E_OK with the model time of completion;
 * returns its in-port, or PORT_LOCAL. */
unsigned setup_end(struct router *router, unsigned port, int status, uint64_t done_ns);
