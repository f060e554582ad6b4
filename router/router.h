/*
 * router.h - packets and circuits between the links of one node (or of the host).
 *
 * A router owns one channel (channel.h) per link. It forwards packets and circuits that are for
 * others, and tells its owner of the rest through notices, which the owner takes one by one after
 * each step. The four rules that keep it free of deadlock, and why, stand in README.md.
 *
 * Units    bytes; wall time in us, model time in ns
 * Errors   E_FULL no slot for a packet; E_BUSY another circuit of this source is being set up;
 *          E_LINK_DEAD no way
 * Source   circuits and their time: Boppana & Raghavendra, CENG 90-20 (1990), section 2
 *          e-cube routes: Dally & Seitz 1987, IEEE Trans. Computers C-36(5):547-553
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "router/channel_state.h"
#include "router/clock.h"
#include "router/frame_wire.h"
#include "router/packet_wire.h"
#include "router/segment.h"

enum {
    PORTS_MAX = 18,
    PORT_LOCAL = 31, /* this node itself, as the source or destination of a circuit */
    PORT_NONE = 30,
    ORDER_INLINE = 0x80,
    /* circuits that may share one directed link: being set up, flowing, or draining */
    CIRCUITS_MAX = 4,
    OWED_BITS = 4,
    OWED_MASK = 15,
    REPLIES_MAX = 2 * CIRCUITS_MAX, /* answers of a port: so many owed, and as many on their way */
    SOURCES_MAX = 8,                /* circuits that this node sends at once */
    SLOTS_MAX = 24,
    SLOT_BODY_MAX = 112,
    LARGE_SLOTS_MAX = 2,
    REPLY_BODY = 8,
    REPLY_BYTES = FRAME_HEADER_BYTES + PACKET_HEADER_BYTES + REPLY_BODY + FRAME_CHECK_BYTES,
    LINE_BYTES = 64, /* of a cache; what is used together begins one where pointers have 64 bits */
    /* an inline message this short is copied behind its OPEN: one segment costs less than two */
    OPEN_COPY_MAX = 128,
    NOTICES_MAX = 32
};

enum notice_kind {
    /* a packet for this node: packet, port; valid until the next notice is taken */
    NOTICE_PACKET,
    /* a circuit has arrived at this node: answer with router_accept or router_refuse, now or later
     */
    NOTICE_OPEN,
    /* the circuit `token` of this node stands: done_ns; an inline one has been delivered */
    NOTICE_ACCEPTED,
    /* the circuit `token` of this node was refused: status; nothing of it remains */
    NOTICE_REFUSED,
    /* all bytes of circuit `token` are with the neighbour: the memory is the owner's again */
    NOTICE_SENT,
    NOTICE_RECEIVED, /* all bytes of the accepted circuit `token` are in the sink: status, bytes */
    NOTICE_UP,       /* the link at port is up */
    NOTICE_CROSSED,  /* ... was up, and leads to a wrong place: the owner says whether it is dead */
    NOTICE_DEAD,     /* the link at port is dead: status is the enum dead_reason */
    NOTICE_IDENTITY  /* this node has learned its id and network */
};

struct notice {
    enum notice_kind kind;
    unsigned port;
    uint32_t token;
    int status;
    uint32_t bytes;
    uint64_t done_ns;
    const uint8_t *packet;
    uint16_t buffer;
};

/* A circuit to be sent: the message is data[0] then data[1]. */
struct circuit_source {
    uint32_t dst;
    uint32_t match;
    uint32_t tag;
    /* enum open_flag; OPEN_INLINE only up to OPEN_INLINE_MAX bytes, all in data[0] */
    uint8_t flags;
    uint8_t run;    /* of a message: tells its program from the one before */
    uint16_t epoch; /* with OPEN_SCHEDULE */
    uint16_t turns[TURNS_MAX];
    uint64_t issue_ns; /* model time at which the source issues it */
    const uint8_t *data[2];
    uint32_t bytes[2];
    uint32_t token;
};

/* Where an arriving circuit goes. */
struct circuit_sink {
    uint8_t *data;
    uint32_t room; /* a longer message is taken off the link, and reported as E_TRUNCATED */
    uint32_t token;
    uint64_t ready_ns; /* model time at which the receiver was ready */
};

/* One circuit as its in-port sees it. */
struct circuit {
    uint8_t out;   /* port, PORT_LOCAL, or PORT_NONE: its bytes are thrown away */
    uint8_t state; /* enum circuit_state */
    uint8_t flags; /* enum open_flag */
    uint32_t length;
    uint32_t moved;      /* bytes passed on so far */
    struct arrival open; /* its OPEN, while it is held here; packet NULL: it is not */
    uint32_t stamp;      /* order of the OPENs' arrival */
    struct circuit_sink sink;
};

enum circuit_state {
    CIRCUIT_FREE,
    CIRCUIT_WAITING, /* its OPEN is held here: busy link, turn, or the receiver is not ready */
    CIRCUIT_OPENED,  /* its OPEN went on; no answer yet */
    CIRCUIT_FLOWING, /* accepted: its bytes flow */
    CIRCUIT_CLOSED   /* a source: all handed over, not all acknowledged */
};

/* What the owner has been told of a link. */
enum link_told { TOLD_UP = 1, TOLD_CROSSED = 2, TOLD_DEAD = 4 };

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
    uint8_t owed_count, replies_sent;
    uint8_t replies_busy;               /* mask of replies[] */
    uint16_t owed;                      /* their numbers, four bits each, the oldest lowest */
    uint8_t routed_first, routed_count; /* of routed[] */
    uint8_t told;                       /* of enum link_told */
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
    uint16_t turn_epoch, turn_count;
    /* the last circuit that this node accepted here: its source, its model time of completion */
    uint32_t chain_src;
    uint64_t chain_ns;
    uint64_t free_ns; /* model time at which the link is free */

    struct channel channel; /* so does it begin with what every frame looks at */

    /* data positions of closed circuits that the neighbour still holds */
    uint32_t draining[CIRCUITS_MAX];
    uint8_t spare[32]; /* the circuits begin a line */
    struct circuit circuits[CIRCUITS_MAX];
    uint8_t replies[REPLIES_MAX][LINE_BYTES];
    struct arrival routed[CONTROL_WINDOW]; /* packets for other nodes, in order */
};

/* A packet that starts here: frame header, packet, check. The last LARGE_SLOTS_MAX slots hold the
 * longest packet. */
struct slot {
    uint8_t *bytes;
    uint16_t body_max;
    uint16_t packet_bytes;
};

struct source {
    uint8_t state; /* enum circuit_state */
    uint8_t out;
    bool refused;
    uint32_t length, moved;
    uint32_t unacknowledged; /* segments under way */
    uint32_t stamp;
    struct circuit_source circuit;
    uint8_t open[FRAME_HEADER_BYTES + OPEN_BYTES + OPEN_COPY_MAX + FRAME_CHECK_BYTES];
};

struct router_config {
    uint32_t id; /* ID_UNKNOWN on a node, ID_HOST on the host */
    struct link **links;
    unsigned link_count;
    bool payload_checked;
    /* Bits of the links that have news or whose carrier has changed, set by their makers; NULL:
     * each link is asked in each step. */
    uint32_t *attention;
    /* places per link for what is under way: a power of two from 32 to RING_MAX; 0: RING_MAX */
    uint16_t ring;
    void *memory; /* router_memory_bytes(link_count, ring), 8-aligned */
    /* the host only: */
    uint8_t network, dims;
    struct profile profile;
    uint32_t dead_after_ms; /* of its links and, told by HELLO, of all others; 0: DEAD_AFTER_MS */
    const uint32_t *peers;  /* the node that belongs at each link */
};

/* What every step looks at comes first. */
struct router {
    struct port *ports;
    uint64_t now_us;
    uint64_t wake_us; /* no channel's wake_us is earlier */
    /* What there is to look at, so that a step looks at nothing else: masks of ports, sources,
     * slots */
    uint32_t *attention;
    uint32_t flush_due;  /* channel_flush has something to do */
    uint32_t routed_due; /* packets for other nodes lie there */
    uint32_t held_ports; /* OPENs are held there */
    /* the oldest OPEN held there is to go on, or is for this node, which has not been told */
    uint32_t passing_ports, untold_ports;
    uint32_t owed_ports; /* answers are owed there */
    uint32_t in_due;     /* bytes of circuits have come in there, or may be taken now */
    uint32_t out_due;    /* bytes of circuits may go out there */

    uint32_t sources_due;
    uint32_t sources_used;
    uint32_t id;
    uint8_t role, network, dims;
    bool payload_checked;
    bool setup_due;   /* an OPEN may pass that could not before */
    bool setup_short; /* one could not pass for want of room on its channel */
    bool links_freed; /* circuits have drained from a link: another may be set up over it */
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
    uint32_t dead_after_ms; /* of the channels */

    uint32_t slots_free;
    uint16_t schedules_done; /* epoch of the last schedule that this node has completed */
    uint64_t send_free_ns, receive_free_ns;
    const uint32_t *peers; /* host: the node that belongs at each link */
    uint32_t packets_forwarded, packets_dropped, circuits_refused;

    /* behind what is looked at in every step */
    struct source sources[SOURCES_MAX];
    struct notice notices[NOTICES_MAX];
    uint8_t slot_order[SLOTS_MAX + LARGE_SLOTS_MAX]; /* those that are queued, oldest first */
    struct slot slots[SLOTS_MAX + LARGE_SLOTS_MAX];
};

uint32_t router_memory_bytes(unsigned link_count, unsigned ring);
void router_init(struct router *router, const struct router_config *config);

/* The segments of a port, where they begin: a simulator fetches them before they are used. */
static inline const struct segment *router_segments(const struct router *router, unsigned port)
{
    size_t bytes = router->ring * (sizeof(struct segment) + sizeof(struct piece));

    return (const struct segment *)((const uint8_t *)(router->ports + router->port_count) +
                                    port * bytes);
}

/* Takes what the links hold, up to a bound; true when more is waiting. */
bool router_take(struct router *router, uint64_t now_us);

/* Moves what can move, as far as the channels of the links. */
void router_move(struct router *router, uint64_t now_us);

/* Hands what the channels have to the links, all frames of a step at once. */
void router_flush(struct router *router);

/* All three; true when more, or a notice, is waiting. */
bool router_step(struct router *router, uint64_t now_us);

/* Takes the oldest notice; NULL when there is none. It stays, and so does its packet, until the
 * next call, which comes before the next step. */
const struct notice *router_notice(struct router *router);

/* Whether router_notice has something to do: tell, or take back the last notice. */
static inline bool router_noticed(const struct router *router)
{
    return router->notice_count > 0;
}

/* Wall time at which router_step wants to run next; UINT64_MAX: only when something arrives. */
uint64_t router_deadline(const struct router *router);

/* Sends a packet to dst; the body is copied, NULL when it has no bytes. E_FULL: no slot now. */
int router_send(struct router *router, uint8_t kind, uint32_t dst, const void *body,
                uint32_t bytes);

/* How many more small packets router_send takes now. */
unsigned router_slots_free(const struct router *router);

/*
 * Starts a circuit from this node. E_BUSY: one to another node, or of another kind, has no answer
 * yet; messages to one node follow each other without waiting for answers, up to CIRCUITS_MAX.
 */
int router_open(struct router *router, const struct circuit_source *source);

/* Mask of the ports where an OPEN packet waits for this node's answer. */
static inline uint32_t router_opens(const struct router *router)
{
    return router->held_ports & ~router->passing_ports;
}

/* The oldest OPEN packet held at port that waits for this node's answer; NULL when there is none.
 */
const uint8_t *router_open_at(const struct router *router, unsigned port);

/* Accepts the circuit held at port; returns its model time of completion. Inline data is copied at
 * once, and no NOTICE_RECEIVED follows. */
uint64_t router_accept(struct router *router, unsigned port, const struct circuit_sink *sink);

/* Refuses the circuit held at port. */
void router_refuse(struct router *router, unsigned port, int reason);

/* The state of a port (enum link_state of host_wire.h) and the id and port number of its other end.
 */
uint8_t router_port_state(const struct router *router, unsigned port, uint32_t *peer,
                          uint8_t *peer_port);

/* True when no circuit begins or ends here: none reads or writes the owner's memory. */
bool router_quiet(const struct router *router);

/* This node has completed the schedule `epoch`, and so have its out links: the last circuit of each
 * is its own node's, which the generator of the table has checked. */
void router_schedule_done(struct router *router, uint16_t epoch);

/* Sets the model times of this node's ports and links, and the turns on its links, back to the
 * start. */
void router_reset_clocks(struct router *router);

/* The host: declares a link dead because its owner knows (the node's process has ended). */
void router_kill_port(struct router *router, unsigned port, int reason);
