/*
 * state.h - what a router knows: its ports, the circuits and packets that begin here, its notices.
 *
 * For the files of the router, and for the owner who gives it a place; others only look: the
 * simulator, at what to fetch into the cache, and tests.
 *
 * Units    bytes; wall time in us, model time in ns
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"
#include "router/channel_due.h"
#include "router/circuit.h"
#include "router/clock.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/segment.h"
#include "wire/circuit.h"
#include "wire/frame.h"

enum {
    SOURCES_MAX = 8, /* circuits that this node sends at once */
    SLOTS_MAX = 24,
    SLOTS_LOW = 8, /* with fewer free each packet sent is to be acknowledged at once */
    SLOT_BODY_MAX = 112,
    LARGE_SLOTS_MAX = 2,
    /* hop list and inline message are copied behind their OPEN as far as they fit here: one segment
     * costs less than two */
    OPEN_COPY_MAX = 180,
    SOURCE_OPEN_BYTES = FRAME_HEADER_BYTES + OPEN_BYTES + OPEN_COPY_MAX + FRAME_CHECK_BYTES,
    NOTICES_MAX = 32
};

/* A packet that starts here: frame header, packet, check. The last LARGE_SLOTS_MAX slots hold the
 * longest packet. */
struct slot {
    uint8_t *bytes;
    uint16_t body_max;
    uint16_t packet_bytes;
};

struct source {
    uint8_t state; /* enum source_state, changed by source.c only */
    uint8_t out;
    bool refused;
    bool asked; /* for the next portion, and it has not come */
    bool cut;   /* the rest will not come: the owner has said so */
    /* bytes of the whole message; that have been given so far; handed to the link; and where the
     * present portion begins */
    uint32_t length, given, moved, portion_at;
    uint32_t unacknowledged;   /* segments under way */
    uint32_t portion_segments; /* those of them, and others, that are no older than the portion */
    uint16_t list_bytes;       /* of its hop list, which is copied if it fits */
    uint32_t stamp;
    struct circuit_source circuit;
    /* SOURCE_OPEN_BYTES of working memory: links read it, so it stays where it is. A list that is
     * not copied leaves an empty one in its place, which is not sent. */
    uint8_t *open;
};

/* The hop list of a source that has one. */
static inline const uint8_t *source_hops(const struct source *source)
{
    return source->list_bytes <= OPEN_COPY_MAX ? open_hops(source->open + FRAME_HEADER_BYTES)
                                               : source->circuit.hops;
}

/* What every step looks at comes first. */
struct router {
    struct port *ports;
    struct channel_due due; /* of the channels */
    /* What there is to look at, so that a step looks at nothing else: masks of ports, sources,
     * slots */
    uint32_t *links_due;
    uint32_t routed_due; /* packets for other nodes lie there */
    uint32_t held_ports; /* OPENs are held there */
    /* the oldest OPEN held there is to go on, or is for this node, which has not been told */
    uint32_t passing_ports, unoffered_ports;
    uint32_t in_due;  /* bytes of circuits have come in there, or may be taken now */
    uint32_t out_due; /* bytes of circuits may go out there */

    uint32_t sources_due;
    uint32_t replies_due; /* answers are owed there */
    uint32_t sources_used;
    uint32_t id;
    uint8_t role;
    bool payload_checked;
    bool identity_kept; /* id, network and profile stay: something has been laid out for them */
    bool setup_due;     /* an OPEN may pass that could not before */
    bool setup_short;   /* one could not pass for want of room on its channel */
    bool links_freed;   /* circuits have drained from a link: another may be set up over it */
    uint8_t slots_queued;
    /* sources without an answer, oldest first: all to one node over one link */
    uint8_t opening[CIRCUITS_MAX], opening_count;
    uint8_t opening_passed; /* those, the first of them, whose OPEN is on its way */
    uint8_t notice_first, notice_count;
    bool notice_taken; /* the first: it is still to be taken off */
    uint16_t ring;
    uint32_t port_count;
    uint32_t stamp;
    uint32_t circuits_forwarded;
    struct profile profile;
    struct recorder *recorder; /* NULL, as is usual: nothing is noted (recorder.h) */
    uint32_t dead_after_ms;    /* of the channels */

    uint32_t slots_free;
    /* epoch of the last schedule that this node has completed; of the one that turn_total is of */
    uint16_t schedules_done, schedule;
    uint64_t send_free_ns[CLOCK_PORTS_MAX], receive_free_ns[CLOCK_PORTS_MAX];
    const uint32_t *peers; /* host: the node that belongs at each link */
    uint32_t packets_forwarded, packets_dropped, circuits_refused;
    uint32_t progress;

    struct link_counters *link_counters; /* link_counters.h, one for each port; NULL: not counted */
    uint32_t hops_max;                   /* what has passed so many links goes in circles */
    struct network network; /* its head is looked at in most steps, its dimensions are not */

    /* behind what is looked at in every step */
    struct source sources[SOURCES_MAX];
    struct notice notices[NOTICES_MAX];
    uint8_t slot_order[SLOTS_MAX + LARGE_SLOTS_MAX]; /* those that are queued, oldest first */
    struct slot slots[SLOTS_MAX + LARGE_SLOTS_MAX];
};

/* The segments of a port, where they begin: a simulator fetches them before they are used. */
static inline const struct segment *router_segments(const struct router *router, unsigned port)
{
    size_t bytes = router->ring * (sizeof(struct segment) + sizeof(struct piece));

    return (const struct segment *)((const uint8_t *)(router->ports + router->port_count) +
                                    port * bytes);
}
