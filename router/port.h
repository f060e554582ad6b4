/*
 * port.h - a port: its channel, and the circuits that come in and go out over its link.
 *
 * For the files of the router; others only look: the simulator, at what to fetch into the cache,
 * and tests. A circuit is kept at its in-port. Its out-port knows only who holds the set-up and in
 * which order bytes go.
 *
 * Units    bytes; model time in ns
 * Source   circuits and their time: Boppana & Raghavendra, CENG 90-20 (1990), section 2
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "router/channel_state.h"
#include "router/circuit.h"
#include "router/circuit_state.h"
#include "router/segment.h"
#include "wire/circuit.h"
#include "wire/frame.h"

enum {
    PORTS_MAX = 18,
    PORT_LOCAL = 31, /* this node itself, as the source or destination of a circuit */
    PORT_NONE = 30,
    ORDER_INLINE = 0x80,
    /* circuits that may share one directed link: being set up, flowing, or draining */
    CIRCUITS_MAX = 4,
    DUE_BITS = 4,
    DUE_MASK = 15,
    REPLIES_MAX = 2 * CIRCUITS_MAX, /* answers of a port: so many owed, and as many on their way */
    REPLY_BYTES = FRAME_HEADER_BYTES + PACKET_HEADER_BYTES + ANSWER_BYTES + FRAME_CHECK_BYTES
};

/* What has become of a circuit's sink. */
enum circuit_sinking {
    SINK_ASKED = 1, /* it is full, its owner knows, and has not said where more goes */
    SINK_SHORT = 2  /* some bytes found no room */
};

/* One circuit as its in-port sees it. */
struct circuit {
    uint8_t out;     /* port, PORT_LOCAL, or PORT_NONE: its bytes are thrown away */
    uint8_t state;   /* enum circuit_state, changed by circuit.c only */
    uint8_t flags;   /* enum open_flag */
    uint8_t sinking; /* of enum circuit_sinking */
    uint32_t length;
    uint32_t moved;           /* bytes passed on so far */
    uint32_t stamp;           /* order of the OPENs' arrival */
    struct arrival open;      /* its OPEN, while it is held here; packet NULL: it is not */
    struct circuit_sink sink; /* what is left of it */
};

/* What the owner has been told of a link. */
enum link_reported { REPORTED_UP = 1, REPORTED_CROSSED = 2, REPORTED_DEAD = 4 };

/* A port: the channel, and both directions' circuits. What every frame looks at comes first. */
struct port {
    /* inwards: circuits in the order of their OPENs, bytes follow in the same order; those whose
     * OPEN is held here are the last */
    uint8_t circuit_first, circuit_count, opens_held;
    /* the newest circuit's bytes have all gone on, before its answer came */
    bool newest_passed;
    /* of the newest OPEN */
    uint32_t open_dst;
    uint8_t open_flags;
    /* answers owed upstream, and sent and not acknowledged: those in replies[] */
    uint8_t due_count, replies_sent;
    uint8_t replies_busy;               /* mask of replies[] */
    uint16_t due;                       /* their numbers, four bits each, the oldest lowest */
    uint8_t routed_first, routed_count; /* of routed[] */
    uint8_t reported;                   /* of enum link_reported */
    uint8_t carrier;                    /* enum carrier: as it was when last looked at */

    /* outwards */
    /* in-port of the circuits being set up over this link; PORT_NONE: free */
    uint8_t setup_holder;
    uint8_t setup_count;
    uint8_t setup_flags; /* enum open_flag: of the newest */
    uint8_t draining_count;
    /* in-ports of the circuits whose bytes go out here, oldest first; with ORDER_INLINE the bytes
     * have gone with the OPEN */
    uint8_t order_count;
    uint8_t order[CIRCUITS_MAX];
    /* circuits of a schedule that the link has carried outwards; and how many it carries in the one
     * that this node is in, or was in last (router.schedule) */
    uint16_t turn_epoch, turn_count, turn_total;
    /* the last circuit that this node accepted here: its source, its model time of completion */
    uint32_t chain_src;
    uint64_t chain_ns;
    uint64_t free_ns; /* model time at which the link is free */

    struct channel channel; /* so does it begin with what every frame looks at */

    /* data positions of closed circuits that the neighbour still holds */
    uint32_t draining[CIRCUITS_MAX];
    struct circuit circuits[CIRCUITS_MAX];
    uint8_t replies[REPLIES_MAX][REPLY_BYTES];
    struct arrival routed[CONTROL_WINDOW]; /* packets for other nodes, in order */
};

/* The circuit at a place of an in-port's order. */
static inline struct circuit *circuit_at(const struct port *port, unsigned index)
{
    /* as strchr: who may change the port may change the circuit */
    return (struct circuit *)&port->circuits[(port->circuit_first + index) % CIRCUITS_MAX];
}

/* The oldest circuit whose OPEN is held at a port; NULL when there is none. */
static inline struct circuit *circuit_held(const struct port *port)
{
    return port->opens_held ? circuit_at(port, (unsigned)(port->circuit_count - port->opens_held))
                            : NULL;
}
