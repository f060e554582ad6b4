/*
 * notice.h - what a router tells its owner, one notice at a time (router_notice).
 *
 * Units    bytes; model time in ns
 * Errors   status is E_OK or why not (drivers/status.h), but for a dead link: why it is dead
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct router;

enum notice_kind {
    /* a packet for this node: packet_kind, src, body, bytes of the body, port; valid until the next
     * notice is taken */
    NOTICE_PACKET,
    /* a circuit has arrived at this node: answer with router_accept or router_refuse, now or later
     */
    NOTICE_OPEN,
    /* the circuit `token` of this node stands: done_ns; an inline one has been delivered;
     * other_length: the receiver of a schedule's wanted another number of bytes */
    NOTICE_ACCEPTED,
    /* the circuit `token` of this node was refused: status; nothing of it remains */
    NOTICE_REFUSED,
    /* all bytes of circuit `token` are with the neighbour: the memory is the owner's again */
    NOTICE_SENT,
    /* circuit `token` has handed over all that it was given, and wants more (router_feed): the
     * memory of all portions but the last is the owner's again */
    NOTICE_FEED,
    /* all bytes of the accepted circuit `token` have been taken: status, bytes; E_TRUNCATED: some
     * found no room */
    NOTICE_RECEIVED,
    /* the room of the accepted circuit `token` is full and more is wanted: port, for router_sink */
    NOTICE_FILLED,
    NOTICE_UP,      /* the link at port is up */
    NOTICE_CROSSED, /* ... was up, and leads to a wrong place: the owner says whether it is dead */
    NOTICE_DEAD,    /* the link at port is dead: status is the enum dead_reason */
    NOTICE_IDENTITY /* this node has learned its id and network */
};

struct notice {
    enum notice_kind kind;
    unsigned port;
    uint32_t token;
    int status;
    uint32_t bytes;
    uint64_t done_ns;
    const uint8_t *body;
    uint32_t src;
    uint16_t buffer;
    uint8_t packet_kind;
    bool other_length;
};

enum { NOTICES_SPARE = 8 }; /* notices that one arrival and the pumps after it may need */

/* Whether there is a place for a notice; for all that one arrival may bring. */
bool notice_room(const struct router *router);
bool notice_room_for_step(const struct router *router);

/* The place of a new notice, which the caller fills. */
struct notice *notice_add(struct router *router);

/* What router_notice does. */
const struct notice *notice_take(struct router *router);
