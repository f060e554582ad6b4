/*
 * ring_circuits.pml - circuits on a ring: rules 2 and 4 of router/README.md.
 *
 * Each of N nodes sets CIRCUITS circuits up over HOPS links in + direction, one after the other. A
 * circuit takes its links hop by hop and gives all of them back when it has its last one and its
 * bytes have gone.
 *
 * Messages (SCHEDULE 0): a circuit that holds a link of the ring does not wait for the next one. It
 * gives all back and begins again (RELEASE). When it waits instead, N circuits hold a link each.
 *
 * A schedule's (SCHEDULE 1): a circuit waits, but every link takes circuits in one total order
 * (TURNS): by number of its source's circuit, then by source. Without it they wait in a circle.
 *
 * An end state in which a circuit is left is a deadlock.
 */
#ifndef N
#define N 4
#endif
#ifndef HOPS
#define HOPS 2
#endif
#ifndef CIRCUITS
#define CIRCUITS 2
#endif
#ifndef SCHEDULE
#define SCHEDULE 0
#endif
#ifndef RELEASE
#define RELEASE (!SCHEDULE)
#endif
#ifndef TURNS
#define TURNS SCHEDULE
#endif

bit busy[N];  /* the link from i to i + 1 */
byte turn[N]; /* circuits of the schedule that it has carried */
byte done;

/* Sources of circuits over link l, in the order of their numbers: a circuit's turn there is how
 * many of its step have lower sources, and all of the steps before. */
inline find_turn(step, source, link, result)
{
    byte s;

    result = step * HOPS;
    for (s : 0 .. N - 1) {
        if
        :: s < source && (link + N - s) % N < HOPS -> result++
        :: else
        fi
    }
}

proctype circuit_source(byte me)
{
    byte step, hop, link, mine;

    do
    :: step == CIRCUITS -> break
    :: step < CIRCUITS && hop < HOPS ->
        atomic {
            link = (me + hop) % N;
            mine = 0;
            if
            :: TURNS -> find_turn(step, me, link, mine)
            :: else
            fi
        }
        if
        :: atomic { !busy[link] && (!TURNS || turn[link] == mine) -> busy[link] = 1; hop++ }
        :: atomic {
               RELEASE && hop > 0 && busy[link] -> /* REFUSE: again later, from the beginning */
               do
               :: hop > 0 -> hop--; busy[(me + hop) % N] = 0
               :: else -> break
               od
           }
        fi
    :: step < CIRCUITS && hop == HOPS ->
        atomic {
            do
            :: hop > 0 -> hop--; busy[(me + hop) % N] = 0; turn[(me + hop) % N]++
            :: else -> break
            od;
            step++
        }
    od;
    done++
}

init
{
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run circuit_source(i)
        }
    }
    done == N
}
