/*
 * ring_packets.pml - control packets on a ring: rule 6 of router/README.md.
 *
 * N nodes send packets in + direction, each of them SENDS packets over HOPS hops, store and forward.
 * Ways longer than N / 2 stand for larger rings: what a packet does depends on the hops that it has
 * left. A link's far node has WINDOW places; who sends over a link knows of those that
 * its neighbour has told. A packet that enters the ring needs two known places, one that goes on
 * needs one (BUBBLE). Places that are given back are told when half the window has come together,
 * or when the sender may believe that fewer than two are free (TELL).
 *
 * Without BUBBLE all places fill with packets that go on. Without TELL the last free place moves
 * against the packets until it is one that nobody has told.
 *
 * An end state in which a packet has not arrived is a deadlock.
 */
#ifndef N
#define N 4
#endif
#ifndef HOPS
#define HOPS (N / 2)
#endif
#ifndef WINDOW
#define WINDOW 4
#endif
#ifndef SENDS
#define SENDS 5
#endif
#ifndef BUBBLE
#define BUBBLE 1
#endif
#ifndef TELL
#define TELL 1
#endif

#define NEXT(i) ((i + 1) % N)
/* what the node before i knows to be free at i */
#define KNOWN(i) (WINDOW - len(held[i]) - untold[i])

chan held[N] = [WINDOW] of { byte }; /* hops left, of packets that go on from here */
byte untold[N];                      /* places given back and not told of */
byte sends[N];

/* A place at node i has become free. */
inline give_back(i)
{
    untold[i]++;
    if
    :: untold[i] >= WINDOW / 2 || (TELL && KNOWN(i) < 2) -> untold[i] = 0
    :: else
    fi
}

/* A packet comes to node i, hops more to go from there. */
inline arrive(i, hops)
{
    if
    :: hops == 0 -> give_back(i) /* taken at once: it needs nothing that waits for packets */
    :: else -> held[i]!hops
    fi
}

proctype node(byte me)
{
    byte hops, left;

end:
    do
    :: atomic {
           sends[me] > 0 && KNOWN(NEXT(me)) >= 1 + BUBBLE;
           sends[me]--;
           hops = HOPS - 1;
           arrive(NEXT(me), hops)
       }
    :: atomic {
           len(held[me]) > 0 && KNOWN(NEXT(me)) >= 1;
           held[me]?left;
           give_back(me);
           left--;
           arrive(NEXT(me), left)
       }
    od
}

/* True when nothing is left to do: `end` above makes every state of a node a good one. */
proctype judge()
{
    byte i;

    do
    :: atomic { i < N -> len(held[i]) == 0 && sends[i] == 0; i++ }
    :: i == N -> break
    od
}

init
{
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            sends[i] = SENDS;
            run node(i);
        }
        run judge();
    }
}
