/*
 * circuits.pml - circuits, READY and turns of one hypercube, for Spin: the processes and the start.
 *
 * Every node runs a program that mixes messages with one complete exchange. A process stands for a
 * node, a message or a directed link; an action is one atomic step of it. What each part stands for
 * in the firmware, and why what is left out may be left out, says README.md. schedule.pml is
 * printed by schedule_pml.c.
 */
#include "schedule.pml"

#include "rules.pml"

#include "mixes.pml"

#include "state.pml"

#include "setup.pml"
#include "stream.pml"

#include "message.pml"
#include "node.pml"

/* ---- what commutes with everything is taken at once ------------------------------------------ */

#if EAGER
#define COLD(place) (EAGER == 2 && !hot[place])
#define PASSES(n) (WALKS(n) && may_pass(CURRENT(n)))
inline settle() {
    do
    :: true ->
        busy = 0;
        for (z : 0 .. NODES - 1) {
            if
            :: may_post(z) -> post_next(z); busy = 1
            :: may_call(z) -> call_collective(z); busy = 1
            :: may_enter(z) -> ENTER(z); busy = 1
            :: may_send(z) -> send(z); busy = 1
            :: may_open_step(z) && COLD(OWN(z)) -> open_step(z); busy = 1
            :: EAGER == 2 && may_receive_step(z) -> receive_step(z); busy = 1
            :: EAGER == 2 && may_end_step(z) -> end_step(z); busy = 1
            :: may_finish(z) && !met[z] -> finish(z); busy = 1
            :: PASSES(z) && COLD(NEXT_LINK(CURRENT(z))) -> x6 = CURRENT(z); pass(x6); busy = 1
            :: else -> skip
            fi
        }
        for (z : 0 .. LINKS - 1) {
            if
            :: may_answer(z) && (COLD(z) || (EAGER == 2 && SETUP_AT(z, 0) >= SENDS)) ->
                answer(z);
                busy = 1
            :: may_feed(z) -> feed(z); busy = 1
            :: may_consume(z) -> consume(z); busy = 1
            :: may_forward(z) -> forward(z); busy = 1
            :: else -> skip
            fi
        }
        for (z : 0 .. MESSAGES - 1) {
            if
            :: may_announce(z) -> send_announcement(z); busy = 1
            :: EAGER == 2 && may_take(z) && TAKES_ALIKE(z) -> take(z); busy = 1
            :: may_match(z) -> match(z); busy = 1
            :: else -> skip
            fi
        }
        if
        :: !busy -> break
        :: else -> skip
        fi
    od;
    skip
}
#else
#define COLD(place) false
#endif

/* ---- processes ------------------------------------------------------------------------------- */

#if EAGER
/* an action was taken: what it lets go on is taken before the next */
chan due = [0] of {bit};
#define ACTION(guard, action) :: atomic { (guard) -> d_step { action; skip }; due ! true }
#define AROUND(guard, action)
#if EAGER == 2
#define END_OF_SETUP(guard, action)
#else
#define END_OF_SETUP(guard, action) ACTION(guard, action)
#endif
proctype settler() {
end:
    do
    :: d_step { due ? _ -> settle() }
    od
}
#else
#define ACTION(guard, action) :: d_step { (guard) -> action; skip }
#define AROUND(guard, action) ACTION(guard, action)
#define END_OF_SETUP(guard, action) ACTION(guard, action)
#endif

proctype node(byte n) {
end:
    do
    AROUND(may_post(n), post_next(n))
    AROUND(may_call(n), call_collective(n))
    AROUND(may_enter(n), ENTER(n))
    AROUND(may_send(n), send(n))
    END_OF_SETUP(may_receive_step(n), receive_step(n))
    END_OF_SETUP(may_end_step(n), end_step(n))
    ACTION(may_finish(n), finish(n))
    ACTION(may_open_step(n), open_step(n))
    ACTION(WALKS(n) && may_pass(CURRENT(n)), x6 = CURRENT(n); pass(x6))
    od
}

proctype link(byte l) {
end:
    do
    ACTION(may_answer(l), answer(l))
    AROUND(may_feed(l), feed(l))
    AROUND(may_consume(l), consume(l))
    AROUND(may_forward(l), forward(l))
    od
}

proctype message_circuit(byte m) {
end:
    do
    ACTION(may_try(m), try(m))
    ACTION(may_pass(SENDS + m), pass((SENDS + m)))
    ACTION(may_refuse(SENDS + m), refuse((SENDS + m)))
    AROUND(may_announce(m), send_announcement(m))
    END_OF_SETUP(may_take(m) && TAKES_ALIKE(m), take(m))
    ACTION(may_take(m) && !TAKES_ALIKE(m), take(m))
    AROUND(may_match(m), match(m))
    od
}

/* Not at an end state until all is delivered: so whatever else has stopped is a deadlock. */
proctype judge() {
    left == 0
}

/* found: the places from one node to another, in the order in which a circuit takes them. */
hidden byte found[HOPS], found_last;

inline find_way(from, to, lowest_first) {
    x1 = from;
    found[0] = OWN(x1);
    found_last = 0;
    for (x3 : 1 .. DIMS) {
        found[x3] = NONE
    }
    for (x3 : 0 .. DIMS - 1) {
        x4 = (lowest_first -> x3 : DIMS - 1 - x3);
        if
        :: (x1 ^ to) & (1 << x4) ->
            found_last++;
            found[found_last] = x1 * DIMS + x4;
            x1 = x1 ^ (1 << x4)
        :: else -> skip
        fi
    }
}

inline message(m, from, to, when, is_brief) {
    d_step {
        printf("circuit %d is message %d from %d to %d, when %d\n", SENDS + m, m, from, to, when);
        src[m] = from;
        dst[m] = to;
        phase[m] = when;
        brief[m] = is_brief;
        before[m] = NONE;
        x6 = 0;
        do
        :: x6 < m && src[x6] == src[m] && dst[x6] == dst[m] -> before[m] = x6; x6++
        :: x6 < m && !(src[x6] == src[m] && dst[x6] == dst[m]) -> x6++
        :: else -> break
        od;
        if /* numbered in the order of their posting, or nobody could tell which is first */
        :: before[m] != NONE && phase[before[m]] == AFTER -> phase[m] = AFTER
        :: else -> skip
        fi;
        find_way(from, to, (RULE2_ORDER || (from & 1) == ((from >> 1) & 1)));
        message_last[m] = found_last;
        met[from] = 1;
        for (x3 : 0 .. DIMS) {
            message_way[m * HOPS + x3] = found[x3];
            if
            :: found[x3] != NONE ->
                hot[found[x3]] = 1;
                if
                :: x3 > 0 -> met[FAR(found[x3])] = 1
                :: else -> skip
                fi
            :: else -> skip
            fi
        }
        left = left + 2
    }
}

init {
    d_step {
        load_schedule();
        for (z : 0 .. SENDS - 1) {
            x5 = z / STEPS;
            x6 = x5 ^ step_mask[z % STEPS];
            find_way(x5, x6, true);
            last[z] = found_last;
            for (x3 : 0 .. DIMS) {
                way[z * HOPS + x3] = found[x3]
            }
        }
        for (z : 0 .. STEPS * DIMS - 1) {
            carried[z % DIMS] = carried[z % DIMS] + ((step_mask[z / DIMS] >> (z % DIMS)) & 1)
        }
        for (z : 0 .. NODES - 1) { pool[z] = 1 }
        left = COLLECTIVE * NODES
    }
    mix();
    atomic {
#if EAGER
        run settler();
#endif
        for (z : 0 .. NODES - 1) { run node(z) }
        for (z : 0 .. LINKS - 1) { run link(z) }
        for (z : 0 .. MESSAGES - 1) { run message_circuit(z) }
        run judge();
#if EAGER
        due ! true
#endif
    }
}
