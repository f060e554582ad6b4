/*
 * setup.pml - OPEN forward, ACCEPT or REFUSE back: router/circuit.c.
 */
/* Whether circuit i of place l is an OPEN that is still held there, and the first such one. */
#define HELD(l, i)                                                                                 \
    ((i) < set_count[l] && state[SETUP_AT(l, i)] == SETUP &&                                       \
     WAY(SETUP_AT(l, i), at[SETUP_AT(l, i)]) == (l))
#if PIPELINED
#define FIRST_HELD(l)                                                                              \
    (HELD(l, 0) -> SETUP_AT(l, 0) : (HELD(l, 1) -> SETUP_AT(l, 1) :                                \
        (HELD(l, 2) -> SETUP_AT(l, 2) : (HELD(l, 3) -> SETUP_AT(l, 3) : NONE))))
#define JOINS(c, l)                                                                                \
    ((c) >= SENDS && !IS_BRIEF(c) && set_count[l] < SETS && SETUP_AT(l, 0) >= SENDS &&             \
     !IS_BRIEF(SETUP_AT(l, 0)) && dst[SETUP_AT(l, 0) - SENDS] == dst[(c) - SENDS])
#define SAME_PORT(c, l) (WAY(SETUP_AT(l, 0), HOP(SETUP_AT(l, 0), l) - 1) == WAY(c, at[c]))
#else
#define FIRST_HELD(l) (HELD(l, 0) -> SETUP_AT(l, 0) : NONE)
#define JOINS(c, l) false
#define SAME_PORT(c, l) false
#endif

#define OF_SCHEDULE(l) (set_count[l] > 0 && SETUP_AT(l, 0) < SENDS)
#define TURN(c) step_turns[((c) % STEPS) * DIMS + NEXT_LINK(c) % DIMS]
#define HELD_FIRST(c) (state[c] == SETUP && FIRST_HELD(WAY(c, at[c])) == (c))
#define UNDER_WAY(c) (HELD_FIRST(c) && at[c] < LAST(c))

/* Rule 5: whether a message has come to a node that has not completed what its sender has. */
#define EARLY(c)                                                                                   \
    ((c) >= SENDS && behind[(c) - SENDS] && at[c] > 0 && !finished[FAR(WAY(c, at[c]))] &&          \
     (at[c] < LAST(c) -> RULE5_HOP : RULE5_END))

#define may_pass(c)                                                                                \
    (UNDER_WAY(c) && CONTROL(NEXT_LINK(c)) && order_count[NEXT_LINK(c)] < SLOTS &&                 \
     (set_count[NEXT_LINK(c)] == 0 || (JOINS(c, NEXT_LINK(c)) && SAME_PORT(c, NEXT_LINK(c)))) &&   \
     !EARLY(c) && ((c) >= SENDS || !RULE4 || TURN(c) == turn[NEXT_LINK(c)]))

inline pass(c) {
    x1 = NEXT_LINK(c);
    printf("OPEN of circuit %d goes over the link of node %d in dimension %d\n", c, x1 / DIMS,
           x1 % DIMS);
    if
    :: c < SENDS ->
        assert(newest[x1] <= c % STEPS); /* the schedule's order on every link */
        newest[x1] = c % STEPS + 1
    :: else -> /* behind the schedule's last circuit */
        assert(!behind[c - SENDS] || turn[x1] == carried[x1 % DIMS])
    fi;
    assert(set_count[x1] == 0 || src[SETUP_AT(x1, 0) - SENDS] == src[c - SENDS]);
    assert(!WITNESS || set_count[x1] == 0);
    SETUP_AT(x1, set_count[x1]) = c;
    set_count[x1]++;
    ORDER(x1, order_count[x1]) = c;
    order_count[x1]++;
    at[c]++
}

/* Those that share links must all be early or none: a refusal would be the oldest one's. */
#define AS_EARLY(c)                                                                                \
    (!RULE5_ALIKE || behind[SETUP_AT(WAY(c, 0), 0) - SENDS] == finished[src[(c) - SENDS]])
#define may_open(c)                                                                                \
    (state[c] == IDLE &&                                                                           \
     (set_count[WAY(c, 0)] == 0 || (JOINS(c, WAY(c, 0)) && AS_EARLY(c))))

inline open(c) {
    x1 = WAY(c, 0);
    printf("node %d opens circuit %d\n", x1 - LINKS, c);
    SETUP_AT(x1, set_count[x1]) = c;
    set_count[x1]++;
    state[c] = SETUP;
    at[c] = 0
}

/* An answer has no name: it must be for the oldest set-up of the link on which it goes back. */
inline begin_answer(c, what) {
    x1 = WAY(c, at[c]);
    x2 = 0;
    do
    :: SETUP_AT(x1, x2) != c -> assert(state[SETUP_AT(x1, x2)] != SETUP); x2++
    :: else -> break
    od;
    printf("circuit %d is answered: %d\n", c, what);
    state[c] = what
}

#define may_refuse(c)                                                                              \
    ((c) >= SENDS && HELD_FIRST(c) &&                                                              \
     (EARLY(c) || (at[c] < LAST(c) && (at[c] > 0 -> RULE2_REFUSE : RULE2_SOURCE) &&                \
                   OF_SCHEDULE(NEXT_LINK(c)))))
/* Whether who refused a message would do it again. */
#define REFUSES(place) ((place) < LINKS -> OF_SCHEDULE(place) : !finished[(place) - LINKS])

/* The source has its answer: router/circuit.c answer_source, node/message.c, node/collective.c. */
inline end_setup(c) {
    assert(SETUP_AT(WAY(c, 0), 0) == c);
    x3 = WAY(c, 0);
    drop_setup(x3, 0);
    if
    :: c >= SENDS -> behind[c - SENDS] = 0
    :: else -> skip
    fi;
    if
    :: state[c] == ACCEPTED ->
        printf("node %d has the ACCEPT of circuit %d\n", WAY(c, 0) - LINKS, c);
        state[c] = STANDS;
        if
        :: c < SENDS -> answered[c / STEPS] = 1
        :: c >= SENDS && (brief[c - SENDS] || MOVED(c, 1) == TOKENS) ->
            sender[c - SENDS] = COMPLETE;
            left--
        :: else -> skip
        fi
    :: else -> /* only messages are refused */
        state[c] = IDLE;
        if
        :: brief[c - SENDS] && !matched[c - SENDS] -> sender[c - SENDS] = QUEUED
        :: asking[c - SENDS] -> sender[c - SENDS] = (arrived[c - SENDS] -> STORED : QUEUED)
        :: else -> skip
        fi
    fi;
    if
    :: c >= SENDS -> asking[c - SENDS] = 0
    :: else -> skip
    fi
}

inline refuse(c) {
    blocked[c - SENDS] = 1 + (EARLY(c) -> OWN(FAR(WAY(c, at[c]))) : NEXT_LINK(c));
    begin_answer(c, REFUSED);
    if
    :: at[c] == 0 -> end_setup(c)
    :: else -> skip
    fi
}

#define may_answer(l)                                                                              \
    (set_count[l] > 0 &&                                                                           \
     (state[SETUP_AT(l, 0)] == ACCEPTED || state[SETUP_AT(l, 0)] == REFUSED) &&                    \
     WAY(SETUP_AT(l, 0), at[SETUP_AT(l, 0)]) == (l) && CONTROL(REVERSE(l)))

inline answer(l) {
    x1 = SETUP_AT(l, 0);
    printf("answer of circuit %d comes back over dimension %d to node %d\n", x1, l % DIMS,
           l / DIMS);
    drop_setup(l, 0);
    if
    :: state[x1] == ACCEPTED && x1 < SENDS -> turn[l]++
    :: state[x1] == REFUSED || IS_BRIEF(x1) ->
        x2 = fed[l];
        do
        :: ORDER(l, x2) != x1 -> x2++
        :: else -> break
        od;
        drop_order(l, x2)
    :: else -> skip
    fi;
    at[x1]--;
    if
    :: at[x1] == 0 -> end_setup(x1)
    :: else -> skip
    fi
}
