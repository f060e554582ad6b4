/*
 * shared_ring.pml - sleep numbers and bells of a link in shared memory: drivers/link/shared_ring.h.
 *
 * Two sides send each other SENDS_0 and SENDS_1 bytes through rings of RING bytes. A side puts one
 * byte and takes what it sees, publishes both counts, and looks whether the other sleeps and waits
 * for this. When nothing moved it publishes a new sleep number with the counts that it waits for,
 * WANTED bytes more or some room, looks a second time, and waits for a bell. What a side stores lies
 * in its store buffer until it leaves it, the oldest first; loads do not wait for it (TSO).
 *
 * A side's device can ring whom the launcher has made known to it, and a bell raises an interrupt
 * only at a device that is on.
 *
 * A side that waits for ever is a lost wake-up: an invalid end state. Asserted: one bell for a sleep.
 */
#ifndef SENDS_0
#define SENDS_0 3
#endif
#ifndef SENDS_1
#define SENDS_1 1
#endif
#ifndef RING
#define RING 2
#endif
#ifndef WANTED
#define WANTED 1
#endif
#ifndef BARRIER_PUBLISH /* between the counts and the look at the sleeper */
#define BARRIER_PUBLISH 1
#endif
#ifndef BARRIER_SLEEP /* between the sleep and the second look */
#define BARRIER_SLEEP 1
#endif
#ifndef SECOND_LOOK
#define SECOND_LOOK 1
#endif
#ifndef NEW_NUMBER /* each sleep has one of its own */
#define NEW_NUMBER 1
#endif
#ifndef ONCE /* a bell for each number */
#define ONCE 1
#endif
#ifndef KNOWN_FIRST /* a neighbour is made known before the node runs */
#define KNOWN_FIRST 1
#endif
#ifndef ON_FIRST /* a node turns its device on before it sleeps */
#define ON_FIRST 1
#endif

/* words of a side */
#define PUT 0
#define TAKEN 1
#define SLEEP 2 /* number * 4 + wants */
#define PUT_FROM 3
#define TAKEN_FROM 4

#define WANTS_BYTES 1
#define WANTS_ROOM 2

byte memory[10]; /* side * 5 + word */
chan buffer[2] = [10] of { byte, byte };
bit bell[2], known[2], running[2], on[2];
byte answered[2]; /* the sleep that a side was last rung for */

#define other (1 - me)
#define ours(word) (me * 5 + word)
#define theirs(word) memory[other * 5 + word]
#define to_send (me == 0 -> SENDS_0 : SENDS_1)
#define to_come (me == 0 -> SENDS_1 : SENDS_0)
#define wants_bytes (to_come - taken >= WANTED -> WANTED : to_come - taken)

inline store(word, value) { buffer[me]!ours(word), value }

/* Rings the other for a sleep. */
inline ring(number)
{
    atomic {
        assert(number != answered[other]);
        answered[other] = number;
        rung = (ONCE -> number : rung);
        if
        :: known[me] && on[other] -> bell[other] = 1
        :: else
        fi
    }
}

/* The look at the sleeper: three words, read one after the other. */
inline look()
{
    seen = theirs(SLEEP);
    if
    :: seen % 4 == 0 || seen / 4 == rung
    :: else ->
        wanted = 0;
        if
        :: seen & WANTS_BYTES -> wanted = put >= theirs(PUT_FROM)
        :: else
        fi;
        if
        :: seen & WANTS_ROOM -> wanted = wanted || taken >= theirs(TAKEN_FROM)
        :: else
        fi;
        if
        :: wanted -> ring(seen / 4)
        :: else
        fi
    fi
}

proctype side(bit me)
{
    byte put, taken, number, rung, seen;
    bit moved, wanted;

    running[me];
    on[me] = ON_FIRST;
awake:
    moved = 0;
    if
    :: put < to_send && put - theirs(TAKEN) < RING -> put++; moved = 1; store(PUT, put)
    :: else
    fi;
    if
    :: theirs(PUT) != taken -> taken = theirs(PUT); moved = 1; store(TAKEN, taken)
    :: else
    fi;
    if
    :: moved -> (!BARRIER_PUBLISH || empty(buffer[me])); look(); goto awake
    :: !moved && put == to_send && taken == to_come -> goto done
    :: else
    fi;
    atomic {
        bell[me] = 0; /* one for an older sleep */
        number = number + (NEW_NUMBER || number == 0 -> 1 : 0);
        store(PUT_FROM, taken + wants_bytes);
        store(TAKEN_FROM, put + 1 - (put + 1 >= RING -> RING : put + 1));
        store(SLEEP, number * 4 + (wants_bytes > 0 -> WANTS_BYTES : 0) + (put < to_send -> WANTS_ROOM : 0))
    }
    (!BARRIER_SLEEP || empty(buffer[me]));
    if
    :: !SECOND_LOOK
    :: SECOND_LOOK && wants_bytes > 0 && theirs(PUT) - taken >= wants_bytes -> goto up
    :: SECOND_LOOK && put < to_send && put - theirs(TAKEN) < RING -> goto up
    :: else
    fi;
    on[me] = 1;
    bell[me] -> bell[me] = 0;
up: store(SLEEP, number * 4);
    goto awake;
done:
    skip
}

proctype store_buffer(bit me)
{
    byte word, value;

end:
    do
    :: atomic { buffer[me]?word, value -> memory[word] = value }
    od
}

proctype launcher(bit me)
{
    if
    :: KNOWN_FIRST -> known[me] = 1; running[me] = 1
    :: !KNOWN_FIRST -> running[me] = 1; known[me] = 1
    fi
}

init
{
    atomic {
        run side(0);
        run side(1);
        run store_buffer(0);
        run store_buffer(1);
        run launcher(0);
        run launcher(1)
    }
}
