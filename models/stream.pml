/*
 * stream.pml - the bytes of circuits, as pieces in bounded buffers: router/stream.c.
 */
#define FED(l) ORDER(l, fed[l])
#define may_feed(l)                                                                                \
    (fed[l] < order_count[l] && buffered[l] < BUFFER && !IS_BRIEF(FED(l)) &&                       \
     (HOP(FED(l), l) == 1                                                                          \
          -> (FED(l) < SENDS || state[FED(l)] == STANDS) && MOVED(FED(l), 1) < TOKENS              \
          :  MOVED(FED(l), HOP(FED(l), l) - 1) > MOVED(FED(l), HOP(FED(l), l)) &&                  \
                ORDER(WAY(FED(l), HOP(FED(l), l) - 1), 0) == FED(l)))

inline feed(l) {
    x1 = FED(l);
    x2 = HOP(x1, l);
    MOVED(x1, x2) = MOVED(x1, x2) + 1;
    buffered[l]++;
    x3 = WAY(x1, x2 - 1);
    if
    :: x2 > 1 -> buffered[x3]--
    :: else -> skip
    fi;
    if
    :: MOVED(x1, x2) == TOKENS ->
        fed[l]++;
        if
        :: x2 > 1 ->
            drop_order(x3, 0);
            fed[x3]--
        :: x2 == 1 && x1 < SENDS -> sending[x1 / STEPS]--
        :: else ->
            if
            :: state[x1] == STANDS ->
                sender[x1 - SENDS] = COMPLETE;
                left--
            :: else -> skip
            fi
        fi
    :: else -> skip
    fi
}

inline deliver(m) {
    printf("message %d is delivered\n", m);
    assert(!delivered[m] && posted[m] && arrived[m]);
    delivered[m] = 1;
    left--
}

#define may_consume(l)                                                                             \
    (order_count[l] > 0 && buffered[l] > 0 && LAST(ORDER(l, 0)) == HOP(ORDER(l, 0), l) &&          \
     (state[ORDER(l, 0)] == ACCEPTED || state[ORDER(l, 0)] == STANDS) &&                           \
     MOVED(ORDER(l, 0), LAST(ORDER(l, 0))) > MOVED(ORDER(l, 0), LAST(ORDER(l, 0)) + 1))

inline consume(l) {
    x1 = ORDER(l, 0);
    x2 = LAST(x1) + 1;
    MOVED(x1, x2) = MOVED(x1, x2) + 1;
    buffered[l]--;
    if
    :: MOVED(x1, x2) == TOKENS ->
        drop_order(l, 0);
        fed[l]--;
        if
        :: x1 < SENDS -> receiving[FAR(l)]--
        :: else -> deliver(x1 - SENDS)
        fi
    :: else -> skip
    fi
}
