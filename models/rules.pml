/*
 * rules.pml - the switches of the model; -DRULE1=0 takes rule 1 away, and so on.
 */
#ifndef RULE1
#define RULE1 1 /* a message's circuit is opened after READY only */
#endif
#ifndef JOINED
#define JOINED 1 /* a long message's OPEN is its announcement; 0: RTS, CTS, then OPEN */
#endif
#ifndef ANSWERED
#define ANSWERED 1 /* such an OPEN never waits at the receiver */
#endif
#ifndef NAMED_BEFORE
#define NAMED_BEFORE 1 /* it is refused where the message that it comes behind is not known */
#endif
#ifndef RULE2_ORDER
#define RULE2_ORDER 1 /* circuits take the lowest dimension first; 0: 1 and 2 (mod 4) the highest */
#endif
#ifndef RULE2_REFUSE
#define RULE2_REFUSE 1 /* a message that holds links is refused at one that a schedule holds */
#endif
#ifndef RULE3
#define RULE3 1 /* control does not wait behind data; 0: both share a link's buffer */
#endif
#ifndef RULE4
#define RULE4 1 /* a schedule's circuit waits for its turn on every link */
#endif
#ifndef RULE5_HOP
#define RULE5_HOP 1 /* a hop that is still in the collective refuses a message sent behind it */
#endif
#ifndef RULE5_END
#define RULE5_END 1 /* and so does the node to which it goes */
#endif
#ifndef RULE5_ALIKE
#define RULE5_ALIKE 1 /* messages share links only when sent behind the same collectives */
#endif
#ifndef ENTRY
#define ENTRY 1 /* a collective begins when all nodes have entered */
#endif
#ifndef RULE2_SOURCE
#define RULE2_SOURCE 1 /* the same at its own first link */
#endif
#ifndef PIPELINED
#define PIPELINED 0 /* up to four unanswered OPENs of one in-port and destination share a link */
#endif
#ifndef EAGER
#define EAGER 0 /* what is taken at once because it commutes (README.md): 1 data, packets, programs
                   and entry; 2 also set-ups on links that no message uses */
#endif
#ifndef COLLECTIVE
#define COLLECTIVE 1 /* the programs call the complete exchange */
#endif
#ifndef SLOTS
#define SLOTS 4 /* CIRCUITS_MAX: circuits that share one directed link */
#endif
#ifndef TOKENS
#define TOKENS 1 /* pieces of data of one circuit; the last one is FLAG_LAST */
#endif
#ifndef BUFFER
#define BUFFER 1 /* pieces that fit a link's data window */
#endif
#ifndef RETRIES
#define RETRIES 1 /* times that a message tries again although it will be refused again */
#endif
#ifndef WITNESS
#define WITNESS 0 /* 1: fails where two set-ups share a link, to show that they do */
#endif

#define LINKS (NODES * DIMS)
#define PLACES (LINKS + NODES)
#define SENDS (NODES * STEPS)
#define HOPS (DIMS + 1)
#define NONE 255
#define AHEAD 3 /* RECEIVES_AHEAD of node/collective.c */
#define SETS 4 /* most set-ups that share a link, with PIPELINED */

/* When a message is posted, against its node's call of the collective. */
#define FREE 0    /* both ends before it, and waited for at the end */
#define BEFORE 1  /* both ends before it, and waited for before it */
#define CROSSED 2 /* sent before it, its receive is posted after it */
#define AFTER 3   /* both ends after it */
#define NEVER 4   /* there is no such message */
