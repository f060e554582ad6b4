/*
 * waiter.c - waiter [cross]: on cube:3, every node waits in another way, for ever. With `cross`,
 * node 1 waits for a message of node 0, which has entered a barrier as all others have.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

enum { LONG_BYTES = 4000, SHORT_BYTES = 64, HOUR = 3600 };

static char block[LONG_BYTES];
volatile int zero;

__attribute__((noinline)) static int spin(void)
{
    while (zero == 0) {
        zero = 0;
    }
    return zero;
}

static int behind_others(int source)
{
    struct ecube_request first, second;
    if (ecube_receive_start(block, 1, source, 2, &first) < 0 ||
        ecube_receive_start(block + 1, 1, source, 3, &second) < 0) {
        return 9;
    }
    return ecube_receive(block + 2, 1, source, 4, NULL);
}

static int with_one_behind(void)
{
    struct ecube_request request;
    return ecube_receive_start(block, 1, 0, 2, &request) < 0 ? 9 : spin();
}

static int wait_by_rank(int rank)
{
    switch (rank) {
    case 0: return ecube_send(block, LONG_BYTES, 7, 1);
    case 1: return ecube_receive(block, LONG_BYTES, ECUBE_ANY, 5, NULL);
    case 2: return ecube_receive(block, LONG_BYTES, 3, ECUBE_ANY, NULL);
    case 3: return (int)sleep(HOUR);
    case 4: return behind_others(0);
    case 5: return with_one_behind();
    default: return ecube_broadcast(block, SHORT_BYTES, 2);
    }
}

int main(int argc, char **argv)
{
    int rank = ecube_rank();

    if (argc == 1) {
        return wait_by_rank(rank) < 0 ? 9 : 0;
    }
    if (strcmp(argv[1], "cross") == 0 && rank == 1 && ecube_receive(block, 1, 0, 5, NULL) < 0) {
        return 9;
    }
    return ecube_barrier() < 0 ? 9 : 0;
}
