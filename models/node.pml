/*
 * node.pml - a node's program, and its collective: collectives/engine.c, entry.c.
 */
#define LATE(m) (phase[m] == CROSSED || phase[m] == AFTER)
#define HOLDS_BACK(n, m)                                                                           \
    (phase[m] == BEFORE &&                                                                         \
     ((src[m] == (n) && sender[m] != COMPLETE) || (dst[m] == (n) && !delivered[m])))

inline post(n, late) {
    for (x1 : 0 .. MESSAGES - 1) {
        if
        :: src[x1] == n && phase[x1] <= AFTER && (phase[x1] == AFTER) == late -> sender[x1] = QUEUED
        :: else -> skip
        fi;
        if
        :: dst[x1] == n && phase[x1] <= AFTER && LATE(x1) == late -> posted[x1] = 1
        :: else -> skip
        fi
    }
}

#define may_post(n) (stage[n] == 0 || (stage[n] == 2 && (finished[n] || !COLLECTIVE)))
inline post_next(n) {
    post(n, (stage[n] == 2));
    stage[n]++
}

#if MESSAGES > 4
#error "HELD_BACK knows four messages"
#endif
/* The program must see messages completed before it calls the collective. */
#define HELD_BACK(n)                                                                               \
    (HOLDS_BACK(n, 0) || (MESSAGES > 1 && HOLDS_BACK(n, 1 % MESSAGES)) ||                          \
     (MESSAGES > 2 && HOLDS_BACK(n, 2 % MESSAGES)) || (MESSAGES > 3 && HOLDS_BACK(n, 3 % MESSAGES)))
#define may_call(n) (stage[n] == 1 && !HELD_BACK(n))

inline call_collective(n) {
    stage[n] = 2;
    if
    :: COLLECTIVE -> entry[n] = (ENTRY -> CALLED : ENTERED)
    :: else -> skip
    fi
}

/* Entry: up a spanning tree, and down again. The parent is the next hop towards node 0. */
#if DIMS > 3
#error "UP_BELOW knows three dimensions"
#endif
#define PARENT(n) ((n) & ((n) - 1))
#define UP_AT(n, b)                                                                                \
    (b >= DIMS || ((n) & ((2 << b) - 1)) || entry[((n) | (1 << b)) % NODES] >= SUBTREE)
#define UP_BELOW(n) (UP_AT(n, 0) && UP_AT(n, 1) && UP_AT(n, 2))
#define may_enter(n)                                                                               \
    ((entry[n] == CALLED && UP_BELOW(n)) ||                                                        \
     (entry[n] == SUBTREE && (n == 0 || entry[PARENT(n)] == ENTERED)))
#define ENTER(n) entry[n]++

#define WALKS(n) (entry[n] == ENTERED && step[n] < STEPS)
#define may_open_step(n) (WALKS(n) && !opened[n] && may_open(CURRENT(n)))

inline open_step(n) {
    opened[n] = 1;
    sending[n]++;
    x6 = CURRENT(n);
    open(x6)
}

/* The circuit that comes to node n in its present step. */
#define COMING(n) (((n) ^ step_mask[step[n]]) * STEPS + step[n])
#define may_receive_step(n) (WALKS(n) && !received[n] && AT_END(COMING(n)))

inline receive_step(n) {
    received[n] = 1;
    receiving[n]++;
    x6 = COMING(n);
    begin_answer(x6, ACCEPTED)
}

#define may_end_step(n) (WALKS(n) && answered[n] && received[n] && receiving[n] < AHEAD)

inline end_step(n) {
    printf("node %d has done step %d\n", n, step[n]);
    step[n]++;
    opened[n] = 0;
    answered[n] = 0;
    received[n] = 0
}

#define may_finish(n)                                                                              \
    (!finished[n] && step[n] == STEPS && receiving[n] == 0 && sending[n] == 0)

inline finish(n) {
    finished[n] = 1;
    left--
}
