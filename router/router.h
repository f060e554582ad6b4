/*
 * router.h - packets and circuits between the links of one node (or of the host).
 *
 * A router owns one channel (channel.h) per link. It forwards packets and circuits that are for
 * others, and tells its owner of the rest through notices, which the owner takes one by one after
 * each step. The rules that keep it free of deadlock, and why, stand in README.md. What a router
 * knows is in state.h and port.h: only for those who give it a place, and for those who look.
 *
 * Units    bytes; wall time in us, model time in ns
 * Errors   E_FULL no slot for a packet, which is owed until there is one; or for a circuit, while
 *          another one is being set up; E_LINK_DEAD no way
 * Source   circuits and their time: Boppana & Raghavendra, CENG 90-20 (1990), section 2
 *          e-cube routes: Dally & Seitz 1987, IEEE Trans. Computers C-36(5):547-553
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/circuit.h"
#include "router/clock.h"
#include "router/notice.h"
#include "router/state.h"

struct router_config {
    uint32_t id; /* ID_UNKNOWN on a node, ID_HOST on the host */
    struct link **links;
    unsigned link_count;
    uint16_t incarnation; /* incarnation.h; 0: none, they are not told apart */
    bool payload_checked;
    /* Bits of the links that have input or whose carrier has changed, set by their makers; NULL:
     * each link is asked in each step. */
    uint32_t *links_due;
    /* places per link for what is under way: a power of two from 32 to RING_MAX; 0: RING_MAX */
    uint16_t ring;
    void *memory;                        /* router_memory_bytes(link_count, ring), 8-aligned */
    struct link_counters *link_counters; /* link_counters.h, link_count zeroed; NULL: not counted */
    /* the host only: */
    const struct network *network; /* NULL: a link will tell */
    struct profile profile;
    uint32_t dead_after_ms; /* of its links and, told by HELLO, of all others; 0: DEAD_AFTER_MS */
    const uint32_t *peers;  /* the node that belongs at each link */
};

/* Working memory for so many links and places: router_config.memory. */
uint32_t router_memory_bytes(unsigned link_count, unsigned ring);
/* A router that knows nobody yet. */
void router_init(struct router *router, const struct router_config *config);

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

/* Sends a packet to dst; the body is copied, NULL when it has no bytes. E_FULL: it is owed. */
__attribute__((warn_unused_result)) int router_send(struct router *router, uint8_t kind,
                                                    uint32_t dst, const void *body, uint32_t bytes);

/* How many more small packets router_send takes now. */
unsigned router_slots_free(const struct router *router);

/*
 * Starts a circuit from this node. E_FULL: one to another node, or of another kind, has no answer
 * yet; messages to one node follow each other without waiting for answers, up to CIRCUITS_MAX.
 */
__attribute__((warn_unused_result)) int router_open(struct router *router,
                                                    const struct circuit_source *source);

/*
 * The next portion of the circuit `token`, which has asked for it with NOTICE_FEED; at least one
 * byte, and no more than are left. Until then the circuit keeps its links from all behind it. NULL
 * instead: the rest will not come, and the receiver is told E_LINK_DEAD. E_LINK_DEAD: it has ended
 * since, as another notice says, and the memory is not touched.
 */
int router_feed(struct router *router, uint32_t token, const uint8_t *data, uint32_t bytes);

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

/*
 * Where the next `room` bytes go of the circuit that comes in at port, which has asked for it with
 * NOTICE_FILLED; at least one, and no more than it wanted. Until then what comes in at the port
 * waits, even its end. NULL instead: all that it still wanted goes nowhere.
 */
void router_sink(struct router *router, unsigned port, uint8_t *data, uint32_t room);

/* Refuses the circuit held at port. */
void router_refuse(struct router *router, unsigned port, int reason);

/* Whether the network, once it is known, has a link at a port: a path ends somewhere. */
bool router_has_link(const struct router *router, unsigned port);

/* The state of a port (enum link_state, wire/frame.h); id and port number of its other end. */
uint8_t router_port_state(const struct router *router, unsigned port, uint32_t *peer,
                          uint8_t *peer_port);

/* Why a port is dead (enum dead_reason, wire/frame.h); 0: it is not. */
uint8_t router_dead_reason(const struct router *router, unsigned port);

/* Counts what brings circuits on: bytes taken or sent on, circuits accepted. */
uint32_t router_progress(const struct router *router);

/* Whether all that this router had sent at the last call of router_mark has come to its live
 * neighbours. */
bool router_delivered(const struct router *router);
void router_mark(struct router *router);

/* True when no circuit begins or ends here: none reads or writes the owner's memory. */
bool router_quiet(const struct router *router);

/* This node is in the schedule `epoch`, in which its link at each port of the network carries so
 * many circuits outwards, those of others included. Without it its links are taken to have carried
 * all when the node has completed the schedule. */
void router_schedule_begin(struct router *router, uint16_t epoch, const uint16_t *carries);

/* This node has completed the schedule `epoch`; its links may still have to carry those of others.
 */
void router_schedule_done(struct router *router, uint16_t epoch);

/* Whether its links have carried all circuits of that schedule, those of others too: only then the
 * clocks may be set back, or one that is still to come would find another count. */
bool router_schedule_carried(const struct router *router);

/* Sets the model times of this node's ports and links, and the turns on its links, back to the
 * start. */
void router_reset_clocks(struct router *router);

/* From here on this node stays who it is: a link whose other end says otherwise leads to a wrong
 * place. A program is laid out, and circuits are open, for one number in one network. */
void router_keep_identity(struct router *router);

/* The host: the silence of its links until now does not count. A debugger has stopped a node. */
void router_forgive(struct router *router, uint64_t now_us);

/* The host: declares a link dead because its owner knows (the node's process has ended). */
void router_kill_port(struct router *router, unsigned port, int reason);
