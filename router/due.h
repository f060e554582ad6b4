/*
 * due.h - what there is to look at: the masks and flags of struct router, so that a step looks at
 * nothing else.
 *
 * Nothing else changes them. Each function is named for what has happened and sets all that this
 * can let go on: whoever brings a thing about says so here and need not know who waits for it. A
 * flag that is set in vain costs a look; one that is not set is a stall, which the audit of
 * the checked builds finds after every step (tests/audit/).
 *
 *   routed_due                   packets for other nodes lie at these in-ports
 *   held_ports                   OPENs are held there; of the oldest of each:
 *     passing_ports                it is to go on over another link
 *     unoffered_ports              it is for this node, and has not been offered to its owner
 *   setup_due                    one of those, or of this node's own, may go on that could not
 *   setup_short                  one waits for room on its channel: more room is setup_due
 *   replies_due                  answers are to be sent there
 *   in_due                       bytes of circuits lie there that may be taken, or are strays
 *   out_due                      bytes of circuits may go out there
 *   links_freed                  ... and what has freed a link lets a set-up follow in this step
 *   sources_due                  a source of this node may be closed
 *   sources_used                 sources that are not free
 *
 * The channels' own are in struct channel_due.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/lane.h"
#include "router/port.h"
#include "router/state.h"

/* Takes one port, or source, off a mask; the mask has one. */
static inline unsigned due_next(uint32_t *mask)
{
    unsigned number = (unsigned)__builtin_ctz(*mask);

    *mask &= *mask - 1;
    return number;
}

/* Setting up -------------------------------------------------------------------------------- */

/* A circuit of this node's own waits for its link. */
static inline void due_own_waits(struct router *router)
{
    router->setup_due = true;
}

/* The oldest OPEN held at a port is another one now: for this node, or to go on. */
static inline void due_held(struct router *router, unsigned port, bool local)
{
    uint32_t bit = UINT32_C(1) << port;

    router->setup_due = true;
    router->held_ports |= bit;
    if (local) {
        router->unoffered_ports |= bit;
    } else {
        router->passing_ports |= bit;
    }
}

/* The oldest OPEN held at a port is held no longer. The port has none, or due_held says which. */
static inline void due_unheld(struct router *router, unsigned port)
{
    uint32_t others = ~(UINT32_C(1) << port);

    router->setup_due = true;
    router->held_ports &= others;
    router->passing_ports &= others;
    router->unoffered_ports &= others;
}

/* The owner knows of the OPEN that is held at a port. */
static inline void due_announced(struct router *router, unsigned port)
{
    router->unoffered_ports &= ~(UINT32_C(1) << port);
}

/* A set-up over a link has been answered: the next one may have it. */
static inline void due_answered(struct router *router)
{
    router->setup_due = true;
}

/* A set-up waits for room on its channel. */
static inline void due_short(struct router *router)
{
    router->setup_short = true;
}

/* There was no place for the notice that a set-up needs: in the next step. */
static inline void due_unsaid(struct router *router)
{
    router->setup_due = true;
}

/* All set-ups are about to be looked at. */
static inline void due_setup_taken(struct router *router)
{
    router->setup_due = router->setup_short = false;
}

static inline void due_reply(struct router *router, unsigned port)
{
    router->replies_due |= UINT32_C(1) << port;
}

static inline void due_replies_sent(struct router *router, unsigned port)
{
    router->replies_due &= ~(UINT32_C(1) << port);
}

/* Bytes ------------------------------------------------------------------------------------- */

/* Bytes of circuits have come in at a port, or those that lie there may be taken now. */
static inline void due_bytes(struct router *router, unsigned port)
{
    router->in_due |= UINT32_C(1) << port;
}

/* Bytes for a port's link lie at the head of an in-port. */
static inline void due_bytes_for(struct router *router, unsigned out)
{
    router->out_due |= UINT32_C(1) << out;
}

/* What a link's bytes may have waited for has come: their circuit's turn or answer, credit, room,
 * or word that the neighbour has drained. */
static inline void due_link_moves(struct router *router, const struct port *out)
{
    if (lane_turn(out) || out->draining_count) {
        router->out_due |= out->channel.due_bit;
    }
}

/* Credit may have come, which a link's bytes waited for, or an OPEN for a place. What has come of
 * it may be less than that waits for: where bytes may be lost the neighbour is asked for the rest.
 */
static inline void due_credit(struct router *router, const struct port *out)
{
    due_link_moves(router, out);
    if (out->channel.checked && lane_full(out)) {
        router->setup_due = true;
    }
}

/* The neighbour has acknowledged a segment of a port: there is more room on its channel. */
static inline void due_room(struct router *router, const struct port *out)
{
    router->setup_due |= router->setup_short;
    due_link_moves(router, out);
}

/* The neighbour has read all bytes of a circuit: its link has a place for another one. */
static inline void due_drained(struct router *router)
{
    router->setup_due = router->links_freed = true;
}

/* Whether links have been freed since this was asked last. */
static inline bool due_links_freed(struct router *router)
{
    bool freed = router->links_freed;

    router->links_freed = false;
    return freed;
}

/* Takes what there is to do with bytes: true for an in-port, whose bytes come first. */
static inline bool due_take_bytes(struct router *router, unsigned *port)
{
    bool in = router->in_due != 0;

    *port = due_next(in ? &router->in_due : &router->out_due);
    return in;
}

/* Links, packets, sources ------------------------------------------------------------------- */

/* A link is up, or leads to a wrong place: what waits for it may go on, or be refused. */
static inline void due_link_changed(struct router *router)
{
    router->setup_due = true;
}

/* A schedule begins, or is done, or all are forgotten: a message that waits may be refused now. */
static inline void due_schedule_moved(struct router *router)
{
    router->setup_due = true;
}

/* What comes in there is thrown away; what is to go out there is refused. */
static inline void due_link_dead(struct router *router, unsigned port)
{
    router->setup_due = true;
    due_bytes(router, port);
}

static inline void due_routed(struct router *router, unsigned port)
{
    router->routed_due |= UINT32_C(1) << port;
}

static inline void due_routed_gone(struct router *router, unsigned port)
{
    router->routed_due &= ~(UINT32_C(1) << port);
}

/* A source is used, and free again. */
static inline void due_source_taken(struct router *router, unsigned number)
{
    router->sources_used |= UINT32_C(1) << number;
}

static inline void due_source_free(struct router *router, unsigned number)
{
    router->sources_used &= ~(UINT32_C(1) << number);
}

/* A source may have nothing more under way. */
static inline void due_source_done(struct router *router, unsigned number)
{
    router->sources_due |= UINT32_C(1) << number;
}

static inline void due_source_seen(struct router *router, unsigned number)
{
    router->sources_due &= ~(UINT32_C(1) << number);
}
