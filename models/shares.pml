/*
 * shares.pml - messages over two paths each, on a square of four nodes: node/parallel.c, and of
 * router/README.md rule 2 for circuits with a route of their own.
 *
 * Messages go 0 to 3, 1 to 2, 3 to 0 and 2 to 1, so each corner's two shares, over either dimension
 * first, meet two shares of others. A share takes its links hop by hop. At one that is taken it
 * gives back what it has (RELEASE) and begins again; TRIES times over its own path, then in
 * dimension order, where it waits and holds. A node sets up one circuit at a time. A share that has
 * all its links is accepted, its bytes go, and it gives them back: for no other's sake (HOLD 0).
 *
 * DIES 1: one link may die, at any time. A share that meets it, or stands on it, ends; its message
 * opens no more, and tells the receiver (TELL), whose end waits for what it has accepted alone.
 *
 * An end state in which an end of a message has not come to its end is a deadlock.
 */
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef TRIES
#define TRIES 1
#endif
#ifndef RELEASE
#define RELEASE 1
#endif
#ifndef HOLD
#define HOLD 0
#endif
#ifndef DIES
#define DIES 0
#endif
#ifndef TELL
#define TELL 1
#endif
#ifndef ORDER
#define ORDER 1 /* in the end all go over the lower dimension first; 0: over their own path */
#endif

#define SHARES 2
#define FROM(m) ((m) == 0 -> 0 : ((m) == 1 -> 1 : ((m) == 2 -> 3 : 2)))
/* The link of a hop: over dimension `first`, then the other. */
#define LINK(from, first, hop)                                                                     \
    ((hop) == 0 -> (from) * 2 + (first) : ((from) ^ (1 << (first))) * 2 + 1 - (first))

bit taken[8]; /* directed links: node * 2 + dimension */
bit dead[8];
bit own[4];   /* the node sets up a circuit */

/* Of a message: at the sender shares that are not accepted, and whose bytes still go; at the
 * receiver those that have not come, and those whose bytes come. */
byte unanswered[MESSAGES], moving[MESSAGES], missing[MESSAGES], coming[MESSAGES];
bit gone[MESSAGES]; /* the sender has given it up */
bit told[MESSAGES]; /* and the receiver knows; or a share of it has broken off */
byte delivered[MESSAGES];
byte ended;

/* Gives back all links up to a hop, the last one first. */
inline give_back(from, first, hop)
{
    do
    :: hop > 0 -> hop--; taken[LINK(from, first, hop)] = 0
    :: else -> break
    od
}

inline give_up(m)
{
    gone[m] = 1;
    if
    :: TELL -> told[m] = 1
    :: else -> skip
    fi
}

proctype share(byte m; byte s)
{
    byte hop, tries, first, from;
    bit broken;

    from = FROM(m);
    first = s;
waits:
    if
    :: atomic { gone[m] -> unanswered[m]--; moving[m]-- } goto over
    :: atomic {
           !gone[m] && !own[from] -> own[from] = 1;
           first = (tries < TRIES || !ORDER -> s : 0)
       }
    fi;
sets_up:
    if
    :: hop < 2 ->
        if
        :: atomic {
               dead[LINK(from, first, hop)] -> give_up(m);
               give_back(from, first, hop);
               own[from] = 0; unanswered[m]--; moving[m]--
           }
           goto over
        :: atomic { !dead[LINK(from, first, hop)] && !taken[LINK(from, first, hop)] ->
               taken[LINK(from, first, hop)] = 1;
               hop++ }
        :: atomic {
               !dead[LINK(from, first, hop)] && taken[LINK(from, first, hop)] && RELEASE &&
               tries < TRIES -> /* REFUSE */
               tries++;
               give_back(from, first, hop);
               own[from] = 0
           }
           goto waits
        fi;
        goto sets_up
    :: else -> skip
    fi;
    if
    :: atomic { told[m] -> /* E_PEER_GONE: the receiver has come to its end */
           gone[m] = 1;
           give_back(from, first, hop);
           own[from] = 0; unanswered[m]--; moving[m]--
       }
       goto over
    :: atomic { !told[m] -> missing[m]--; coming[m]++; own[from] = 0; unanswered[m]-- }
    fi;
    !HOLD || unanswered[m] == 0;
    atomic {
        broken = dead[LINK(from, first, 0)] || dead[LINK(from, first, 1)];
        if
        :: broken -> told[m] = 1
        :: else -> delivered[m]++
        fi;
        give_back(from, first, hop);
        moving[m]--;
        coming[m]--
    }
over:
    skip;
    d_step { hop = 0; tries = 0; first = 0; from = 0; broken = 0 }
}

/* The two ends of a message: each ends once, whole or with a name. */
proctype ends(byte m)
{
    atomic { unanswered[m] == 0 && moving[m] == 0 -> ended++ }
    atomic {
        coming[m] == 0 && (missing[m] == 0 || told[m]) ->
        assert(told[m] || delivered[m] == SHARES);
        assert(DIES || !told[m]);
        ended++
    }
}

proctype death()
{
    byte l;

    do
    :: l < 7 -> l++
    :: break
    od;
    dead[l] = 1
}

init
{
    byte m;

    atomic {
        for (m : 0 .. MESSAGES - 1) {
            unanswered[m] = SHARES;
            moving[m] = SHARES;
            missing[m] = SHARES
        }
        for (m : 0 .. MESSAGES - 1) {
            run share(m, 0);
            run share(m, 1);
            run ends(m)
        }
        if
        :: DIES -> run death()
        :: else -> skip
        fi
    }
    ended == 2 * MESSAGES
}
