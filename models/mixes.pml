/*
 * mixes.pml - what the programs send to each other; MIX picks one.
 *
 * message(number, from, to, when, short). any_message leaves from, to and when to the checker, so
 * one run covers all of them. By symmetry (XOR) the first message starts at node 0.
 */
#ifndef MIX
#define MIX 1
#endif

byte any_from, any_to, any_when;

inline any_message(m, first, past, last_when, is_brief) {
    any_from = first;
    do
    :: any_from + 1 < past -> any_from++
    :: break
    od;
    any_to = 1;
    do
    :: any_to + 1 < NODES -> any_to++
    :: break
    od;
    do
    :: any_when < last_when -> any_when++
    :: break
    od;
    message(m, any_from, (any_from ^ any_to), any_when, is_brief);
    any_from = 0;
    any_to = 0;
    any_when = 0
}

#if MIX == 1 /* no message */
#define MESSAGES 1
inline mix() { phase[0] = NEVER }
#elif MIX == 2 /* any long message */
#define MESSAGES 1
inline mix() { any_message(0, 0, 1, AFTER, 0) }
#elif MIX == 3 /* any short message */
#define MESSAGES 1
inline mix() { any_message(0, 0, 1, AFTER, 1) }
#elif MIX == 4 /* any two long messages */
#define MESSAGES 2
inline mix() { any_message(0, 0, 1, FREE, 0); any_message(1, 0, NODES, FREE, 0) }
#elif MIX == 11 /* one over all dimensions, beside any other */
#define MESSAGES 2
inline mix() { message(0, 0, NODES - 1, FREE, 0); any_message(1, 0, NODES, FREE, 0) }
#elif MIX == 5 /* any long message beside any short one */
#define MESSAGES 2
inline mix() { any_message(0, 0, 1, FREE, 0); any_message(1, 0, NODES, FREE, 1) }
#elif MIX == 6 /* four messages, each over two links of a ring: a cycle where the order is broken */
#define MESSAGES 4
inline mix() {
    message(0, 0, 3, FREE, 0);
    message(1, 1, 2, FREE, 0);
    message(2, 3, 0, FREE, 0);
    message(3, 2, 1, FREE, 0)
}
#elif MIX == 7 /* 0 calls a receive late whose message would wait in the way of another's */
#define MESSAGES 2
inline mix() {
    message(0, 1, 3, CROSSED, 0);
    message(1, 0, 3, BEFORE, 0)
}
#elif MIX == 8 /* two that follow each other over all dimensions, beside any other */
#define MESSAGES 3
inline mix() {
    message(0, 0, NODES - 1, FREE, 0);
    message(1, 0, NODES - 1, FREE, 0);
    any_message(2, 0, NODES, FREE, 0)
}
#elif MIX == 12 /* two that follow each other over all dimensions */
#define MESSAGES 2
inline mix() { message(0, 0, NODES - 1, FREE, 0); message(1, 0, NODES - 1, FREE, 0) }
#elif MIX == 9 /* a message that must be there before its ends call the collective */
#define MESSAGES 1
inline mix() { message(0, 1, 3, BEFORE, 0) }
#elif MIX == 10 /* any two short ones between the same nodes, in a pool of one */
#define MESSAGES 2
inline mix() {
    message(0, 0, NODES - 1, CROSSED, 1);
    message(1, 0, NODES - 1, FREE, 1)
}
#endif
