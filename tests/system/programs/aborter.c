/*
 * aborter.c - aborter RANK STATUS [now]: the program of node RANK aborts the run with STATUS, when
 * all others are at what their rank says: in a collective, in a receive, in wait_any, in wait_some,
 * in a probe, asleep, or computing without a call. With `now` nobody waits for the others.
 *
 * Each prints a line before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

enum { KINDS = 7, LONG_BYTES = 4000, HOUR = 3600, PAUSE_US = 300000, TAG = 5 };

static char block[LONG_BYTES];
volatile int zero;

__attribute__((noinline)) static int compute(void)
{
    while (zero == 0) {
        zero = 0;
    }
    return zero;
}

/* For one of two messages that nobody sends; `some`: for all that are there. */
static int wait_for_several(int some)
{
    struct ecube_request requests[2];
    struct ecube_status statuses[2];
    unsigned indices[2];

    for (int i = 0; i < 2; i++) {
        if (ecube_receive_start(block + i, 1, ECUBE_ANY, TAG + i, &requests[i]) < 0) {
            return -1;
        }
    }
    return some ? ecube_wait_some(requests, 2, indices, statuses)
                : ecube_wait_any(requests, 2, indices, statuses);
}

/* None of these ends well before the run does. */
static int wait_in(int kind)
{
    struct ecube_status status;

    switch (kind) {
    case 0: return ecube_broadcast(block, LONG_BYTES, 0);
    case 1: return ecube_receive(block, LONG_BYTES, ECUBE_ANY, TAG, NULL);
    case 2: return wait_for_several(0);
    case 3: return wait_for_several(1);
    case 4: return ecube_probe(ECUBE_ANY, TAG, &status);
    case 5: return (int)sleep(HOUR);
    default: return compute();
    }
}

int main(int argc, char **argv)
{
    int rank = ecube_rank(), aborter = argc > 1 ? atoi(argv[1]) : 0;

    ecube_errors(ECUBE_ERRORS_RETURN); /* who hears that the aborter is gone goes on to sleep */
    printf("node %d %s\n", rank, rank == aborter ? "aborts" : "waits");
    if (argc < 4 && ecube_barrier() < 0) {
        return 1;
    }
    if (rank == aborter) {
        usleep(argc < 4 ? PAUSE_US : 0); /* any moment will do; most often all wait by then */
        printf("half a line");
        ecube_abort(argc > 2 ? atoi(argv[2]) : 1);
    }
    wait_in(rank % KINDS);
    sleep(HOUR);
    return 1;
}
