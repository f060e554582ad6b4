/*
 * absorbed.c - absorbed MS: node 0 computes for about so long without a call, when all is quiet;
 * then it exchanges a message with each neighbour.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <ecube.h>

enum { BYTES = 5000, QUIET_US = 200000, ROUNDS = 10000000, NS_PER_MS = 1000000 };

static char blocks[2][BYTES];
static volatile uint32_t counter;

static void compute(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        counter += i;
    }
}

int main(int argc, char **argv)
{
    uint64_t ns = argc > 1 ? (uint64_t)atoi(argv[1]) * NS_PER_MS : 0;
    int size = ecube_size();

    if (ecube_rank() == 0) {
        uint64_t start_ns = ecube_wall_ns();
        compute(ROUNDS);
        uint64_t took_ns = ecube_wall_ns() - start_ns;
        usleep(QUIET_US);
        for (uint64_t i = 0; i < ns / took_ns; i++) {
            compute(ROUNDS);
        }
    }
    for (int bit = 1; bit < size; bit *= 2) {
        int other = ecube_rank() ^ bit;
        if ((ecube_rank() == 0 || other == 0) &&
            ecube_send_receive(blocks[0], BYTES, other, 1, blocks[1], BYTES, other, 1, NULL) !=
                BYTES) {
            return 1;
        }
    }
    return 0;
}
