/*
 * state.pml - what the model knows of nodes, links, circuits and messages.
 *
 * Circuits are numbered: node n's circuit of step s is n * STEPS + s, then come the messages.
 * Places are numbered: the link out of node n in dimension p is n * DIMS + p; behind the links
 * comes one place per node for PORT_LOCAL, where a node's own circuits wait for their first link.
 */
/* What never changes: the paths of the schedule's circuits. hop 0 is the node's own place. */
hidden byte way[SENDS * HOPS];
hidden byte last[SENDS];
hidden byte carried[DIMS]; /* circuits of the schedule that a link of the dimension carries */

/* Messages, chosen at the start. */
byte src[MESSAGES], dst[MESSAGES], phase[MESSAGES], before[MESSAGES];
bit brief[MESSAGES];
byte message_way[MESSAGES * HOPS], message_last[MESSAGES];
bit hot[PLACES]; /* a message uses it */
bit met[NODES];  /* a message begins, passes or ends there */

/* Circuits: enum circuit_state, and the hop that OPEN has passed or that the answer has reached. */
#define IDLE 0
#define SETUP 1
#define ACCEPTED 2
#define REFUSED 3
#define STANDS 4
byte state[SENDS + MESSAGES], at[SENDS + MESSAGES];
/* pieces of data that have entered each hop; behind the last hop, that have been consumed */
byte moved[(SENDS + MESSAGES) * (HOPS + 1)];

/* Directed links: set-ups without an answer, and circuits whose bytes share the link, oldest first.
 */
byte set[PLACES * SETS], set_count[PLACES];
byte order[LINKS * SLOTS], order_count[LINKS], fed[LINKS];
byte buffered[LINKS]; /* pieces that lie at the far end */
byte turn[LINKS], newest[LINKS];
byte packet[LINKS]; /* the routed packet that lies at the far end */

/* Nodes. */
/* entry: called; the node and all below it in the tree have; told that all have */
#define CALLED 1
#define SUBTREE 2
#define ENTERED 3
byte stage[NODES], entry[NODES], step[NODES], receiving[NODES], sending[NODES];
bit opened[NODES], answered[NODES], received[NODES], finished[NODES];
byte outgoing[NODES]; /* the packet that waits for its first link */
byte pool[NODES];     /* free places for short messages that no receive waits for */

/* Messages between programs. */
#define UNPOSTED 0
#define QUEUED 1
#define ASKED 2
#define STORED 3
#define READY 4
#define COMPLETE 5
byte sender[MESSAGES];
bit posted[MESSAGES], arrived[MESSAGES], matched[MESSAGES], pooled[MESSAGES], delivered[MESSAGES];
bit announce[MESSAGES];
bit asking[MESSAGES];   /* its OPEN announces it, and the receiver has not said CTS */
bit behind[MESSAGES];   /* its OPEN says that its sender has completed the collective */
byte blocked[MESSAGES]; /* 1 + the link, or the place of the node, that refused it */
byte tries[MESSAGES];

byte left; /* collectives and ends of messages that are still to be completed */

#define WAY(c, h) ((c) < SENDS -> way[(c) * HOPS + (h)] : message_way[((c) - SENDS) * HOPS + (h)])
#define LAST(c) ((c) < SENDS -> last[c] : message_last[(c) - SENDS])
#define HOP(c, l) (WAY(c, 1) == (l) -> 1 : (WAY(c, 2) == (l) -> 2 : 3))
#define IS_BRIEF(c) ((c) >= SENDS && brief[(c) - SENDS])
#define MOVED(c, h) moved[(c) * (HOPS + 1) + (h)]
#define SETUP_AT(l, i) set[(l) * SETS + (i)]
#define ORDER(l, i) order[(l) * SLOTS + (i)]
#define FAR(l) (((l) / DIMS) ^ (1 << ((l) % DIMS)))
#define REVERSE(l) (FAR(l) * DIMS + (l) % DIMS)
#define OWN(n) (LINKS + (n))
#define CURRENT(n) ((n) * STEPS + step[n])
#define LOWEST(x) ((x) & 1 -> 0 : ((x) & 2 -> 1 : 2))
#define NEXT(n, to) ((n) * DIMS + LOWEST((n) ^ (to)))
#define NEXT_LINK(c) WAY(c, at[c] + 1)

/* Rule 3: without it control waits until the link's buffer is empty. */
#define CONTROL(l) (RULE3 || buffered[l] == 0)

hidden byte x1, x2, x3, x4, x5, x6, z, busy;

/* Takes the set-up, or the circuit, at an index of a link's queue off; those behind it move up. */
inline drop_setup(l, index) {
    x4 = index;
    do
    :: x4 + 1 < set_count[l] -> SETUP_AT(l, x4) = SETUP_AT(l, x4 + 1); x4++
    :: else -> break
    od;
    set_count[l]--;
    SETUP_AT(l, set_count[l]) = 0
}

inline drop_order(l, index) {
    x4 = index;
    do
    :: x4 + 1 < order_count[l] -> ORDER(l, x4) = ORDER(l, x4 + 1); x4++
    :: else -> break
    od;
    order_count[l]--;
    ORDER(l, order_count[l]) = 0
}
