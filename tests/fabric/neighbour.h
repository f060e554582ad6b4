/*
 * neighbour.h - one real node whose neighbours are played by a test: it says what they say, in any
 * order, and hears what they are told.
 *
 * Node 0 of a fabric of four is real; the routers of 1 and 2 carry what the test says.
 */
#pragma once

#include "tests/fabric/fabric.h"

enum { HEARD_MAX = 128, NEIGHBOUR_ROOM = 4000, NEIGHBOUR_TAG = 5 };

/* What a neighbour was told: a packet (of a circuit its OPEN), or the answer to a circuit of its
 * own as ACCEPT or REFUSE. */
struct heard {
    uint8_t kind; /* enum packet_kind */
    unsigned rank;
    uint32_t name;           /* which announcement */
    uint32_t match;          /* of CTS and OPEN */
    uint32_t behind;         /* of RTS and request */
    uint8_t flags;           /* of OPEN; a request has a name in place of a match */
    struct enter_body enter; /* of ENTER */
    struct entered_body entered;
    int status; /* of ACCEPT, REFUSE, ENTER and ENTERED */
};

struct neighbours {
    struct fabric *fabric;
    struct node *node; /* the real one */
    struct heard heard[HEARD_MAX];
    unsigned heard_count, taken;
    /* circuits whose bytes have come to a neighbour, and what was said of the last one */
    unsigned received;
    int received_status;
    int refusal; /* of the next circuit that comes to a neighbour; E_OK: it is accepted */
    bool full;   /* requests (OPEN_REQUEST) find no room and are not noted: so RTSs come */
    bool holds;  /* circuits are not answered: neighbour_refuses does */
};

/* For TEST_WITH: a fabric with programs; *state is a struct neighbours. */
int neighbours_begin(void **state);
int neighbours_end(void **state);

/* Node 0, or a neighbour's router, once; all of them until what they have said has arrived; and the
 * same after a time. */
void neighbours_step(struct neighbours *all, unsigned rank);
void neighbours_turn(struct neighbours *all);
void neighbours_pass_ms(struct neighbours *all, unsigned ms);

/* The next thing that was heard, which must be of this kind and for this neighbour. */
const struct heard *neighbours_expect(struct neighbours *all, uint8_t kind, unsigned rank);
void neighbours_expect_no_more(const struct neighbours *all);

/* What a neighbour says to node 0: an answer to its announcement `name`; an announcement; that it
 * enters a collective; a circuit. */
void neighbour_answers(struct neighbours *all, unsigned rank, uint8_t kind, uint32_t name,
                       uint32_t match);
void neighbour_announces(struct neighbours *all, unsigned rank, uint32_t name, uint32_t behind);
/* It announces one behind no other, and is told that a receive takes it, which it then may name; or
 * that it must wait for one. */
uint32_t neighbour_is_taken(struct neighbours *all, unsigned rank, uint32_t name);
void neighbour_is_queued(struct neighbours *all, unsigned rank, uint32_t name);
void neighbour_enters(struct neighbours *all, unsigned rank, const struct enter_body *enter);
/* The same without the last byte of it. */
void neighbour_enters_in_part(struct neighbours *all, unsigned rank,
                              const struct enter_body *enter);
/* What a neighbour says that enters the same as node 0 has; both do. */
struct enter_body neighbour_same(const struct neighbours *all, unsigned rank);
void neighbours_enter(struct neighbours *all);
void neighbour_opens(struct neighbours *all, unsigned rank, uint32_t match, uint8_t flags,
                     uint32_t bytes);

/* The same with another tag: of a share, where it begins. */
void neighbour_opens_at(struct neighbours *all, unsigned rank, uint32_t match, uint32_t tag,
                        uint8_t flags, uint32_t bytes);

/* A neighbour refuses the circuit that it holds. */
void neighbour_refuses(struct neighbours *all, unsigned rank, int reason);

/* Node 0 calls a collective, has its plan from the host, and is in its entry. */
int32_t node_enters(struct neighbours *all, const struct ecube_abi_collective *arguments);

/* A long message of node 0's program to a node, and a receive of one; which request that is, and
 * that it is over. */
int32_t node_sends(struct neighbours *all, int32_t peer);
int32_t node_receives(struct neighbours *all, int32_t peer, uint32_t address);
const struct request *node_request(const struct neighbours *all, int32_t number);
void node_is_done_with(const struct neighbours *all, int32_t number, int status);

/* The state of a link of node 0's (enum link_state), and what node 0 has said over it. */
uint8_t node_link(const struct neighbours *all, unsigned port);
const struct memory_said *node_said(const struct neighbours *all, unsigned port);

/* What node 0 answers the host's question; the neighbours do nothing meanwhile. */
struct state_body node_state(struct neighbours *all);

/* So many circuits of node 0's own to neighbour 1 or 2 have been accepted and sent whole. Until the
 * neighbour reads their bytes each of them keeps a place on the link. */
void node_takes_places(struct neighbours *all, unsigned rank, unsigned count);

/* What a node, 0 or a neighbour's router, sends in circuits over a port waits for credit. */
void hold_bytes(struct neighbours *all, unsigned rank, unsigned port, bool hold);

/* Packets to node 2, which takes none, have all slots of node 0; and a turn without node 2. */
void node_fills_slots(struct neighbours *all);
void neighbours_turn_without_2(struct neighbours *all);
