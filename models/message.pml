/*
 * message.pml - messages between programs, node/message.c and node/match.c, and the routed packets
 * that announce and answer them: router/packet.c.
 */
#define RTS 0
#define STORED_ANSWER 1
#define CTS 2
#define PACKET(kind, m) (1 + (kind) * MESSAGES + (m))
#define KIND(packet) (((packet) - 1) / MESSAGES)
#define NAMED(packet) (((packet) - 1) % MESSAGES)
#define TARGET(packet) (KIND(packet) == RTS -> dst[NAMED(packet)] : src[NAMED(packet)])

#define POOLED_FIRST(m) (brief[m] && !announce[m])
#define JOINS_BOTH(m) (JOINED && RULE1 && !brief[m]) /* RTS and OPEN in one */
/* must_wait: the message before it to the same node has no answer yet; two that are announced by
 * their OPENs may follow each other */
#define MUST_WAIT(m)                                                                               \
    (before[m] != NONE && (sender[before[m]] < STORED ||                                           \
                           (POOLED_FIRST(before[m]) && sender[before[m]] == READY) ||              \
                           (asking[before[m]] && sender[before[m]] == READY &&                     \
                            !(JOINS_BOTH(m) && state[SENDS + before[m]] != IDLE))))
#define may_announce(m)                                                                            \
    (sender[m] == QUEUED && !MUST_WAIT(m) &&                                                       \
     (POOLED_FIRST(m) || !RULE1 || JOINS_BOTH(m) || outgoing[src[m]] == 0))

inline send_announcement(m) {
    if
    :: POOLED_FIRST(m) || !RULE1 -> sender[m] = READY
    :: JOINS_BOTH(m) -> sender[m] = READY; asking[m] = 1
    :: else ->
        sender[m] = ASKED;
        outgoing[src[m]] = PACKET(RTS, m)
    fi
}

/* A refused message tries again at any time RETRIES times, then when it can get further. */
#define may_try(m)                                                                                 \
    (sender[m] == READY && may_open(SENDS + (m)) &&                                                \
     (blocked[m] == 0 || tries[m] < RETRIES || !REFUSES(blocked[m] - 1)))

inline try(m) {
    if
    :: blocked[m] != 0 && REFUSES(blocked[m] - 1) -> tries[m]++
    :: else -> skip
    fi;
    blocked[m] = 0;
    behind[m] = finished[src[m]];
    open(SENDS + m)
}

#define AT_END(c) (HELD_FIRST(c) && at[c] == LAST(c))
#define may_take(m)                                                                                \
    (AT_END(SENDS + (m)) && !EARLY(SENDS + (m)) &&                                                 \
     ((RULE1 && (ANSWERED || !asking[m])) || posted[m] || POOLED_FIRST(m)))
/* What it takes does not depend on what else may happen: its receive is posted, or need not be. */
#define TAKES_ALIKE(m) (posted[m] || !asking[m])
/* Whether a request overtakes one that was refused on its way. */
#define OVERTAKES(m)                                                                               \
    (asking[m] && NAMED_BEFORE && before[m] != NONE && !arrived[before[m]])

inline arrive(m) {
    assert(!arrived[m] && (before[m] == NONE || arrived[before[m]])); /* no overtaking */
    arrived[m] = 1
}

inline take(m) {
    x5 = dst[m];
    assert(!behind[m] || step[x5] == STEPS); /* behind the schedule's last circuit */
    if
    :: POOLED_FIRST(m) && !posted[m] && pool[x5] == 0 -> /* E_FULL */
        announce[m] = 1;
        begin_answer(SENDS + m, REFUSED)
    :: OVERTAKES(m) -> begin_answer(SENDS + m, REFUSED)
    :: asking[m] && !OVERTAKES(m) && !posted[m] -> /* E_STORED */
        arrive(m);
        begin_answer(SENDS + m, REFUSED)
    :: else ->
        begin_answer(SENDS + m, ACCEPTED);
        if
        :: !arrived[m] -> arrive(m)
        :: else -> skip
        fi;
        if
        :: asking[m] -> matched[m] = 1
        :: else -> skip
        fi;
        if
        :: brief[m] && posted[m] -> deliver(m)
        :: brief[m] && !posted[m] -> pooled[m] = 1; pool[x5]--
        :: else -> skip
        fi
    fi
}

/* A receive is posted for a message that has been announced, or lies in the pool. */
#define may_match(m)                                                                               \
    (posted[m] && (pooled[m] || (RULE1 && arrived[m] && !matched[m] && !POOLED_FIRST(m) &&         \
                                 outgoing[dst[m]] == 0)))

inline match(m) {
    if
    :: pooled[m] -> pooled[m] = 0; pool[dst[m]]++; deliver(m)
    :: else -> matched[m] = 1; outgoing[dst[m]] = PACKET(CTS, m)
    fi
}

#define TO_GO(l) NEXT(FAR(l), TARGET(packet[l]))
#define ENDS(l) (TARGET(packet[l]) == FAR(l))
#define may_forward(l)                                                                             \
    (packet[l] != 0 && (ENDS(l) || (packet[TO_GO(l)] == 0 && CONTROL(TO_GO(l)))))

inline take_packet(l) {
    x1 = NAMED(packet[l]);
    x2 = FAR(l);
    if
    :: KIND(packet[l]) == CTS -> sender[x1] = READY; asking[x1] = 0 /* perhaps before its refusal */
    :: KIND(packet[l]) == STORED_ANSWER && sender[x1] == ASKED -> sender[x1] = STORED
    :: KIND(packet[l]) == RTS && outgoing[x2] != 0 -> sender[x1] = QUEUED /* dropped: asks again */
    :: KIND(packet[l]) == RTS && outgoing[x2] == 0 ->
        arrive(x1);
        if
        :: posted[x1] -> matched[x1] = 1; outgoing[x2] = PACKET(CTS, x1)
        :: else -> outgoing[x2] = PACKET(STORED_ANSWER, x1)
        fi
    :: else -> skip
    fi
}

inline forward(l) {
    if
    :: ENDS(l) -> take_packet(l)
    :: else -> packet[TO_GO(l)] = packet[l]
    fi;
    packet[l] = 0
}

#define FIRST_LINK(n) NEXT(n, TARGET(outgoing[n]))
#define may_send(n) (outgoing[n] != 0 && packet[FIRST_LINK(n)] == 0 && CONTROL(FIRST_LINK(n)))

inline send(n) {
    packet[FIRST_LINK(n)] = outgoing[n];
    outgoing[n] = 0
}
